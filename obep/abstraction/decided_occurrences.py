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
Terms = tuple[Term | None, ...]
"""What fills in the slots of a template."""
Rows = tuple[Terms, ...]
RowsOf = Callable[[Terms], Rows]
_encode = msgspec.json.Encoder().encode


def _rows_maker(row: tuple[Source | None, ...]) -> RowsOf:
    """Return a function that makes the one row of an ask; occurrences with the same value share the row."""
    place = row[0] if len(row) == 1 else None
    if not isinstance(place, int):
        return lambda terms: (tuple([terms[n] if isinstance(n, int) else n for n in row]),)
    known: dict[Term | None, Rows] = {}

    def rows_of(terms: Terms) -> Rows:
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
        *("cause", "stamp", "stream", "template", "_rows"),
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
        self.cause: Callable[[Terms, str], bytes] | None = None
        """Makes the cause of a record as JSON, of its terms and its time as JSON; see `write_causes_by`."""
        self.stamp: Callable[[Terms, int], Stamp] | None = None
        """Makes the stamp of a record for ids; see `make_stamp`."""

    def name_in(self, terms: Terms) -> Term:
        """Its individual in a record."""
        name = self.individual
        return terms[name] if isinstance(name, int) else name  # type: ignore[return-value]  # it is there

    def solutions(self, terms: Terms) -> dict[int, Rows]:
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

    def explanation(self, terms: Terms, at: int) -> tuple[Assertion, ...]:
        """Why it happened in a record."""
        found: list[Assertion] = [
            (_filled(pattern, terms), at if own else None) for pattern, own in self.explained
        ]
        return tuple(found) if self.fixed else tuple(sorted(found))

    def make_stamp(self) -> Callable[[Terms, int], Stamp]:
        """Set and return `stamp`; only where the order is fixed."""
        pieces: list[str | int] = []
        for (s, p, o), own in self.explained:
            pieces += (s, " ", p, " ", o, " ", AT if own else "", "\0")
        (first, first_own), (last, last_own) = self.explained[0], self.explained[-1]
        more = [one for one in (*first, *last, self.individual) if not isinstance(one, int)]
        after = len(self.template.slots) + 1

        def place(one: Source) -> int:
            return one if isinstance(one, int) else after + more.index(one)

        first_of, last_of = itemgetter(*map(place, first)), itemgetter(*map(place, last))
        name = place(self.individual)
        form, chosen = self._form(pieces)

        def stamp(terms: Terms, at: int) -> Stamp:
            given: tuple[Any, ...] = (*terms, at, *more)
            head = (first_of(given), at if first_own else None)
            tail = (last_of(given), at if last_own else None)
            return head, tail, form % chosen(given), given[name]

        self.stamp = stamp
        return stamp

    def write_causes_by(self, pieces: list[str | int]) -> Callable[[Terms, str], bytes]:
        """Set and return `cause`: these texts, and a slot of terms, AT or NAME between them.

        Only where the order is fixed.
        """
        used = {term for pattern, _ in self.explained for term in pattern}
        quoted = [n for n, slot in enumerate(self.template.slots) if slot.kind != "iri" and n in used]
        name = self.individual
        form, chosen = self._form(pieces)

        def cause(terms: Terms, time: str) -> bytes:
            bare = terms[name][1:-1] if isinstance(name, int) else ""  # type: ignore[index]  # it is there
            if quoted:  # only literals have what JSON must escape
                terms = tuple([_json(t) if n in quoted and t else t for n, t in enumerate(terms)])
            return (form % chosen((*terms, time, bare))).encode()

        self.cause = cause
        return cause

    def _form(self, pieces: list[str | int]) -> tuple[str, Callable[[tuple[object, ...]], object]]:
        """Pieces as a format, and what it takes of the terms of a record and of what is given after them."""
        slots = len(self.template.slots)
        places = {AT: slots, NAME: slots + 1}
        form = "".join(["%s" if isinstance(one, int) else one.replace("%", "%%") for one in pieces])
        used = [places.get(one, one) for one in pieces if isinstance(one, int)]
        return form, itemgetter(*used) if used else lambda given: ()  # of one thing it gives no tuple


def _is_ordered(explained: list[tuple[Pattern, bool]]) -> bool:
    """Whether no name of a record can change the order: one assertion, or one subject in all."""
    subjects = {pattern[0] for pattern, _ in explained}
    properties = [pattern[1] for pattern, _ in explained]
    one = len(explained) == 1 or (len(subjects) == 1 and len(set(properties)) == len(properties))
    return one or not any(isinstance(term, int) for pattern, _ in explained for term in pattern)


def _filled(pattern: Pattern, terms: Terms) -> Triple:
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
    terms: Terms

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


def decided_occurrence(hit: DecidedHit, at: int, terms: Terms) -> Decided:
    """The occurrence of a hit in a record; its solutions are made when they are read."""
    one = _new(Decided)
    one.by, one.terms = hit, terms
    one.start = one.end = one.detected = one.since = at
    one._written = one._stamp = None
    return one
