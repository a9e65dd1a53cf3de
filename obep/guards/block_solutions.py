"""The solutions of one block over the graph of one occurrence: a nested loop over its triple patterns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from typing import NamedTuple, Protocol

from obep.formats.input_limits import Refused
from obep.guards.filter_closures import compile_condition
from obep.guards.guard_terms import term_of
from obep.guards.three_valued import Condition, Times
from obep.model import RDF_TYPE, Occurrence, Solution, Term, Triple
from obep.query.ast import Filter, Name, TriplePattern, Var
from obep.query.free_variables import THIS, variables

MOST_ROWS = 100_000
"""Patterns that share no variable multiply; an item that makes more rows than this is refused."""


class Graphs(Protocol):
    """The two graphs of an occurrence (SPEC D7); `None` stands for any term."""

    @property
    def vocabulary(self) -> frozenset[Term]:
        """The names of the event's definition: patterns over these are matched against `narrow`."""

    def narrow(self, s: Term | None, p: Term | None, o: Term | None) -> Iterable[Triple]:
        """The explanation, closed under T."""

    def wide(self, s: Term | None, p: Term | None, o: Term | None) -> Iterable[Triple]:
        """The whole item and K, closed under T."""


Row = list[Term | None]


class Step(NamedTuple):
    """One triple pattern: a constant or a slot for each place, and the filters to decide after it."""

    narrow: bool
    constants: tuple[Term | None, ...]
    slots: tuple[tuple[int, int], ...]
    """(place in the triple, slot in the row) of its variables."""
    conditions: tuple[Condition, ...]


class Block:
    """A block made ready for one vocabulary.

    A row has a slot for `?this` and one for each variable, blank nodes included: they are joined like any
    variable and left out of the solutions.
    """

    __slots__ = ("_first", "_individual", "_parameters", "_shown", "_size", "_steps", "copied")

    def __init__(
        self,
        triples: tuple[TriplePattern, ...],
        filters: tuple[Filter, ...],
        individual: tuple[str, ...],
        parameters: tuple[tuple[str, str], ...],
        shown: tuple[str, ...],
        vocabulary: frozenset[Term],
    ) -> None:
        names = dict.fromkeys((THIS, *shown, *variables(*triples)))
        slots = {name: slot for slot, name in enumerate(names)}
        self._size = len(slots)
        asked = {*shown, *variables(*triples), *variables(*filters)}
        this = (THIS,) if THIS in asked else ()  # the name of a moment is made when it is asked for
        self._individual = tuple(slots[name] for name in (*this, *individual))
        self._parameters = tuple((slots[name], declared) for name, declared in parameters)
        self._shown = tuple(slots[name] for name in shown)
        bound = {THIS, *individual}  # a parameter may be unbound, so it promises nothing to a filter
        waiting = list(filters)
        # What no pattern can bind is unbound for good: such a filter waits for nothing.
        bindable = {name for name in slots if name in variables(*triples)}

        loose = {name for name, _ in parameters} - bindable

        def ready() -> tuple[Condition, ...]:
            now = [f for f in waiting if all(v in bound or v not in bindable for v in variables(f))]
            waiting[:] = [f for f in waiting if f not in now]
            return tuple(_asked(f, slots, loose) for f in now)

        self._first = ready()
        declared_as = dict(self._parameters)
        self.copied: list[str] | None = None
        """The parameters that are shown, where a solution is nothing else."""
        plain = not (triples or filters or self._individual)
        if plain and declared_as.keys() == {*self._shown} and len(declared_as) == len(self._parameters):
            self.copied = [declared_as[slot] for slot in self._shown]
        steps = []
        promised = bound | {name for name, _ in parameters}
        for pattern in _ordered(triples, promised, vocabulary):
            bound.update(variables(pattern))
            places = (pattern.subject, pattern.predicate, pattern.object)
            steps.append(
                Step(
                    is_narrow(pattern, vocabulary),
                    tuple(None if isinstance(place, Var) else term_of(place) for place in places),
                    tuple(
                        (at, slots[place.name]) for at, place in enumerate(places) if isinstance(place, Var)
                    ),
                    ready(),
                )
            )
        self._steps = tuple(steps)

    def solutions(self, occurrence: Occurrence, graphs: Graphs) -> tuple[Solution, ...]:
        """The distinct solutions, sorted, so that they do not depend on the order of the data."""
        if self.copied is not None and len(occurrence.bindings) == 1:
            [values] = occurrence.bindings
            return (tuple([values.get(name) for name in self.copied]),)
        times = ((occurrence.start, occurrence.end),)
        rows = self._starts(occurrence)
        for condition in self._first:
            rows = [row for row in rows if condition(row, times)]
        for step in self._steps:
            if not rows:
                return ()
            rows = _extended(rows, step, graphs.narrow if step.narrow else graphs.wide, times)
        shown = self._shown
        if len(rows) < 2 or not shown:
            return tuple([tuple([row[slot] for slot in shown]) for row in rows[:1]])
        found = {tuple([row[slot] for slot in shown]) for row in rows}
        return tuple(sorted(found, key=lambda solution: tuple([value or "" for value in solution])))

    def _starts(self, occurrence: Occurrence) -> list[Row]:
        row: Row = [None] * self._size
        for slot in self._individual:
            row[slot] = occurrence.individual
        if not self._parameters:
            return [row]
        rows = []
        for values in occurrence.bindings or _unbound(occurrence):
            copy = row[:]
            for slot, declared in self._parameters:
                value = values.get(declared)
                if copy[slot] is None:
                    copy[slot] = value
                elif value is not None and copy[slot] != value:
                    break
            else:
                rows.append(copy)
        return rows


def _unbound(occurrence: Occurrence) -> tuple[dict[str, Term], ...]:
    """The parameters of a composite that binds none of them: nothing is asked of it (SPEC D8).

    One that its pattern did not find (an item said so, or an axiom) has no parameters: its individual
    is unknown, so no row is about it. What NOT leaves of an item is no part that is listed, but the
    individual of what a pattern finds is always named by its id.
    """
    found = occurrence.parts or occurrence.individual == f"<{occurrence.id}>"
    return ({},) if found else ()


def _asked(filter_: Filter, slots: Mapping[str, int], loose: Set[str]) -> Condition:
    """A filter of the block. Over a parameter that the composite left unbound it asks nothing (SPEC D8)."""
    condition = compile_condition(filter_.condition, slots, {"": 0})
    needed = [slots[name] for name in variables(filter_) if name in loose]
    if not needed:
        return condition
    return lambda row, times: any(row[slot] is None for slot in needed) or condition(row, times)


def is_narrow(pattern: TriplePattern, vocabulary: frozenset[Term]) -> bool:
    """Whether a pattern is about the definition's own vocabulary (SPEC D7); a variable never is.

    >>> is_narrow(TriplePattern(Var("x"), Name("p", "<p>"), Var("y")), frozenset({"<p>"}))
    True
    """
    return about(pattern) in vocabulary


def about(pattern: TriplePattern) -> Term:
    """The class or property that a pattern is about; nothing, where a variable stands for it."""
    named = isinstance(pattern.predicate, Name) and pattern.predicate.iri == RDF_TYPE
    term = pattern.object if named else pattern.predicate
    return term.iri if isinstance(term, Name) else ""


def _extended(rows: list[Row], step: Step, match: Callable[..., Iterable[Triple]], times: Times) -> list[Row]:
    slots, conditions, wanted = step.slots, step.conditions, list(step.constants)
    extended = []
    for row in rows:
        for place, slot in slots:
            wanted[place] = row[slot]
        for triple in match(*wanted):
            copy = row[:]
            for place, slot in slots:
                value = copy[slot]
                if value is None:
                    copy[slot] = triple[place]
                elif value != triple[place]:  # a variable twice in one pattern
                    break
            else:
                for condition in conditions:
                    if not condition(copy, times):
                        break
                else:
                    extended.append(copy)
        if len(extended) > MOST_ROWS:
            raise Refused("OBEP630", f"a guard block has more than {MOST_ROWS:,} solutions in it")
    return extended


def _ordered(
    triples: tuple[TriplePattern, ...], bound: Iterable[str], vocabulary: frozenset[Term]
) -> list[TriplePattern]:
    """The patterns so that each is asked with as many of its places known as can be."""
    left, known, order = list(dict.fromkeys(triples)), set(bound), []
    while left:
        best = min(left, key=lambda pattern: _cost(pattern, known, vocabulary))
        left.remove(best)
        order.append(best)
        known.update(variables(best))
    return order


def _cost(pattern: TriplePattern, known: set[str], vocabulary: frozenset[Term]) -> tuple[int, int]:
    def open_(place: object) -> bool:
        return isinstance(place, Var) and place.name not in known

    subject, predicate, object_ = map(open_, (pattern.subject, pattern.predicate, pattern.object))
    typing = isinstance(pattern.predicate, Name) and pattern.predicate.iri == RDF_TYPE
    # A class has many members, so `?x a :C` with ?x open is nearly as bad as knowing nothing.
    unknown = 2 * subject + 2 * object_ + predicate + (subject and typing)
    return (unknown, 0 if is_narrow(pattern, vocabulary) else 1)
