"""Draw whole worlds: T of mixed kinds, K of several components, events, items of several individuals."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from worlds.axioms_of_worlds import draw_axiom
from worlds.expressions_of_worlds import Expressions
from worlds.kinds_of_owl import (
    ASSERTIONS,
    CLASS_AXIOMS,
    CLASS_KINDS,
    DATA_AXIOMS,
    KINDS,
    PAIRS,
    RANGE_KINDS,
    ROLE_AXIOMS,
    kinds_of,
)
from worlds.vocabulary import (
    BOTTOM,
    BOTTOM_DATA,
    CLASSES,
    DATA,
    EVENTS,
    FRESH,
    ISLANDS,
    KNOWN,
    LITERALS,
    ROLES,
    TOP,
    Expression,
    Node,
)

Item = tuple[Node, ...]
_DATATYPE = "DatatypeDefinition"


@dataclass(frozen=True)
class World:
    """Everything that one comparison needs; always the same for a seed and a number."""

    seed: int
    number: int
    axioms: tuple[Node, ...]
    k: tuple[Node, ...]
    events: tuple[tuple[str, Expression], ...]
    items: tuple[Item, ...]

    def kinds(self) -> frozenset[str]:
        said = (node for item in self.items for node in item)
        return kinds_of((*self.axioms, *self.k, *(body for _, body in self.events), *said))

    def pairs(self) -> frozenset[tuple[str, str]]:
        kinds = self.kinds()
        return frozenset(pair for pair in PAIRS if pair[0] in kinds and pair[1] in kinds)


def draw_world(seed: int, number: int, items: int = 30, plain: bool = False) -> World:
    """World `number` of a seed. Each pair of kinds has its turn, after as many worlds as there are pairs.

    Items of a plain world say nothing that takes more than one triple.
    """
    rng = random.Random(f"{seed} {number}")
    order = list(PAIRS)
    random.Random(seed + number // len(PAIRS)).shuffle(order)
    focus = order[number % len(PAIRS)]
    theme = _theme(rng, focus)
    source = Expressions(rng, theme, _DATATYPE in theme)
    axioms = _axioms(source, theme, focus)
    k = _static(source, [kind for kind in focus if kind in ASSERTIONS])
    events = _events(source)
    also = random.Random(f"{seed} {number} events")
    said = tuple(_of_an_event(_item(source, theme), also) for _ in range(items))
    if plain:
        said = tuple(tuple(node for node in item if one_triple(node)) for item in said)
    return World(seed, number, axioms, k, events, said)


def _theme(rng: random.Random, focus: Sequence[str]) -> frozenset[str]:
    """The kinds that a world is made of: those of its pair, and some of each sort beside them."""
    return frozenset((
        *focus,
        *rng.sample(CLASS_KINDS, rng.randint(2, 5)),
        *rng.sample(RANGE_KINDS, rng.randint(0, 3)),
        *rng.sample(CLASS_AXIOMS, rng.randint(1, 2)),
        *rng.sample(ROLE_AXIOMS, rng.randint(1, 5)),
        *(rng.sample(DATA_AXIOMS, rng.randint(1, 2)) if rng.random() < 0.4 else ()),
        *rng.sample(ASSERTIONS[3:], rng.randint(0, 2)),
        "ClassAssertion", "ObjectPropertyAssertion", "DataPropertyAssertion",
    ))  # fmt: skip


def _axioms(source: Expressions, theme: frozenset[str], focus: Sequence[str]) -> tuple[Node, ...]:
    rng = source.rng
    several = [kind for kind in KINDS if kind in theme and kind not in (*ASSERTIONS, _DATATYPE)]
    drawn = [draw_axiom(source, kind) for kind in focus if kind in several]
    if _DATATYPE in theme:
        plain = Expressions(rng, theme, has_datatype=False)
        drawn.append(draw_axiom(plain, _DATATYPE))
    for _ in range(rng.randint(3, 8)):
        kind = "SubClassOf" if rng.random() < 0.15 else rng.choice(several)
        drawn.append(draw_axiom(source, kind))
    return tuple(dict.fromkeys(drawn))


def _static(source: Expressions, focus: Sequence[str]) -> tuple[Node, ...]:
    rng = source.rng
    said: list[Node] = []
    for island in ISLANDS:
        for _ in range(rng.choice((0, 1, 2, 3))):
            kind = rng.choice(ASSERTIONS[:3]) if rng.random() < 0.9 else rng.choice(ASSERTIONS)
            said.append(assertion(source, kind, island))
    said.extend(assertion(source, kind, ISLANDS[0]) for kind in focus)
    return tuple(dict.fromkeys(said))


def _events(source: Expressions) -> tuple[tuple[str, Expression], ...]:
    """A named class, which asks about T alone; a role; and something larger."""
    rng = source.rng
    role: Node = ("ObjectSomeValuesFrom", source.role(), source.some_class(1))
    large = source.class_of_kind(rng.choice(source.class_kinds), 3)
    if rng.random() < 0.15:
        large = (rng.choice(("ObjectIntersectionOf", "ObjectUnionOf")), EVENTS[0], large)
    return tuple(zip(EVENTS, (source.name(), role, large), strict=True))


def _item(source: Expressions, theme: frozenset[str]) -> Item:
    rng = source.rng
    names = [*FRESH[: rng.choice((2, 2, 3))], *rng.sample(KNOWN, rng.choice((0, 1, 1, 2)))]
    rarer = [kind for kind in ASSERTIONS[3:] if kind in theme]
    said = []
    for _ in range(rng.randint(2, 6)):
        kind = rng.choices(ASSERTIONS[:3], (5, 3, 2))[0]
        said.append(assertion(source, rng.choice(rarer) if rarer and rng.random() < 0.12 else kind, names))
    return tuple(dict.fromkeys(said))


def _of_an_event(item: Item, rng: random.Random) -> Item:
    """An item; a few say that something is of an event's class, and so all that its definition says."""
    if rng.random() >= 0.12:
        return item
    return (*item, ("ClassAssertion", rng.choice(EVENTS), rng.choice(FRESH[:2])))


def one_triple(node: Node) -> bool:
    """Whether an assertion is one triple of RDF with names of the world."""
    if node[0] == "ClassAssertion":
        return isinstance(node[1], str)
    if node[1] in (TOP, BOTTOM, BOTTOM_DATA):
        return False
    return node[0] in ASSERTIONS[1:3] or (node[0] == "SameIndividual" and len(node) == 3)


def assertion(source: Expressions, kind: str, names: Sequence[str]) -> Node:
    """An assertion of a kind about some of the individuals."""
    rng = source.rng
    one, other = rng.choice(names), rng.choice(names)
    match kind:
        case "ClassAssertion":
            named = rng.random() < 0.94
            return (kind, rng.choice(CLASSES) if named else source.some_class(2), one)
        case "ObjectPropertyAssertion" | "NegativeObjectPropertyAssertion":
            role = rng.choice((TOP, BOTTOM)) if source.rarely(0.01) else rng.choice(ROLES)
            return (kind, role, one, other)
        case "DataPropertyAssertion" | "NegativeDataPropertyAssertion":
            role = BOTTOM_DATA if source.rarely(0.005) else rng.choice(DATA)
            return (kind, role, one, rng.choice(LITERALS))
        case _:
            return (kind, *rng.sample(names, min(len(names), rng.choice((2, 2, 3)))))
