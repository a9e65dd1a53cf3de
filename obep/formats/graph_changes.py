"""Changes of the static graph as records: added and removed graphs, or SPARQL INSERT DATA and DELETE DATA.

In: `{"time": …, "insert": Turtle, "delete": Turtle}` or `{"time": …, "update": "INSERT DATA { … }"}`. Out: an
item whose `triples` come and whose `removed` triples go. Other forms of SPARQL Update are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import msgspec

from obep.formats.input_limits import Refused
from obep.formats.nesting import check_turtle
from obep.formats.rdf_text import item_triples, read_turtle
from obep.formats.stream_reader import Reading
from obep.model import Item, Triple

UNREADABLE = "OBEP821"


class ChangeRecord(msgspec.Struct):
    """A record that changes the static graph."""

    insert: str | None = None
    delete: str | None = None
    update: str | None = None
    time: int | float | str | None = None
    stream: str | None = None
    id: str = ""

    @property
    def is_one(self) -> bool:
        """Whether it says a change at all."""
        return not (self.insert is self.delete is self.update is None)


_record = msgspec.json.Decoder(ChangeRecord).decode
_TOKEN = re.compile(
    r"""(?P<space>\s+|\#[^\n\r]*)
    |(?P<iri><[^\s<>"{}|^`\\]*>)
    |\"\"\"(?:[^"\\]|\\.|"(?!""))*\"\"\"|'''(?:[^'\\]|\\.|'(?!''))*'''
    |"(?:[^"\\\n\r]|\\.)*"|'(?:[^'\\\n\r]|\\.)*'
    |(?P<sign>[{};])
    |(?P<word>[^\s{};"'<\#]+)
    |.""",
    re.VERBOSE | re.DOTALL,
)
"""A piece of SPARQL Update: enough to know where a block of data ends."""


def read_change(line: bytes, reading: Reading) -> Item | None:
    """The change in one record; nothing if the record says none."""
    try:
        record = _record(line)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    if not record.is_one:
        return None
    stream, at = reading.named(record.stream), reading.instant(record.time)
    prologue = reading.prologue
    if record.update is not None:
        if record.insert is not None or record.delete is not None:
            raise Refused(UNREADABLE, "update stands beside insert or delete; a record has one or the other")
        come, gone = read_update(prologue + record.update, reading.limits.nesting)
    else:
        gone = _read(prologue + (record.delete or ""), reading.limits.nesting)
        come = _read(prologue + (record.insert or ""), reading.limits.nesting)
    require_named(gone)
    triples = item_triples(come, stream, at, line)
    return Item(stream, at, triples, f"<{record.id}>" if record.id else "", line, tuple(dict.fromkeys(gone)))


def require_named(triples: Iterable[Triple]) -> None:
    """Refuse blank nodes in what is to go: none of them is one of the static graph's."""
    for s, _, o in triples:
        if s[0] == "_" or o[0] == "_":
            raise Refused(
                UNREADABLE,
                "a blank node in what is to be deleted: it is private to its graph, so it names nothing of "
                "the static graph; give what changes an IRI",
            )


def read_update(text: str, nesting: int) -> tuple[list[Triple], list[Triple]]:
    """The triples that come, and those that go, after all INSERT DATA and DELETE DATA of a text.

    >>> read_update("DELETE DATA { <urn:a> <urn:p> 1 } ; INSERT DATA { <urn:a> <urn:p> <urn:b> }", 100)[0]
    [('<urn:a>', '<urn:p>', '<urn:b>')]
    """
    come: dict[Triple, None] = {}
    gone: dict[Triple, None] = {}
    for form, body in _operations(text):
        (to, other) = (come, gone) if form == "insert" else (gone, come)
        for triple in _read(body, nesting):
            to[triple] = None
            other.pop(triple, None)
    return [*come], [*gone]


def _operations(text: str) -> Iterator[tuple[str, str]]:
    """Each INSERT DATA and DELETE DATA with its triples, as Turtle with the prefixes of the text."""
    pieces = [piece for piece in _TOKEN.finditer(text) if piece.lastgroup != "space"]
    prologue, place = "", 0

    def word(at: int) -> str:
        return pieces[at][0].lower() if at < len(pieces) else "the end"

    while place < len(pieces):
        first = word(place)
        if first in ("prefix", "@prefix", "base", "@base"):
            length = 3 if first.endswith("prefix") else 2
            declared = pieces[place + 1 : place + length]
            prologue += " ".join((first.lstrip("@"), *(piece[0] for piece in declared))) + "\n"
            place += length + (first[0] == "@" and word(place + length) == ".")
        elif first == ";":
            place += 1
        elif first in ("insert", "delete") and word(place + 1) == "data" and word(place + 2) == "{":
            end = _end(pieces, place + 3)
            body = _joined(pieces[place + 3 : end])
            yield first, f"{prologue}{body}{'' if body.endswith('.') or not body else ' .'}"
            place = end + 1
            if word(place) not in (";", "the end"):
                raise _unreadable(word(place))
        else:
            raise _unreadable(f"{first} {word(place + 1)}" if place + 1 < len(pieces) else first)


def _joined(pieces: list[re.Match[str]]) -> str:
    """The text of some pieces, without comments; what stood together does so still."""
    found, end = "", -1
    for piece in pieces:
        found += piece[0] if piece.start() == end else f" {piece[0]}"
        end = piece.end()
    return found


def _end(pieces: list[re.Match[str]], place: int) -> int:
    for at in range(place, len(pieces)):
        if pieces[at][0] == "}":
            return at
        if pieces[at][0] == "{":
            raise Refused(UNREADABLE, "a graph in the data: the static graph is one graph, and has no name")
    raise Refused(UNREADABLE, "the data has no closing brace")


def _unreadable(found: str) -> Refused:
    return Refused(
        UNREADABLE,
        f"{found[:40]!r} is neither INSERT DATA {{ … }} nor DELETE DATA {{ … }}; other forms of SPARQL "
        "Update are not taken",
    )


def _read(text: str, nesting: int) -> list[Triple]:
    if not text:
        return []
    check_turtle(text.encode(), nesting)
    return read_turtle(text)
