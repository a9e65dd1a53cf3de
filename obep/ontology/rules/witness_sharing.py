"""Whether the individuals of an existential may share one witness: only if nothing can distinguish them.

In: the rules of T. Out: for each `A SubClassOf r some B` why its witness cannot be shared, in words, or
nothing. The condition, and why it is enough, stand in docs/reasoning.md ("One witness for many"). `profile`
looks at what T says of the witnesses themselves.
"""

from __future__ import annotations

from collections.abc import Iterable

from obep.ontology.owl.axioms import THING
from obep.ontology.owl.verbalise import name
from obep.ontology.rules import rule_kinds as r
from obep.ontology.rules.normal_form import Normal
from obep.ontology.rules.relevance import needs
from obep.ontology.rules.role_relations import Directed, Relations
from obep.ontology.rules.rule_kinds import Role, Rule, Symbol


class Sharing:
    """Which rules use which relation, and in which direction."""

    def __init__(
        self, rules: Iterable[Rule], sure: Iterable[Rule], relations: Relations, normal: Normal
    ) -> None:
        """`sure`: the rules of the lower reading among them."""
        self._relations, self._normal = relations, normal
        sure = set(sure)
        self._subs: dict[Symbol, list[r.Sub]] = {}
        for sub in [rule for rule in sure if isinstance(rule, r.Sub)]:
            for premise in sub.premises:
                self._subs.setdefault(premise, []).append(sub)
        self._ranges: dict[Directed, list[Symbol]] = {}
        self._direct: dict[Role, frozenset[Symbol]] = {}
        self._loops: set[int] = set()
        self._looked_at: set[Symbol | int] = set()
        self._conditions: dict[Directed, Role] = {}
        self._steps: set[Directed] = set()
        self._bounded: dict[int, Role] = {}
        self._apart: set[int] = set()
        self._chains: list[tuple[Directed, Directed, tuple[Directed, ...]]] = []
        self._known: dict[Role, frozenset[Directed]] = {}
        for rule in rules:
            if not (isinstance(rule, r.Sub) and len(rule.premises) == 1):
                self._looked_at.update(needs(rule, relations))
            match rule:
                case r.Exists(role, filler) if filler != THING:
                    self._conditions.setdefault(relations.of(role), role)
                case r.Exists(role, _, head) if rule in sure:
                    self._ranges.setdefault(relations.of(role), []).append(head)
                case r.SelfOut(_, role):
                    self._loops |= {number for number, _ in relations.above(role)}
                case r.Chain(first, second, sup):
                    self._steps |= {relations.of(first), relations.of(second)}
                    self._chains.append((relations.of(first), relations.of(second), relations.above(sup)))
                case r.Merge(_, role):
                    self._bounded.setdefault(relations.of(role)[0], role)
                case r.RolesApart(first, second):
                    self._apart |= {relations.of(first)[0], relations.of(second)[0]}

    def into(self, role: Role) -> frozenset[Directed]:
        """The relations, with direction, that lead into a witness of this role."""
        if role not in self._known:
            into = set(self._relations.above(role))
            size = 0
            while size < (size := len(into)):
                for first, second, above in self._chains:
                    # A chain ends in a witness; or it goes on along an edge from the witness to itself.
                    if second in into or (first in into and second[0] in self._loops):
                        into.update(above)
            self._known[role] = frozenset(into)
        return self._known[role]

    def spoils(self, witness: r.Witness) -> str:
        """Why a witness cannot be shared, because something looks back from it; empty if nothing does."""
        into = self.into(witness.role)
        who = promised(witness, self._normal)
        for number, backwards in sorted(into):
            back = (number, not backwards)
            if back in self._conditions:
                return f"{who}, and {name(self._conditions[back])} looks back: existentials with inverses"
            if back in self._steps:
                return f"{who}, and a chain looks back: existentials with inverses"
            if number in self._bounded:
                return f"{who}, and {name(self._bounded[number])} is bounded: existentials with equality"
            if number in self._apart and self._is_chained(number):
                return f"{who}, and disjoint properties along a chain"
            if back in self._ranges and self._is_news(witness, self._ranges[back]):
                range = name(self._relations.names[number])
                return f"{who}, and a chain leads to it, with a range ({range}): existentials with chains"
        return ""

    def _is_news(self, witness: r.Witness, heads: Iterable[Symbol]) -> bool:
        """Whether these concepts lead to anything of a witness that does not hold of it in any case.

        What does hold is given by its class and by the ranges of its role.
        """
        ranges = self._ranges_of(witness.role)
        if ranges.issuperset(heads):
            return False
        given = self._closed({THING, witness.filler, *ranges})
        more = self._closed(given.union(heads)) - given
        return any(not symbol.startswith("~") or symbol in self._looked_at for symbol in more)

    def _ranges_of(self, role: Role) -> frozenset[Symbol]:
        """The concepts of everything that a role leads to."""
        if role not in self._direct:
            back = [(number, not backwards) for number, backwards in self._relations.above(role)]
            self._direct[role] = frozenset(head for one in back for head in self._ranges.get(one, ()))
        return self._direct[role]

    def _closed(self, symbols: set[Symbol]) -> set[Symbol]:
        """The certain consequences of some concepts of an individual alone."""
        waiting = list(symbols)
        while waiting:
            for rule in self._subs.get(waiting.pop(), ()):
                if rule.head not in symbols and symbols.issuperset(rule.premises):
                    symbols.add(rule.head)
                    waiting.append(rule.head)
        return symbols

    def _is_chained(self, number: int) -> bool:
        return any((number, way) in above for way in (False, True) for _, _, above in self._chains)

    def passes_through(self, role: Role) -> bool:
        """Whether a chain or a bound goes through the witnesses of a role."""
        return any(edge in self._steps or edge[0] in self._bounded for edge in self.into(role))


def promised(witness: r.Witness, normal: Normal) -> str:
    """An individual that the ontology or a definition promises, by a class that has a name."""
    unnamed = witness.filler == THING or witness.filler.startswith("~")
    kind = "" if unnamed else f" (a {name(witness.filler)})"
    return f"the {name(witness.role)}{kind} that {promiser(witness, normal)} promises"


def promiser(rule: Rule, normal: Normal) -> str:
    """The axiom or the definition of an event that promises an individual or a value."""
    event = None if rule in normal.sources else normal.implied.get(rule)
    return "the ontology" if event is None else f"the definition of {name(event)}"
