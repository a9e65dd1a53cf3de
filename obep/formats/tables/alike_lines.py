"""Graphs of N-Triples and N-Quads that are alike, read as columns by one regular expression.

A `LinePattern` is made of one graph. It matches the graphs with the same properties in the same order, whose
statements share their subjects as those of that graph do. It matches only terms that are valid and that the
parser prints as they stand. So what it matches need not be parsed; all other lines are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from obep.formats.tables.quad_blocks import statements_of, whole_graph
from obep.model import Term, Triple

FEW = 8
"""So many graphs are not worth columns."""
MOST = 64
"""Triples of a graph; of more, the regular expression would be too long."""
ODD_BLOCKS = 50
"""After so many blocks in a row without graphs that are alike none are looked for."""

_PATH = "[A-Za-z0-9_.~/:@!$&'()*+,;=?-]*+(?:%[0-9A-Fa-f]{2}[A-Za-z0-9_.~/:@!$&'()*+,;=?-]*+)*+"
_AUTHORITY = "(?://[A-Za-z0-9.-]++(?::[0-9]++)?(?=[/?#>]))?(?!//)"
_IRI = f"<[A-Za-z][A-Za-z0-9+.-]*+:{_AUTHORITY}{_PATH}(?:#{_PATH})?>"
_TEXT = r'"[^"\\\x00-\x1f\x7f]*+(?:\\[tnr"\\][^"\\\x00-\x1f\x7f]*+)*+"'
_XSD_STRING = "http://www.w3.org/2001/XMLSchema#string>"
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_LITERAL = rf"{_TEXT}(?:@[a-z]{{2,3}}|\^\^(?!<{_XSD_STRING}|<{_RDF}){_IRI})?"
_IS_IRI, _IS_LITERAL = re.compile(_IRI), re.compile(_LITERAL)
_ODD_CHARACTER = re.compile("[\ud800-\udfff\ufffe\uffff]")
"""Characters that the parser prints in another way, or refuses."""

TripleColumns = tuple[Sequence[Term], Sequence[Term], Sequence[Term]]
"""The subjects, properties and objects of triples."""


Row = tuple[Term, ...]
"""The terms in which a graph differs from others."""


@dataclass(slots=True)
class AlikeGraphs:
    """Graphs of N-Quads with the same properties, each with its time before it, that follow each other."""

    names: list[Term]
    times: list[str]
    triples: list[TripleColumns]
    """Those that stand first in each graph, those that stand second, and so on."""
    follows: Term
    """The graph after them."""
    text: bytes
    """Their statements."""


class LinePattern:
    """Matches the graphs that are like one; it has a group for each term in which they may differ."""

    def __init__(self, triples: Sequence[Triple], time_property: Term = "", time: Term = "") -> None:
        """With a time, the graphs are named, and their times stand before them."""
        said, graph, count = "", "", 0
        if time:
            suffix = re.escape(time[time.rindex('"') + 1 :])
            said = rf'^({_IRI}) {re.escape(time_property)} "([!#-\[\]-~]++)"{suffix} \.\n'
            graph, count = r" \1", 2
        subjects: dict[Term, int] = {}
        self._triples: list[tuple[int, Term, int]] = []
        lines = []
        for s, p, o in triples:
            subject = f"(?P=s{subjects[s]})" if s in subjects else f"(?P<s{count + 1}>{_IRI})"
            if s not in subjects:  # by name: \101 would be a letter
                count += 1
                subjects[s] = count
            count += 1
            object = _IRI if o[0] == "<" else _LITERAL
            lines.append(rf"{subject} {re.escape(p)} ({object}){graph} \.")
            self._triples.append((subjects[s] - 1, p, count - 1))
        said += r"\n".join(lines)
        whole = rf"{said}\n" if time else rf"\x00{said}\n?(?=\x00|\Z)"
        self._found = re.compile(whole, re.MULTILINE)

    @classmethod
    def of(cls, triples: Sequence[Triple], time_property: Term = "", time: Term = "") -> LinePattern | None:
        """The pattern of a graph; `None` if it would not match it, or may match a triple twice in one."""
        if not 0 < len(triples) <= MOST or len({p for _, p, _ in triples}) < len(triples):
            return None
        if any(term[0] == "_" for s, _, o in triples for term in (s, o)):
            return None
        return cls(triples, time_property, time)

    def of_texts(self, texts: Sequence[str]) -> list[TripleColumns] | None:
        """The triples of documents of one graph each; `None` if it does not match all of them."""
        joined = "".join([f"\x00{text}" for text in texts])
        if joined.count("\x00") != len(texts) or _is_odd(joined):
            return None
        rows = self._found.findall(joined)
        return self.columns(rows) if len(rows) == len(texts) else None

    def in_lines(self, text: str) -> Iterator[tuple[int, int, list[Row]]]:
        """Graphs that follow each other: where they begin, where the last one begins, and their terms."""
        rows: list[Row] = []
        begin = last = end = 0
        for match in self._found.finditer(text):
            start, stop = match.span()
            if start != end:
                if len(rows) > FEW:
                    yield begin, last, rows
                rows, begin = [], start
            rows.append(match.groups())
            last, end = start, stop
        if len(rows) > FEW:
            yield begin, last, rows

    def columns(self, rows: Sequence[Row]) -> list[TripleColumns]:
        """The triples of what it has matched."""
        columns = list(zip(*rows, strict=True))
        return [(columns[s], (p,) * len(rows), columns[o]) for s, p, o in self._triples]


def _is_odd(text: str) -> bool:
    return not text.isascii() and _ODD_CHARACTER.search(text) is not None


class AlikeLines:
    """Finds the graphs of N-Quads that are alike in blocks of lines."""

    def __init__(self, time_property: Term, most: int) -> None:
        """`most`: the bytes that a graph may have."""
        self._time_property, self._most = time_property, most
        self._pattern: LinePattern | None = None
        self._odd = 0

    def parts(self, block: bytes) -> Iterator[bytes | AlikeGraphs]:
        """The graphs that are alike, and the lines between them, in their order.

        The last of several graphs that follow each other is left with the lines after it: it may go on there.
        """
        text = self._text(block)
        found = self._found(text) if text else []
        self._odd = 0 if found else self._odd + 1
        place = 0
        for begin, end, rows in found:
            if place < begin:
                yield _lines(text, place, begin)
            yield self._alike(rows, text[begin:end])
            place = end
        if not found:
            yield block
        elif place < len(text):
            yield _lines(text, place, len(text))

    def _text(self, block: bytes) -> str:
        """The text of a block, if alike graphs are looked for in it."""
        if self._odd > ODD_BLOCKS or len(block) > self._most:
            return ""
        try:
            text = block.decode()
        except UnicodeDecodeError:
            return ""
        return "" if _is_odd(text) else text

    def _found(self, text: str) -> list[tuple[int, int, list[Row]]]:
        """The graphs like those of the block before, or else like the first one of this block."""
        found = list(self._pattern.in_lines(text)) if self._pattern is not None else []
        if not found and (pattern := self._of_first(text)) is not None:
            self._pattern = pattern
            found = list(pattern.in_lines(text))
        return found

    def _of_first(self, text: str) -> LinePattern | None:
        """The pattern of the first graph of a text."""
        mark = f" {self._time_property} "
        time = text.find(mark)
        first = text.rfind("\n", 0, max(time, 0)) + 1
        next_time = text.find(mark, time + 1)
        end = text.find("\n", text.find("\n", next_time) + 1) + 1  # a statement of the next graph follows
        if time < 0 or next_time < 0 or text.count("\n", first, end) > MOST + 3:
            return None
        statements = statements_of(text[first:end].encode())
        graph = whole_graph(statements, 0, self._time_property) if statements else None
        if not statements or graph is None:
            return None
        return LinePattern.of(graph[2], self._time_property, statements[0].split(" ", 2)[2])

    def _alike(self, rows: list[Row], text: str) -> AlikeGraphs:
        assert self._pattern is not None
        *whole, next_one = rows
        names, times, *_ = zip(*whole, strict=True)
        return AlikeGraphs(list(names), list(times), self._pattern.columns(whole), next_one[0], text.encode())


def _lines(text: str, begin: int, end: int) -> bytes:
    """A part of a text, after as many line breaks as stand before it: errors name the line."""
    return b"\n" * text.count("\n", 0, begin) + text[begin:end].encode()
