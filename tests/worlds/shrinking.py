"""Make a difference smaller: drop axioms, assertions, events and parts of expressions while it stays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from worlds.checking_explanations import compare_explanations
from worlds.comparing_worlds import ARBITERS, PANEL, Comparison, Difference, judged_alone
from worlds.drawing import World
from worlds.judges import Judges
from worlds.kinds_of_owl import CLASS_KINDS, RANGE_KINDS
from worlds.vocabulary import Expression, Node

Keeps = Callable[[World], "Difference | None"]
_SHRINKABLE = frozenset((*CLASS_KINDS, *RANGE_KINDS))


def confirmed(judges: Judges, difference: Difference) -> Keeps:
    """A test whether a smaller world still shows a difference of the same kind, judged anew."""

    def test(world: World) -> Difference | None:
        if difference.kind == "judges":
            given = judged_alone(judges, world, PANEL)
            answers = {one for one in given.values() if one is not None}
            return replace(difference, world=world, judges=str(given)) if len(answers) > 1 else None
        if difference.kind == "explanations":
            found = compare_explanations(judges, world)
        else:
            found = Comparison(judges, ARBITERS, least=2).compare(world)
        same = [one for one in found if one.kind == difference.kind]
        if difference.kind == "refused":  # with the same codes
            same = [one for one in same if one.obep.split(":")[0] == difference.obep.split(":")[0]]
        if not same:
            return None
        if same[0].pair is not None:
            same = [one for one in same if one.pair == difference.pair] or same
        return same[0]

    return test


def shrink(difference: Difference, keeps: Keeps, budget: int = 150) -> Difference:
    """The smallest difference that greedy removal finds with at most `budget` tests."""
    best, left = difference, budget
    progress = True
    while progress and left > 0:
        progress = False
        for smaller in _smaller(best.world, best.pair):
            left -= 1
            if left <= 0:
                break
            if (kept := keeps(smaller)) is not None:
                best, progress = kept, True
                break
    return best


def _smaller(world: World, pair: tuple[str, str] | None) -> Iterator[World]:
    """Worlds with one thing less, the largest steps first."""
    events = world.events
    if pair is not None:
        used = tuple(one for one in events if one[0] == pair[0] or one[0] in str(dict(events)[pair[0]]))
        if len(used) < len(events):
            yield replace(world, events=used)
    if len(events) > 1:
        for index in range(len(events)):
            left = events[:index] + events[index + 1 :]
            if not any(events[index][0] in str(body) for _, body in left):
                yield replace(world, events=left)
    if len(world.axioms) > 3:
        half = len(world.axioms) // 2
        yield replace(world, axioms=world.axioms[half:])
        yield replace(world, axioms=world.axioms[:half])
    if world.k:
        yield replace(world, k=())
    for index in range(len(world.axioms)):
        yield replace(world, axioms=world.axioms[:index] + world.axioms[index + 1 :])
    for index in range(len(world.k)):
        yield replace(world, k=world.k[:index] + world.k[index + 1 :])
    for item in world.items:
        for index in range(len(item)):
            if len(item) > 1:
                yield replace(world, items=(item[:index] + item[index + 1 :],))
    yield from _simpler(world)


def _simpler(world: World) -> Iterator[World]:
    """Worlds with one expression replaced by a part of it."""
    for index, axiom in enumerate(world.axioms):
        for one in _parts(axiom):
            yield replace(world, axioms=(*world.axioms[:index], one, *world.axioms[index + 1 :]))
    for index, (name, body) in enumerate(world.events):
        for part in (*_own(body), *_parts(body)):
            yield replace(world, events=(*world.events[:index], (name, part), *world.events[index + 1 :]))


def _parts(node: Expression) -> Iterator[Node]:
    """The node with one expression inside it made smaller."""
    if not isinstance(node, tuple) or node[0] in ("Literal", "DatatypeRestriction"):
        return
    for index, part in enumerate(node[1:], start=1):
        for smaller in (*_own(part), *_parts(part)):
            if smaller not in node[1:]:
                yield (*node[:index], smaller, *node[index + 1 :])
    if node[0] in ("ObjectIntersectionOf", "ObjectUnionOf", "ObjectOneOf") and len(node) > 3:
        for index in range(1, len(node)):
            yield (*node[:index], *node[index + 1 :])


def _own(node: Expression) -> Iterator[Expression]:
    """Expressions inside one of the same sort, which may stand in its place."""
    if isinstance(node, tuple) and node[0] in _SHRINKABLE:
        if node[0] in RANGE_KINDS:
            yield from (part for part in node[1:] if _is_range(part))
            return
        yield from (part for part in node[1:] if _is_class(part))
    if isinstance(node, tuple) and node[0] == "ObjectInverseOf":
        yield node[1]


def _is_class(node: Expression) -> bool:
    if isinstance(node, tuple):
        return node[0] in CLASS_KINDS
    return isinstance(node, str) and (node[:2] in (":C", ":H") or node in ("owl:Thing", "owl:Nothing"))


def _is_range(node: Expression) -> bool:
    if isinstance(node, tuple):
        return node[0] in RANGE_KINDS
    return isinstance(node, str) and node.startswith(("xsd:", "rdfs:")) and ":m" not in node
