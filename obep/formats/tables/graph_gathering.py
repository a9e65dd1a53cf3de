"""Statements of N-Quads and TriG gathered into graphs, and graphs made into items.

A graph is complete when a statement of another one comes and its time is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from obep.formats.input_limits import Refused
from obep.formats.rdf_text import item_triples, localise
from obep.formats.stream_reader import Reading, dead
from obep.formats.tables.alike_lines import AlikeGraphs
from obep.formats.tables.quad_blocks import whole_graph
from obep.model import DeadLetter, Item, Term, Triple

if TYPE_CHECKING:
    from obep.formats.tables.record_blocks import RecordBlock

REMEMBERED = 100_000
"""At least so many names of complete graphs are kept, to notice a graph that continues later."""
Together = Callable[[AlikeGraphs], "RecordBlock | None"]
"""Makes a block of graphs; `None` if they must be items."""
Found = Iterator["Item | DeadLetter | RecordBlock"]


class Graph:
    """A graph that is being read; one over the limit, or with an error, keeps only the reason."""

    __slots__ = ("refused", "size", "triples")

    def __init__(self) -> None:
        self.triples: list[Triple] = []
        self.size = 0
        self.refused: Refused | None = None


class Gathering:
    """Gathers statements into items; `add` and `finish` give those that are complete."""

    def __init__(self, reading: Reading, together: Together | None = None) -> None:
        self._reading = reading
        self._together = together
        self._most = reading.limits.item_bytes
        self._open: dict[Term, Graph] = {}
        self._times: dict[Term, str] = {}
        self._lone: Graph | None = Graph()
        self._current: Term = ""
        self._complete: set[Term] = set()
        self._complete_before: set[Term] = set()
        """Names of complete graphs, the latest and those before them."""
        self._error_after: Term | None = None
        self._left: tuple[Term, int] = ("", 0)

    def add(self, statement: str) -> Iterable[Item | DeadLetter]:
        """Takes a statement as it prints: three terms, and a graph if it has one."""
        s, p, o = statement.split(" ", 2)
        head, _, name = o.rpartition(" ")
        if head and name == self._current and self._error_after is None and (graph := self._open.get(name)):
            graph.size += len(statement)  # most statements are of the graph before them
            if graph.size <= self._most:
                graph.triples.append((s, p, head))
            else:
                self._grow(graph, (s, p, head), 0)
            return ()
        return self._add(s, p, o, statement)

    def add_block(self, statements: Sequence[str]) -> Found:
        """Takes statements without blank nodes that follow each other; the same as `add` for each."""
        place, count, reading = 0, len(statements), self._reading
        while place < count:
            spoilt = self._error_after is not None
            whole = None if spoilt else whole_graph(statements, place, reading.time_property)
            if whole is None or not self._is_new(whole[0]) or whole[3] > self._most:
                yield from self.add(statements[place])
                place += 1
                continue
            name, time, triples, _, place = whole
            self._lone = None
            self._current = name
            if self._open:
                yield from self._close()
            self._done((name,))
            try:
                yield Item(reading.stream, reading.instant(time), tuple(dict.fromkeys(triples)), name)
            except Refused:
                yield make_item(triples, reading, name, time)

    def add_alike(self, alike: AlikeGraphs) -> Found | None:
        """Take graphs that are alike; `None`, and none is taken, if they must be items."""
        names = set(alike.names)
        if self._error_after is not None or len(names | {alike.follows}) <= len(alike.names):
            return None
        if not all(map(names.isdisjoint, (self._complete, self._complete_before, self._open, self._times))):
            return None
        reading = self._reading
        if reading.arrival is None and not all(name in self._times for name in self._open):
            return None
        if self._open and reading.source not in reading.notes.settled:
            return None  # the times of those that are open are noted first
        assert self._together is not None
        block = self._together(alike)
        return None if block is None else self._with_block(alike, block)

    def _with_block(self, alike: AlikeGraphs, block: RecordBlock) -> Found:
        """The graphs that are complete when those that are alike begin, and these."""
        self._lone = None
        self._current = alike.names[0]
        yield from self._close()
        self._current = alike.names[-1]
        self._done(alike.names)
        yield block

    def _add(self, s: Term, p: Term, o: Term, statement: str) -> Iterator[Item | DeadLetter]:
        head, _, name = o.rpartition(" ")
        if not head or '"' in name:  # a literal ends in a quote, a language or a datatype: no graph follows
            yield from self._describe((s, p, o))
            return
        self._lone = None
        if name != self._current:
            self._current = name
            yield from self._close()
            if self._is_complete(name):
                reason = f"more statements of {name} after it was complete; sort the input by graph"
                yield dead(Refused("OBEP612", reason), self._reading.stream, statement)
        if self._is_complete(name):
            return
        graph = self._open.get(name) or self._open.setdefault(name, Graph())
        self._grow(graph, (s, p, head), len(statement))
        if self._error_after is not None:
            self._spoil(self._error_after)
            self._spoil(name)
            self._error_after = None

    def refuse(self, statement: str | None, refused: Refused) -> Iterator[Item | DeadLetter]:
        """Takes a statement over a limit, as it prints without its texts; None if it cannot be read."""
        if statement and (name := _graph_of(statement)):
            yield from self.add(statement)
            if (graph := self._open.get(name)) and graph.refused is None:
                graph.refused = refused
            return
        if statement is None:
            self.spoil()
        elif statement and self._lone is not None:
            self._lone.refused = Refused(refused.code, "a statement of it is over the limit")
        yield dead(refused, self._reading.stream, statement or "")

    def cut(self) -> None:
        """Says that the rest is not read; the graph that was being read may have gone on there.

        One that was left for what the default graph says is whole: its statements stand together.
        """
        if not self._is_left():
            self.spoil()

    def _is_left(self) -> bool:
        """Whether the graph that was being read is whole."""
        graph = self._open.get(self._current)
        left = graph is not None and self._left == (self._current, graph.size)
        return left and self._error_after is None

    def spoil(self) -> None:
        """Says that a statement could not be read: it was of the graph before it or of the one after it."""
        self._error_after = self._current
        if self._lone is not None:
            self._lone.refused = Refused("OBEP604", "a statement of it cannot be read")

    def pause(self, left: Sequence[str]) -> Iterator[Item | DeadLetter]:
        """The complete items of an input that may continue; `left` are the unread bytes."""
        if self._is_left():
            self._current = ""
            yield from self._close()
        while self._open and self._is_decided(next(iter(self._open))):
            yield self._item(next(iter(self._open)))
        if left:
            self._reading.leave(left[0])
        if self._open and (len(self._open) > 1 or not left):
            name, behind = next(iter(self._open)), len(self._open) - 1
            held = f", as are {behind} graphs behind it: it has no time"
            self._reading.leave(f"the graph {name}", held if behind and name != self._current else "")
        if not (self._open or left):
            yield from self.finish()

    def _is_decided(self, name: Term) -> bool:
        """Whether a graph is whole and is refused or has its time, also one inside."""
        if name in (self._current, self._error_after):
            return False
        graph, reading = self._open[name], self._reading
        if name in self._times or reading.arrival is not None or graph.refused is not None:
            return True
        return any(p == reading.time_property and o[0] == '"' for _, p, o in graph.triples)

    def finish(self) -> Iterator[Item | DeadLetter]:
        """The items that are left at the end of the input."""
        if self._error_after is not None:
            self._spoil(self._error_after)
        for name in list(self._open):
            yield self._item(name)
        if self._lone is not None and self._lone.triples:
            yield _give(self._lone, self._reading)

    def _describe(self, triple: Triple) -> Iterator[Item | DeadLetter]:
        s, p, o = triple
        if graph := self._open.get(self._current):
            self._left = (self._current, graph.size)
        if self._lone is not None:
            self._grow(self._lone, triple, len(s) + len(p) + len(o))
        if p == self._reading.time_property and o[0] == '"':
            self._times[s] = lexical(o)
            yield from self._close()

    def _grow(self, graph: Graph, triple: Triple, size: int) -> None:
        graph.size += size
        if graph.size <= self._most:
            graph.triples.append(triple)
        elif graph.refused is None:
            graph.triples.clear()
            graph.refused = Refused("OBEP605", f"more than {self._most} bytes, the limit for an item")

    def _spoil(self, name: Term) -> None:
        if name in self._open:
            self._open[name].refused = Refused(
                "OBEP604", "a statement of it, or just before it, cannot be read"
            )

    def _close(self) -> Iterator[Item | DeadLetter]:
        """The graphs that are complete, in the order in which they began: times mostly are in order too."""
        while self._open:
            name = next(iter(self._open))
            known = name in self._times or self._reading.arrival is not None
            if name == self._current or name == self._error_after or not known:
                return
            yield self._item(name)

    def _is_new(self, name: Term) -> bool:
        """Whether nothing is known of a graph, and all others are complete when it begins."""
        if self._is_complete(name) or name in self._open or name in self._times:
            return False
        known = self._reading.arrival is not None or not self._open
        return known or all(one in self._times for one in self._open)

    def _done(self, names: Iterable[Term]) -> None:
        self._complete.update(names)
        if len(self._complete) >= REMEMBERED:
            self._complete_before, self._complete = self._complete, set()

    def _is_complete(self, name: Term) -> bool:
        return name in self._complete or name in self._complete_before

    def _item(self, name: Term) -> Item | DeadLetter:
        self._done((name,))
        return _give(self._open.pop(name), self._reading, name, self._times.pop(name, None))


def _graph_of(statement: str) -> Term:
    """The graph of a statement as it prints; nothing if it has none."""
    head, _, name = statement.rpartition(" ")
    return "" if '"' in name or head.count(" ") < 2 else name


def _give(graph: Graph, reading: Reading, name: Term = "", time: str | None = None) -> Item | DeadLetter:
    if graph.refused is not None:
        reason = f"{name}: {graph.refused.reason}" if name else graph.refused.reason
        return dead(Refused(graph.refused.code, reason), reading.stream, _shown(graph.triples))
    return make_item(graph.triples, reading, name, time)


def make_item(
    found: list[Triple], reading: Reading, name: Term = "", time: str | None = None
) -> Item | DeadLetter:
    """The item of a graph; its time is given, or inside by the time property, or that of its arrival."""
    stream, at = reading.stream, None
    try:
        if time is None:
            times = {lexical(o) for _, p, o in found if p == reading.time_property and o[0] == '"'}
            if len(times) > 1:
                raise Refused("OBEP603", f"the graph has {len(times)} times ({reading.time_property})")
            time = next(iter(times), None)
        at = reading.instant(time)
        # The parser's own labels differ in each run, so what is hashed has labels by order of appearance.
        message = (
            _shown(localise(found, "")).encode()
            if any(s[0] == "_" or o[0] == "_" for s, _, o in found)
            else b""
        )
        return Item(stream, at, item_triples(found, stream, at, message), name if name[:1] == "<" else "")
    except Refused as refused:
        return dead(refused, stream, _shown(found), at)


def lexical(literal: Term) -> str:
    """The lexical form of a literal without escapes, as that of a time is.

    >>> lexical('"3"^^<http://www.w3.org/2001/XMLSchema#integer>')
    '3'
    """
    return literal[1 : literal.rindex('"')]


def _shown(triples: list[Triple] | tuple[Triple, ...]) -> str:
    return "".join(f"{s} {p} {o} .\n" for s, p, o in triples)
