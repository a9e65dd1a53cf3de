"""What mapped records say, decided once for all that differ in their own names only.

Two records of one template have the same shape if the same of their terms are names of T, K and guards,
their values meet the same constants, and their own names differ from each other (see `shapes`). What cannot
be decided so is left to `Matcher.match`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

from obep.abstraction.answer_templates import Hit
from obep.abstraction.decided_occurrences import Decided, DecidedHit, Pattern, Source
from obep.abstraction.shapes import Shape
from obep.formats.tables.mapped_records import Mapped
from obep.formats.triple_template import Slot
from obep.formats.triple_template import Template as Filled
from obep.model import RDF_TYPE, Occurrence, Term

if TYPE_CHECKING:
    from obep.abstraction.matcher import Matcher

MOST = 1 << 15
"""Kinds of records that are remembered."""
Aspect = Callable[[Term], object]
"""What of a term tells kinds of records apart."""
_new = Decided.__new__


class Decision(NamedTuple):
    """What is in all records of a kind, and what is counted for each of them."""

    hits: tuple[DecidedHit, ...]
    unknown: int = 0
    capped: int = 0
    bounded: bool = False


class Decisions:
    """The decisions about the records of one template and stream, for one state of T and K."""

    def __init__(self, matcher: Matcher, template: Filled, stream: str) -> None:
        self._matcher, self._template, self._stream = matcher, template, stream
        self._aspects = [self._aspect(slot) for slot in template.slots]
        known = matcher.shapes.is_known
        self._own = [
            place
            for place, slot in enumerate(template.slots)
            if _is_iri(slot) or any(callable(cell) for cell in self._cells(slot))
        ]
        """The slots whose terms may be names that only a record has."""
        self._as_is = [
            place
            for place, slot in enumerate(template.slots)
            if place not in self._own and any(self._cells(slot))
        ]
        """The slots whose literals count as they are."""
        terms = {term for pattern in template.patterns for term in pattern}
        self._constants = {term for term in terms if isinstance(term, str) and not known(term)}
        self._known: dict[tuple[object, ...], Decision | None] = {}

    def of(self, record: Mapped) -> list[Occurrence] | None:
        """The occurrences in a record; `None`: ask `Matcher.match`."""
        terms = record.terms
        pairs = zip(self._aspects, terms, strict=True)
        key = tuple([None if term is None else aspect(term) for aspect, term in pairs])
        decision = self._known.get(key)
        if decision is None:
            if key in self._known or not self._is_apart(terms):
                return None
            if len(self._known) >= MOST:
                self._known.clear()
            decision = self._known[key] = self._decide(record)
            if decision is None:
                return None
        elif not self._is_apart(terms):
            return None
        matcher = self._matcher
        if decision.unknown:
            matcher.unknown += decision.unknown
        matcher.capped += decision.capped
        matcher.undecided += decision.bounded
        return [self._occurrence(hit, record) for hit in decision.hits]

    def _occurrence(self, hit: DecidedHit, record: Mapped) -> Occurrence:
        terms = cast(tuple[Term, ...], record.terms)  # no term of a hit is missing
        one = _new(Decided)
        one.by, one.terms, one.event = hit, terms, hit.event
        name = hit.individual
        one.individual = individual = terms[name] if isinstance(name, int) else name
        one.start = one.end = one.detected = one.since = record.at
        one.bounded, one._written, one._stamp = hit.bounded, None, None
        solutions = one.solutions = {}
        if hit.plain is None:
            names = [terms[n] if isinstance(n, int) else n for n in hit.names]
            self._matcher.solve_hit(one, hit.hit, names)
            return one
        for ask, often in hit.often:
            solutions[ask] = ((individual,) * often,)
        for ask, row in hit.plain:
            solutions[ask] = (tuple([terms[n] if isinstance(n, int) else n for n in row]),)
        return one

    def _is_apart(self, terms: Sequence[Term | None]) -> bool:
        """Whether the names that only this record may have are all different."""
        own = [terms[place] for place in self._own]
        if None in own:
            own = [term for term in own if term is not None]
        different = own[0] != own[1] if len(own) == 2 else len(set(own)) == len(own)
        if self._as_is and not {terms[place] for place in self._as_is}.isdisjoint(own):
            return False
        return different and self._constants.isdisjoint(own)

    def _cells(self, slot: Slot) -> list[object]:
        """How the properties of a slot's literals look at them."""
        properties = [p for _, p, o in self._template.patterns if o == slot and isinstance(p, str)]
        return [self._matcher.shapes.cell(p) for p in properties]

    def _aspect(self, slot: Slot) -> Aspect:
        if not _is_iri(slot):
            mine = [(s, p) for s, p, o in self._template.patterns if o == slot]
            if any((s, p) in mine and o != slot for s, p, o in self._template.patterns):
                return lambda term: term  # two fields may say the same
            return _of_literal(self._cells(slot), self._matcher.shapes.is_known)
        if any(p == RDF_TYPE and o == slot for _, p, o in self._template.patterns):
            return lambda term: term
        known = self._matcher.shapes.is_known
        return lambda term: term if known(term) else 0

    def _decide(self, record: Mapped) -> Decision | None:
        found = self._matcher.answers(record.item())
        if found is None:
            return None
        answers, shape = found
        hits = [self._decided(hit, shape, record) for hit in self._matcher.heard(answers.hits, record.stream)]
        if None in hits:
            return None
        return Decision(tuple(hits), shape.unknown, answers.capped, answers.bounded)  # type: ignore[arg-type]  # without None

    def _decided(self, hit: Hit, shape: Shape, record: Mapped) -> DecidedHit | None:
        sources: dict[Term, Source] = {}
        for place in self._own:
            if (term := record.terms[place]) is not None:
                sources.setdefault(term, place)
        names = [sources.get(name, name) for name in shape.names]
        patterns: dict[tuple[Term, Term, Term], Pattern] = {}
        for triple in shape.triples:
            s, p, o = triple
            patterns.setdefault(triple, (sources.get(s, s), p, sources.get(o, o)))
        explained = [(triple, True) for triple in [shape.triples[n] for n in hit.triples]]
        explained += [(triple, False) for triple, _ in hit.static]
        explained.sort()
        decided = DecidedHit(
            hit,
            names[hit.individual] if isinstance(hit.individual, int) else hit.individual,
            [(patterns[triple] if own else triple, own) for triple, own in explained],
            names,
            self._stream,
            self._template,
        )
        self._solve_plainly(decided, hit)
        return decided

    def _solve_plainly(self, decided: DecidedHit, hit: Hit) -> None:
        """Set the solutions of a hit whose asks have one row each, and no filter."""
        asked = self._matcher.plain_asks(hit)
        if asked is not None:
            names = decided.names
            decided.often, rows = asked
            decided.plain = [
                (ask, tuple([names[n] if isinstance(n, int) else n for n in row])) for ask, row in rows
            ]


def _is_iri(slot: Slot) -> bool:
    return slot.kind == "iri" or (slot.kind == "term" and slot.places[0].type == "iri")


def _of_literal(cells: list[object], known: Callable[[Term], bool]) -> Aspect:
    """A literal counts by the constants that it meets, where it is only compared and K has it not; else as it
    is."""
    looked_at = [cell for cell in cells if cell]
    if not looked_at:
        return lambda term: 0
    tests = [cell for cell in looked_at if callable(cell)]
    if len(tests) < len(looked_at):
        return lambda term: term
    if len(tests) == 1:
        [test] = tests
        return lambda term: term if known(term) else test(term)
    return lambda term: term if known(term) else tuple([test(term) for test in tests])
