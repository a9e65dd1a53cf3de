"""OVER from nothing: groups and their aggregates at an instant, computed from all rows there ever were."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from naive_aggregates import Cell, NaiveRow, naive, naive_held

from obep.algebra.over.over_expressions import GroupKey, OverRow
from obep.guards.calendar import Lapse
from obep.guards.typed_values import parse_term, term_of_value
from obep.model import Term
from obep.query.ast import (
    Aggregate,
    Arithmetic,
    Comparison,
    Conjunction,
    Duration,
    Expression,
    Literal,
    Name,
    Projection,
    Var,
)

Table = list[NaiveRow]
Answer = tuple[bool, tuple[str | None, ...]]
"""Whether HAVING is true, and the values of AGGREGATE."""
INTEGER = Name("xsd:integer", "<http://www.w3.org/2001/XMLSchema#integer>")
X = Var("v")


def integer(value: int) -> Literal:
    return Literal(str(value), INTEGER)


@dataclass
class Spec:
    """What AGGREGATE and HAVING say, as a tree and as Python."""

    aggregates: tuple[Projection, ...]
    having: Expression | None
    answer: Callable[[Table, int, bool], Answer]
    """Of the rows of a group, an instant, and whether FULL()."""
    of_time: bool = False


def number(term: str | None) -> Any:
    return None if term is None else parse_term(term)


def counted(rows: Table, now: int, full: bool) -> Answer:
    return len(rows) > 2, (term_of_value(len(rows)),)


def stuck(rows: Table, now: int, full: bool) -> Answer:
    ends = [number(naive(name, rows, now)) for name in ("MAX", "MIN")]
    if not all(type(end) is int for end in ends):
        return False, (None,)
    return ends[0] == ends[1] and full, (term_of_value(ends[0] - ends[1]),)


def mean_in_time(rows: Table, now: int, full: bool) -> Answer:
    values = naive("AVG", rows, now), naive("TIMEAVG", rows, now)
    return number(values[1]) is not None and number(values[1]) > 1, values


def bare(rows: Table, now: int, full: bool) -> Answer:
    return bool(rows), ()


def silent(rows: Table, now: int, full: bool) -> Answer:
    return not rows, (term_of_value(len(rows)), naive("LAST", rows, now), naive("SUM", rows, now))


def several(rows: Table, now: int, full: bool) -> Answer:
    total, kinds = number(naive("SUM", rows, now)), len({row.cell.term for row in rows if row.cell})
    both = None if total is None else total + kinds
    rest = naive("CHANGES", rows, now), naive("MEDIAN", rows, now)
    if both is None:
        return False, (None, *rest, None)
    return both > 3, (term_of_value(both), *rest, term_of_value(2 * both))


def compared(left: Expression, sign: Any, right: Expression) -> Comparison:
    return Comparison(sign, left, right)


COUNT = Aggregate("COUNT")
SPECS = (
    Spec((Projection(Var("n"), COUNT),), compared(Var("n"), ">", integer(2)), counted),
    Spec((Projection(Var("n"), COUNT),), compared(COUNT, ">", integer(2)), counted),
    Spec(
        (Projection(Var("d"), Arithmetic("-", Aggregate("MAX", X), Aggregate("MIN", X))),),
        Conjunction((compared(Var("d"), "=", integer(0)), Aggregate("FULL"))),
        stuck,
    ),
    Spec(
        (Projection(Var("m"), Aggregate("AVG", X)), Projection(Var("w"), Aggregate("TIMEAVG", X))),
        compared(Var("w"), ">", integer(1)),
        mean_in_time,
        of_time=True,
    ),
    Spec((), None, bare),
    Spec(
        (
            Projection(Var("n"), COUNT),
            Projection(Var("l"), Aggregate("LAST", X)),
            Projection(Var("s"), Aggregate("SUM", X)),
        ),
        compared(Var("n"), "=", integer(0)),
        silent,
    ),
    Spec(
        (
            Projection(Var("b"), Arithmetic("+", Aggregate("SUM", X), Aggregate("COUNT", X, distinct=True))),
            Projection(Var("c"), Aggregate("CHANGES", X)),
            Projection(Var("m"), Aggregate("MEDIAN", X)),
            Projection(Var("t"), Arithmetic("*", integer(2), Var("b"))),
        ),
        compared(Var("b"), ">", integer(3)),
        several,
    ),
)


SPECS += tuple(  # without HAVING, all values show
    Spec(spec.aggregates, None, lambda *given, of=spec.answer: (True, of(*given)[1]), spec.of_time)
    for spec in SPECS
    if spec.aggregates
)


class Arrival(NamedTuple):
    """A row, and when it is known."""

    group: GroupKey
    end: int
    done: int
    identity: str
    terms: tuple[Term | None, ...]

    @property
    def row(self) -> OverRow:
        return OverRow(self.end, (self.identity,), self.end, "", self.terms, self.group)


@dataclass
class World:
    """All that happens: rows, and for which groups a state of FOR EACH holds."""

    spec: Spec
    within: int
    step: int | None
    rows: list[Arrival] = field(default_factory=list)
    each: list[tuple[GroupKey, int, int | None]] = field(default_factory=list)

    def at(self, instant: int) -> dict[GroupKey, Answer]:
        """The groups at an instant."""
        if self.step is not None:
            instant = instant // self.step * self.step
        groups = {row.group for row in self.rows_at(instant)}
        groups |= {
            key
            for key, begin, end in self.each
            if begin <= instant - self.within and (end is None or instant < end)
        }
        return {key: self.answer(key, instant) for key in groups}

    def rows_at(self, instant: int) -> list[Arrival]:
        there = [row for row in self.rows if row.done <= instant and row.end > instant - self.within]
        return list({(row.group, row.end, row.identity): row for row in there}.values())

    def table(self, key: GroupKey, instant: int) -> Table:
        return [naive_row(row) for row in self.rows_at(instant) if row.group == key]

    def answer(self, key: GroupKey, instant: int) -> Answer:
        rows = self.table(key, instant)
        now = instant
        if self.spec.of_time and self.step is None:  # as of the last instant at which a row came or left
            while self.keys(key, now - 1) == self.keys(key, now):
                now -= 1
        full = all(self.table(key, past) for past in range(instant - self.within, instant + 1))
        return self.spec.answer(rows, now, full)

    def keys(self, key: GroupKey, instant: int) -> set[tuple[int, str]]:
        return {(row.end, row.key) for row in self.table(key, instant)}


def naive_row(row: Arrival) -> NaiveRow:
    [term] = row.terms
    if term is None:
        return NaiveRow(row.end, row.identity, None)
    value = parse_term(term)
    kind = "integer" if type(value) is int else "string"
    return NaiveRow(row.end, row.identity, Cell(term, kind, value))


# --- OVER STATE ---------------------------------------------------------------------------------------------

HELD = Spec(
    (Projection(Var("h"), Aggregate("HELD")), Projection(Var("n"), COUNT)),
    compared(Var("h"), ">", Duration(2)),
    lambda rows, now, full: (False, ()),
    of_time=True,
)


@dataclass
class Episodes:
    """The episodes of a state, in groups: group, beginning, end."""

    within: int
    step: int | None
    all: list[tuple[GroupKey, int, int | None]]

    def at(self, instant: int) -> dict[GroupKey, Answer]:
        if self.step is not None:
            instant = instant // self.step * self.step
        answers = {}
        for key in {key for key, _, _ in self.known(instant)}:
            now = instant
            while self.step is None and not self.changes(key, now):
                now -= 1
            spans = [(begin, end) for group, begin, end in self.known(now) if group == key]
            held = naive_held(spans, now, self.within)
            lasting = parse_term(held)
            assert isinstance(lasting, Lapse)
            answers[key] = lasting > 2, (held, term_of_value(len(spans)))
        return answers

    def known(self, instant: int) -> list[tuple[GroupKey, int, int | None]]:
        least = instant - self.within
        return [one for one in self.all if one[1] <= instant and (one[2] is None or one[2] > least)]

    def changes(self, key: GroupKey, instant: int) -> bool:
        """Whether an episode of the group begins, ends, or leaves the window."""
        times = [
            (begin, end, None if end is None else end + self.within)
            for group, begin, end in self.all
            if group == key
        ]
        return any(instant in three for three in times)
