"""Random T, events, K and items of eight kinds, always the same for the same seed; and a simple shrinker.

Each kind is a grammar of its own: which axioms T may hold, what an event may say. They are small (a few
names) so that things meet: questions whose answer is always "no" prove nothing. Drawn by hypothesis, which
favours what is simple and what it has drawn before, two thirds of the worlds of some kinds contradict
themselves; so the seeds are plain, and the mix that comes of them is asserted where they are used.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from greedy_shrinking import least
from owl import c, facet, lit, ontology, t, xsd

from obep.model import RDF_TYPE, Term, Triple
from obep.ontology.owl import axioms as ax
from obep.ontology.owl.axiom_set import Axioms
from obep.ontology.owl.axioms import Axiom, ClassExpression, DataRange, Inverse, ObjectProperty, SubClassOf
from obep.ontology.owl.role_box import super_roles

CLASSES = tuple(c(f"C{i}") for i in range(5))
ROLES = tuple(t(f"r{i}") for i in range(4))
DATA = (t("d0"), t("d1"))
ISLANDS = (("a0", "a1", "a2"), ("b0", "b1"), ("e0", "e1"))
"""K's individuals, in components that K never joins."""
NUMBERS = (*(lit(i) for i in range(5)), lit("2.5", "decimal"), lit("3.0", "decimal"))
LITERALS = (
    *NUMBERS,
    lit("2.5", "double"),
    lit("3", "double"),
    lit("red", "string"),
    lit("blue", "string"),
    lit("true", "boolean"),
    lit("2026-01-01T00:00:00Z", "dateTime"),
    lit("2026-01-02T00:00:00", "dateTime"),
    lit("2026-01-02", "date"),
    lit("seven"),
)
WRITTEN = LITERALS[:-1]
"""Those that a definition may name: all that are literals of their datatype."""


@dataclass(frozen=True)
class World:
    """Everything that one comparison needs."""

    kind: str
    seed: int
    axioms: tuple[Axiom, ...]
    events: tuple[tuple[Term, ClassExpression], ...]
    k: tuple[Triple, ...]
    items: tuple[tuple[Triple, ...], ...]

    def t(self) -> Axioms:
        """T without the events."""
        return ontology(*self.axioms) | NAMES

    def full(self) -> Axioms:
        """T with the events, each equivalent to what defines it."""
        definitions = (ax.EquivalentClasses((ax.Class(event), body)) for event, body in self.events)
        return ontology(*self.axioms, *definitions) | NAMES


NAMES = Axioms(
    classes=frozenset(k.iri for k in CLASSES),
    object_properties=frozenset(ROLES),
    data_properties=frozenset(DATA),
)


@dataclass(frozen=True)
class Kind:
    """How a kind is made: makers of axioms and of parts of events, with weights by repetition."""

    axioms: tuple[str, ...]
    always: tuple[str, ...]
    parts: tuple[str, ...]
    has_gap: bool
    different: float = 0.0
    same: float = 0.0
    data: float = 0.0
    asserted: float = 0.0
    """How often something is said to be of an event's class."""
    fresh: tuple[str, ...] = ("n0", "n1")


_RL = ("sub", "sub", "left", "left", "some_left", "domain", "range", "only_right", "value_right")
_ROLE = ("sub_role", "inverse", "symmetric", "transitive", "chain")
_PARTS = ("name", "name", "and", "or", "some", "some")
KINDS: dict[str, Kind] = {
    "rl": Kind(
        (*_RL, *_ROLE, "reflexive", "self_right", "not_right"), ("disjoint", "constraint"),
        (*_PARTS, "value", "one_of", "self", "inverse_some"), False,
    ),
    "el": Kind(
        (*_RL[:-2], "exists", "exists", "exists", "sub_role", "transitive", "chain"),
        ("disjoint", "disjoint", "exists"),
        _PARTS, False,
    ),
    "inverse": Kind(
        ("sub", "left", "some_left", "exists", "exists", "inverse", "symmetric", "only_right", "functional"),
        ("disjoint", "exists", "exists", "inverse_left"),
        (*_PARTS, "inverse_some", "back", "back", "back"), True,
    ),
    "disjunction": Kind(
        (*_RL[:-1], "or_right", "or_right", "not_right", "sub_role", "covering"),
        ("disjoint", "or_right", "or_right"), (*_PARTS, "not", "only"), True,
    ),
    "counting": Kind(
        ("sub", "left", "domain", "range", "max_right", "min_right", "exactly_right", "min_left", "sub_role"),
        ("disjoint", "max_right", "min_left"), (*_PARTS, "min", "min", "max"), True, different=0.4,
    ),
    "equality": Kind(
        (*_RL[:-1], "functional", "inverse_functional", "max_one", "one_of_right", "sub_role", "inverse"),
        ("disjoint", "functional", "inverse_functional"), (*_PARTS, "value"), False,
        different=0.15, same=0.25,
    ),
    "data": Kind(
        ("sub", "left", "data_left", "data_left", "data_right", "data_range", "data_domain", "sub_data",
         "functional_data", "some_left", "data_value_right", "data_exists"),
        ("disjoint", "data_left", "data_left"), (*_PARTS, "data", "data", "data"), False, data=0.5,
    ),
    "mixed": Kind(
        (*_RL[:-1], *_ROLE, "exists", "or_right", "not_right", "max_right", "min_left", "functional",
         "reflexive", "inverse_functional", "inverse_left", "data_left", "data_exists", "functional_data",
         "key", "event_left", "event_right", "covering"),
        ("disjoint", "exists"), (*_PARTS, "value", "inverse_some", "not", "only", "min", "data"), True,
        different=0.1, same=0.1, data=0.15, asserted=0.15, fresh=("n0", "_:n1"),
    ),
}  # fmt: skip


def world(kind: str, seed: int, items: int = 5) -> World:
    """The world of a kind and a seed."""
    return _Maker(kind, seed).world(items)


class _Maker:
    def __init__(self, kind: str, seed: int) -> None:
        self.kind, self.seed = kind, seed
        self.make = KINDS[kind]
        self.pick = random.Random(f"{kind}{seed}")

    def world(self, items: int) -> World:
        wanted = [
            *self.make.always,
            *(self.pick.choice(self.make.axioms) for _ in range(self.pick.randint(4, 8))),
        ]
        axioms: list[Axiom] = []
        for name in sorted(wanted, key=_simple_last):
            axiom = getattr(self, f"_{name}")()
            axioms += [axiom] if self._fits(axioms, axiom) else []
        self.simple = sorted(set(ROLES) - _complex(axioms))
        events = tuple((t(f"H{i}"), self._event(i)) for i in range(self.pick.randint(2, 3)))
        return World(
            self.kind,
            self.seed,
            tuple(dict.fromkeys(axioms)),
            events,
            tuple(self._static()),
            tuple(tuple(dict.fromkeys(self._item())) for _ in range(items)),
        )

    # --- names ----------------------------------------------------------------------------------------

    def cls(self) -> ax.Class:
        return self.pick.choice(CLASSES)

    def role(self) -> Term:
        return self.pick.choice(ROLES)

    def individual(self) -> Term:
        return t(self.pick.choice(self.pick.choice(ISLANDS)))

    def _fits(self, axioms: Sequence[Axiom], axiom: Axiom) -> bool:
        """Keeps to OWL 2 DL: counting, functionality and constraints on simple roles only."""
        if not isinstance(axiom, tuple(_NEED_SIMPLE)):
            roles = set(_counted(axiom))
        else:
            roles = {axiom.property} if hasattr(axiom, "property") else set(axiom.operands)
        return not roles & _complex(axioms)

    # --- axioms ---------------------------------------------------------------------------------------

    def _sub(self) -> Axiom:
        return SubClassOf(self.cls(), self.cls())

    def _left(self) -> Axiom:
        return SubClassOf(ax.And((self.cls(), self.cls())), self.cls())

    def _some_left(self) -> Axiom:
        return SubClassOf(ax.Some(self.role(), self._filler()), self.cls())

    def _domain(self) -> Axiom:
        return ax.Domain(self.role(), self.cls())

    def _range(self) -> Axiom:
        return ax.Range(self.role(), self.cls())

    def _only_right(self) -> Axiom:
        return SubClassOf(self.cls(), ax.Only(self.role(), self.cls()))

    def _value_right(self) -> Axiom:
        return SubClassOf(self.cls(), ax.Value(self.role(), self.individual()))

    def _self_right(self) -> Axiom:
        return SubClassOf(self.cls(), ax.HasSelf(self.role()))

    def _not_right(self) -> Axiom:
        return SubClassOf(self.cls(), ax.Not(self.cls()))

    def _or_right(self) -> Axiom:
        return SubClassOf(self.cls(), ax.Or((self.cls(), self.cls())))

    def _covering(self) -> Axiom:
        whole, *parts = self.pick.sample(CLASSES, 3)
        return ax.DisjointUnion(whole.iri, tuple(parts))

    def _disjoint(self) -> Axiom:
        return ax.DisjointClasses(tuple(self.pick.sample(CLASSES, 2)))

    def _exists(self) -> Axiom:
        return SubClassOf(self.cls(), ax.Some(self.role(), self._filler()))

    def _filler(self) -> ClassExpression:
        return ax.TOP if self.pick.random() < 0.2 else self.cls()

    def _inverse_left(self) -> Axiom:
        return SubClassOf(ax.Some(Inverse(self.role()), self.cls()), self.cls())

    def _max_right(self) -> Axiom:
        return SubClassOf(self.cls(), ax.Max(self.pick.randint(1, 2), self.role(), self._filler()))

    def _max_one(self) -> Axiom:
        return SubClassOf(self.cls(), ax.Max(1, self.role(), self._filler()))

    def _min_right(self) -> Axiom:
        return SubClassOf(self.cls(), ax.Min(2, self.role(), self._filler()))

    def _exactly_right(self) -> Axiom:
        return SubClassOf(self.cls(), ax.Exactly(self.pick.randint(1, 2), self.role(), self._filler()))

    def _min_left(self) -> Axiom:
        return SubClassOf(ax.Min(self.pick.randint(1, 2), self.role(), self._filler()), self.cls())

    def _one_of_right(self) -> Axiom:
        return SubClassOf(self.cls(), ax.OneOf((self.individual(),)))

    def _sub_role(self) -> Axiom:
        low, high = sorted(self.pick.sample(range(len(ROLES)), 2))
        return ax.SubProperty(ROLES[low], ROLES[high])

    def _inverse(self) -> Axiom:
        return ax.InverseProperties(*self.pick.sample(ROLES, 2))

    def _symmetric(self) -> Axiom:
        return ax.Symmetric(self.role())

    def _transitive(self) -> Axiom:
        return ax.Transitive(self.role())

    def _reflexive(self) -> Axiom:
        return ax.Reflexive(self.role())

    def _chain(self) -> Axiom:
        top = self.pick.randint(1, len(ROLES) - 1)
        return ax.SubChain((self.pick.choice(ROLES[:top]), self.pick.choice(ROLES[:top])), ROLES[top])

    def _functional(self) -> Axiom:
        return ax.Functional(self.role())

    def _inverse_functional(self) -> Axiom:
        return ax.InverseFunctional(self.role())

    def _constraint(self) -> Axiom:
        kind = self.pick.randrange(3)
        if kind == 2:
            return ax.DisjointProperties(tuple(self.pick.sample(ROLES, 2)))
        return (ax.Irreflexive, ax.Asymmetric)[kind](self.role())

    def _data_left(self) -> Axiom:
        return SubClassOf(ax.DataSome(self.pick.choice(DATA), self._data_range_()), self.cls())

    def _data_right(self) -> Axiom:
        return SubClassOf(self.cls(), ax.DataOnly(self.pick.choice(DATA), self._wide_range()))

    def _data_exists(self) -> Axiom:
        return SubClassOf(self.cls(), ax.DataSome(self.pick.choice(DATA), self._data_range_()))

    def _data_value_right(self) -> Axiom:
        return SubClassOf(self.cls(), ax.DataValue(self.pick.choice(DATA), self.pick.choice(LITERALS)))

    def _data_range(self) -> Axiom:
        return ax.DataPropertyRange(self.pick.choice(DATA), self._wide_range())

    def _data_domain(self) -> Axiom:
        return ax.DataDomain(self.pick.choice(DATA), self.cls())

    def _key(self) -> Axiom:
        return ax.HasKey(self.cls(), (), (self.pick.choice(DATA),))

    def _event_left(self) -> Axiom:
        return SubClassOf(c("H0"), self.cls())

    def _event_right(self) -> Axiom:
        return SubClassOf(self.cls(), c("H0"))

    def _sub_data(self) -> Axiom:
        return ax.SubDataProperty(*DATA)

    def _functional_data(self) -> Axiom:
        return ax.FunctionalData(self.pick.choice(DATA))

    def _wide_range(self) -> DataRange:
        """One that most literals are in."""
        return ax.DataNot(ax.DataOneOf(tuple(self.pick.sample(WRITTEN, 2))))

    def _data_range_(self, depth: int = 1) -> DataRange:
        kind = self.pick.randrange(8 if depth else 6)
        if kind < 3:
            side = self.pick.choice(("minInclusive", "minExclusive", "maxInclusive", "maxExclusive"))
            return facet(self.pick.choice(("integer", "decimal")), **{side: self.pick.choice(NUMBERS)})
        if kind == 3:
            name = self.pick.choice(("integer", "decimal", "string", "double", "boolean", "dateTime"))
            return ax.Datatype(xsd(name))
        if kind == 4:
            return ax.DataOneOf(tuple(self.pick.sample(WRITTEN, 2)))
        if kind == 5:
            return facet("string", minLength=lit(4))
        if kind == 6:
            return ax.DataNot(self._data_range_(0))
        return ax.DataOr((self._data_range_(0), self._data_range_(0)))

    # --- events ---------------------------------------------------------------------------------------

    def _event(self, number: int) -> ClassExpression:
        """Broad on purpose: several readings joined by `or`, so that enough questions are entailed."""
        if number and self.pick.random() < 0.15:
            return ax.And((ax.Class(t(f"H{number - 1}")), self._part(1)))
        return ax.Or((self._part(2), self._part(1), self._part(1), self.cls()))

    def _part(self, depth: int) -> ClassExpression:
        part = self.pick.choice(self.make.parts) if depth else "name"
        match part:
            case "and":
                return ax.And((self._part(depth - 1), self._part(depth - 1)))
            case "or":
                return ax.Or((self._part(depth - 1), self._part(depth - 1)))
            case "some":
                return ax.Some(self.role(), self._part(depth - 1) if self.pick.random() < 0.7 else ax.TOP)
            case "inverse_some":
                return ax.Some(Inverse(self.role()), self._part(depth - 1))
            case "back":  # there and back again: a shared witness would not do
                role = self.role()
                return ax.Some(role, ax.Some(Inverse(role), self.cls()))
            case "value":
                return ax.Value(self.role(), self.individual())
            case "one_of":
                return ax.OneOf((self.individual(), self.individual()))
            case "self":
                return ax.HasSelf(self.pick.choice(self.simple)) if self.simple else self.cls()
            case "not":
                return ax.Not(self.cls())
            case "only":
                return ax.Only(self.role(), self.cls())
            case "min":
                return ax.Min(self.pick.randint(1, 2), self.role(), self._filler())
            case "max":
                return ax.Max(1, self.role(), self._filler())
            case "data":
                wide = self.pick.random() < 0.5
                return ax.DataSome(
                    self.pick.choice(DATA), self._wide_range() if wide else self._data_range_()
                )
        return self.cls()

    # --- facts ----------------------------------------------------------------------------------------

    def _static(self) -> Iterator[Triple]:
        for island in ISLANDS:
            for one, other in pairwise(island):
                yield t(one), self.role(), t(other)
            yield self._fact([t(name) for name in island])

    def _item(self) -> Iterator[Triple]:
        island = self.pick.choice(ISLANDS)
        near = [t(name) for name in self.pick.sample(island, 2)]
        fresh = self.make.fresh[: self.pick.randint(0, 2)]
        near += [name if name.startswith("_:") else t(name) for name in fresh]
        if self.pick.random() < 0.2:
            near.append(self.individual())  # joins two components
        for _ in range(self.pick.randint(2, 5)):
            yield self._fact(near)

    def _fact(self, near: Sequence[Term]) -> Triple:
        one, other, chance = self.pick.choice(near), self.pick.choice(near), self.pick.random()
        if chance < self.make.data:
            return one, self.pick.choice(DATA), self.pick.choice(LITERALS)
        if self.pick.random() < self.make.different:
            different = one != other or self.pick.random() < 0.1
            return one, ax.DIFFERENT_FROM if different else self.role(), other
        if self.pick.random() < self.make.same:
            return one, ax.SAME_AS, other
        if self.pick.random() < self.make.asserted:
            return one, RDF_TYPE, t("H0")
        if chance < 0.55:
            return one, RDF_TYPE, self.cls().iri
        return one, self.role(), other


_NEED_SIMPLE = (ax.Functional, ax.InverseFunctional, ax.Irreflexive, ax.Asymmetric, ax.DisjointProperties)


def _simple_last(name: str) -> bool:
    return name not in ("sub_role", "inverse", "symmetric", "transitive", "chain")


def _complex(axioms: Sequence[Axiom]) -> set[ObjectProperty]:
    """The roles above a transitive one or a chain."""
    above = super_roles(axioms)
    low = {a.property for a in axioms if isinstance(a, ax.Transitive)}
    low |= {a.sup for a in axioms if isinstance(a, ax.SubChain)}
    found = {role for one in low for role in above.get(one, {one})}
    return {role.property if isinstance(role, Inverse) else role for role in found}


def _counted(node: object) -> Iterator[ObjectProperty]:
    if isinstance(node, ax.Min | ax.Max | ax.Exactly | ax.HasSelf):
        yield node.property.property if isinstance(node.property, Inverse) else node.property
    for name in getattr(node, "__struct_fields__", ()):
        value = getattr(node, name)
        for part in value if isinstance(value, tuple) else (value,):
            yield from _counted(part)


def shrunk(world: World, fails: Callable[[World], bool]) -> World:
    """The world with as much left out as possible while it still fails."""
    return least(world, _smaller, fails)


def _smaller(world: World) -> Iterator[World]:
    for item in world.items:
        if len(world.items) > 1:
            yield replace(world, items=(item,))
    for field in ("axioms", "events", "k"):
        parts = getattr(world, field)
        for i in range(len(parts)):
            yield replace(world, **{field: parts[:i] + parts[i + 1 :]})
    if len(world.items) == 1:
        (item,) = world.items
        for i in range(len(item)):
            yield replace(world, items=(item[:i] + item[i + 1 :],))
    for i, (event, body) in enumerate(world.events):
        for part in getattr(body, "operands", ()):
            yield replace(world, events=(*world.events[:i], (event, part), *world.events[i + 1 :]))
