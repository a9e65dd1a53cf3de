"""Find what the values of each data property are compared with: constants of T, or each other."""

from __future__ import annotations

from collections.abc import Iterable

from obep.model import Term
from obep.ontology.owl.axioms import DataRange
from obep.ontology.rules import rule_kinds as r
from obep.ontology.rules.role_relations import Relations
from obep.ontology.rules.rule_kinds import Rule


class ValueTests:
    """The data ranges that some rules test values with."""

    def __init__(self, rules: Iterable[Rule], relations: Relations) -> None:
        self._relations = relations
        self.rules = [rule for rule in rules if isinstance(rule, r.Count | r.Key | r.RolesApart)]
        """The rules that compare values."""
        self._ranges: dict[int, dict[DataRange, None]] = {}
        self._compared: set[int] = set()
        for rule in self.rules:
            match rule:
                case r.Count(property, range, least):
                    number = relations.of(property)[0]
                    self._ranges.setdefault(number, {})[range] = None
                    if least > 1:
                        self._compared.add(number)
                case r.Key(_, roles):
                    self._compared.update(relations.of(role)[0] for role in roles)
                case r.RolesApart(first, second):
                    self._compared.update(relations.of(role)[0] for role in (first, second))

    def of(self, property: Term) -> list[DataRange]:
        """The ranges that a value of a property is tested with, in the order of the rules."""
        if property not in self._relations:
            return []
        above = [number for number, _ in self._relations.above(property)]
        return list(dict.fromkeys(range for number in above for range in self._ranges.get(number, ())))

    def only_with_constants(self, property: Term) -> bool:
        """Whether the values of a property are never compared with each other."""
        if property not in self._relations:
            return True
        return all(number not in self._compared for number, _ in self._relations.above(property))
