"""The shape of an item: what is left without the names that only this item has.

Two items of one shape have the same answers up to those names (REASONING 4.3: a bijection of names that
leaves those of T and K alone changes nothing). The key need not be canonical: a missed likeness costs time,
never an answer. A literal that is only compared with T's constants counts by which of them it meets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from obep.model import RDF_TYPE, Term, Triple
from obep.ontology.closure.runnable import Reading
from obep.ontology.owl.axioms import DataRange
from obep.ontology.owl.item_axioms import part_of_more
from obep.ontology.owl.literals import LONGEST_REMEMBERED, holds
from obep.ontology.rules.value_tests import ValueTests

V = TypeVar("V")
Cell = Callable[[Term], int]
"""Which of the constants that a property is compared with a literal meets."""


class Shape(NamedTuple):
    """An item without the names that are its own."""

    key: tuple[object, ...]
    triples: list[Triple]
    """The relevant triples."""
    names: dict[Term, int]
    """Its own names and literals, numbered in the order of their first appearance."""
    unknown: int
    """The number of triples whose class or property is not in T."""
    more: bool = False
    """Whether some triples say something together only (see `item_axioms`)."""

    def patterns(self) -> list[tuple[int | Term, Term, int | Term]]:
        """The triples of all items with this key, with numbers for their own names."""
        found, at, key = [], 0, self.key
        for s, p, o in self.triples:
            subject, object = key[at], key[at + 2]
            own = isinstance(object, int)
            found.append((_number(subject, s), p, _number(object, o)))
            at += 4 if own and o[0] == '"' else 3
        return found


def _number(part: object, term: Term) -> int | Term:
    """The number of an own name in a key; another term."""
    if isinstance(part, int):
        return part if part >= 0 else ~part
    return term


_shape = tuple.__new__
"""A `Shape` without the call that its constructor is, which is felt where one is made for every item."""


class Shapes:
    """Takes the shape of items."""

    def __init__(
        self,
        matters: tuple[dict[Term, bool], dict[Term, bool], dict[Term, bool]],
        readings: Sequence[Reading],
        fixed: set[Term],
        tests: ValueTests,
        datatypes: Mapping[Term, DataRange],
        *,
        all_matter: bool = False,
        alike: Mapping[Term, object] | None = None,
    ) -> None:
        """`fixed` are the names in guards; `all_matter`: a guard may read any property; `alike`: the same for
        all classes of which the same follows, where nothing is found that has their names."""
        self._classes, self._roles, data = matters
        self._data: dict[Term, Cell | bool] = {**data}
        self._ids = readings[0].store.ids
        more = {name for reading in readings[1:] for name in reading.store.ids if name not in self._ids}
        self._fixed = fixed | more or None
        self._all_matter = all_matter
        self._alike = alike
        for p, looked_at in data.items():
            if looked_at and tests.only_with_constants(p):
                self._data[p] = _cell(tests.of(p), datatypes)

    def is_known(self, term: Term) -> bool:
        """Whether T, K or a guard contains a name, so that it is not an item's own."""
        return term in self._ids or (self._fixed is not None and term in self._fixed)

    def knows_any(self, terms: Sequence[Term | None]) -> bool:
        """Whether one of some names is known."""
        ids, fixed = self._ids, self._fixed
        if fixed is not None and not fixed.isdisjoint(terms):
            return True
        return any(map(ids.__contains__, terms))

    def cell(self, p: Term) -> Cell | bool:
        """How a property compares literals: with constants, by their value, or not at all."""
        return self._data.get(p) or self._all_matter

    def of(self, triples: Iterable[Triple]) -> Shape:
        """The shape of some triples."""
        key: list[object] = []
        kept: list[Triple] = []
        own: dict[Term, int] = {}
        as_is: list[Term] | None = None
        unknown = 0
        more = False
        ids, fixed = self._ids, self._fixed
        classes, roles, all_matter = self._classes, self._roles, self._all_matter
        alike = self._alike
        for triple in triples:
            s, p, o = triple
            first = o[0]
            cell: Cell | bool | None = None
            if p == RDF_TYPE:
                matters: object = classes.get(o)
            elif first == '"':
                matters = cell = self._data.get(p)
            else:
                matters = roles.get(p)
            if not matters:
                if matters is None:
                    unknown += 1
                    more = more or part_of_more(p, o)
                if not all_matter:
                    continue
            kept.append(triple)
            if s not in ids and (fixed is None or s not in fixed):
                n = own.get(s)
                if n is None:
                    n = own[s] = len(own)
                key.append(n if s[0] == "<" else ~n)
            else:
                key.append(s)
            key.append(p)
            if alike is not None and p == RDF_TYPE:
                key.append(alike.get(o, o))
                continue
            if p == RDF_TYPE or o in ids or (fixed is not None and o in fixed):
                key.append(o)
                continue
            if first == '"' and not callable(cell):
                key.append(o)
                if as_is is None:
                    as_is = []
                as_is.append(o)
                continue
            n = own.get(o)
            if n is None:
                n = own[o] = len(own)
            key.append(~n if first == "_" else n)
            if first == '"':
                key.append(cell(o))  # type: ignore[operator,misc]  # callable, or we were not here
        if as_is is not None and not own.keys().isdisjoint(as_is):  # a row could not tell them apart
            key += [("=", place, own[o]) for place, o in enumerate(as_is) if o in own]
        return _shape(Shape, (tuple(key), kept, own, unknown, more))


def _cell(ranges: Sequence[DataRange], datatypes: Mapping[Term, DataRange]) -> Cell:
    if not ranges:
        return lambda literal: 0
    known: dict[Term, int] = {}

    def cell(literal: Term) -> int:
        found = known.get(literal)
        if found is None:
            if len(known) > 1 << 16:
                known.clear()
            found = 0
            for range in ranges:
                found = found << 1 | holds(range, literal, datatypes)
            if len(literal) <= LONGEST_REMEMBERED:
                known[literal] = found
        return found

    return cell


class Memory(Generic[V]):
    """A cache of about the last `size` entries that were used."""

    def __init__(self, size: int) -> None:
        self._half = max(1, size // 2)
        self.young: dict[object, V] = {}
        """Where to look first."""
        self._old: dict[object, V] = {}

    def __len__(self) -> int:
        return len(self.young.keys() | self._old.keys())

    def get(self, key: object) -> V | None:
        """Return the entry of a key."""
        found = self.young.get(key)
        if found is None:
            found = self._old.get(key)
            if found is not None:
                self.put(key, found)
        return found

    def keep(self, still: Callable[[V], bool]) -> None:
        """Forget what does not hold any more."""
        self.young = {key: value for key, value in self.young.items() if still(value)}
        self._old = {key: value for key, value in self._old.items() if still(value)}

    def put(self, key: object, value: V) -> None:
        """Store an entry; when the younger half is full, the older half is dropped."""
        if len(self.young) >= self._half:
            self._old, self.young = self.young, {}
        self.young[key] = value
