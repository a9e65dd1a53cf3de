"""Why a fact holds: minimal sets of assertions, read off the derivations of the same rules.

In: a node of a `Closure`. Out: sets of numbers, `n` for the n-th triple of the item and `-1 - k` for the k-th
assertion of K. Each set entails the fact, and none of them contains another (an antichain). They come in the
order of their size, and no more are looked for than are wanted. The facts of K are explained on demand, by
reading the rules backwards, and remembered.
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Mapping
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from obep.abstraction.explanation_search import Explanation, Search, Searched, Sought
from obep.model import Triple
from obep.ontology.closure.backwards import Backwards, Fact
from obep.ontology.closure.facts import Node, Step
from obep.ontology.closure.store import Store
from obep.ontology.closure.work_budget import OverBudget
from obep.ontology.rules.program import Program

T = TypeVar("T")

LIMIT = 128
"""Sets of one fact that are carried along; beyond that some are left out, and `Explained.cut` says so."""
EFFORT = 200_000
"""Steps for one fact of K, or where no number is set."""
REMEMBERED = 1 << 15
"""Facts of K whose sets are remembered."""
NO_ALIAS: Mapping[Triple, int] = {}


class Explained(NamedTuple):
    """Sets that entail a fact: all minimal ones, or, if `cut`, some that may be larger than needed."""

    sets: tuple[Explanation, ...]
    cut: bool = False
    steps: int = 0
    """The steps of the search; a cached result counts as many."""


_BY_T = Explained((frozenset(),))


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

    def __init__(self, program: Program, store: Store, effort: int = EFFORT) -> None:
        """`effort` bounds the steps for one node that `explain` takes, and for one fact of K."""
        self.program, self.store = program, store
        self._effort = effort
        self._known: OrderedDict[Fact, Explained] = OrderedDict()
        self._backwards = Backwards(program, store)

    def forget(self) -> None:
        """The store has changed."""
        self._known.clear()
        self._backwards.forget()

    def explain(self, node: Node, paid: set[Fact] | None = None) -> Explained:
        """All minimal sets of a node, if there are not too many; `paid` as in `Sought`."""
        try:
            found = self.search(node, Sought(LIMIT, self._effort, paid=paid))
        except OverBudget:
            return Explained((), True, self._effort)
        return Explained(found.sets, found.cut or found.more or found.exhausted, found.steps)

    def search(self, node: Node, sought: Sought, alias: Mapping[Triple, int] = NO_ALIAS) -> Searched:
        """The first minimal sets of a node, the smallest first.

        A triple of K that `alias` gives a number to has that one: it is the item's, too.
        """
        paid = set() if sought.paid is None else sought.paid
        only, steps = self._only(node, sought.steps, paid)
        if only is not None:
            one = self._aliased(only, alias)
            return Searched((one,) if sought.counts(one) else (), steps=steps)
        search = Search()
        cut, more = self._collect(search, node, alias, sought.steps, paid)
        steps += more
        if search.size + steps > sought.steps:
            return Searched((), False, True, search.size + steps, True)
        found = search.run(0, self.order, sought._replace(steps=sought.steps - steps), LIMIT)
        return found._replace(cut=found.cut or cut, steps=found.steps + steps)

    def order(self, one: Explanation) -> tuple[Any, ...]:
        """The order in which sets are found: by their size, then by what comes first in the item, and by the
        names in K, whatever the order of its files."""
        if min(one, default=0) >= 0:
            return len(one), sorted(one), ()
        known = self.store.triples
        return len(one), sorted(n for n in one if n >= 0), sorted(known[-1 - n] for n in one if n < 0)

    def leaves(self, node: Node, most: int) -> list[int] | None:
        """All assertions that a node may rest on; `None` if there are more than `most`."""
        found: dict[int, None] = {}
        seen: set[object] = {_key(node)}
        waiting: list[Any] = [node]
        while waiting:
            one = waiting.pop()
            of_k = type(one) is tuple
            for way in self._backwards.derivations(one) if of_k else _ways(one):
                if way is None:
                    continue
                if type(way) is int:
                    found[-1 - way if of_k else way] = None
                    if len(found) > most:
                        return None
                    continue
                for premise in way if type(way) is tuple else (way,):
                    key = _key(premise)
                    if key not in seen:
                        if len(seen) > most:
                            return None
                        seen.add(key)
                        waiting.append(premise)
        return list(found)

    def _aliased(self, one: Explanation, alias: Mapping[Triple, int]) -> Explanation:
        if not alias or min(one, default=0) >= 0:
            return one
        known = self.store.triples
        return frozenset(alias.get(known[-1 - n], n) if n < 0 else n for n in one)

    def _only(self, node: Node, most: int, paid: set[Fact]) -> tuple[Explanation | None, int]:
        """The one set, where each fact on the way has one derivation: then no other can be smaller.

        And the steps that the facts of K took.
        """
        used: set[int] = set()
        steps = 1
        waiting: list[Node | Step] = [node]
        seen: set[object] = set()
        known = self._known
        while waiting:
            ways = _ways(waiting.pop())
            if len(ways) != 1:
                return None, steps
            derivation = ways[0]
            if type(derivation) is int:
                used.add(derivation)
            elif type(derivation) is not tuple:
                waiting.append(derivation)
            else:
                for premise in derivation:
                    if type(premise) is not tuple:
                        key = _key(premise)
                        if key not in seen:
                            seen.add(key)
                            waiting.append(premise)
                    else:
                        of_k = known.get(premise) or self.fact(premise, most - steps)
                        if premise not in paid:
                            paid.add(premise)
                            steps += of_k.steps
                        if len(of_k.sets) != 1:
                            return None, steps
                        used |= of_k.sets[0]
        return frozenset(used), steps

    def _collect(
        self, search: Search, goal: Node, alias: Mapping[Triple, int], most: int, paid: set[Fact]
    ) -> tuple[bool, int]:
        """The facts below a node, it being the first; whether sets of some are missing, and the steps."""
        cut, steps = False, 0
        numbers: dict[object, int] = {_key(goal): search.fact()}
        waiting: list[Node | Step] = [goal]
        while waiting and search.size + steps <= most:
            node = waiting.pop()
            head = numbers[_key(node)]
            for derivation in _ways(node):
                if type(derivation) is int:
                    search.give(head, frozenset((derivation,)))
                    continue
                premises = []
                for premise in derivation if type(derivation) is tuple else (derivation,):
                    key = _key(premise)
                    number = numbers.get(key)
                    if number is None:
                        number = numbers[key] = search.fact()
                        if type(premise) is not tuple:
                            waiting.append(premise)
                        else:
                            known = self._some(premise, most - steps)
                            cut |= known.cut
                            if premise not in paid:
                                paid.add(premise)
                                steps += known.steps
                                if steps > most:
                                    return True, steps
                            for one in known.sets:
                                search.give(number, self._aliased(one, alias))
                    premises.append(number)
                search.follow(head, premises)
        return cut, steps

    def _some(self, fact: Fact, most: int) -> Explained:
        """Sets of K for a fact of K, one at least."""
        known = self._known.get(fact) or self.fact(fact, most)
        if not known.sets:
            raise OverBudget
        return known

    def fact(self, fact: Fact, most: int = EFFORT) -> Explained:
        """All minimal sets of K for a fact of K, if there are not too many.

        Raises `OverBudget` if that takes more than `most` steps, where it may take as many.
        """
        known = self._known.get(fact)
        if known is None:
            found = self._found(fact, min(most, self._effort))
            if found.steps > most < self._effort:
                raise OverBudget
            known = self._known[fact] = found
            while len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        return known

    def _found(self, fact: Fact, most: int) -> Explained:
        """The sets of a fact of K; what was found for others before changes neither them nor the steps."""
        if self.store.says_by_t(fact):
            return _BY_T
        rules = self._backwards
        before = rules.steps
        rules.limit = before + most
        try:
            ways = list(islice(rules.derivations(fact), LIMIT))
            asserted = [way for way in ways if isinstance(way, int)]
            if len(asserted) == len(ways):  # as most facts of K are
                sets = tuple([frozenset((-1 - number,)) for number in asserted])
                return Explained(sets, len(ways) == LIMIT, rules.steps - before)
            found = self._solve(fact, most)
        except OverBudget:
            found = Explained((), True)
        finally:
            rules.limit = sys.maxsize
        return found._replace(steps=found.steps + rules.steps - before)

    def _solve(self, goal: Fact, most: int) -> Explained:
        """All minimal sets of a fact of K, by a search of its own."""
        search = Search()
        numbers: dict[Fact, int] = {goal: search.fact()}
        waiting = [goal]
        while waiting:
            fact = waiting.pop()
            head = numbers[fact]
            if self.store.says_by_t(fact):
                search.give(head, frozenset())
                continue
            for derivation in self._backwards.derivations(fact):
                if search.size > most:
                    return Explained((), True, search.size)
                if derivation is None:
                    search.give(head, frozenset())
                elif isinstance(derivation, int):
                    search.give(head, frozenset((-1 - derivation,)))
                else:
                    for premise in derivation:
                        if premise not in numbers:
                            numbers[premise] = search.fact()
                            waiting.append(premise)
                    search.follow(head, [numbers[premise] for premise in derivation])
        found = search.run(0, self.order, Sought(LIMIT, most), LIMIT)
        return Explained(found.sets, found.cut or found.more or found.exhausted, found.steps)


def _ways(node: Node | Step) -> Node:
    return node.ways if type(node) is Step else node  # type: ignore[return-value]  # mypy does not narrow by type()


def _key(premise: Any) -> object:
    """A key that is equal for equal premises: a fact of K itself, or the identity of a node."""
    if type(premise) is tuple:
        return premise
    return ("step", id(premise.node)) if type(premise) is Step else id(premise)
