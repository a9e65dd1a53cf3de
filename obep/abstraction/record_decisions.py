"""What mapped records say, decided once for all that differ in their own names only.

Two records of one template have the same shape if the same of their terms are names of T, K and guards,
their values meet the same constants, and their own names differ from each other (see `shapes`). What cannot
be decided so is left to `Matcher.match`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import eq
from typing import TYPE_CHECKING, NamedTuple, cast

from obep.abstraction.decided_occurrences import (
    DecidedHit,
    RowMakers,
    Source,
    decided_hit,
    decided_occurrence,
)
from obep.formats.tables.mapped_records import Mapped
from obep.formats.tables.record_blocks import RecordBlock
from obep.formats.triple_template import Slot
from obep.formats.triple_template import Template as Filled
from obep.model import RDF_TYPE, Occurrence, Term

if TYPE_CHECKING:
    from obep.abstraction.matcher import Matcher

MOST = 1 << 15
"""Kinds of records that are remembered."""
Aspect = Callable[[Term], object]
"""The part of a term by which kinds of records differ."""


class Decision(NamedTuple):
    """The hits in all records of a kind, and the counters that each of them increases."""

    hits: tuple[DecidedHit, ...]
    unknown: int = 0
    capped: int = 0
    bounded: bool = False


class Decisions:
    """The decisions about the records of one template and stream, for one state of T and K."""

    def __init__(self, matcher: Matcher, template: Filled, stream: str) -> None:
        self._matcher, self._template, self._stream = matcher, template, stream
        self._aspects = [self._aspect(slot) for slot in template.slots]
        self._names = [_is_iri(slot) and not self._is_class(slot) for slot in template.slots]
        """Whether what counts of a slot's terms is if they are known."""
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
        self._counts = False
        """Whether a decision has something that is counted."""
        self._seen: list[dict[Term | None, object]] = [{} for _ in template.slots]
        """For each slot the aspects of its terms."""

    def of(self, record: Mapped) -> Sequence[Occurrence] | None:
        """The occurrences in a record; `None`: ask `Matcher.match`."""
        terms = record.terms
        pairs = zip(self._aspects, terms, strict=True)
        key = tuple([None if term is None else aspect(term) for aspect, term in pairs])
        decision = self._decision(key, record) if self._is_apart(terms) else None
        if decision is None:
            return None
        self.count(decision)
        return self.occurrences(decision, record.at, terms)

    def decide(self, block: RecordBlock) -> list[Decision | None]:
        """The decision about each record of a block; `None`: ask `Matcher.match` about it."""
        aspects = [self._aspects_of(place, column) for place, column in enumerate(block.columns)]
        keys = list(zip(*aspects, strict=True)) if aspects else [()] * len(block)
        known = self._known
        if new := set(keys) - known.keys():
            for place, key in enumerate(keys):
                if key in new and self._is_apart((record := block[place]).terms):
                    self._decision(key, record)
                    new.discard(key)
        found = [known.get(key) for key in keys]
        if not self._are_apart(block.columns):
            apart = map(self._is_apart, block.rows())
            found = [one if is_apart else None for one, is_apart in zip(found, apart, strict=True)]
        return found

    def count(self, decision: Decision) -> None:
        """Count what is counted for each record."""
        matcher = self._matcher
        if decision.unknown:
            matcher.unknown += decision.unknown
        matcher.capped += decision.capped
        matcher.undecided += decision.bounded

    def count_all(self, decisions: Sequence[Decision | None]) -> None:
        """The same for many records, all of which are decided."""
        if self._counts:
            for decision in decisions:
                assert decision is not None
                self.count(decision)

    def occurrences(self, decision: Decision, at: int, terms: tuple[Term | None, ...]) -> list[Occurrence]:
        """What is found in a record."""
        return [self.occurrence(hit, at, terms) for hit in decision.hits]

    def occurrence(self, hit: DecidedHit, at: int, terms: tuple[Term | None, ...]) -> Occurrence:
        """What is found of one hit in a record."""
        one = decided_occurrence(hit, at, terms)
        if hit.plain is None:
            names = [terms[n] if isinstance(n, int) else n for n in hit.names]
            one.solutions = {}
            self._matcher.solve_hit(
                one, hit.hit, cast(tuple[Term, ...], tuple(names))
            )  # no name of a hit is missing
        return one

    def _decision(self, key: tuple[object, ...], record: Mapped) -> Decision | None:
        """The decision about all records with a key, by one whose own names are apart."""
        known = self._known
        if key not in known:
            if len(known) >= MOST:
                known.clear()
            decision = known[key] = self._decide(record)
            if decision is not None:
                self._counts = self._counts or bool(decision.unknown or decision.capped or decision.bounded)
        return known[key]

    def _aspects_of(self, place: int, column: Sequence[Term | None]) -> Sequence[object]:
        """The aspects of a column; those of values that come again are remembered."""
        if self._names[place] and not self._matcher.shapes.knows_any(column) and None not in column:
            return (0,) * len(column)
        aspect, known = self._aspects[place], self._seen[place]
        if aspect is _nothing and None not in column:
            return (0,) * len(column)
        different = set(column)
        if new := different - known.keys():
            if len(known) > MOST:
                known.clear()
                new = different
            known.update([(term, None if term is None else aspect(term)) for term in new])
        return [known[term] for term in column]

    def _are_apart(self, columns: Sequence[Sequence[Term | None]]) -> bool:
        """Whether `_is_apart` surely holds of every row."""
        own = [columns[place] for place in self._own]
        others = own + [columns[place] for place in self._as_is]
        for n, column in enumerate(own):
            if not self._constants.isdisjoint(column):
                return False
            if any(any(map(eq, column, other)) for other in others[n + 1 :]):
                return False
        return True

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
        """The ways in which the properties of a slot compare its literals."""
        properties = [p for _, p, o in self._template.patterns if o == slot and isinstance(p, str)]
        return [self._matcher.shapes.cell(p) for p in properties]

    def _is_class(self, slot: Slot) -> bool:
        return any(p == RDF_TYPE and o == slot for _, p, o in self._template.patterns)

    def _aspect(self, slot: Slot) -> Aspect:
        if not _is_iri(slot):
            mine = [(s, p) for s, p, o in self._template.patterns if o == slot]
            if any((s, p) in mine and o != slot for s, p, o in self._template.patterns):
                return lambda term: term  # two fields may say the same
            return _of_literal(self._cells(slot), self._matcher.shapes.is_known)
        if self._is_class(slot):
            return lambda term: term
        known = self._matcher.shapes.is_known
        return lambda term: term if known(term) else 0

    def _decide(self, record: Mapped) -> Decision | None:
        found = self._matcher.answers(record.item())
        if found is None:
            return None
        answers, shape = found
        sources: dict[Term, Source] = {}
        for place in self._own:
            if (term := record.terms[place]) is not None:
                sources.setdefault(term, place)
        names = [sources.get(name, name) for name in shape.names]
        patterns = [(sources.get(s, s), p, sources.get(o, o)) for s, p, o in shape.triples]
        where, ask, known = (self._stream, self._template), self._matcher.plain_asks, RowMakers()
        hits = [
            decided_hit(hit, shape.triples, patterns, names, *where, ask(hit), known)
            for hit in self._matcher.of_stream(answers.hits, record.stream)
        ]
        return Decision(tuple(hits), shape.unknown, answers.capped, answers.bounded)


def _is_iri(slot: Slot) -> bool:
    return slot.kind == "iri" or (slot.kind == "term" and slot.places[0].type == "iri")


def _nothing(term: Term) -> object:
    """The aspect of terms that nothing looks at."""
    return 0


def _of_literal(cells: list[object], known: Callable[[Term], bool]) -> Aspect:
    """A literal counts by the constants that it meets, where it is only compared and K has it not; else as it
    is."""
    looked_at = [cell for cell in cells if cell]
    if not looked_at:
        return _nothing
    tests = [cell for cell in looked_at if callable(cell)]
    if len(tests) < len(looked_at):
        return lambda term: term
    if len(tests) == 1:
        [test] = tests
        return lambda term: term if known(term) else test(term)
    return lambda term: term if known(term) else tuple([test(term) for test in tests])
