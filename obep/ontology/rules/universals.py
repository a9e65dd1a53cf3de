"""Find what T asserts of everything: concepts without a premise, reflexive relations."""

from __future__ import annotations

from collections.abc import Iterable

from obep.ontology.owl.axioms import NOTHING, THING
from obep.ontology.rules import rule_kinds as r
from obep.ontology.rules.role_relations import Relations
from obep.ontology.rules.rule_kinds import Role, Rule, Symbol

_OF_SOME = (r.Edge, r.Fill, r.Member, r.SubRole)
"""Kinds of rules that say nothing of everything; a large T is mostly made of them."""


class Universals:
    """Found once, so that nothing of it has to be carried along at run time."""

    def __init__(self, rules: Iterable[Rule], relations: Relations) -> None:
        self.rules = list(dict.fromkeys(rules))
        self.relations = relations
        self.universal: set[Symbol] = {THING}
        self.reflexive: set[int] = set()
        self._find()

    def _find(self) -> None:
        """Find concepts that need no premise at run time: `Thing`, and reflexive relations."""
        changed = True
        rules = [rule for rule in self.rules if not isinstance(rule, _OF_SOME)]
        while changed:
            before = len(self.universal) + len(self.reflexive)
            for rule in rules:
                match rule:
                    case r.Sub(premises, head) if self.universal.issuperset(premises):
                        self.universal.add(head)
                    case r.SelfOut(premise, role) if premise in self.universal:
                        self.reflexive.update(n for n, _ in self.relations.above(role))
                    case r.Exists(role, filler, head) if filler in self.universal and self._is_reflexive(
                        role
                    ):
                        self.universal.add(head)
                    case r.SelfIn(role, head) if self._is_reflexive(role):
                        self.universal.add(head)
                    case r.Apart(concepts) if len(self.universal.intersection(concepts)) > 1:
                        self.universal.add(NOTHING)
                    case r.Chain(first, second, sup) if self._is_reflexive(first) and self._is_reflexive(
                        second
                    ):
                        self.reflexive.update(n for n, _ in self.relations.above(sup))
            changed = len(self.universal) + len(self.reflexive) > before

    def _is_reflexive(self, role: Role) -> bool:
        return self.relations.of(role)[0] in self.reflexive

    def simplified(self) -> list[Rule]:
        """The rules without premises that always hold, and without those that conclude what always holds."""
        return list(dict.fromkeys(simpler for rule in self.rules for simpler in self._simpler(rule)))

    def _simpler(self, rule: Rule) -> Iterable[Rule]:
        match rule:
            case r.Sub(premises, head):
                left = tuple(dict.fromkeys(p for p in premises if p not in self.universal))
                if left and head not in self.universal:
                    yield r.Sub(left, head)
            case r.Exists(role, filler, head):
                if head not in self.universal:
                    yield r.Exists(role, self._or_thing(filler), head)
                    if self._is_reflexive(role):
                        yield r.Sub((filler,), head)
            case r.Count(_, _, _, head) | r.SelfIn(_, head):
                if head not in self.universal:
                    yield rule
            case r.SelfOut(premise, role):
                if premise not in self.universal:
                    yield rule
            case r.Merge(premise, role, filler, most):
                yield r.Merge(self._or_thing(premise), role, self._or_thing(filler), most)
            case r.Member(concept, _):
                if concept not in self.universal:
                    yield rule
            case r.Key(concept, roles):
                yield r.Key(self._or_thing(concept), roles)
            case r.Apart(concepts):
                yield from self._simpler_apart(concepts)
            case r.Join(body, variable, head):
                if head not in self.universal:
                    yield r.Join(self._simpler_body(body), variable, head)
            case r.JoinEdge(body, ends, sup):
                yield r.JoinEdge(self._simpler_body(body), ends, sup)
            case _:
                yield rule

    def _simpler_apart(self, concepts: tuple[Symbol, ...]) -> Iterable[Rule]:
        """Concepts that are disjoint with one that holds of everything are impossible."""
        left = tuple(concept for concept in concepts if concept not in self.universal)
        if len(left) > 1:
            yield r.Apart(left)
        if len(left) < len(concepts) and NOTHING not in self.universal:
            yield from (r.Sub((concept,), NOTHING) for concept in left)

    def _simpler_body(self, body: r.Body) -> r.Body:
        return r.Body(tuple(one for one in body.concepts if one[0] not in self.universal), body.edges)

    def _or_thing(self, symbol: Symbol) -> Symbol:
        return THING if symbol in self.universal else symbol
