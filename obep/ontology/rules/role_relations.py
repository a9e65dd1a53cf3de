"""The properties of T as relations: equivalent ones are one, an inverse is the same one read backwards.

In: rules about roles. Out: for each role the relation and direction that stands for it, and all the relations
above it. Saturated, so that a symmetry that is only implied counts as well.
"""

from __future__ import annotations

from collections.abc import Iterable

from obep.ontology.owl.axioms import DIFFERENT_FROM, SAME_AS, Inverse, inverse
from obep.ontology.rules.rule_kinds import Role, SubRole
from obep.query.walk import reachable

Directed = tuple[int, bool]
"""A relation, and whether it is read backwards."""

SAME = 0


class Relations:
    """Numbers for relations; 0 is equality, 1 difference."""

    def __init__(self, roles: Iterable[Role], inclusions: Iterable[SubRole]) -> None:
        self.roles, self.inclusions = tuple(roles), tuple(inclusions)
        """What they are made of."""
        direct: dict[Role, set[Role]] = {}
        for role in (SAME_AS, DIFFERENT_FROM, *self.roles):
            direct.setdefault(role, set())
            direct.setdefault(inverse(role), set())
        for rule in self.inclusions:
            direct.setdefault(rule.sub, set()).add(rule.sup)
            direct.setdefault(inverse(rule.sub), set()).add(inverse(rule.sup))
            direct.setdefault(rule.sup, set())
            direct.setdefault(inverse(rule.sup), set())
        for both in (SAME_AS, DIFFERENT_FROM):
            direct[both].add(Inverse(both))
            direct[Inverse(both)].add(both)
        self._above = {role: {role, *reachable(role, direct)} for role in direct}
        self._known: dict[Role, tuple[Directed, ...]] = {}
        self._numbers: dict[Role, tuple[int, ...]] = {}
        self._directed: dict[Role, Directed] = {}
        self.names: list[Role] = []
        for role in sorted(direct, key=_order):
            if role not in self._directed:
                number = len(self.names)
                self.names.append(role)
                for other in sorted(self._above[role], key=_order):
                    if role in self._above[other]:
                        self._directed.setdefault(other, (number, False))
                        self._directed.setdefault(inverse(other), (number, True))

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, role: Role) -> bool:
        return role in self._directed

    def of(self, role: Role) -> Directed:
        """The relation that stands for a role."""
        return self._directed[role]

    def above(self, role: Role) -> tuple[Directed, ...]:
        """All relations that hold where the role does; a symmetric one in both directions."""
        known = self._known.get(role)
        if known is None:
            known = self._known[role] = self._all_above(role)
        return known

    def numbers_above(self, role: Role) -> tuple[int, ...]:
        """The relations above, without their directions."""
        known = self._numbers.get(role)
        if known is None:
            known = self._numbers[role] = tuple(dict.fromkeys(number for number, _ in self.above(role)))
        return known

    def _all_above(self, role: Role) -> tuple[Directed, ...]:
        found: dict[Directed, None] = {}
        for sup in sorted(self._above[role], key=_order):
            number, backwards = self._directed[sup]
            symmetric = Inverse(str(sup)) in self._above[sup] if not isinstance(sup, Inverse) else False
            found[number, backwards] = None
            if symmetric:
                found[number, not backwards] = None
        return tuple(found)


def _order(role: Role) -> tuple[bool, int, str]:
    rank = {SAME_AS: 0, DIFFERENT_FROM: 1}.get(role.property if isinstance(role, Inverse) else role, 2)
    return (isinstance(role, Inverse), rank, str(role))
