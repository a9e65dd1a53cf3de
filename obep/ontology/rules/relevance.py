"""Which rules may lead to a goal at all; the others are neither run nor given to a reasoner."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from obep.ontology.owl.axioms import NOTHING, UNIVERSAL
from obep.ontology.rules import rule_kinds as r
from obep.ontology.rules.role_relations import SAME, Relations
from obep.ontology.rules.rule_kinds import EMPTY_PROPERTIES, UNEQUAL_TO_ITSELF, Rule, Symbol
from obep.query.walk import components

Clauses = Sequence[tuple[tuple[Rule, ...], ...]]
"""For each case analysis the rules of its cases."""


def relevant(
    rules: Iterable[Rule], goals: Iterable[Symbol | int], relations: Relations, clauses: Clauses = ()
) -> tuple[set[Rule], set[Symbol | int]]:
    """The rules that may take part in a derivation of a goal, and all concepts and relations that may.

    A goal is a concept, or the number of a relation. A case analysis counts when each of its cases does.
    With the universal property as a goal, what holds of a witness may count for everybody.
    """
    rules = dict.fromkeys(rules)
    needed: set[Symbol | int] = set(goals) | {SAME}
    search = _Search(rules, relations, clauses, universal=not needed.isdisjoint(UNIVERSAL))
    seen: set[Symbol | int] = set()
    while True:
        while search.waiting:
            needed |= set(needs(search.waiting.pop(), relations)) - seen
        if not needed:
            return search.used, seen
        head = needed.pop()
        seen.add(head)
        for rule in search.by_head.get(head, ()):
            search.reach(rule)


class _Search:
    """Which rules conclude what, and which of them have been reached."""

    def __init__(
        self,
        rules: Mapping[Rule, None],
        relations: Relations,
        clauses: Clauses,
        *,
        universal: bool = False,
    ) -> None:
        self.by_head: dict[Symbol | int, list[Rule]] = {}
        self.waiting: list[Rule] = []
        self.used: set[Rule] = set()
        self._reached: set[Rule] = set()
        self._clauses: dict[Rule, list[tuple[tuple[Rule, ...], ...]]] = {}
        for clause in clauses:
            members = [rule for case in clause for rule in case]
            if all(rule in rules for rule in members):
                for rule in members:
                    self._clauses.setdefault(rule, []).append(clause)
        for rule in rules:
            heads = _heads(rule, relations)
            if not heads:
                self.reach(rule)
            for head in heads:
                self.by_head.setdefault(head, []).append(rule)
        witnesses = [rule for rule in rules if isinstance(rule, r.Witness)]
        named = universal or any(isinstance(rule, r.Fill | r.Is | r.Merge | r.Key) for rule in rules)
        clashes = [rule for rule in self.by_head.get(NOTHING, ()) if not self._idle(rule, relations)]
        if clashes or named:  # a witness that cannot be is a contradiction, and so may come back to a name
            for rule in witnesses:  # it is made by its role, or by what it is
                self.by_head.setdefault(rule.filler, []).append(rule)
        if named:
            self.by_head.setdefault(NOTHING, []).extend(witnesses)

    def _idle(self, rule: Rule, relations: Relations) -> bool:
        """Whether a rule that every T has finds nothing about a witness: no rule concludes its premise."""
        if isinstance(rule, r.Exists | r.Count) and rule in EMPTY_PROPERTIES:
            role = rule.role if isinstance(rule, r.Exists) else rule.property
            return relations.of(role)[0] not in self.by_head
        return rule == UNEQUAL_TO_ITSELF

    def reach(self, rule: Rule) -> None:
        """Something that the rule concludes is needed."""
        if rule in self._reached:
            return
        self._reached.add(rule)
        clauses = self._clauses.get(rule)
        if clauses is None:
            self._use(rule)
            return
        for clause in clauses:
            if all(not self._reached.isdisjoint(case) for case in clause):
                for case in clause:
                    for member in case:
                        if member in self._reached:
                            self._use(member)

    def _use(self, rule: Rule) -> None:
        if rule not in self.used:
            self.used.add(rule)
            self.waiting.append(rule)


def _heads(rule: Rule, relations: Relations) -> tuple[Symbol | int, ...]:
    """The conclusions of a rule; none for rules that are always relevant."""
    if isinstance(rule, r.Edge | r.Fill):  # a large T is mostly made of them
        return relations.numbers_above(rule.role)
    match rule:
        case r.Sub(_, head) | r.Exists(_, _, head) | r.Count(_, _, _, head) | r.SelfIn(_, head):
            return (head,)
        case r.Member(concept) | r.Join(_, _, concept):
            return (concept,)
        case r.Apart() | r.RolesApart():
            return (NOTHING,)
        case r.DataWitness(_, role):  # there may be too few values for a promise
            return (NOTHING, *dict.fromkeys(number for number, _ in relations.above(role)))
        case r.SubRole(_, role) | r.Chain(_, _, role) | r.SelfOut(_, role) | r.Witness(_, role):
            return relations.numbers_above(role)
        case r.JoinEdge(_, _, role):
            return relations.numbers_above(role)
    return ()


def needs(rule: Rule, relations: Relations) -> Iterable[Symbol | int]:
    """The premises of a rule."""
    match rule:
        case r.Sub(premises) | r.Apart(premises):
            yield from premises
        case r.Exists(role, filler):
            yield from (filler, relations.of(role)[0])
        case r.Count(role) | r.SelfIn(role):
            yield relations.of(role)[0]
        case r.RolesApart(first, second) | r.Chain(first, second):
            yield from (relations.of(first)[0], relations.of(second)[0])
        case r.Merge(premise, role, filler):
            yield from (premise, filler, relations.of(role)[0])
        case r.Key(concept, roles):
            yield concept
            yield from (relations.of(role)[0] for role in roles)
        case r.Join(body) | r.JoinEdge(body):
            yield from (concept for concept, _ in body.concepts)
            yield from (relations.of(role)[0] for role, _, _ in body.edges)
        case r.Is(premise) | r.Fill(premise) | r.SelfOut(premise) | r.Witness(premise):
            yield premise
        case r.DataWitness(premise):
            yield premise


_ALWAYS = "~always"
"""A goal for the rules that are relevant to every goal."""


def weighed(
    rules: Iterable[Rule], goals: Iterable[Symbol], relations: Relations, weight: Callable[[Rule], int]
) -> dict[Symbol, int]:
    """For each goal the weights, bit by bit, of all rules that may take part in a derivation of it.

    That is what `relevant` finds, for many goals in one pass. Case analyses are not looked at.
    """
    search = _Search(dict.fromkeys(rules), relations, ())
    concluding: dict[Symbol | int, list[Rule]] = {**search.by_head, _ALWAYS: search.waiting}

    def rests_on(head: Symbol | int) -> list[Symbol | int]:
        found = [one for rule in concluding.get(head, ()) for one in needs(rule, relations)]
        return [*found, SAME] if head == _ALWAYS else found

    bits: dict[Symbol | int, int] = {}
    starts: list[Symbol | int] = [_ALWAYS, *goals]
    for component in components(starts, rests_on):
        found = 0
        for head in component:
            for rule in concluding.get(head, ()):
                found |= weight(rule)
            for one in rests_on(head):
                found |= bits.get(one, 0)
        bits.update(dict.fromkeys(component, found))
    return {goal: bits[goal] | bits[_ALWAYS] for goal in goals}
