"""The vocabularies of events (SPEC D7): the names of their definitions, and what lies above and below."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from obep.model import Term
from obep.ontology.owl.axioms import THING, ClassExpression, Inverse
from obep.ontology.owl.event_axioms import names_of
from obep.ontology.rules import rule_kinds as r
from obep.ontology.rules.rule_kinds import Rule
from obep.query.walk import reachable

if TYPE_CHECKING:
    from obep.query.link import Linked


class Vocabularies:
    """Which class or property is always another, by the rules of T, and so which names belong to an event."""

    def __init__(self, rules: Iterable[Rule], linked: Linked, bodies: Mapping[Term, ClassExpression]) -> None:
        self._linked, self._bodies = linked, bodies
        self._above = _above(rules)
        self._below: dict[Term, set[Term]] = {}
        for name, found in self._above.items():
            for sup in found:
                self._below.setdefault(sup, set()).add(name)
        self._known: dict[Term, frozenset[Term]] = {}

    def of(self, event: Term) -> frozenset[Term]:
        """The names in an event's definition, with the classes and properties below and above them."""
        found = self._known.get(event)
        if found is None:
            found = self._known[event] = self._near(event)
        return found

    def above(self, name: Term) -> set[Term]:
        """The classes (properties) that T says every such one to be."""
        return self._above.get(name, set())

    def below(self, name: Term) -> set[Term]:
        """The classes (properties) that T says to be always of this one."""
        return self._below.get(name, set())

    def _near(self, event: Term) -> frozenset[Term]:
        body = event.endswith("#body>")
        event = event.removesuffix("#body>") + ">" if body else event
        names = names_of(event, self._linked, self._bodies, body=body)
        found = set(names)
        for name in names:
            found |= self.above(name) | self.below(name)
        return frozenset(name for name in found if name.startswith("<") and name != THING)


def _above(rules: Iterable[Rule]) -> dict[Term, set[Term]]:
    direct: dict[Term, set[Term]] = {}
    for rule in rules:
        if isinstance(rule, r.Sub) and len(rule.premises) == 1:
            direct.setdefault(rule.premises[0], set()).add(rule.head)
        elif isinstance(rule, r.SubRole):
            sub, sup = (x.property if isinstance(x, Inverse) else x for x in (rule.sub, rule.sup))
            direct.setdefault(sub, set()).add(sup)
    return {name: reachable(name, direct) for name in direct}
