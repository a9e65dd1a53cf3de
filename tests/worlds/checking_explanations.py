"""Check explanations: all minimal sets of assertions, found by asking the judges about every subset."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

from worlds.asking_obep import Pair, Triple, ask_obep
from worlds.comparing_worlds import Difference, goals_of
from worlds.drawing import World, one_triple
from worlds.judges import Judges, Question, Request, agreed, theory
from worlds.vocabulary import PREFIXES, Expression, Node

KEPT = 64
"""How many explanations obep keeps for one event and individual, in this check."""
Explanations = dict[Pair, set[frozenset[Triple]]]


def cut(world: World) -> World | None:
    """The world with so few assertions that every subset can be tried; `None` if they are not triples."""
    item = world.items[0][:5]
    small = replace(world, k=tuple(node for node in world.k if one_triple(node))[:2], items=(item,))
    return small if item and all(one_triple(node) for node in item) else None


def compare_explanations(judges: Judges, world: World) -> list[Difference]:
    """Where the explanations of the only item are not exactly the minimal sets that use the item."""
    wanted = by_force(judges, world)
    said = ask_obep(world, KEPT)
    if wanted is None or said.codes or said.items[0].code:
        return []  # `Comparison` looks at those
    found = said.items[0].explanations
    differences = []
    for pair in sorted({*wanted, *found}):
        mine, right = set(found.get(pair, ())), wanted.get(pair, set())
        if mine != right and len(mine) < KEPT:
            differences.append(Difference("explanations", world, pair, _words(mine), _words(right)))
    return differences


def by_force(judges: Judges, world: World) -> Explanations | None:
    """For each event and individual the minimal sets that entail it and use the item; `None` if undecided."""
    item = frozenset(world.items[0])
    nodes = tuple(dict.fromkeys((*world.items[0], *world.k)))
    goals = goals_of(world, world.items[0])
    subsets = [some for size in range(len(nodes) + 1) for some in combinations(nodes, size)]
    request = Request(theory(world), tuple(Question(some, goals) for some in subsets))
    given = judges.ask(request)
    found: dict[Pair, list[frozenset[Node]]] = {goal: [] for goal in goals}
    for index, some in enumerate(subsets):
        answer, same = agreed(answers[index] for answers in given.values())
        if not same or not isinstance(answer, tuple):
            return None
        for goal, yes in zip(goals, answer, strict=True):
            if yes and not any(smaller <= set(some) for smaller in found[goal]):
                found[goal].append(frozenset(some))
    return {
        goal: {frozenset(triple_of(node) for node in some) for some in sets if some & item}
        for goal, sets in found.items()
        if any(some & item for some in sets)
    }


def triple_of(node: Node) -> Triple:
    """An assertion that is one triple, as obep writes it."""
    head, first, second, *rest = node
    if head == "ClassAssertion":
        return (_term(second), _term("rdf:type"), _term(first))
    if head == "SameIndividual":
        return (_term(first), _term("owl:sameAs"), _term(second))
    return (_term(second), _term(first), _term(rest[0]))


def _term(node: Expression) -> str:
    if isinstance(node, tuple):
        _, text, datatype = node
        return f'"{text}"' if datatype == "xsd:string" else f'"{text}"^^{_term(datatype)}'
    prefix, _, name = node.partition(":")
    return f"<{PREFIXES[prefix]}{name}>"


def _words(sets: set[frozenset[Triple]]) -> str:
    return str(sorted(sorted(" ".join(triple) for triple in one) for one in sets))
