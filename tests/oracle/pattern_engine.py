"""A case through the engine, and what it says in a form that can be compared with the oracle's.

The engine is driven at `obep.engine.engine`: logical occurrences go in with the solutions that abstraction
would have given them, composite ones come out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from random import Random

import msgspec

from obep.engine.query import Query
from obep.guards.block_queries import Asks, asks
from obep.model import SECOND, Item, Occurrence, Solution, Term, Triple
from obep.plan.build_plan import plan
from obep.plan.plan import Plan
from oracle.pattern_cases import Arrival, Case, iri, show_answer
from oracle.pattern_runs import case_text, linked_text
from oracle.semantics import Found


class OnExplanation:
    """The graphs of an occurrence (SPEC D7) in the tests: its explanation, and nothing else."""

    vocabulary: frozenset[Term] = frozenset()

    def __init__(self, occurrence: Occurrence) -> None:
        self.triples = [triple for triple, _ in occurrence.explanation]

    def narrow(self, s: Term | None, p: Term | None, o: Term | None) -> Iterable[Triple]:
        wanted = (s, p, o)
        return [t for t in self.triples if all(w is None or w == x for w, x in zip(wanted, t, strict=True))]

    wide = narrow


def solutions_of(occurrence: Occurrence, all_asks: Asks) -> dict[int, tuple[Solution, ...]]:
    """What every ask about its event finds, by number; nothing for those that find nothing."""
    graphs = OnExplanation(occurrence)
    wanted = (ask for ask in all_asks.all if ask.event == occurrence.event)
    return {ask.number: rows for ask in wanted if (rows := ask.solve(occurrence, graphs))}


def solved(occurrence: Occurrence, all_asks: Asks) -> Occurrence:
    """A copy with its solutions, as abstraction would have given them."""
    return replace(occurrence, solutions=solutions_of(occurrence, all_asks))


def runtime_of(case: Case):  # type: ignore[no-untyped-def]
    """A new engine for the events of a case, and its asks."""
    from obep.engine.runtime import Runtime

    planned = _planned(case_text(case))
    return Runtime(planned), planned.asks


@lru_cache(maxsize=4)
def _planned(text: str) -> Plan:
    linked = linked_text(text)
    return plan(linked, asks(linked), None)


def engine_answers(case: Case, arrivals: Sequence[Arrival] | None = None) -> list[Occurrence]:
    """All that the engine reports, item by item, then moved on to the end and closed."""
    runtime, found = runtime_of(case)
    reported: list[Occurrence] = []
    for arrival in case.arrivals if arrivals is None else arrivals:
        occurrences = [solved(o, found) for o in arrival.occurrences]
        reported += runtime.push(arrival.item.at, occurrences, items=(arrival.item,))
    reported += runtime.advance(case.end)
    reported += runtime.close()
    composites = {event.name.iri for event in case.events}
    return [o for o in reported if o.event in composites]


class AsFound:
    """A matcher that finds in each item what the case says is in it."""

    def __init__(self, case: Case, all_asks: Asks) -> None:
        self.asks = all_asks
        self.found = {arrival.item.name: arrival.occurrences for arrival in case.arrivals}

    def match(self, item: Item):  # type: ignore[no-untyped-def]
        from obep.abstraction.matcher import Matched

        found = [solved(o, self.asks) for o in self.found[item.name]]
        for occurrence in found:
            occurrence.items = (item,)
        return Matched(item, tuple(found))

    def match_derived(self, occurrence: Occurrence):  # type: ignore[no-untyped-def]
        from obep.abstraction.matcher import Matched

        occurrence.solutions.update(solutions_of(occurrence, self.asks))
        return Matched(Item("", occurrence.detected, ()), ())


class NoOntology:
    """As much of a bundle as a query without an ontology needs."""

    hash = "a case of the tests"
    bounded = frozenset[Term]()

    @staticmethod
    def vocabulary(_: Term) -> frozenset[Term]:
        return frozenset()


class Known(NoOntology):
    """The same, where the data of the cases is in every definition: blocks look at explanations alone."""

    @staticmethod
    def vocabulary(_: Term) -> frozenset[Term]:
        return frozenset({iri("p"), iri("q"), iri("key")})


def engine_of(case: Case, known: bool = False, **settings: object):  # type: ignore[no-untyped-def]
    """The whole engine for a case whose items have names (`named`)."""
    query = _query(case_text(case), known)
    return query.engine(matcher=AsFound(case, query.asks), **settings)


@lru_cache(maxsize=4)
def _query(text: str, known: bool) -> Query:
    return Query(linked_text(text), Known() if known else NoOntology())


def named(case: Case) -> Case:
    """The case with a name for each item, by which its occurrences are found."""
    arrivals = (
        arrival._replace(item=arrival.item._replace(name=f"<urn:item:{number}>"))
        for number, arrival in enumerate(case.arrivals)
    )
    return replace(case, arrivals=tuple(arrivals))


# --- runs that are disturbed ------------------------------------------------------------------------------


def lasts(case: Case) -> bool:
    """Whether a logical occurrence of the case has an interval, as only those over windows have."""
    return any(o.start != o.end for arrival in case.arrivals for o in arrival.occurrences)


def apart(case: Case) -> bool:
    """Whether an item lacks an event that another item of its instant shows by the same assertions.

    With a real ontology that is so for events on streams of their own (`EVENT A ON <s> AS …`) only.
    """
    shown: dict[object, set[Term]] = {}
    for arrival in case.arrivals:
        events: dict[object, set[Term]] = {}
        for o in arrival.occurrences:
            events.setdefault(o.explanation, set()).add(o.event)
        for explanation, here in events.items():
            if shown.setdefault(explanation, here) != here:
                return True
    return False


def disturbed_answers(case: Case, random: Random) -> list[Occurrence]:
    """All that is reported of items in another order, with new engines that go on from snapshots.

    The items are shuffled within a lateness; now and then time moves on without data.
    """
    if lasts(case) or apart(case):
        return _restored_runtimes(case, random)
    case = named(case)
    composites = {event.name.iri for event in case.events}
    known = random.random() < 0.5
    lateness = random.choice((0, 0, 1, 3, 6)) * SECOND
    often = random.choice((0.0, 0.2, 0.5, 1.0))
    arrivals = random.sample(case.arrivals, len(case.arrivals))
    arrivals.sort(key=lambda arrival: arrival.item.at + random.random() * lateness)
    engine = engine_of(case, known, lateness=lateness / SECOND)
    reported: list[Occurrence] = []
    for number, arrival in enumerate(arrivals):
        if random.random() < 0.1:
            reported += engine.advance(min(later.item.at for later in arrivals[number:]) / SECOND)
        reported += engine.push_items((arrival.item,))
        if random.random() < often:
            data = engine.snapshot()
            engine = engine_of(case, known, lateness=lateness / SECOND)
            engine.restore(data)
    reported += engine.advance(case.end / SECOND)
    reported += engine.close()
    assert not engine.counters["dead_letters"], "the order of the items has made one of them late"
    return [o for o in reported if o.event in composites]


def _restored_runtimes(case: Case, random: Random) -> list[Occurrence]:
    runtime, found = runtime_of(case)
    composites = {event.name.iri for event in case.events}
    reported: list[Occurrence] = []
    for arrival in case.arrivals:
        occurrences = [solved(o, found) for o in arrival.occurrences]
        reported += runtime.push(arrival.item.at, occurrences, items=(arrival.item,))
        if random.random() < 0.5:
            data = msgspec.msgpack.encode(runtime.dump())
            runtime, _ = runtime_of(case)
            runtime.load(msgspec.msgpack.decode(data))
    reported += runtime.advance(case.end)
    reported += runtime.close()
    return [o for o in reported if o.event in composites]


# --- comparing --------------------------------------------------------------------------------------------

Told = tuple[object, ...]


def identity(o: Occurrence) -> Told:
    """What makes a composite occurrence the same (D1), without any id."""
    leaves = Counter(individual(p.occurrence) for p in o.parts if not p.context)
    return (o.event, frozenset(o.explanation), o.start, o.end, o.partition, frozenset(leaves.items()))


def individual(o: Occurrence) -> Told:
    """The individual of a logical occurrence; that of a composite one stands for its identity."""
    return (o.individual,) if is_logical(o) else identity(o)


def is_logical(o: Occurrence) -> bool:
    return not o.parts and not o.individual.startswith("<urn:obep:")


def parts_told(parts: Iterable[tuple[str, Occurrence, bool]]) -> frozenset[object]:
    """Aliases, occurrences, and whether they are contexts."""
    told = Counter((alias, o.key if is_logical(o) else identity(o), context) for alias, o, context in parts)
    return frozenset(told.items())


def bindings_told(o: Occurrence) -> frozenset[object]:
    """The solutions; the one that binds nothing need not be said."""
    return frozenset(frozenset(row.items()) for row in o.bindings if row)


def difference(case: Case, reported: Sequence[Occurrence], found: Sequence[Found]) -> str:
    """How the engine's answers differ from the oracle's; empty if they do not."""
    ours = {identity(hit.occurrence): hit for hit in found}
    theirs = {identity(o): o for o in reported}
    lines = [f"missing: {told(ours[key].occurrence)}" for key in ours.keys() - theirs.keys()]
    lines += [f"too much: {told(theirs[key])}" for key in theirs.keys() - ours.keys()]
    if len(theirs) != len(reported):
        lines.append("reported more than once")
    for key in ours.keys() & theirs.keys():
        hit, o = ours[key], theirs[key]
        if (o.detected, o.since) != (hit.occurrence.detected, hit.occurrence.since):
            lines.append(f"detected or since: {told(o)} instead of {told(hit.occurrence)}")
        if parts_told((p.alias, p.occurrence, p.context) for p in o.parts) not in map(
            parts_told, hit.variants
        ):
            lines.append(f"parts: {told(o)} instead of {told(hit.occurrence)}")
        if bindings_told(o) != bindings_told(hit.occurrence):
            lines.append(f"bindings: {told(o)} instead of {told(hit.occurrence)}")
    return "\n".join(sorted(lines))


def told(o: Occurrence) -> str:
    """An occurrence for people."""
    rows = "; ".join(sorted(" ".join(f"{k}={v}" for k, v in sorted(row.items())) for row in o.bindings))
    aliases = " ".join(part.alias for part in o.parts)
    return f"{o.event} {show_answer(o)} since {o.since} aliases {aliases} {{{rows}}}"


def all_told(reported: Iterable[Occurrence]) -> set[Told]:
    """Everything about the composites that were reported, to compare two runs of the engine."""
    return {
        (identity(o), o.detected, o.since, o.id, bindings_told(o), parts_told(o.parts))
        for o in reported
        if not is_logical(o)
    }
