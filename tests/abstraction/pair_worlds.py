"""Random T, K and items in which there are always at least two individuals, each of a class of its own.

With one individual in an item nobody can see that a witness is shared. All kinds of axioms meet in one T:
existentials, chains with domains and ranges, counting, inverse and functional properties, disjointness and
unions beside plain axioms. Always the same for a seed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from greedy_shrinking import least

from obep.model import RDF_TYPE, Term, Triple
from obep.ontology.owl import axioms as ax
from obep.ontology.owl.axiom_set import Axioms
from obep.ontology.owl.axioms import Axiom, ClassExpression, Inverse, ObjectProperty, SubClassOf
from obep.ontology.owl.role_box import super_roles

NS = "http://e/"


def t(local: str) -> Term:
    return f"<{NS}{local}>"


CLASSES = tuple(ax.Class(t(f"C{n}")) for n in range(4))
ROLES = tuple(t(f"r{n}") for n in range(3))
UNUSED = t("unused")
"""A property that T knows and no axiom speaks of."""
KNOWN = (t("a0"), t("a1"), t("a2"))
FRESH = (t("n0"), t("n1"), "_:n2")
EVENTS = (t("H0"), t("H1"))


@dataclass(frozen=True)
class World:
    """T, events, K and items."""

    axioms: tuple[Axiom, ...]
    events: tuple[tuple[Term, ClassExpression], ...]
    k: tuple[Triple, ...]
    items: tuple[tuple[Triple, ...], ...]

    def t(self) -> Axioms:
        """T without the events."""
        classes = frozenset(one.iri for one in CLASSES)
        return Axioms(self.axioms, classes, frozenset((*ROLES, UNUSED)), frozenset())

    def full(self) -> Axioms:
        """T with the events, each equivalent to what defines it."""
        more = tuple(ax.EquivalentClasses((ax.Class(event), body)) for event, body in self.events)
        found = self.t()
        classes = found.classes | {event for event, _ in self.events}
        return replace(found, axioms=(*self.axioms, *more), classes=classes)

    def query(self) -> str:
        """The events as a query."""
        events = "\n".join(f"EVENT {_name(event)} AS {written(body)}" for event, body in self.events)
        return f"PREFIX : <{NS}>\n{events}\n"


def written(node: ClassExpression) -> str:
    """A class expression as a query writes it."""
    match node:
        case ax.Class(iri):
            return _name(iri)
        case ax.And(operands):
            return f"({' and '.join(map(written, operands))})"
        case ax.Or(operands):
            return f"({' or '.join(map(written, operands))})"
        case ax.Not(operand):
            return f"(not {written(operand)})"
        case ax.Some(role, filler):
            return f"({_role(role)} some {written(filler)})"
        case ax.Only(role, filler):
            return f"({_role(role)} only {written(filler)})"
        case ax.Min(count, role, filler):
            return f"({_role(role)} min {count} {written(filler)})"
        case ax.HasSelf(role):
            return f"({_role(role)} Self)"
    raise ValueError(node)


def _name(term: Term) -> str:
    return f":{term[len(NS) + 1 : -1]}" if term.startswith(f"<{NS}") else term


def _role(role: ObjectProperty) -> str:
    return f"inverse {_name(role.property)}" if isinstance(role, Inverse) else _name(role)


class Maker:
    """Makes a world."""

    def __init__(self, seed: int) -> None:
        self.pick = random.Random(f"pairs{seed}")
        self.kinds: set[str] = set()
        """The kinds of axioms that the world came to have."""
        self.parts: tuple[str, ...] = ()
        self.complex: set[Term] = set()
        self.promised: list[ax.Class] = []
        """The classes whose individuals have something that nobody names."""

    def world(self, items: int) -> World:
        pick = self.pick
        # Few kinds in one T, some of them twice: then they meet. Most T are such that rules may be exact.
        mode = pick.choice(("told apart", "told apart", "plain", "any", "any", "horn", "all"))
        self.parts = {"plain": PLAIN_PARTS, "all": PARTS}.get(mode, SURE_PARTS)
        some = sorted(KINDS.keys() - OPEN if mode in ("plain", "horn") else KINDS)
        kinds = pick.sample(some, 1 if mode in ("plain", "any") else pick.randint(2, 4))
        if mode == "told apart":
            kinds = [*pick.sample(PROMISE, 2), *pick.sample(TELL, 2)]
        wanted = [*kinds, *(pick.choice((*kinds, *PLAIN)) for _ in range(pick.randint(3, 6)))]
        axioms: list[Axiom] = []
        for kind in sorted(wanted, key=lambda kind: kind not in _ROLE_BOX):
            axiom = KINDS[kind](self)
            if _counted(axiom).isdisjoint(_complex([*axioms, axiom])):
                axioms.append(axiom)
                self.kinds.add(kind)
        self.complex = _complex(axioms)
        self.promised = [one for axiom in axioms for one in _promising(axiom)]
        events = tuple((event, self.body(2)) for event in EVENTS)
        k = tuple(dict.fromkeys(self.fact(KNOWN) for _ in range(pick.choice((0, 0, 1, 2, 3)))))
        made = tuple(tuple(dict.fromkeys(self.item(k))) for _ in range(items))
        return World(tuple(dict.fromkeys(axioms)), events, k, made)

    def item(self, k: tuple[Triple, ...]) -> Iterator[Triple]:
        """Two individuals or three, each with a class; the rest by chance."""
        known = [name for name in KNOWN if any(name in (s, o) for s, _, o in k)]
        names = self.pick.sample((*FRESH, *known), self.pick.choice((2, 2, 3)))
        shared = self.pick.choice(self.promised or CLASSES)
        for place, name in enumerate(names):
            alike = place < 2 and self.pick.random() < 0.7
            yield name, RDF_TYPE, (shared if alike else self.cls()).iri
        for _ in range(self.pick.randint(0, 3)):
            yield self.fact(names)
        if self.pick.random() < 0.2:
            yield self.pick.choice(names), UNUSED, t("n9")

    def fact(self, names: tuple[Term, ...] | list[Term]) -> Triple:
        if self.pick.random() < 0.45:
            return self.pick.choice(names), RDF_TYPE, self.cls().iri
        return self.pick.choice(names), self.pick.choice(ROLES), self.pick.choice(names)

    def cls(self) -> ax.Class:
        return self.pick.choice(CLASSES)

    def filler(self) -> ClassExpression:
        chance = self.pick.random()
        if chance < 0.15:
            return ax.TOP
        if chance < 0.25:
            return ax.Some(self.role(), self.cls())
        return self.cls()

    def role(self) -> Term:
        return self.pick.choice(ROLES)

    def way(self) -> ObjectProperty:
        role = self.role()
        return Inverse(role) if self.pick.random() < 0.12 else role

    def body(self, depth: int) -> ClassExpression:
        """What an event may say."""
        kind = self.pick.choice(self.parts) if depth else "name"
        match kind:
            case "and":
                return ax.And((self.body(depth - 1), self.body(depth - 1)))
            case "or":
                return ax.Or((self.body(depth - 1), self.body(depth - 1)))
            case "some":
                return ax.Some(self.role(), self.body(depth - 1))
            case "back":
                role = self.role()
                return ax.Some(role, ax.Some(Inverse(role), self.cls()))
            case "inverse":
                return ax.Some(Inverse(self.role()), self.body(depth - 1))
            case "not":
                return ax.Not(self.cls())
            case "only":
                return ax.Only(self.role(), self.cls())
            case "min":
                simple = sorted(set(ROLES) - self.complex)
                return ax.Min(2, self.pick.choice(simple), self.filler()) if simple else self.cls()
            case "everywhere":
                return ax.Some(ax.TOP_OBJECT_PROPERTY, self.cls())
        return self.cls()


PLAIN_PARTS = ("name", "some", "some", "or")
SURE_PARTS = ("name", "or", "some", "some", "some", "back", "inverse", "and")
PARTS = (*SURE_PARTS, *SURE_PARTS, "not", "not", "only", "only", "min", "min", "everywhere")
PLAIN = (
    "sub",
    "left",
    "some_left",
    "disjoint",
    "exists",
    "exists",
    "exists",
    "range",
    "domain",
    "chain",
    "sub_role",
)
PROMISE = ("exists", "exists_of_thing", "min_right", "exactly_right")
TELL = ("only_right", "inverse_functional", "functional", "chain", "key", "self_right", "asymmetric", "range")
OPEN = {
    "or_right",
    "or_some",
    "covering",
    "max_right",
    "min_left",
    "top_only",
    "everything_has",
    "one_of_right",
}
"""Kinds of axioms after which rules seldom decide."""

KINDS: dict[str, Callable[[Maker], Axiom]] = {
    "sub": lambda m: SubClassOf(m.cls(), m.cls()),
    "left": lambda m: SubClassOf(ax.And((m.cls(), m.cls())), m.cls()),
    "some_left": lambda m: SubClassOf(ax.Some(m.way(), m.filler()), m.cls()),
    "everything": lambda m: SubClassOf(ax.TOP, m.cls()),
    "disjoint": lambda m: ax.DisjointClasses(tuple(m.pick.sample(CLASSES, 2))),
    "not_right": lambda m: SubClassOf(m.cls(), ax.Not(m.cls())),
    "domain": lambda m: ax.Domain(m.role(), m.cls()),
    "range": lambda m: ax.Range(m.role(), m.cls()),
    "exists": lambda m: SubClassOf(m.cls(), ax.Some(m.way(), m.filler())),
    "exists_of_thing": lambda m: SubClassOf(m.cls(), ax.Some(m.role(), ax.TOP)),
    "everything_has": lambda m: SubClassOf(ax.TOP, ax.Some(m.way(), m.filler())),
    "only_right": lambda m: SubClassOf(m.cls(), ax.Only(m.way(), m.cls())),
    "or_right": lambda m: SubClassOf(m.cls(), ax.Or((m.cls(), m.cls()))),
    "or_some": lambda m: SubClassOf(m.cls(), ax.Or((m.cls(), ax.Some(m.role(), m.cls())))),
    "covering": lambda m: ax.DisjointUnion(m.cls().iri, tuple(m.pick.sample(CLASSES, 2))),
    "min_right": lambda m: SubClassOf(m.cls(), ax.Min(2, m.way(), m.filler())),
    "max_right": lambda m: SubClassOf(m.cls(), ax.Max(m.pick.randint(1, 2), m.way(), m.filler())),
    "exactly_right": lambda m: SubClassOf(m.cls(), ax.Exactly(m.pick.randint(1, 2), m.way(), m.filler())),
    "min_left": lambda m: SubClassOf(ax.Min(2, m.role(), m.filler()), m.cls()),
    "self_right": lambda m: SubClassOf(m.cls(), ax.HasSelf(m.role())),
    "self_left": lambda m: SubClassOf(ax.HasSelf(m.role()), m.cls()),
    "key": lambda m: ax.HasKey(m.cls(), (m.role(),), ()),
    "value_right": lambda m: SubClassOf(m.cls(), ax.Value(m.role(), m.pick.choice(KNOWN))),
    "one_of_right": lambda m: SubClassOf(
        m.cls(), ax.OneOf(tuple(m.pick.sample(KNOWN, m.pick.randint(1, 2))))
    ),
    "top_only": lambda m: SubClassOf(m.cls(), ax.Only(ax.TOP_OBJECT_PROPERTY, m.cls())),
    "sub_role": lambda m: ax.SubProperty(*(ROLES[n] for n in sorted(m.pick.sample(range(len(ROLES)), 2)))),
    "inverse": lambda m: ax.InverseProperties(*m.pick.sample(ROLES, 2)),
    "symmetric": lambda m: ax.Symmetric(m.role()),
    "transitive": lambda m: ax.Transitive(m.role()),
    "chain": lambda m: _chain(m),
    "reflexive": lambda m: ax.Reflexive(m.role()),
    "functional": lambda m: ax.Functional(m.role()),
    "inverse_functional": lambda m: ax.InverseFunctional(m.role()),
    "asymmetric": lambda m: ax.Asymmetric(m.role()),
    "irreflexive": lambda m: ax.Irreflexive(m.role()),
    "disjoint_roles": lambda m: ax.DisjointProperties(tuple(m.pick.sample(ROLES, 2))),
}
_ROLE_BOX = ("sub_role", "inverse", "symmetric", "transitive", "chain")


def _promising(axiom: Axiom) -> Iterator[ax.Class]:
    match axiom:
        case SubClassOf(ax.Class() as promising, ax.Some() | ax.Min() | ax.Exactly()) if promising != ax.TOP:
            yield promising


def _chain(m: Maker) -> Axiom:
    top = m.pick.randint(1, len(ROLES) - 1)
    steps = [m.pick.choice(ROLES[:top]) for _ in range(m.pick.choice((2, 2, 3)))]
    if m.pick.random() < 0.2:
        return ax.SubChain(
            tuple(Inverse(step) if m.pick.random() < 0.3 else step for step in steps), ROLES[top]
        )
    return ax.SubChain(tuple(steps), ROLES[top])


def _complex(axioms: list[Axiom]) -> set[Term]:
    """The roles above a transitive one or a chain: nothing may be counted along them."""
    above = super_roles(axioms)
    low = {one.property for one in axioms if isinstance(one, ax.Transitive)}
    low |= {one.sup for one in axioms if isinstance(one, ax.SubChain)}
    found = {role for one in low for role in above.get(one, {one})}
    return {role.property if isinstance(role, Inverse) else role for role in found}


def _counted(node: object) -> set[Term]:
    """The roles along which something is counted, or which must be simple for another reason."""
    found: set[Term] = set()
    match node:
        case ax.Functional(role) | ax.InverseFunctional(role) | ax.Asymmetric(role) | ax.Irreflexive(role):
            found.add(str(role))
        case ax.DisjointProperties(roles) | ax.HasKey(_, roles):  # HermiT misses keys along a chain
            found.update(map(str, roles))
        case ax.Min(_, role) | ax.Max(_, role) | ax.Exactly(_, role) | ax.HasSelf(role):
            found.add(role.property if isinstance(role, Inverse) else role)
    for name in getattr(node, "__struct_fields__", ()):
        value = getattr(node, name)
        for part in value if isinstance(value, tuple) else (value,):
            found |= _counted(part)
    return found


def shrunk(world: World, fails: Callable[[World], bool]) -> World:
    """The world with as much left out as possible while it still fails."""
    return least(world, _smaller, fails)


def _smaller(world: World) -> Iterator[World]:
    if len(world.items) > 1:
        yield from (replace(world, items=(item,)) for item in world.items)
        return
    if len(world.events) > 1:
        yield from (replace(world, events=(event,)) for event in world.events)
    for n in range(len(world.axioms)):
        yield replace(world, axioms=world.axioms[:n] + world.axioms[n + 1 :])
    for n in range(len(world.k)):
        yield replace(world, k=world.k[:n] + world.k[n + 1 :])
    for item in world.items:
        for n in range(len(item)):
            yield replace(world, items=(item[:n] + item[n + 1 :],))
    for event, body in world.events:
        parts = (*getattr(body, "operands", ()), *filter(None, (getattr(body, "filler", None),)))
        yield from (replace(world, events=((event, part),)) for part in parts if part != ax.TOP)
