"""The rules that follow from T and the definitions of a query, with a lower and an upper bound."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from obep.errors import Diagnostic
from obep.model import Term, Triple
from obep.ontology.bundle.cache import cache_dir
from obep.ontology.closure.runnable import (
    LookedAt,
    Reading,
    build_program,
    build_reading,
    closed,
    possible_program,
    relations_of,
)
from obep.ontology.closure.store import Store
from obep.ontology.closure.work_budget import OverBudget
from obep.ontology.owl.axiom_set import Axioms
from obep.ontology.owl.axioms import NOTHING
from obep.ontology.owl.event_axioms import Definitions, define
from obep.ontology.owl.static_graph import Graph
from obep.ontology.rules import rule_kinds as r
from obep.ontology.rules.axiom_rules import mentioned
from obep.ontology.rules.class_folding import Folded, fold
from obep.ontology.rules.exactness import Profile, Static, profile
from obep.ontology.rules.normal_form import Normal, Normaliser
from obep.ontology.rules.program import Names, Program
from obep.ontology.rules.relevance import Clauses, relevant
from obep.ontology.rules.role_relations import Relations
from obep.ontology.rules.rule_kinds import EMPTY_PROPERTIES, UNEQUAL_TO_ITSELF, Bound, Rule, Symbol
from obep.ontology.rules.value_tests import ValueTests
from obep.query import ast
from obep.query.state_expansion import expand

if TYPE_CHECKING:
    from obep.ontology.bundle.shacl_model import Applied
    from obep.query.link import Linked


@dataclass(frozen=True, slots=True)
class RuleBase:
    """The rules that T and the definitions are made into, and which of them lead anywhere."""

    folded: Folded
    normal: Normal
    hints: frozenset[Rule]
    """What a reasoner found out, and no axiom says."""
    relations: Relations
    looked_at: LookedAt
    profile: Profile
    asserted: Profile
    clauses: Clauses
    relevant: set[Rule]
    needed: set[Symbol | int]
    every: dict[Rule, None]


class CompiledRules:
    """A query with T and K, and the rules made of them. Nothing in it changes.

    The rules are made when they are first looked at: a query that was kept (`kept_programs`) has its programs
    and runs without them.
    """

    def __init__(
        self,
        linked: Linked,
        axioms: Axioms,
        k: Sequence[Triple],
        *,
        named: Mapping[Term, Graph] | None = None,
        subsumptions: Iterable[tuple[Term, Term]] = (),
        diagnostics: Sequence[Diagnostic] = (),
        java: bool = True,
        cache_dir: Path | None = None,
        max_explanations: int | None = None,
        max_work: int | None = None,
    ) -> None:
        """`java`: whether the reasoner may be asked (it starts when the first question comes).

        What is found out is remembered in `cache_dir`, or where `obep.ontology.bundle.cache` says.
        `max_explanations` is how many of them matchers keep (SPEC D4), `max_work` how many steps an item
        may take.
        """
        self.max_work = max_work
        self.java, self.chosen_dir, self.max_explanations = java, cache_dir, max_explanations
        self.linked = linked
        self.expanded = expand(linked)
        """The query with the hidden events of its states."""
        self.t = axioms
        """T as loaded; `definitions.axioms` has the definitions as well."""
        self.k = k if isinstance(k, Graph) else Graph(k)
        self.named = named or {}
        """The static graphs of FROM NAMED; they are no part of K."""
        self.shacl: Applied | None = None
        """The SHACL rules of T and K, where the query was compiled from files."""
        self.looked_up: frozenset[Term] = frozenset()
        """What mappings look up in K, where the query was compiled with their configuration."""
        self.subsumptions = tuple(subsumptions)
        self.diagnostics: list[Diagnostic] = list(diagnostics)
        self.definitions: Definitions = define(self.expanded, axioms)
        self.names = Names(self.definitions.goals)

    def with_rules(self) -> Iterator[Triple]:
        """K with all that SHACL rules add, also what T entails since it has their axioms."""
        yield from self.k.once()
        if self.shacl is not None:
            yield from self.shacl.beside

    @cached_property
    def rule_base(self) -> RuleBase:
        """All that is made of T and the definitions, in one go: the numbers of names depend on the order."""
        folded = fold(self.t.axioms, self._spoken_of())
        normal, hints = self._normalise(folded)
        guard_roles = self.definitions.guard_roles
        everything = [*normal.rules, *normal.asserted]
        sure = [rule for rule, bound in normal.rules.items() if bound != Bound.UPPER]
        relations = relations_of(everything, sure, self.definitions.axioms, guard_roles)
        looked_at = LookedAt(
            self.definitions.axioms,
            self.definitions.goals,
            self.definitions.guard_classes,
            guard_roles,
            folded.below,
        )
        asked = [relations.of(p)[0] for p in guard_roles if p in relations]
        unwritten = sorted(normal.unwritten)
        asked += [relations.of(name)[0] for name in unwritten if name in relations]
        goals: tuple[Symbol | int, ...] = (
            *self.definitions.goals,
            *self.definitions.guard_classes,
            *unwritten,
            NOTHING,
            *asked,
        )
        may_count, _ = relevant(everything, goals, relations, normal.counted())
        rules = {rule: bound for rule, bound in normal.rules.items() if rule in may_count}
        more = {rule: bound for rule, bound in normal.asserted.items() if rule in may_count}

        datatypes = self.definitions.axioms.datatype_definitions

        def profile_of(some: Mapping[Rule, Bound]) -> Profile:
            found = profile(some, normal, relations, datatypes, self._static(relations, looked_at))
            found.hints = hints
            return found

        own = profile_of(rules)
        asserted = profile_of({**rules, **more}) if more else own
        every = {rule: None for p in (own, asserted) for rule in (*p.lower, *p.upper)}
        self.names.intern(every)
        clauses = (*own.clauses, *asserted.clauses)
        leading, needed = relevant(every, goals, relations, clauses)
        every |= {rule: None for rule in everything if rule not in may_count}
        return RuleBase(
            folded, normal, hints, relations, looked_at, own, asserted, clauses, leading, needed, every
        )

    @property
    def folded(self) -> Folded:
        """The classes that stand for those above them."""
        return self.rule_base.folded

    @property
    def normal(self) -> Normal:
        """T and the definitions in normal form."""
        return self.rule_base.normal

    @cached_property
    def relations(self) -> Relations:
        """The properties, as relations."""
        return self.rule_base.relations

    @property
    def names_looked_at(self) -> LookedAt:
        """The names that programs keep apart."""
        return self.rule_base.looked_at

    @property
    def profile(self) -> Profile:
        """Which rules are exact, for items that assert no event's class."""
        return self.rule_base.profile

    @property
    def asserted(self) -> Profile:
        """The same for items that assert an event's class."""
        return self.rule_base.asserted

    @property
    def clauses(self) -> Clauses:
        """For each case analysis the rules of its cases."""
        return self.rule_base.clauses

    @property
    def _relevant(self) -> set[Rule]:
        return self.rule_base.relevant

    @property
    def _needed(self) -> set[Symbol | int]:
        return self.rule_base.needed

    @property
    def _every(self) -> dict[Rule, None]:
        return self.rule_base.every

    @property
    def cache_dir(self) -> Path:
        """Where what is found out is remembered."""
        return self.chosen_dir or cache_dir()

    def _normalise(self, folded: Folded) -> tuple[Normal, frozenset[Rule]]:
        to = Normaliser()
        for always in (UNEQUAL_TO_ITSELF, *EMPTY_PROPERTIES):
            to.emit(always)
        for axiom in folded.axioms:
            to.add(axiom)
        elsewhere = self._mentioned_elsewhere(folded)
        for event, body in self.definitions.bodies.items():
            if event in self.definitions.guarded:
                to.define_body(event, body, asserted=event not in elsewhere)
            else:
                to.define(event, body, both=event in elsewhere)
        hints = {r.Sub((sub,), sup): None for sub, sup in self.subsumptions}
        new = frozenset(hints.keys() - to.normal.rules.keys())
        for rule in hints:
            to.emit(rule)
        return to.normal, new

    def _spoken_of(self) -> set[Term]:
        """The classes that the query or K speak of, and those that a reasoner found something out about."""
        found = {*self.definitions.goals, *self.definitions.guard_classes, *self.k.facts.classes}
        for body in self.definitions.bodies.values():
            found.update(mentioned(body))
        for event in self.expanded.events.values():
            found.update(place.iri for triple in event.construct for place in _names_in(triple))
        found.update(name for pair in self.subsumptions for name in pair)
        return found

    def _mentioned_elsewhere(self, folded: Folded) -> set[Term]:
        """The events that T, K or another definition speak of: there `H SubClassOf B` counts too."""
        found = set(folded.mentioned)
        found.update(*folded.below.values())  # an item of a folded class asserts what it lies below
        for event, body in self.definitions.bodies.items():
            found.update(name for name in mentioned(body) if name != event)
        found.update(self.k.facts.classes)
        return found

    def _static(self, relations: Relations, looked_at: LookedAt) -> Static:
        """Builds a program of some rules, and closes what T says by itself under it."""

        def static(some: list[Rule]) -> tuple[Program, Store]:
            self.names.intern(some)
            program = build_program(some, relations, self.names, looked_at, equality=False)
            return program, closed(program, (), self.definitions.axioms, upper=True)

        return static

    def _reading(self, rules: list[Rule], *, upper: bool = False) -> Reading:
        kept = [rule for rule in rules if rule in self._relevant]
        return build_reading(
            kept,
            self.relations,
            self.names,
            self.names_looked_at,
            self.k,
            upper=upper,
            folder=self.cache_dir,
        )

    def _program(self, rules: list[Rule], like: Reading, *, upper: bool = False) -> Program:
        """A program of more rules, for the same store: it gets their witnesses."""
        kept = [rule for rule in rules if rule in self._relevant]
        equality = like.program.equality
        program, _, static = possible_program(
            kept,
            self.relations,
            self.names,
            self.names_looked_at,
            equality,
            upper=upper,
            folder=self.cache_dir,
        )
        like.store.add_witnesses(static, program.witnesses - like.program.witnesses)
        unknown = len(program.concept_ops) - len(like.program.concept_ops)
        like.program.concept_ops.extend([()] * unknown)  # the store has facts of which it has no rules now
        return program

    @cached_property
    def lower(self) -> Reading:
        """What surely follows."""
        return self._reading(self.profile.lower)

    @cached_property
    def upper(self) -> Reading:
        """What perhaps follows; the lower reading where there is too much of it (see `opaque`)."""
        try:
            return self._reading(self.profile.upper, upper=True)
        except OverBudget:
            return self.lower

    @cached_property
    def lower_asserted(self) -> Program:
        """The same for items that assert an event's class."""
        return self._program(self.asserted.lower, self.lower)

    @cached_property
    def upper_asserted(self) -> Program:
        if self.upper is not self.lower:
            with suppress(OverBudget):
                return self._program(self.asserted.upper, self.upper, upper=True)
        return self.lower_asserted

    def opaque(self, *, asserted: bool = False) -> bool:
        """Whether there is no upper bound: the reasoner decides all that the rules leave open."""
        if asserted:
            return self.opaque_if_asserted or self.upper_asserted is self.lower_asserted
        return bool(self.profile.opaque) or self.upper is self.lower

    @cached_property
    def opaque_if_asserted(self) -> bool:
        """Whether what an item that asserts an event's class may entail has no upper bound."""
        return bool(self.asserted.opaque)

    @cached_property
    def value_tests(self) -> ValueTests:
        """What values are compared with, also for items that assert an event's class."""
        return ValueTests([rule for rule in self._every if rule in self._relevant], self.relations)

    @cached_property
    def exact(self) -> bool:
        """Whether the rules decide every item, whatever it asserts."""
        return self.profile.exact() and self.asserted.exact()

    @cached_property
    def exact_for_most(self) -> bool:
        """Whether the rules decide every item that asserts no event's class."""
        return self.profile.exact()

    @cached_property
    def bare_store(self) -> Store:
        """What T says by itself, without K, also of what only asserted classes lead to."""
        return closed(self.lower_asserted, (), self.definitions.axioms)

    @cached_property
    def bare_upper_store(self) -> Store:
        """What T perhaps says by itself."""
        return closed(self.upper_asserted, (), self.definitions.axioms, upper=True)


def _names_in(triple: ast.TriplePattern) -> list[ast.Name]:
    return [place for place in (triple.predicate, triple.object) if isinstance(place, ast.Name)]
