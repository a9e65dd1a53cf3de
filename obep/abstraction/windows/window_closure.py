"""The triples of a window, with K, closed under T and kept so while triples come and go.

In: triples that come, triples that go. Out: the triples that follow and did not follow before, and those that
no longer do; and the graph, to look things up in. Where the rules do not decide everything that groups ask
for, or compare literals by their values, the whole is closed again when it is read, and there are no
changes to give.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from functools import cached_property

from obep.abstraction.graph_matcher import ItemGraph
from obep.abstraction.guard_graphs import Closed, ClosedGraph
from obep.abstraction.matcher import Matcher
from obep.abstraction.windows.incremental_reasons import Matching, why_closed_anew
from obep.abstraction.windows.window_names import WindowNames
from obep.algebra.dataset import Graph
from obep.model import RDF_TYPE, Term, Triple
from obep.ontology.closure.backwards import Fact
from obep.ontology.closure.expiring_closure import Lasting
from obep.ontology.closure.maintained_closure import Maintained
from obep.ontology.owl.axioms import SAME_AS

Change = tuple[Triple, bool]
"""A triple, and whether it has come or gone."""
Until = Callable[[Triple], int]
"""When a triple leaves a window."""
MOST_NEAR = 40
"""Triples that are looked through for what an inferred one follows from."""


class WindowClosure:
    """The triples of a window and all that they entail."""

    def __init__(self, matcher: Matcher, said: Collection[Triple], until: Until | None = None) -> None:
        """`said` are the triples of the window; they change right before each `change`.

        `until`: when each of them leaves, where that is known. Then facts expire, and are not looked at again
        when triples leave.
        """
        self._matcher, self._said, self._until = matcher, said, until
        bundle = matcher.bundle
        self._names = WindowNames(bundle)
        self.kept = why_closed_anew(bundle) is None
        """Whether it is kept, and `change` says what has changed."""
        program, store = bundle.lower_asserted, bundle.lower.store
        self._facts = Lasting(program, store) if until is not None else Maintained(program, store)
        self._static_ids = bundle.lower.store.ids
        self._apart = self._names.apart
        """Triples that entail nothing are not among the facts until a lookup needs them."""
        self._graph: ClosedGraph | None = None
        self._explains = False
        """Whether `_nodes` are kept."""

    @property
    def apart_data(self) -> Collection[Term]:
        """Properties from whose triples with literals nothing but themselves follows."""
        return self._names.apart[1]

    def change(
        self,
        gone: Collection[Triple],
        new: Collection[Triple],
        at: int = 0,
        again: Collection[Triple] = (),
    ) -> tuple[list[Change], list[Change]]:
        """Triples that are there go, then others come.

        Where triples leave by time: `gone` are those that leave by `at`, and `again` others that stay longer
        than was said before.

        Gives what no longer follows and what now does, beyond K; and which of these triples K has, too.
        """
        if self._explains:
            for triple in gone:
                _take(self._nodes, triple)
            for triple in new:
                _put(self._nodes, triple)
        if not self.kept:
            self._graph = None
            return [], []
        found: list[Change] = []
        of_k: list[Change] = []
        less = self._sort(gone, False, found, of_k) if gone else []
        more = self._sort(new, True, found, of_k) if new else []
        if less or more or again:
            if any(self._apart) and any(triple[1] == SAME_AS for triple in more):
                self._gather([*(one for one in self._said if one not in new), *gone])
                return self.change(gone, new, at, again)
            more += [triple for triple in again if self._is_apart(triple) is None]
            found += self._facts_changed(less, more, at)
        return found, of_k

    def replace(self, gone: Triple, new: Triple) -> list[Change] | None:
        """The effect of replacing a triple by another, if no other triple changes; else None."""
        s, p, o = new
        other, name, value = gone
        of = self._apart[1 if o[0] == '"' else 0]
        seen = of.get(p)
        if (
            seen is None
            or name != p
            or (value[0] == '"') != (o[0] == '"')
            or s in self._static_ids
            or other in self._static_ids
            or self._explains
            or not self.kept
        ):
            return None
        return [(gone, False), (new, True)] if seen else []

    def _is_apart(self, triple: Triple) -> bool | None:
        """Whether groups see a triple of which nothing but itself follows; `None`: it is among the facts."""
        _, p, o = triple
        roles, data = self._apart
        return (data if o[0] == '"' else roles).get(p)

    def _sort(
        self, triples: Iterable[Triple], there: bool, found: list[Change], again: list[Change]
    ) -> list[Triple]:
        """Split triples into those that change nothing else and those among the facts."""
        facts = []
        static = self._static_ids
        for triple in triples:
            s = triple[0]
            seen = self._is_apart(triple)
            if seen is None:
                facts.append(triple)
            if s in static and self._is_static(triple):
                again.append((triple, there))
            elif seen:
                found.append((triple, there))
        return facts

    def _gather(self, said: Iterable[Triple]) -> None:
        """From now on all triples, beginning with these, are among the facts."""
        some = [one for one in said if self._is_apart(one) is not None]
        self._apart = ({}, {})
        self._insert(some)

    def _facts_changed(self, gone: Sequence[Triple], new: Sequence[Triple], at: int) -> Iterator[Change]:
        facts = self._facts
        went = facts.remove(gone) if isinstance(facts, Maintained) else facts.drop(at)
        less = {triple: None for fact in went for triple in self._triples(fact)}
        more = {triple: None for fact in self._insert(new) for triple in self._triples(fact)}
        yield from ((triple, False) for triple in less if triple not in more)
        yield from ((triple, True) for triple in more if triple not in less)

    def _insert(self, triples: Iterable[Triple]) -> list[Fact]:
        facts, until = self._facts, self._until
        if isinstance(facts, Maintained):
            return facts.insert(triples)
        assert until is not None, "facts expire if triples do"
        return facts.add([(triple, until(triple)) for triple in triples])

    def _triples(self, fact: Fact) -> Iterator[Triple]:
        """A fact as groups see it."""
        facts, witnesses = self._facts, self._facts.program.witnesses
        if fact[1] in witnesses or fact[-1] in witnesses:
            return
        if len(fact) == 2:
            for name in self._names.of_concept.get(fact[0], ()):
                yield facts.term(fact[1]), RDF_TYPE, name
            return
        for name, backwards in self._names.of_relation.get(fact[0], ()):
            a, b = facts.term(fact[1]), facts.term(fact[2])
            yield (b, name, a) if backwards else (a, name, b)

    def _is_static(self, triple: Triple) -> bool:
        """Whether K alone says it, or has it follow."""
        store = self._facts.store
        x = store.ids.get(triple[0])
        if x is None:
            return False
        if triple[1] == RDF_TYPE:
            c = self._names.classes.get(triple[2])
            return c is not None and c in store.types[x]
        y = store.ids.get(triple[2])
        if y is None or triple[1] not in self._names.relations:
            return False
        relation, backwards = self._names.relations.of(triple[1])
        return store.has_edge(relation, *((y, x) if backwards else (x, y)))

    @property
    def consistent(self) -> bool:
        """Whether the rules find no contradiction."""
        return self._facts.contradictions == 0 if self.kept else self.graph.consistent

    @property
    def graph(self) -> ClosedGraph:
        """The window with K, closed under T."""
        if self._graph is None:
            bundle, facts = self._matcher.bundle, self._facts
            if not self.kept:
                said = [*self._said]
                self._graph = ClosedGraph(bundle, said, with_k=True, facts=self._matcher.facts)
            else:
                self._gather(self._said)
                self._graph = ClosedGraph(bundle, self._said, with_k=True, sure=Closed(facts, facts.ids))
        return self._graph

    @cached_property
    def static(self) -> ClosedGraph:
        """K alone, closed under T."""
        return ClosedGraph(self._matcher.bundle, (), with_k=True, facts=self._matcher.facts)

    def contradiction(self, item: Sequence[Triple]) -> str:
        """Describe how an item contradicts T, K and the triples of the window about the same individuals."""
        names = {term for triple in item for term in (triple[0], triple[2])}
        near = [one for one in self._said if one[0] in names or one[2] in names]
        template, shape = self._matcher.evaluate_union(sorted({*near, *item}), item)
        clash = [*(shape.triples[n] for n in template.clash or ()), *template.static_clash]
        return (
            self._matcher.contradictions.contradiction(clash) if clash else "together with all that it holds"
        )

    def explain(self, triple: Triple) -> list[Triple]:
        """As few triples of the window as can be from which a triple follows with K.

        Only those near its terms are looked at; where there are very many of them it gives nothing.
        """
        near, matcher = self._near(triple), self._matcher
        graph = ItemGraph(matcher.bundle, near, self.static, matcher.facts)
        if len(near) > MOST_NEAR or not any(True for _ in graph.match(*triple)):
            return []
        return [one for one, _ in graph.explain(triple, 0)]

    def _near(self, triple: Triple) -> list[Triple]:
        """The triples around the terms of a triple, step by step."""
        found: dict[Triple, None] = {}
        waiting, seen = [triple[0], triple[2]], {triple[0], triple[2]}
        while waiting and len(found) <= MOST_NEAR:
            term = waiting.pop(0)
            for one in self._nodes.get(term, ()):
                found[one] = None
                more = {one[0], one[2]} - seen if one[1] != RDF_TYPE else set()
                waiting += [name for name in sorted(more) if name[0] != '"']
                seen |= more
        return list(found)

    @cached_property
    def _nodes(self) -> dict[Term, dict[Triple, None]]:
        """The triples of the window by subject and object; kept from the first question on."""
        self._explains = True
        found: dict[Term, dict[Triple, None]] = {}
        for triple in self._said:
            _put(found, triple)
        return found

    def only_said(self, predicate: Term | None) -> bool:
        """Whether triples of a property are there only if the window says them."""
        program = self._facts.program
        tables = [
            pair
            for pair in zip(self._apart, (program.roles, program.data), strict=True)
            if predicate in pair[1]
        ]
        return bool(tables) and all(predicate in apart for apart, _ in tables)

    def match_new(self, s: Term | None, p: Term | None, o: Term | None) -> Iterator[Triple]:
        """Match the triples of the window and those that it adds to K (D14)."""
        return self._new(self._said, self.graph.match(s, p, o))

    def _new(self, said: Container[Triple], found: Iterable[Triple]) -> Iterator[Triple]:
        for triple in dict.fromkeys(found):
            if triple in said or not any(True for _ in self.static.match(*triple)):
                yield triple

    def with_more(self, triples: Iterable[Triple], *, new: bool) -> Graph:
        """The graph as if these were there, too; `new`: without what K says."""
        said = dict.fromkeys((*self._said, *triples))
        closed = ClosedGraph(self._matcher.bundle, [*said], with_k=True, facts=self._matcher.facts)
        return Matching(lambda s, p, o: self._new(said, closed.match(s, p, o))) if new else closed


def _put(nodes: dict[Term, dict[Triple, None]], triple: Triple) -> None:
    for term in (triple[0], triple[2]):
        nodes.setdefault(term, {})[triple] = None


def _take(nodes: dict[Term, dict[Triple, None]], triple: Triple) -> None:
    for term in {triple[0], triple[2]} & nodes.keys():
        nodes[term].pop(triple, None)
        if not nodes[term]:
            del nodes[term]
