"""Logical occurrences of records and items that are alike: they differ in some terms and in the instant only.

What is found in one record of a decision is found in all of them, and so it is for the items of a shape.
Explanation, item and texts are made when they are read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any

import msgspec

from obep.abstraction.answer_templates import Hit, PlainAsks
from obep.abstraction.shapes import Shape
from obep.formats.tables.mapped_records import Mapped
from obep.formats.triple_template import Place, Slot
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
Terms = tuple[Term | None, ...]
"""What fills in the slots of a template."""
RowsOf = Callable[[Terms], tuple[Rows, Terms]]
"""The rows that an ask finds in a record, and the terms of the record, which share those of the rows."""
RowMakers = dict[tuple[Source | None, ...], RowsOf]
"""What makes the rows of asks, by where the values of a row come from."""
_encode = msgspec.json.Encoder().encode


def _rows_maker(row: tuple[Source | None, ...]) -> RowsOf:
    """Return a function that makes the one row of an ask; occurrences with the same value share it."""
    place = row[0] if len(row) == 1 else None
    if not isinstance(place, int):
        return lambda terms: ((tuple([terms[n] if isinstance(n, int) else n for n in row]),), terms)
    known: dict[Term | None, Rows] = {}

    def rows_of(terms: Terms) -> tuple[Rows, Terms]:
        term = terms[place]
        found = known.get(term)
        if found is None:
            if len(known) >= REMEMBERED:
                known.clear()
            found = known[term] = ((term,),)
        elif found[0][0] is not term:
            terms = (*terms[:place], found[0][0], *terms[place + 1 :])
        return found, terms

    return rows_of


class DecidedHit:
    """One explanation of an event for an individual, in all records of a decision."""

    __slots__ = (
        *("bounded", "event", "explained", "fixed", "hit", "individual", "makers", "names", "plain"),
        *("cause", "stamp", "stream", "template", "_known"),
    )

    def __init__(
        self,
        hit: Hit,
        individual: Source,
        explained: list[tuple[Pattern, bool]],
        names: Sequence[Source],
        stream: str,
        template: Filled,
        asked: PlainAsks | None,
        known: RowMakers,
    ) -> None:
        """`explained`: the patterns of its assertions in their order, each with whether the item has it.

        `asked`: its asks, if each has one row and no filter (`Asking.plainly`). `known` is shared by the hits
        of the same records: hundreds of events may read one value.
        """
        self.hit, self.event, self.bounded = hit, hit.event, hit.bounded
        self.individual, self.explained, self.names = individual, explained, names
        self.stream, self.template = stream, template
        self.fixed = _is_ordered(explained)
        """Whether the order of the assertions is the same in all records."""
        self.plain: dict[int, tuple[Source | None, ...]] | None = None
        """By ask where the values of its one row come from, if there is nothing else to solve."""
        if asked is not None:
            often, rows = asked
            self.plain = {ask: (individual,) * count for ask, count in often}
            self.plain |= {
                ask: tuple([names[n] if isinstance(n, int) else n for n in row]) for ask, row in rows
            }
        self.makers: dict[int, RowsOf | None] = {}
        """By ask what makes its rows, as far as `rows_of` was asked."""
        self._known = known
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
        return {ask: rows(terms)[0] for ask in self.plain or () if (rows := self.rows_of(ask)) is not None}

    def rows_of(self, ask: int) -> RowsOf | None:
        """What makes the rows that an ask finds in a record; `None` if it finds nothing there."""
        if ask not in self.makers:
            row = self.row_of(ask)
            if row is not None and row not in self._known:
                self._known[row] = _rows_maker(row)
            self.makers[ask] = None if row is None else self._known[row]
        return self.makers[ask]

    def row_of(self, ask: int) -> tuple[Source | None, ...] | None:
        """Where the values of the one row that an ask finds come from; `None` if it finds nothing."""
        return None if self.plain is None else self.plain.get(ask)

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
        name = self.individual
        used = {name, *[term for pattern, _ in self.explained for term in pattern]}
        quoted = [n for n, slot in enumerate(self.template.slots) if slot.kind != "iri" and n in used]
        form, chosen = self._form(pieces)

        def cause(terms: Terms, time: str) -> bytes:
            if quoted:  # what may have something that JSON must escape
                terms = tuple([_json(t) if n in quoted and t else t for n, t in enumerate(terms)])
            bare = _bare(terms[name]) if isinstance(name, int) else ""  # type: ignore[arg-type]  # it is there
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


def decided_hit(
    hit: Hit,
    triples: Sequence[Triple],
    patterns: Sequence[Pattern],
    names: Sequence[Source],
    stream: str,
    template: Filled,
    asked: PlainAsks | None,
    known: RowMakers,
) -> DecidedHit:
    """A hit of a shape in all records that fill in a template.

    `triples` are those of one record, `patterns` the same for all, `names` the own names of the shape.
    """
    explained = [(triples[n], patterns[n], True) for n in hit.triples]
    explained += [(triple, triple, False) for triple, _ in hit.static]
    return DecidedHit(
        hit,
        names[hit.individual] if isinstance(hit.individual, int) else hit.individual,
        [(pattern, own) for _, pattern, own in sorted(explained, key=itemgetter(0))],
        names,
        stream,
        template,
        asked,
        known,
    )


def decided_hits(
    hits: Sequence[Hit],
    shape: Shape,
    stream: str,
    named: bool,
    asked: Callable[[Hit], PlainAsks | None],
) -> list[DecidedHit]:
    """The hits of a shape in all its items of a stream; `named`: whose last term is the item's name."""
    patterns = shape.patterns()
    slots = [_slot(str(n)) for n in range(len(shape.names))]
    once = dict.fromkeys(patterns)
    filled = tuple([tuple([slots[one] if isinstance(one, int) else one for one in each]) for each in once])
    template = Filled(filled, name=_slot("name") if named else None)  # type: ignore[arg-type]  # three terms each
    names, known = range(len(slots)), RowMakers()
    return [
        decided_hit(hit, shape.triples, patterns, names, stream, template, asked(hit), known) for hit in hits
    ]


@lru_cache(1 << 10)
def _slot(name: str) -> Slot:
    return Slot("term", (Place(name),))


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


def _bare(term: Term) -> str:
    """An IRI without its brackets; a blank node has none."""
    return term[1:-1] if term[0] == "<" else term


def _json(text: str) -> str:
    if text.isprintable() and '"' not in text and "\\" not in text:  # most have nothing to escape
        return text
    return _encode(text)[1:-1].decode()


class Decided(LazyOccurrence):
    """A logical occurrence in a record or item."""

    __slots__ = ("by", "terms")

    by: DecidedHit
    terms: Terms

    @property
    def event(self) -> Term:  # type: ignore[override]  # it is that of its decision
        return self.by.event

    @property
    def individual(self) -> Term:  # type: ignore[override]  # of its decision
        return self.by.name_in(self.terms)

    @property
    def bounded(self) -> bool:  # type: ignore[override]  # of its decision
        return self.by.bounded

    def _rows_of(self, ask: int) -> Rows:
        given = self._solutions
        if given is not None:
            return given.get(ask, ())
        try:
            make = self.by.makers[ask]
        except KeyError:
            make = self.by.rows_of(ask)
        if make is None:
            return ()
        rows, self.terms = make(self.terms)
        return rows

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
    one.start = at
    one._solutions = one._written = one._stamp = None
    return one
