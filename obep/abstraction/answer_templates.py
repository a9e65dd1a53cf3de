"""Answers about a shape, to be filled in with the names of an item.

A name is a place in the item's own names, or a term. An assertion is a place in the item's triples, or one of
K's. So an answer about one item is the answer about all of its shape.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from obep.guards.block_queries import Ask
from obep.guards.constant_index import Index, comparisons
from obep.guards.filter_closures import compile_condition
from obep.guards.typed_values import ExpressionError, Value, parsed
from obep.model import Assertion, Occurrence, Solution, Term, Triple
from obep.query.ast import Var
from obep.query.free_variables import THIS, variables

if TYPE_CHECKING:
    from obep.abstraction.decided_occurrences import DecidedHit
    from obep.abstraction.hit_groups import Groups

WORTH_AN_INDEX = 4
"""So many asks with one pattern, and their filters are indexed."""
Name = int | Term
Row = tuple[Name | None, ...]
Pick = Callable[[tuple[Term, ...]], Solution]
PlainAsks = tuple[list[tuple[int, int]], list[tuple[int, Row]]]
"""The asks that only name the individual, and how often; and the one row of each other ask."""


class Hit(NamedTuple):
    """One explanation of an event's class for an individual."""

    event: Term
    individual: Name
    triples: tuple[int, ...]
    """Those of the item."""
    static: tuple[Assertion, ...]
    """Those of K."""
    bounded: bool = False
    rows: tuple[tuple[Questions, tuple[Row, ...]], ...] = ()
    """For the asks with a pattern: what the pattern finds, before their filters."""
    solved: tuple[tuple[int, Pick], ...] | None = None
    """Where each ask has one solution, and no filter: its number, and what makes that of an item's names."""


class Template(NamedTuple):
    """The answer for all items of a shape: its hits, the triples that contradict T, or the reason for a
    refusal."""

    hits: tuple[Hit, ...]
    clash: tuple[int, ...] | None = None
    static_clash: tuple[Triple, ...] = ()
    bounded: bool = False
    capped: int = 0
    keep: bool = True
    """Whether it holds for the whole shape, and may be remembered."""
    refused: tuple[str, str] | None = None
    """A code and a reason."""
    groups: Groups | None = None
    """Which hits need to be looked at by what an item says, where not all do."""
    read: Collection[object] | None = None
    """The parts of a changing K that the answer depends on (`ChangingStore.read`)."""
    decided: dict[tuple[str, bool], list[DecidedHit]] | None = None
    """Of one that is remembered: the hits as all items have them, by stream, and whether these have names."""

    def moved(self, places: Sequence[int]) -> Template:
        """The same template for an item whose triples lie at these places."""
        hits = [hit._replace(triples=tuple([places[n] for n in hit.triples])) for hit in self.hits]
        clash = None if self.clash is None else tuple([places[n] for n in self.clash])
        return self._replace(hits=tuple(hits), clash=clash)


def named(name: Name | None, names: Sequence[Term]) -> Term | None:
    """A name of a template, filled in."""
    return names[name] if isinstance(name, int) else name


def picker(row: Row) -> Pick:
    """Return a function that fills in the names of a row."""
    places = [name for name in row if isinstance(name, int)]
    if not row or len(places) < len(row):
        return lambda names: tuple([names[one] if isinstance(one, int) else one for one in row])
    return itemgetter(*places) if len(places) > 1 else itemgetter(slice(places[0], places[0] + 1))


class Question:
    """An ask whose pattern is matched once for a shape, and whose filters are decided for each item."""

    def __init__(self, ask: Ask) -> None:
        self.ask = ask
        found = dict.fromkeys((*ask.variables, *variables(*ask.triples)))
        found.pop(THIS, None)
        self.columns = columns = tuple(found)
        index = {name: place for place, name in enumerate(columns)} | {THIS: len(columns)}
        self.pattern = Ask(ask.number, "", columns, ask.triples, (), ask.names_this)
        """Without the filters, and the same for all events."""
        self._conditions: list[Callable[[Sequence[Term | None], Any], bool]] = [
            compile_condition(one.condition, index, {"": 0}) for one in ask.filters
        ]
        self._shown = tuple(index[name] for name in ask.variables)
        self.plain = columns == ask.variables and not self._conditions

    def solutions(self, filled: Sequence[Solution], occurrence: Occurrence) -> tuple[Solution, ...]:
        """The rows, with their names filled in, that the filters leave."""
        if self.plain:
            return tuple(filled) if len(filled) < 2 else tuple(sorted(filled, key=_order))
        times = ((occurrence.start, occurrence.end),)
        shown, individual = self._shown, occurrence.individual
        found: dict[Solution, None] = {}
        for one in filled:
            row: Any = (*one, individual)
            if all(condition(row, times) for condition in self._conditions):
                found[tuple([row[place] for place in shown])] = None
        return tuple(sorted(found, key=_order)) if len(found) > 1 else tuple(found)


class Questions:
    """Asks with one pattern: it is matched once, and of many filters only those are tried that may hold."""

    def __init__(self, asks: Sequence[Ask]) -> None:
        self._asked = [Question(ask) for ask in asks]
        self.pattern = self._asked[0].pattern
        self._always: list[int] = []
        """Asks that are not indexed."""
        entries: dict[str, list[tuple[int, str, Value]]] = {}
        for number, ask in enumerate(asks):
            found = _by_variable(ask) if len(asks) >= WORTH_AN_INDEX else None
            if found is None:
                self._always.append(number)
            else:
                name, operator, constant = found
                entries.setdefault(name, []).append((number, operator, constant))
        columns = self._asked[0].columns
        self.only_comparison: tuple[int, str, Value] | None = None
        """If it is one ask that must compare a column with a constant: which, how, and with what."""
        if len(asks) == 1 and (one := _by_variable(asks[0])) is not None and one[0] in columns:
            self.only_comparison = (columns.index(one[0]), one[1], one[2])
        self._indexed = [(columns.index(name), Index(found)) for name, found in entries.items()]
        plain = all(one.plain for one in self._asked)
        self.unfiltered = [ask.number for ask in asks] if plain else None
        """The numbers of the asks, if each has the rows of the pattern as they are."""

    def solve(self, rows: Sequence[Row], names: Sequence[Term], occurrence: Occurrence) -> None:
        """The solutions of all of them about an occurrence."""
        filled = [tuple([names[n] if isinstance(n, int) else n for n in row]) for row in rows]
        numbers = self._may_hold(filled) if self._indexed else self._always
        for number in numbers:
            question = self._asked[number]
            if found := question.solutions(filled, occurrence):
                occurrence.solutions[question.ask.number] = found

    def _may_hold(self, filled: Sequence[Solution]) -> list[int]:
        found = set(self._always)
        for place, index in self._indexed:
            for row in filled:
                try:
                    found.update(index.may_hold(parsed[row[place]]))
                except ExpressionError:  # so is every filter over it
                    continue
        return sorted(found)


def _by_variable(ask: Ask) -> tuple[str, str, Value] | None:
    """A comparison of a variable with a constant that must be true for an ask to have solutions."""
    for one in ask.filters:
        for subject, operator, constant in comparisons(one.condition):
            if isinstance(subject, Var) and subject.name in ask.variables:
                return subject.name, operator, constant
    return None


def _order(solution: Solution) -> tuple[str, ...]:
    return tuple([value or "" for value in solution])
