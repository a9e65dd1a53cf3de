"""The vocabularies of events (SPEC D7): the names of their definitions, and what lies above and below."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING

from obep.model import Term
from obep.ontology.owl.axioms import THING, ClassExpression, Inverse
from obep.ontology.owl.event_axioms import names_of
from obep.ontology.rules import rule_kinds as r
from obep.ontology.rules.rule_kinds import Rule
from obep.query.walk import components

if TYPE_CHECKING:
    from obep.query.link import Linked


class Vocabularies:
    """Which class or property is always another, by the rules of T, and so which names belong to an event."""

    def __init__(self, rules: Iterable[Rule], linked: Linked, bodies: Mapping[Term, ClassExpression]) -> None:
        self._linked, self._bodies = linked, bodies
        direct = _direct(rules)
        self._above, self._below = _closed(direct), _closed(_reversed(direct))
        names = {*self._above, *self._below}
        self._unnamed = {THING, *(name for name in names if not name.startswith("<"))}
        self._known: dict[Term, frozenset[Term]] = {}
        self._equal: dict[frozenset[Term], frozenset[Term]] = {}
        """Vocabularies by themselves: events of one class have the same one."""

    def of(self, event: Term) -> frozenset[Term]:
        """The names in an event's definition, with the classes and properties below and above them."""
        found = self._known.get(event)
        if found is None:
            near = self._near(event)
            found = self._known[event] = self._equal.setdefault(near, near)
        return found

    def above(self, name: Term) -> frozenset[Term]:
        """The classes (properties) that T says every such one to be."""
        return self._above.get(name, frozenset())

    def below(self, name: Term) -> frozenset[Term]:
        """The classes (properties) that T says to be always of this one."""
        return self._below.get(name, frozenset())

    def _near(self, event: Term) -> frozenset[Term]:
        body = event.endswith("#body>")
        event = event.removesuffix("#body>") + ">" if body else event
        names = names_of(event, self._linked, self._bodies, body=body)
        found = frozenset(name for name in names if name.startswith("<"))
        return found.union(*map(self.above, names), *map(self.below, names)) - self._unnamed


def _direct(rules: Iterable[Rule]) -> dict[Term, set[Term]]:
    """For each class or property those that a rule says each such one to be."""
    direct: dict[Term, set[Term]] = {}
    for rule in rules:
        if isinstance(rule, r.Sub) and len(rule.premises) == 1:
            direct.setdefault(rule.premises[0], set()).add(rule.head)
        elif isinstance(rule, r.SubRole):
            sub, sup = (x.property if isinstance(x, Inverse) else x for x in (rule.sub, rule.sup))
            direct.setdefault(sub, set()).add(sup)
    return direct


def _reversed(direct: Mapping[Term, Iterable[Term]]) -> dict[Term, set[Term]]:
    found: dict[Term, set[Term]] = {}
    for name, others in direct.items():
        for other in others:
            found.setdefault(other, set()).add(name)
    return found


def _closed(direct: Mapping[Term, Collection[Term]]) -> dict[Term, frozenset[Term]]:
    """What is reachable from each name; names that lead to one other only have one set in common."""
    found: dict[Term, frozenset[Term]] = {}
    onward = cache(lambda name: found[name].union((name,)))
    for group in components(direct, lambda name: direct.get(name, ())):
        inside = frozenset(group) if len(group) > 1 or group[0] in direct.get(group[0], ()) else frozenset()
        parts = [onward(other) for name in group for other in direct.get(name, ()) if other in found]
        reached = parts[0] if len(parts) == 1 and not inside else inside.union(*parts)
        found.update(dict.fromkeys(group, reached))
    return found
