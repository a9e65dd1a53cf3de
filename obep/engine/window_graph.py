"""A window as a graph that groups are evaluated over: its triples, and what follows from them with K."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from obep.abstraction.guard_graphs import ClosedGraph
from obep.abstraction.matcher import Matcher
from obep.algebra.select_node import evaluate
from obep.algebra.translate import translate
from obep.engine.event_run import Running
from obep.engine.window_contents import content_of
from obep.model import Item, Occurrence, Term, Triple
from obep.operators.state_values import Pack, Unpack
from obep.plan.plan import EventPlan
from obep.query import ast
from obep.query.free_variables import variables


class WindowGraph(Running):
    """One window, for all groups that look at it."""

    timed = True
    wants_items = True

    def __init__(self, window: ast.Window, matcher: Matcher) -> None:
        self.plan = EventPlan(f"GRAPH <{window.name}>", window.name, 0)
        self.name = window.name
        self._window, self._matcher = window, matcher
        nodes = partial(nodes_by, _Keyed(window.by)) if window.by else None
        self._content = content_of(window, nodes)
        self._counts: Counter[Triple] = Counter()
        self.triples: dict[Triple, None] = {}
        """What it holds, each triple once."""
        self.seen: dict[Triple, int] = {}
        """When each of them was last said."""
        self.watchers: list[Callable[[], None]] = []
        self._changed = False
        self.left: tuple[int, list[Triple]] = (0, [])
        """An instant, and the triples that left at it."""
        self.step = window.step.micros if window.step is not None else None
        self.fed: int | None = None
        """When the last item came."""
        self._closed: ClosedGraph | None = None
        self._static: ClosedGraph | None = None
        self._from_events: list[Occurrence] = []

    @property
    def heads(self) -> Iterable[Term]:
        return ()

    def routes(self) -> Iterator[tuple[Term, Callable[[Occurrence], None]]]:
        if self._window.event is not None:
            yield self._window.event.iri, self._from_events.append

    def close(self, at: int, items: Sequence[Item]) -> Sequence[Occurrence]:
        mine = [item for item in items if item.stream == self._window.stream and not self._window.event]
        if self._from_events:
            from obep.output.rdf_writer import triples

            mine = [Item("", at, tuple(triples(one))) for one in self._from_events]
            self._from_events.clear()
        admitted = [one for item in mine if isinstance(one := self._matcher.statements.admit(item), Item)]
        admitted.sort(key=lambda item: sorted(item.triples))
        for item in admitted:
            self.seen.update(dict.fromkeys(item.triples, at))
        if admitted:
            self.fed = at
        self._content.take(at, admitted)
        self.left = (at, [*self._content.left])
        self._content.left.clear()
        self._settle()
        if admitted or self._changed:
            for watcher in self.watchers:
                watcher()
        return ()

    def _settle(self) -> None:
        """Make the graph that of the content."""
        change, self._content.change = self._content.change, Counter()
        self._changed = False
        for triple, by in change.items():
            if by:
                before = self._counts[triple]
                after = self._counts[triple] = before + by
                if after and not before:
                    self.triples[triple] = None
                    self._changed = True
                elif before and not after:
                    del self.triples[triple], self._counts[triple]
                    self.seen.pop(triple, None)
                    self._changed = True
        if self._changed:
            self._closed = None

    def next_deadline(self) -> int | None:
        return self._content.next_change()

    # --- the graphs

    def match(self, s: Term | None, p: Term | None, o: Term | None) -> Iterable[Triple]:
        """The window with K, closed under T: the default graph of `ON <w>`."""
        return self._graph.match(s, p, o)

    @property
    def _graph(self) -> ClosedGraph:
        if self._closed is None:
            matcher = self._matcher
            self._closed = ClosedGraph(matcher.bundle, [*self.triples], with_k=True, facts=matcher.facts)
        return self._closed

    def match_new(self, s: Term | None, p: Term | None, o: Term | None) -> Iterator[Triple]:
        """What the window says, and what it adds to K (D14): the graph of `WINDOW <w>`."""
        if self._static is None:
            self._static = ClosedGraph(self._matcher.bundle, (), with_k=True, facts=self._matcher.facts)
        for triple in dict.fromkeys(self.match(s, p, o)):
            if triple in self.triples or not any(True for _ in self._static.match(*triple)):
                yield triple

    def before(self, at: int) -> ClosedGraph:
        """The graph as if nothing had left at an instant."""
        left = self.left[1] if self.left[0] == at else []
        triples = [*dict.fromkeys((*self.triples, *left))]
        return ClosedGraph(self._matcher.bundle, triples, with_k=True, facts=self._matcher.facts)

    @property
    def consistent(self) -> bool:
        """Whether its triples do not contradict T and K."""
        return self._graph.consistent

    def size(self) -> int:
        return len(self.triples)

    def dump(self, pack: Pack) -> Any:
        return [self._content.dump(pack), list(self.seen.items()), pack(self._from_events), self.fed]

    def load(self, data: Any, unpack: Unpack) -> None:
        self._content.load(data[0], unpack)
        self._counts.clear()
        self.triples.clear()
        self._from_events[:] = unpack(data[2])
        self._settle()
        self.seen = {tuple(triple): at for triple, at in data[1]}
        self.fed = data[3]


class New:
    """The graph of `WINDOW <w>`."""

    def __init__(self, window: WindowGraph) -> None:
        self.match = window.match_new


class _Keyed:
    """The pattern of LATEST BY, made ready: the node is the subject of its first triple."""

    def __init__(self, patterns: tuple[ast.TriplePattern, ...]) -> None:
        subject = patterns[0].subject
        self.node = subject.name if isinstance(subject, ast.Var) else ""
        self.query = translate(ast.Group((ast.Bgp(patterns),)))
        self.names = [name for name in variables(*patterns) if name != self.node]


class _Said:
    """The triples of one item as a dataset."""

    def __init__(self, triples: Sequence[Triple]) -> None:
        self._triples = triples

    def match(self, s: Term | None, p: Term | None, o: Term | None) -> Iterator[Triple]:
        for triple in self._triples:
            if s in (None, triple[0]) and p in (None, triple[1]) and o in (None, triple[2]):
                yield triple


def nodes_by(keyed: _Keyed, item: Item) -> Iterator[tuple[tuple[Term, ...], Term]]:
    """The nodes of an item, each after the values of the other variables."""
    dataset: Any = _Said(item.triples)
    columns = keyed.query.columns
    for row in evaluate(keyed.query, dataset, item.at):
        values = dict(zip(columns, row, strict=True))
        yield tuple(values[name] or "" for name in keyed.names), values[keyed.node] or ""
