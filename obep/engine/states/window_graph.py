"""A window as a graph that groups are evaluated over: its triples, and what follows from them with K."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from obep.abstraction.matcher import Matcher
from obep.abstraction.windows.window_closure import Change, Until, WindowClosure
from obep.algebra.dataset import Graph
from obep.algebra.select_node import evaluate
from obep.algebra.translate import translate
from obep.engine.event_run import EventRun
from obep.engine.states.state_run import StateRun
from obep.engine.states.window_changes import Followed
from obep.engine.states.window_contents import Dated, TimeContent, content_of
from obep.engine.states.window_occurrences import WindowOccurrences
from obep.formats.stream_reader import as_sent
from obep.formats.units import equation
from obep.model import Assertion, DeadLetter, Item, Occurrence, Term, Triple, convert
from obep.ontology.closure.expiring_closure import NEVER
from obep.operators.state_values import Pack, Unpack
from obep.output.rdf_writer import triples as triples_of
from obep.plan.plan import EventPlan
from obep.query import ast
from obep.query.free_variables import variables


class WindowGraph(EventRun):
    """One window, for all groups that look at it."""

    timed = True
    wants_items = True
    counts_items = False

    def __init__(self, window: ast.Window, matcher: Matcher, counted: tuple[str, ...] | None = None) -> None:
        """`counted`: the parameters of its event, where a group asks for its occurrences."""
        self.plan = EventPlan(f"GRAPH <{window.name}>", window.name, 0)
        self.name = window.name
        self._window, self._stream = window, window.stream
        self._statements = matcher.statements
        nodes = partial(nodes_by, _Keyed(window.by)) if window.by else None
        self._content = content_of(window, self, nodes)
        self.in_turn = self._content.in_turn and not self.counts_items
        self.takes_by_time = isinstance(self._content, TimeContent)
        self.triples: dict[Triple, Dated] = {}
        """What it holds, with what has said it last."""
        self._again: dict[Triple, int] = {}
        """How often more than once, for what is said more than once."""
        self._closure = WindowClosure(matcher, self.triples, self._until())
        self._refuses = window.kind == "latest"
        self.watchers: list[Callable[[], None]] = []
        """Called when an item has come, or something has changed."""
        self.groups: list[tuple[StateRun, Callable[[], None]]] = []
        """The same for states: those that are `unsettled`, or that a change concerns."""
        self._followers: list[Followed[Triple]] = []
        self._changed = False
        self._now = 0
        self.left: tuple[int, list[Triple]] = (0, [])
        """An instant, and the triples that left at it."""
        self.step = window.step.micros if window.step is not None else None
        self.fed: int | None = None
        """When the last item came."""
        self._came: list[Item] = []
        """The items of the instant."""
        self._from_events: list[Occurrence] = []
        self.occurrences = None if counted is None else WindowOccurrences(counted)

    def _until(self) -> Until | None:
        """When its triples leave, where that is known and all that leave at an instant leave together."""
        return None

    @property
    def heads(self) -> Iterable[Term]:
        return ()

    def routes(self) -> Iterator[tuple[Term, Callable[[Occurrence], None]]]:
        if self._window.event is not None:
            yield self._window.event.iri, self._from_events.append

    def close(self, at: int, items: Sequence[Item]) -> Sequence[Occurrence]:
        if self._window.event is None:
            stream, admit = self._stream, self._statements.admit
            admitted = [
                one for item in items if item.stream == stream and isinstance(one := admit(item), Item)
            ]
        else:
            admitted = []
            for event in self._from_events:
                name = "" if self.occurrences is None else self.occurrences.take(event)
                item = Item("", at, tuple(triples_of(event)), name)
                if isinstance(one := self._statements.admit(item), Item):
                    admitted.append(one)
                else:
                    self.went(item)
            self._from_events.clear()
        if len(admitted) > 1 and not all(one.at < other.at for one, other in pairwise(admitted)):
            admitted.sort(key=lambda item: (item.at, sorted(item.triples)))
        if admitted:
            self.fed = admitted[-1].at
        self._changed = False
        self._now, self.left, self._came = at, (at, []), admitted
        self._content.take(at, admitted)
        if admitted or self._changed:
            for watcher in self.watchers:
                watcher()
            for run, touch in self.groups:
                if run.unsettled or (self._changed and run.concerned):
                    touch()
        return ()

    def next_deadline(self) -> int | None:
        return self._content.next_change()

    # --- changes from its content

    def enter(self, gone: Sequence[Triple], new: Sequence[Triple], by: Dated) -> bool:
        """Triples of an instant come, in place of others."""
        if len(new) == 1 and len(gone) == 1 and not self._again and self._replace(gone[0], new[0], by):
            return True
        if gone != new:
            # What goes and comes again is said twice in between, and so is there all the time.
            came = [triple for triple in new if self._add(triple, by)]
            went = {triple: last for triple in gone if (last := self._remove(triple)) is not None}
            if went or came:
                change = self._closure.change(went, came)
                if self._refuses and not self._closure.consistent:
                    for triple in gone:
                        self._add(triple, went.get(triple, by))
                    for triple in new:
                        self._remove(triple)
                    self._closure.change(came, went)
                    return False
                self._tell(*change, leaving=False)
        self.date(new, by)
        return True

    def _replace(self, gone: Triple, new: Triple, by: Dated) -> bool:
        """A triple in place of one other; false, and nothing is done, if more than these may change."""
        triples = self.triples
        if new in triples:
            return False
        found = self._closure.replace(gone, new)
        if found is None:
            return False
        del triples[gone]
        triples[new] = by
        self._changed = True
        for one in self._followers:
            one.take(found, self._now, False)
        return True

    def leave(self, triples: Sequence[Triple]) -> None:
        """Triples leave by time or number."""
        went = [triple for triple in triples if self._remove(triple) is not None]
        if went:
            self.left[1].extend(went)
            self._tell(*self._closure.change(went, ()), leaving=True)

    def date(self, triples: Iterable[Triple], by: Dated) -> None:
        """Triples that are there were last said by something else."""
        for triple in triples:
            self.triples[triple] = by

    def _add(self, triple: Triple, by: Dated) -> bool:
        """A triple is said once more; whether it was not there."""
        if triple in self.triples:
            self._again[triple] = self._again.get(triple, 0) + 1
            return False
        self.triples[triple] = by
        return True

    def _remove(self, triple: Triple) -> Dated | None:
        """A triple is said once less; what said it last, if it is no longer there."""
        more = self._again.pop(triple, 0)
        if more > 1:
            self._again[triple] = more - 1
        return None if more else self.triples.pop(triple)

    def _tell(self, found: list[Change], again: list[Change], *, leaving: bool) -> None:
        self._changed = True
        for one in self._followers:
            one.take(found if one.with_k or not again else [*found, *again], self._now, leaving)

    def refuse(self, item: Item) -> None:
        """An item would make it contradict T and K (D42): it is one for all else."""
        if self.on_dead_letter is not None:
            words = self._closure.contradiction(item.triples)
            reason = f"with this item the window <{self.name}> would contradict the ontology: {words}"
            self.on_dead_letter(DeadLetter(item.stream, item.at, "OBEP621", reason, as_sent(item)))

    def came(self, item: Item) -> None:
        """A whole item is there."""
        if self.occurrences is not None:
            self._changed = True
            self.occurrences.came(item, self._now)

    def went(self, item: Item) -> None:
        """A whole item has left, or will never be there."""
        if self.occurrences is not None:
            self._changed = True
            self.occurrences.went(item, self._now)

    # --- the graphs

    def follow(self, feed: Callable[[list[Change]], None], *, with_k: bool) -> Followed[Triple]:
        """The changes from now on, for one that knows what is there."""
        followed = Followed[Triple](with_k, feed, self._followers.remove)
        self._followers.append(followed)
        return followed

    def match(self, s: Term | None, p: Term | None, o: Term | None) -> Iterable[Triple]:
        """The window with K, closed under T: the default graph of `ON <w>`."""
        return self._closure.graph.match(s, p, o)

    def match_new(self, s: Term | None, p: Term | None, o: Term | None) -> Iterator[Triple]:
        """What the window says, and what it adds to K (D14): the graph of `WINDOW <w>`."""
        return self._closure.match_new(s, p, o)

    def explain(self, triple: Triple) -> list[Assertion]:
        """What it says, as little as can be, from which a triple follows with K."""
        return [self.said(one) for one in self._closure.explain(triple)]

    def match_said_at(self, s: Term | None, p: Term | None, o: Term | None, at: int) -> Iterable[Triple]:
        """What matches and may follow from what was said at an instant."""
        if not self._closure.only_said(p):
            return self.match(s, p, o)
        said = [one for item in self._came for one in item.triples if one in self.triples]
        return _Said(said if self._now == at else ()).match(s, p, o)

    def said(self, triple: Triple) -> Assertion:
        """A triple that it holds or K says, as explanations have it."""
        last = self.triples.get(triple)
        if last is None:
            return (triple, None)
        sent = dict(last.converted)
        return convert((triple, last.at), equation(sent[triple], triple[2]) if triple in sent else "")

    def before(self, at: int, *, new: bool) -> Graph:
        """The graph as if nothing had left at an instant; `new`: that of `WINDOW <w>`."""
        return self._closure.with_more(self.left[1] if self.left[0] == at else (), new=new)

    @property
    def consistent(self) -> bool:
        """Whether its triples do not contradict T and K."""
        return self._closure.consistent

    def size(self) -> int:
        return len(self.triples)

    def dump(self, pack: Pack) -> Any:
        counted = None if self.occurrences is None else self.occurrences.dump()
        return [self._content.dump(pack), pack(self._from_events), self.fed, counted]

    def load(self, data: Any, unpack: Unpack) -> None:
        content, events, self.fed, counted = data
        went = [*self.triples]
        self.triples.clear()
        self._tell(*self._closure.change(went, (), NEVER), leaving=False)
        self._again.clear()
        if self.occurrences is not None:
            self.occurrences.load(counted)
        self._content.load(content, unpack)
        self._from_events[:] = unpack(events)
        self.left = (0, [])


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
