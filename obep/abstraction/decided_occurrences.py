"""Logical occurrences of mapped records: they differ in the terms of the template and in the instant only.

What is found in one record of a decision is found in all of them. Explanation, item and texts are made when
they are read.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any

import msgspec

from obep.abstraction.answer_templates import Hit
from obep.formats.tables.mapped_records import Mapped
from obep.formats.triple_template import Template as Filled
from obep.model import Assertion, LazyOccurrence, Stamp, Term, Triple

Source = int | Term
"""A slot of the template, or a term that all records of the decision have."""
Pattern = tuple[Source, Source, Source]
AT, NAME = -1, -2
"""Among the pieces of a text: the instant, and the individual without its brackets."""
REMEMBERED = 1 << 14
"""Rows of one value that are remembered."""
Rows = tuple[tuple[Term | None, ...], ...]
RowsOf = Callable[[tuple[Term | None, ...]], Rows]
_encode = msgspec.json.Encoder().encode


def _rows_maker(row: tuple[Source | None, ...]) -> RowsOf:
    """Return a function that makes the one row of an ask; occurrences with the same value share the row."""
    place = row[0] if len(row) == 1 else None
    if not isinstance(place, int):
        return lambda terms: (tuple([terms[n] if isinstance(n, int) else n for n in row]),)
    known: dict[Term | None, Rows] = {}

    def rows_of(terms: tuple[Term | None, ...]) -> Rows:
        term = terms[place]
        found = known.get(term)
        if found is None:
            if len(known) >= REMEMBERED:
                known.clear()
            found = known[term] = ((term,),)
        return found

    return rows_of


class DecidedHit:
    """One explanation of an event for an individual, in all records of a decision."""

    __slots__ = (
        *("bounded", "event", "explained", "fixed", "hit", "individual", "names", "often", "plain"),
        *("stream", "template", "_cause", "_quoted", "_rows", "_stamp"),
    )

    def __init__(
        self,
        hit: Hit,
        individual: Source,
        explained: list[tuple[Pattern, bool]],
        names: list[Source],
        stream: str,
        template: Filled,
    ) -> None:
        """`explained`: the patterns of its assertions in their order, each with whether the item has it."""
        self.hit, self.event, self.bounded = hit, hit.event, hit.bounded
        self.individual, self.explained, self.names = individual, explained, names
        self.stream, self.template = stream, template
        self.fixed = _is_ordered(explained)
        """Whether the order of the assertions is the same in all records."""
        self.plain: list[tuple[int, tuple[Source | None, ...]]] | None = None
        """The asks and the one solution of each, if there is nothing else to solve."""
        self.often: list[tuple[int, int]] = []
        """The asks that only name the individual, and how often."""
        self._rows: dict[int, RowsOf | None] = {}
        self._cause: Callable[[tuple[object, ...]], str] | None = None
        self._stamp: Callable[[tuple[object, ...]], str] | None = None
        self._quoted: list[int] = []
        """The slots whose terms JSON must escape: only literals have quotes."""

    def name_in(self, terms: tuple[Term | None, ...]) -> Term:
        """Its individual in a record."""
        name = self.individual
        return terms[name] if isinstance(name, int) else name  # type: ignore[return-value]  # it is there

    def solutions(self, terms: tuple[Term | None, ...]) -> dict[int, Rows]:
        """What its asks find in a record, if it has nothing else to solve."""
        asks = [ask for ask, _ in (*self.often, *(self.plain or ()))]
        return {ask: rows(terms) for ask in asks if (rows := self.rows_of(ask)) is not None}

    def rows_of(self, ask: int) -> RowsOf | None:
        """What makes the rows that an ask finds in a record; `None` if it finds nothing there."""
        if ask not in self._rows:
            row = self.row_of(ask)
            self._rows[ask] = None if row is None else _rows_maker(row)
        return self._rows[ask]

    def row_of(self, ask: int) -> tuple[Source | None, ...] | None:
        """Where the values of the one row that an ask finds come from; `None` if it finds nothing."""
        row = next((row for number, row in reversed(self.plain or ()) if number == ask), None)
        often = next((often for number, often in reversed(self.often) if number == ask), None)
        return (self.individual,) * often if row is None and often is not None else row

    def explanation(self, terms: tuple[Term | None, ...], at: int) -> tuple[Assertion, ...]:
        """Why it happened in a record."""
        found: list[Assertion] = [
            (_filled(pattern, terms), at if own else None) for pattern, own in self.explained
        ]
        return tuple(found) if self.fixed else tuple(sorted(found))

    def stamp(self, terms: tuple[Term | None, ...], at: int) -> Stamp:
        """The stamp for ids; only where the order is fixed."""
        if self._stamp is None:
            pieces: list[str | int] = []
            for (s, p, o), own in self.explained:
                pieces += (s, " ", p, " ", o, " ", AT if own else "", "\0")
            self._stamp = self._writer(pieces)
        first, own_first = self.explained[0]
        head = (_filled(first, terms), at if own_first else None)
        said = self._stamp((*terms, at))
        if len(self.explained) == 1:
            return head, head, said
        last, own_last = self.explained[-1]
        return head, (_filled(last, terms), at if own_last else None), said

    def cause(self, terms: tuple[Term | None, ...], time: str) -> bytes:
        """The cause of a record as JSON, as `write_causes_by` said; only where the order is fixed."""
        assert self._cause is not None
        name = self.individual
        if self._quoted:
            terms = tuple([_json(t) if n in self._quoted and t else t for n, t in enumerate(terms)])
        bare = terms[name][1:-1] if isinstance(name, int) else ""  # type: ignore[index]  # it is there
        return self._cause((*terms, time, bare)).encode()

    @property
    def has_cause(self) -> bool:
        """Whether `write_causes_by` was called."""
        return self._cause is not None

    def write_causes_by(self, pieces: list[str | int]) -> None:
        """Write causes with these texts, and a slot of terms, AT or NAME between them."""
        used = {term for pattern, _ in self.explained for term in pattern}
        quoted = [place for place, slot in enumerate(self.template.slots) if slot.kind != "iri"]
        self._quoted = [place for place in quoted if place in used]
        self._cause = self._writer(pieces)

    def _writer(self, pieces: list[str | int]) -> Callable[[tuple[object, ...]], str]:
        """What joins pieces of the terms of a record, and of what else is given after them."""
        slots = len(self.template.slots)
        places = {AT: slots, NAME: slots + 1}
        form = "".join(["%s" if isinstance(one, int) else one.replace("%", "%%") for one in pieces])
        used = [places.get(one, one) for one in pieces if isinstance(one, int)]
        if not used:
            return lambda given: form % ()
        chosen = itemgetter(*used)  # one that chooses one thing gives no tuple, which `%` need not have
        return lambda given: form % chosen(given)


def _is_ordered(explained: list[tuple[Pattern, bool]]) -> bool:
    """Whether no name of a record can change the order: one assertion, or one subject in all."""
    subjects = {pattern[0] for pattern, _ in explained}
    properties = [pattern[1] for pattern, _ in explained]
    one = len(explained) == 1 or (len(subjects) == 1 and len(set(properties)) == len(properties))
    return one or not any(isinstance(term, int) for pattern, _ in explained for term in pattern)


def _filled(pattern: Pattern, terms: tuple[Term | None, ...]) -> Triple:
    s, p, o = pattern
    return (
        terms[s] if isinstance(s, int) else s,
        p,
        terms[o] if isinstance(o, int) else o,
    )  # type: ignore[return-value]  # properties are no slots, and no term of a hit is missing


def _json(text: str) -> str:
    return _encode(text)[1:-1].decode()


class Decided(LazyOccurrence):
    """A logical occurrence in a mapped record."""

    __slots__ = ("by", "terms")

    by: DecidedHit
    terms: tuple[Term | None, ...]

    @property
    def event(self) -> Term:  # type: ignore[override]  # it is that of its decision
        return self.by.event

    @property
    def individual(self) -> Term:  # type: ignore[override]
        return self.by.name_in(self.terms)

    @property
    def bounded(self) -> bool:  # type: ignore[override]
        return self.by.bounded

    def make_field(self, name: str) -> Any:
        if name == "explanation":
            return self.by.explanation(self.terms, self.start)
        if name == "solutions":
            return self.by.solutions(self.terms)
        if name == "items":
            return (Mapped(self.by.stream, self.start, self.terms, self.by.template).item(),)
        return super().make_field(name)


_new = Decided.__new__


def decided_occurrence(hit: DecidedHit, at: int, terms: tuple[Term | None, ...]) -> Decided:
    """The occurrence of a hit in a record; its solutions are made when they are read."""
    one = _new(Decided)
    one.by, one.terms = hit, terms
    one.start = one.end = one.detected = one.since = at
    one._written = one._stamp = None
    return one
