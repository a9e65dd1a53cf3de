"""Items to logical occurrences: which events happened to which individuals, and why.

In: items, and occurrences of composite or guarded events as items of the next stratum. Out: `Matched`, or a
`DeadLetter` for what contradicts T and K. A matcher keeps nothing between items but what it remembers.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Sequence
from functools import cached_property, partial
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from obep.abstraction.answer_templates import Hit, PlainAsks, Template, named
from obep.abstraction.decided_occurrences import DecidedHit, decided_hits, decided_occurrence
from obep.abstraction.guard_answers import Asking
from obep.abstraction.item_statements import Statements
from obep.abstraction.open_facts import OpenFacts
from obep.abstraction.record_decisions import Decisions
from obep.abstraction.shape_answers import Evaluator
from obep.abstraction.shapes import Memory, Shape, Shapes
from obep.abstraction.windows.window_matcher import Together
from obep.formats.input_limits import Refused
from obep.formats.stream_reader import as_sent
from obep.formats.tables.mapped_records import Mapped
from obep.formats.triple_template import Template as Filled
from obep.formats.units import converted_assertions
from obep.guards.block_queries import Ask
from obep.guards.block_solutions import Graphs
from obep.model import (
    RDF_TYPE,
    Assertion,
    DeadLetter,
    EagerOccurrence,
    Item,
    Occurrence,
    Term,
    Triple,
    as_converted,
    body_of,
    local_name,
    without_record,
)
from obep.ontology.bundle.compile import Bundle
from obep.ontology.bundle.contradiction_axioms import ContradictionAxioms
from obep.ontology.closure.changing_store import ChangingStore
from obep.ontology.hermit.hermit_gap import HermitGap
from obep.ontology.hermit.reasoner_protocol import Gap
from obep.query.state_expansion import looks_around

if TYPE_CHECKING:
    from obep.abstraction.graph_matcher import GraphMatcher

MAX_EXPLANATIONS = 32
REMEMBERED = 40_000
"""Shapes that are remembered."""


NOTED = ("unknown", "capped", "undecided")
"""The counters of a matcher: triples of unknown vocabulary, dropped explanations, undecided items."""


def noted(matcher: object) -> tuple[int, ...]:
    """The current counters of a matcher."""
    try:
        found: tuple[int, ...] = _noted(matcher)
    except AttributeError:  # one that counts nothing
        found = (0,) * len(NOTED)
    return found


_noted = attrgetter(*NOTED)


class Matched(NamedTuple):
    """An item with the occurrences in it, each with its solutions by the number of the ask."""

    item: Item
    occurrences: tuple[Occurrence, ...]
    bounded: bool = False
    """Whether a reasoner was needed and missing: there may be more."""


_matched = tuple.__new__
"""A `Matched` without the call that its constructor is, which is felt where one is made for every item."""


class Matcher:
    """Finds the occurrences of all events of a bundle."""

    def __init__(
        self,
        bundle: Bundle,
        asks: tuple[Ask, ...] = (),
        *,
        gap: Gap | None = None,
        max_explanations: int | None = None,
        remember: int = REMEMBERED,
    ) -> None:
        """`gap` decides what the rules cannot; by default HermiT, if the bundle may start Java.

        `max_explanations` are by default those that the bundle was made for.
        """
        self.unknown = 0
        """Triples of items whose class or property is not in T."""
        self.capped = 0
        """The number of times that an event had more explanations than are kept (SPEC D4)."""
        self.undecided = 0
        """Items that needed a reasoner, and had none: there may be more in them."""
        if gap is None and bundle.java:
            gap = HermitGap(bundle.module, bundle.cache_dir)
        self.gap = gap
        most = bundle.max_explanations if max_explanations is None else max_explanations
        self.max_explanations = MAX_EXPLANATIONS if most is None else most
        self._given = asks
        self._memory: Memory[Template] | None = Memory(remember) if remember else None
        self._look_at(bundle)

    def _look_at(self, bundle: Bundle) -> None:
        """Make all that depends on the bundle."""
        self.bundle = bundle
        self.contradictions = ContradictionAxioms(bundle)
        self.evaluator = Evaluator(bundle, self.gap, self.max_explanations)
        self.facts = OpenFacts(bundle, self.gap, self.evaluator.components)
        self._asks = Asking(bundle, self._given, self.facts)
        self._graphs = _graph_matcher(bundle, self.facts)
        self._streams = bundle.definitions.streams
        self._windowed = bundle.definitions.windowed
        # What T says of everything it says of whoever is named, by whatever triple.
        open_ended = not bundle.exact and bundle.opaque_if_asserted
        self._all_matter = bundle.definitions.any_predicate or open_ended
        self.decisions: dict[tuple[int, str], Decisions] = {}
        """About mapped records, by template and stream."""
        self.shapes = self._shapes = Shapes(
            bundle.matters,
            self.evaluator.readings,
            self._asks.fixed,
            bundle.value_tests,
            bundle.definitions.axioms.datatype_definitions,
            all_matter=self._all_matter,
            alike=bundle.lower.program.alike() if self._finds_no_event else None,
        )
        self.statements = Statements(
            bundle, partial(self._for_statements, self._given, self.gap is None), self
        )
        store = bundle.lower.store
        self._changing = store if isinstance(store, ChangingStore) else None

    @property
    def _finds_no_event(self) -> bool:
        """Whether items are only looked at for contradictions, by rules alone."""
        definitions = self.bundle.definitions
        groups = self._graphs is not None or self._asks.some
        return self.bundle.exact and not (definitions.goals or groups or self._all_matter)

    def change_knowledge(self, bundle: Bundle, affected: Container[object] | None) -> None:
        """K is another one: that of this bundle, of the same query and T.

        `affected` are the parts of a `ChangingStore` that have changed; what was found without them is still
        right. `None`: any part may have.
        """
        if self._memory is not None:
            self._memory.keep(lambda template: _is_apart(template.read, affected))
        self._look_at(bundle)

    def contradiction(self, item: Item) -> DeadLetter | None:
        """The letter of an item that contradicts T and K, or takes too many steps; `None` if it does not."""
        shape = self._shapes.of(item.triples)
        template = self.evaluator.evaluate(shape, None)
        if template.clash is None and template.refused is None:
            return None
        return self._dead(item, template, shape)

    def _for_statements(self, asks: tuple[Ask, ...], alone: bool, bundle: Bundle) -> Matcher:
        """A matcher for a T that says more; `alone`: without a reasoner."""
        gap = None if alone else HermitGap(bundle.module, bundle.cache_dir)
        bundle.java = not alone
        return Matcher(bundle, asks, gap=gap, max_explanations=self.max_explanations)

    @cached_property
    def _inert(self) -> tuple[frozenset[Term], frozenset[Term]] | None:
        """Properties, with individuals and with literals, of an item in which there is nothing to find.

        An explanation is minimal and has a triple of its item, and so has a contradiction: where no triple
        sets off a rule, and the rules decide everything, there is none. T knows these properties, so none
        is counted as unknown. Groups look at items themselves, and guards only at what was found.
        """
        if self._graphs is not None or self._all_matter or not self.bundle.exact:
            return None
        program = self.evaluator.readings[0].program
        return program.inert(program.roles), program.inert(program.data)

    def _is_inert(self, item: Item) -> bool:
        """Whether there is nothing to find in an item."""
        if self._inert is None:
            return False
        roles, data = self._inert
        for _, p, o in item.triples:  # noqa: SIM110  # `all` takes thrice as long, and every item is asked
            if p not in (data if o[0] == '"' else roles):
                return False
        return True

    @property
    def remembered(self) -> int:
        """The number of cached shapes."""
        return 0 if self._memory is None else len(self._memory)

    def relevant(self, triples: Iterable[Triple]) -> tuple[tuple[Triple, ...], int]:
        """The triples that can affect an answer, and the number of triples whose names are not in T."""
        _, kept, _, unknown, more = self._shapes.of(triples)
        return (tuple(triples), 0) if more else (tuple(kept), unknown)

    def match(self, item: Item, *, every: bool = False) -> Matched | DeadLetter:
        """The occurrences of all events in an item, or why it takes part in nothing.

        The body of a guarded event may be left out where its guard surely refuses it. `every`: not then, and
        nothing is counted, for a second look at an item.
        """
        if self._inert is not None and self._is_inert(item):
            return _matched(Matched, (item, (), False))
        shape = self._shapes.of(item.triples)
        key, _, _, unknown, more = shape
        if more:
            return self.statements.match(item)
        memory = self._memory
        template = None if memory is None else memory.young.get(key) or memory.get(key)
        again = template is not None
        if template is None:
            template = self._template(shape, key, None)
        if unknown and not every:
            self.unknown += unknown
        if template.clash is not None or template.refused is not None:
            return self._dead(item, template, shape)
        occurrences: list[Occurrence] = []
        if template.hits:
            find = self._find_again if again and not item.converted else self._find
            find(item, shape, template, occurrences, every)
        if template.capped and not every:
            self.capped += template.capped
        if template.bounded and not every:
            self.undecided += 1
        if self._graphs is not None:
            try:
                for occurrence, graphs in self._graphs.match(item):
                    occurrence.items = (without_record(item),)
                    self._asks.solve_over(occurrence, graphs)
                    occurrences.append(occurrence)
            except Refused as refused:
                return DeadLetter(item.stream, item.at, refused.code, refused.reason, as_sent(item))
        return _matched(Matched, (item, tuple(occurrences), template.bounded))

    def _find(
        self, item: Item, shape: Shape, template: Template, found: list[Occurrence], every: bool
    ) -> None:
        """Add the occurrences of a template's hits in an item."""
        at, stream, streams = item.at, item.stream, self._streams
        triples, names = shape.triples, tuple(shape.names)
        converted = converted_assertions(item.at, item.converted) if item.converted else ()
        items = (without_record(item),)
        hits: Sequence[Hit] = template.hits
        if template.groups is not None and not every:
            hits = template.groups.chosen(hits, names)
        for hit in hits:
            if streams and streams.get(hit.event, stream) != stream:
                continue
            because: list[Assertion] = [(triples[n], at) for n in hit.triples]
            explanation = tuple(sorted([*because, *hit.static]))
            if converted:
                explanation = as_converted(explanation, converted)
            individual = named(hit.individual, names) or ""
            one = EagerOccurrence(hit.event, individual, explanation, at, at, at, at)
            one.bounded, one.items = hit.bounded, items
            if self._asks.some:
                self._asks.solve(one, hit, names)
            found.append(one)

    def _find_again(
        self, item: Item, shape: Shape, template: Template, found: list[Occurrence], every: bool
    ) -> None:
        """The same where an item of the shape came before: what both have in common is shared."""
        at, stream, streams, terms = item.at, item.stream, self._streams, tuple(shape.names)
        has_name = bool(item.name)
        known = template.decided
        assert known is not None, "it is remembered"
        decided = known.get((stream, has_name))
        if decided is None:
            decided = decided_hits(template.hits, shape, stream, has_name, self._asks.plainly)
            known[stream, has_name] = decided
        if has_name:
            terms = (*terms, item.name)
        hits: Sequence[DecidedHit] = decided
        if template.groups is not None and not every:
            hits = template.groups.chosen(hits, terms)
        whole = len(decided[0].template.patterns) == len(item.triples)
        for hit in hits:
            if streams and streams.get(hit.event, stream) != stream:
                continue
            one = decided_occurrence(hit, at, terms)
            if not whole:  # what does not matter, or stands there twice, is not in the template
                one.items = (without_record(item) if item.sent else item,)
            if hit.plain is None:
                one.solutions = {}
                self._asks.solve(one, hit.hit, terms)
            found.append(one)

    def match_record(self, record: Mapped) -> Sequence[Occurrence] | DeadLetter:
        """The same for a record that a template has filled in; its triples are only made if need be."""
        found = self.decisions_about(record.template, record.stream).of(record)
        if found is not None:
            return found
        matched = self.match(record.item(record.sent))
        return matched if isinstance(matched, DeadLetter) else matched.occurrences

    def decisions_about(self, template: Filled, stream: str) -> Decisions:
        """The decisions about the records of a template and stream."""
        known = self.decisions.get((id(template), stream))
        if known is None:
            known = self.decisions[id(template), stream] = self.new_decisions(template, stream)
        return known

    def new_decisions(self, template: Filled, stream: str) -> Decisions:
        """Make the decisions about the records of a template and stream."""
        return Decisions(self, template, stream)

    def answers(self, item: Item) -> tuple[Template, Shape] | None:
        """The template of an item's shape; None if each item of that shape needs its own answer."""
        shape = self._shapes.of(item.triples)
        if self._memory is None or self._graphs is not None or shape.more:
            return None
        if self._is_inert(item):
            return Template(()), shape._replace(unknown=0)
        template = self._memory.get(shape.key) or self._template(shape, shape.key, None)
        if template.clash is not None or template.refused is not None:
            return None
        return (template, shape) if template.keep and template.groups is None else None

    def of_stream(self, hits: Iterable[Hit], stream: str) -> list[Hit]:
        """The hits of events that read a stream."""
        return [hit for hit in hits if self._streams.get(hit.event, stream) == stream]

    def solve_hit(self, occurrence: Occurrence, hit: Hit, names: tuple[Term, ...]) -> None:
        """Fill in the solutions of the asks about an occurrence of a hit."""
        if self._asks.some:
            self._asks.solve(occurrence, hit, names)

    def plain_asks(self, hit: Hit) -> PlainAsks | None:
        """See `Asking.plainly`."""
        return self._asks.plainly(hit)

    def bodies(self, items: Iterable[Item], event: Term) -> list[Occurrence]:
        """The occurrences of a guarded event's body in some items, also those that its guard refuses."""
        found = []
        for item in items:
            matched = self.match(item, every=True)
            if not isinstance(matched, DeadLetter):
                found += [one for one in matched.occurrences if one.event == event]
        return found

    def match_derived(self, occurrence: Occurrence) -> Matched | DeadLetter:
        """Find occurrences in an occurrence of a composite or guarded event, as an item of the next
        stratum."""
        head: Triple = (occurrence.individual, RDF_TYPE, occurrence.event)
        news = dict.fromkeys((head, *occurrence.constructed), occurrence.detected)
        when = {**{t: at for t, at in occurrence.explanation if at is not None}, **news}
        item = Item("", occurrence.detected, tuple(when))
        shape = self._shapes.of(item.triples)
        if shape.more:
            return self.statements.match_derived(occurrence)
        new = frozenset(n for n, triple in enumerate(shape.triples) if triple in news)
        key = (new, *shape.key)
        template = self._derived_template(shape, key, new, lasting=not occurrence.parts)
        if template.clash is not None or template.refused is not None:
            letter = self._dead(item, template, shape)
            return letter._replace(
                reason=f"{local_name(occurrence.event)}, taken as an item: {letter.reason}"
            )
        self.capped += template.capped
        self.undecided += template.bounded
        found = []
        converted = [one for one in occurrence.explanation if type(one) is not tuple]
        again = (occurrence.event, body_of(occurrence.event))
        names = tuple(shape.names)
        for hit in template.hits if template.groups is None else template.groups.chosen(template.hits, names):
            individual = named(hit.individual, names) or ""
            if individual == occurrence.individual and hit.event in again:
                continue
            if hit.event in self._windowed:
                continue
            explanation = [(shape.triples[n], when[shape.triples[n]]) for n in hit.triples]
            one = EagerOccurrence(
                hit.event, individual,
                as_converted(tuple(sorted([*explanation, *hit.static])), converted),
                occurrence.start, occurrence.end, occurrence.detected, occurrence.since,
                bounded=hit.bounded or occurrence.bounded,
            )  # fmt: skip
            self._asks.solve(one, hit, names)
            found.append(one)
        try:
            self._asks.solve_derived(occurrence, shape.triples)
        except Refused as refused:
            return self._dead(item, Template((), refused=(refused.code, refused.reason)), shape)
        return Matched(item, tuple(found), template.bounded)

    def _derived_template(
        self, shape: Shape, key: tuple[object, ...], new: frozenset[int], *, lasting: bool
    ) -> Template:
        """What is known about an occurrence as an item; if not of its shape, then of just these triples.

        `lasting`: its individual is one of the items', so that the same triples may come again.
        """
        if self._memory is None:
            return self._template(shape, key, new)
        exact = (new, "as it is", *shape.triples)
        template = self._memory.get(key) or (self._memory.get(exact) if lasting else None)
        if template is None:
            template = self._template(shape, key, new)
            if lasting and not template.keep:
                self._memory.put(exact, template)
        return template

    def together(self, window: str, goals: Iterable[Term]) -> Together:
        """Make the matcher that finds classes in the union of a window's items."""
        return Together(self, window, goals)

    def evaluate_union(self, triples: Sequence[Triple], news: Container[Triple]) -> tuple[Template, Shape]:
        """Find occurrences in the union of several items, each explained by at least one new triple; not
        cached."""
        shape = self._shapes.of(triples)
        new = frozenset(n for n, triple in enumerate(shape.triples) if triple in news)
        template = self.evaluator.evaluate(shape, new) if new else Template(())
        self.undecided += template.bounded
        return template, shape

    def solve(self, occurrence: Occurrence, graphs: Graphs) -> None:
        """Fill in the solutions of the asks about an occurrence that was not found in one item."""
        self._asks.solve_over(occurrence, graphs)

    def _template(self, shape: Shape, key: tuple[object, ...], news: frozenset[int] | None) -> Template:
        if self._changing is None:
            return self._made(shape, key, news)
        read = self._changing.note_reads()
        self.evaluator.forget()  # what is remembered of K would not be read again
        return self._made(shape, key, news, read)

    def _made(
        self,
        shape: Shape,
        key: tuple[object, ...],
        news: frozenset[int] | None,
        read: Collection[object] | None = None,
    ) -> Template:
        triples = shape.triples
        if len(set(triples)) < len(triples):  # an item is a set; what stands there twice counts once
            first = {triple: n for n, triple in reversed([*enumerate(triples)])}
            places = sorted(first.values())
            once = shape._replace(triples=[triples[n] for n in places])
            new = None if news is None else frozenset(m for m, n in enumerate(places) if n in news)
            template = self.evaluator.evaluate(once, new).moved(places)
        else:
            template = self.evaluator.evaluate(shape, news)
        if self._asks.some and template.clash is None:
            missed = self.facts.missed
            try:
                hits = self._asks.rows(template.hits, shape)
                template = template._replace(hits=hits, groups=self._asks.grouping.of(hits))
                if self.facts.missed > missed:
                    template = template._replace(bounded=True)
            except Refused as refused:
                template = Template((), refused=(refused.code, refused.reason))
        if self._memory is not None and template.keep:
            of_k = None if read is None or self._all_matter else frozenset(read)
            template = template._replace(read=of_k, decided={})
            self._memory.put(key, template)
        return template

    def _dead(self, item: Item, template: Template, shape: Shape) -> DeadLetter:
        """The letter of an item that contradicts T and K, with a minimal reason (SPEC D3), or is refused."""
        raw = as_sent(item)
        if template.refused is not None:
            return DeadLetter(item.stream, item.at, *template.refused, raw)
        clash = [*(shape.triples[n] for n in template.clash or ()), *template.static_clash]
        words = self.contradictions.contradiction(clash)
        return DeadLetter(item.stream, item.at, "OBEP620", f"contradicts the ontology: {words}", raw)


def _is_apart(read: Collection[object] | None, affected: Container[object] | None) -> bool:
    return read is not None and affected is not None and not any(one in affected for one in read)


def _graph_matcher(bundle: Bundle, facts: OpenFacts) -> GraphMatcher | None:
    """Make the matcher of graph events; its module is imported only if there are some."""
    events = {iri: event for iri, event in bundle.expanded.on_items.items() if not looks_around(event)}
    if not events:
        return None
    from obep.abstraction.graph_matcher import GraphMatcher

    return GraphMatcher(bundle, facts, events)
