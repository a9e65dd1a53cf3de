"""Why a fact holds: all minimal sets of assertions, read off the derivations of the same rules.

In: a node of a `Closure`. Out: sets of numbers, `n` for the n-th triple of the item and `-1 - k` for the k-th
assertion of K. Each set entails the fact, none of them contains another (an antichain), and there are no
others, unless there are very many. The facts of K are explained on demand, by reading the rules backwards,
and remembered.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from obep.abstraction.backwards import Backwards, Derivation, Fact
from obep.ontology.facts import Node
from obep.ontology.program import Program
from obep.ontology.store import Store

T = TypeVar("T")
Explanation = frozenset[int]

NOTHING_NEEDED: tuple[Explanation, ...] = (frozenset(),)
LIMIT = 128
"""Sets of one fact that are carried along; beyond that some are left out, and `Explained.cut` says so."""
WAYS = 1024
"""Derivations of a fact of K that are looked at; the same holds beyond."""
REMEMBERED = 1 << 15
"""Facts of K whose sets are remembered."""


class Explained(NamedTuple):
    """Sets that entail a fact: all minimal ones, or, if `cut`, some that may be larger than needed."""

    sets: tuple[Explanation, ...]
    cut: bool = False


def add_minimal(sets: list[frozenset[T]], new: frozenset[T]) -> bool:
    """Puts a set into an antichain; `False` if one of its subsets is there."""
    for known in sets:
        if known <= new:
            return False
    sets[:] = [known for known in sets if not new <= known]
    sets.append(new)
    return True


class Explainer:
    """Explanations under one program and store."""

    def __init__(self, program: Program, store: Store, effort: int | None = None) -> None:
        """`effort` bounds the sets that are looked at for one node; beyond that it is cut."""
        self.program, self.store = program, store
        self._effort = effort
        self._known: OrderedDict[Fact, Explained] = OrderedDict()
        self._cut_now = False
        self._backwards = Backwards(program, store)

    def forget(self) -> None:
        """The store has changed."""
        self._known.clear()

    def explain(self, node: Node) -> Explained:
        """All minimal sets of a node."""
        only = self._only(node)
        if only is not None:
            return Explained((only,))
        order: list[Node] = []
        cyclic = _collect(node, order)
        sets: dict[int, list[Explanation]] = {id(one): [] for one in order}
        self._cut_now = False
        changed = True
        looked_at = 0
        while changed:
            changed = False
            for one in order:
                found = sets[id(one)]
                for derivation in one:
                    for new in self._of(derivation, sets):
                        changed |= self._add(found, new)
                        looked_at += 1
                if self._effort is not None and looked_at > self._effort:
                    return Explained(tuple(sets[id(node)]), True)
            if not cyclic:
                break
        return Explained(tuple(sets[id(node)]), self._cut_now)

    def _add(self, sets: list[Explanation], new: Explanation) -> bool:
        if len(sets) < LIMIT:
            return add_minimal(sets, new)
        if not any(known <= new for known in sets):
            self._cut_now = True
        return False

    def _only(self, node: Node) -> Explanation | None:
        """The one set, where each fact on the way has one derivation: then no other can be smaller."""
        used: set[int] = set()
        waiting = [node]
        known = self._known
        while waiting:
            one = waiting.pop()
            if len(one) != 1:
                return None
            derivation = one[0]
            if type(derivation) is int:
                used.add(derivation)
            elif type(derivation) is list:
                waiting.append(derivation)
            else:
                for premise in derivation:
                    if type(premise) is list:
                        waiting.append(premise)
                    else:
                        sets = (known.get(premise) or self.fact(premise)).sets
                        if len(sets) != 1:
                            return None
                        used |= sets[0]
        return frozenset(used)

    def _of(self, derivation: Any, sets: dict[int, list[Explanation]]) -> Iterable[Explanation]:
        if type(derivation) is int:
            return (frozenset((derivation,)),)
        if type(derivation) is list:
            return tuple(sets[id(derivation)])
        so_far: list[Explanation] = list(NOTHING_NEEDED)
        for premise in derivation:
            if type(premise) is list:
                so_far = [one | other for one in so_far for other in sets[id(premise)]]
            else:
                known = self.fact(premise)
                self._cut_now |= known.cut
                so_far = [one | other for one in so_far for other in known.sets]
        return so_far

    def fact(self, fact: Fact) -> Explained:
        """All minimal sets of K for a fact of K."""
        known = self._known.get(fact)
        if known is None:
            ways = list(islice(self._backwards.derivations(fact), LIMIT))
            asserted = [way for way in ways if isinstance(way, int)]
            if len(asserted) == len(ways):  # as most facts of K are
                sets = tuple([frozenset((-1 - number,)) for number in asserted])
                known = self._known[fact] = Explained(sets, len(ways) == LIMIT)
            else:
                cut = self._cut_now
                self._solve(fact)
                self._cut_now = cut
                known = self._known[fact]
            while len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        return known

    def _solve(self, goal: Fact) -> None:
        """The facts that the goal may rest on, and their sets, until nothing changes."""
        derivations: dict[Fact, list[Derivation]] = {}
        self._cut_now = False
        waiting = [goal]
        while waiting:
            fact = waiting.pop()
            if fact in derivations or fact in self._known:
                continue
            derivations[fact] = found = list(islice(self._backwards.derivations(fact), WAYS))
            self._cut_now |= len(found) == WAYS
            for derivation in found:
                if isinstance(derivation, tuple):
                    waiting.extend(derivation)
        sets: dict[Fact, list[Explanation]] = {fact: [] for fact in derivations}
        order = list(reversed(derivations))
        changed = True
        while changed:
            changed = False
            for fact in order:
                for derivation in derivations[fact]:
                    for new in self._k_sets(derivation, sets):
                        changed |= self._add(sets[fact], new)
        for fact, found_sets in sets.items():
            self._known[fact] = Explained(tuple(found_sets), self._cut_now)

    def _k_sets(self, derivation: Derivation, sets: dict[Fact, list[Explanation]]) -> Iterable[Explanation]:
        if derivation is None:
            return NOTHING_NEEDED
        if isinstance(derivation, int):
            return (frozenset((-1 - derivation,)),)
        so_far: Iterable[Explanation] = NOTHING_NEEDED
        for premise in derivation:
            of_premise: Iterable[Explanation] | None = sets.get(premise)
            if of_premise is None:
                known = self._known[premise]
                self._cut_now |= known.cut
                of_premise = known.sets
            so_far = [one | other for one in so_far for other in of_premise]
        return so_far


def _collect(start: Node, order: list[Node]) -> bool:
    """The nodes below one, premises first; whether some derivation runs in a circle."""
    cyclic = False
    state = {id(start): 1}
    stack: list[tuple[Node, Any]] = [(start, iter(_premises(start)))]
    while stack:
        node, rest = stack[-1]
        for premise in rest:
            seen = state.get(id(premise))
            if seen is None:
                state[id(premise)] = 1
                stack.append((premise, iter(_premises(premise))))
                break
            cyclic |= seen == 1
        else:
            state[id(node)] = 2
            order.append(node)
            stack.pop()
    return cyclic


def _premises(node: Node) -> list[Node]:
    found: list[Node] = []
    for derivation in node:
        if type(derivation) is list:
            found.append(derivation)
        elif type(derivation) is tuple:
            found += [premise for premise in derivation if type(premise) is list]
    return found
