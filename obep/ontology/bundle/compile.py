"""From a query, T and K to a `Bundle`: all that a matcher needs, in one piece that can travel."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from obep.errors import Diagnostic
from obep.model import RDF_TYPE, Term, Triple, body_of
from obep.ontology.bundle.cache import cache_dir
from obep.ontology.bundle.stream_readers import Listening
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
from obep.ontology.owl.axioms import (
    DIFFERENT_FROM,
    NAMED_INDIVIDUAL,
    NOTHING,
    SAME_AS,
    THING,
    Axiom,
    Axioms,
    Class,
    SubClassOf,
)
from obep.ontology.owl.data_parts import data_properties_in, object_properties_of
from obep.ontology.owl.event_axioms import Definitions, define, looked_at
from obep.ontology.owl.rdf_to_owl import ANNOTATIONS
from obep.ontology.owl.static_graph import Graph
from obep.ontology.rules import rule_kinds as r
from obep.ontology.rules.axiom_rules import mentioned
from obep.ontology.rules.class_folding import Folded, fold
from obep.ontology.rules.exactness import Profile, profile
from obep.ontology.rules.findable_numbers import Asked, asked_numbers
from obep.ontology.rules.locality import parts_of
from obep.ontology.rules.normal_form import Normal, Normaliser
from obep.ontology.rules.program import Names, Program
from obep.ontology.rules.relevance import relevant
from obep.ontology.rules.role_relations import Relations
from obep.ontology.rules.rule_kinds import EMPTY_PROPERTIES, UNEQUAL_TO_ITSELF, Bound, Rule, Symbol
from obep.ontology.rules.value_tests import ValueTests
from obep.ontology.rules.vocabulary import Vocabularies
from obep.query import ast
from obep.query.state_expansion import expand

if TYPE_CHECKING:
    from obep.query.link import Linked


SAID = "urn:obep:said:"
"""How the names of classes begin that stand for unnamed ones of items."""
_MANY = 200
"""Names in guards that are looked at one by one."""


class Bundle:
    """A compiled query: its definitions, T, K, and the rules made of them. Nothing in it changes."""

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
        `max_explanations` is what somebody has chosen for matchers to keep of them (SPEC D4), `max_work` how
        many steps an item may take.
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
        self.subsumptions = tuple(subsumptions)
        self.diagnostics: list[Diagnostic] = list(diagnostics)
        self.definitions: Definitions = define(self.expanded, axioms)
        self.folded: Folded = fold(axioms.axioms, self._spoken_of())
        self._names = Names(self.definitions.goals)
        self.normal: Normal = self._normalise()
        guard_roles = self.definitions.guard_roles
        everything = [*self.normal.rules, *self.normal.asserted]
        sure = [rule for rule, bound in self.normal.rules.items() if bound & Bound.LOWER]
        self.relations: Relations = relations_of(everything, sure, self.definitions.axioms, guard_roles)
        self.names_looked_at = LookedAt(
            self.definitions.axioms,
            self.definitions.goals,
            self.definitions.guard_classes,
            guard_roles,
            self.folded.below,
        )
        asked = [self.relations.of(p)[0] for p in guard_roles if p in self.relations]
        unwritten = sorted(self.normal.unwritten)
        asked += [self.relations.of(name)[0] for name in unwritten if name in self.relations]
        goals: tuple[Symbol | int, ...] = (
            *self.definitions.goals,
            *self.definitions.guard_classes,
            *unwritten,
            NOTHING,
            *asked,
        )
        may_count, _ = relevant(everything, goals, self.relations, self.normal.counted())
        rules = {rule: bound for rule, bound in self.normal.rules.items() if rule in may_count}
        more = {rule: bound for rule, bound in self.normal.asserted.items() if rule in may_count}
        self.profile: Profile = self._profile(rules)
        self.asserted: Profile = self._profile({**rules, **more}) if more else self.profile
        """Where somebody asserts that something is of an event's class."""
        every = {rule: None for p in (self.profile, self.asserted) for rule in (*p.lower, *p.upper)}
        self._names.intern(every)
        self.clauses = (*self.profile.clauses, *self.asserted.clauses)
        """For each case analysis the rules of its cases."""
        self._relevant, self._needed = relevant(every, goals, self.relations, self.clauses)
        self._every = every | {rule: None for rule in everything if rule not in may_count}

    @property
    def cache_dir(self) -> Path:
        """Where what is found out is remembered."""
        return self.chosen_dir or cache_dir()

    def extended(self, axioms: Sequence[Axiom]) -> Bundle:
        """The same query and K, where T has some axioms more."""
        said = {name for axiom in axioms for _, name in parts_of(axiom) if isinstance(name, Class)}
        classes = frozenset(one.iri for one in said) - {THING, NOTHING}
        roles = object_properties_of(Axioms(tuple(axioms))) - self.definitions.axioms.object_properties
        data = data_properties_in(axioms) - self.definitions.axioms.data_properties
        # Auxiliary names are numbered by the axioms before them, so what was found out of them is left out.
        known = [pair for pair in self.subsumptions if not any(one.startswith("~") for one in pair)]
        return Bundle(
            self.linked,
            self.t | Axioms(tuple(axioms), classes, frozenset(roles), frozenset(data)),
            self.k,
            named=self.named,
            subsumptions=known,
            java=self.java,
            cache_dir=self.chosen_dir,
            max_explanations=self.max_explanations,
            max_work=self.max_work,
        )

    # --- the rules

    def _normalise(self) -> Normal:
        to = Normaliser()
        for always in (UNEQUAL_TO_ITSELF, *EMPTY_PROPERTIES):
            to.emit(always)
        for axiom in self.folded.axioms:
            to.add(axiom)
        elsewhere = self._mentioned_elsewhere()
        for event, body in self.definitions.bodies.items():
            if event in self.definitions.guarded:
                to.define_body(event, body, asserted=event not in elsewhere)
            else:
                to.define(event, body, both=event in elsewhere)
        hints = {r.Sub((sub,), sup): None for sub, sup in self.subsumptions}
        self._hints = frozenset(hints.keys() - to.normal.rules.keys())
        for rule in hints:
            to.emit(rule)
        return to.normal

    def _spoken_of(self) -> set[Term]:
        """The classes that the query or K speak of, and those that a reasoner found something out about."""
        found = {*self.definitions.goals, *self.definitions.guard_classes, *self.k.facts.classes}
        for body in self.definitions.bodies.values():
            found.update(mentioned(body))
        for event in self.expanded.events.values():
            found.update(place.iri for triple in event.construct for place in _names_in(triple))
        found.update(name for pair in self.subsumptions for name in pair)
        return found

    def _mentioned_elsewhere(self) -> set[Term]:
        """The events that T, K or another definition speak of: there `H SubClassOf B` counts too."""
        found = set(self.folded.mentioned)
        found.update(*self.folded.below.values())  # an item of a folded class asserts what it lies below
        for event, body in self.definitions.bodies.items():
            found.update(name for name in mentioned(body) if name != event)
        found.update(self.k.facts.classes)
        return found

    def _profile(self, rules: Mapping[Rule, Bound]) -> Profile:
        axioms = self.definitions.axioms
        datatypes = axioms.datatype_definitions

        def static(some: list[Rule]) -> tuple[Program, Store]:
            self._names.intern(some)
            program = build_program(some, self.relations, self._names, self.names_looked_at, equality=False)
            return program, closed(program, (), axioms, upper=True)

        found = profile(rules, self.normal, self.relations, datatypes, static)
        found.hints = self._hints
        return found

    def _reading(self, rules: list[Rule], *, upper: bool = False) -> Reading:
        kept = [rule for rule in rules if rule in self._relevant]
        return build_reading(
            kept,
            self.relations,
            self._names,
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
            self._names,
            self.names_looked_at,
            equality,
            upper=upper,
            folder=self.cache_dir,
        )
        like.store.tell(static, program.witnesses - like.program.witnesses)
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
        """The same where somebody asserts that something is of an event's class."""
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
            return bool(self.asserted.opaque) or self.upper_asserted is self.lower_asserted
        return bool(self.profile.opaque) or self.upper is self.lower

    @cached_property
    def value_tests(self) -> ValueTests:
        """What values are compared with, also where somebody asserts an event's class."""
        return ValueTests([rule for rule in self._every if rule in self._relevant], self.relations)

    @cached_property
    def module(self) -> Axioms:
        """T and the definitions, without the axioms that can lead to no event and no contradiction."""
        sources = self.normal.sources.items()
        # A rule that the profile has turned into others is as good as one of them.
        kept = {a for rule, of in sources if rule in self._relevant or rule not in self._every for a in of}
        dropped = {axiom for _, of in sources for axiom in of} - kept
        dropped.update(axiom for axiom in self.t.axioms if self._leads_nowhere(axiom))
        full = self.definitions.axioms
        return replace(full, axioms=tuple(axiom for axiom in full.axioms if axiom not in dropped))

    def _leads_nowhere(self, axiom: Axiom) -> bool:
        """Whether an axiom folds a class into one that nothing looks at."""
        match axiom:
            case SubClassOf(Class(sub), Class(sup)) if sub in self.folded.below:
                return not self._is_needed(sup)
        return False

    @cached_property
    def names_in_t(self) -> frozenset[Term]:
        """Every name in an axiom of T."""
        below = self.folded.below
        return self.folded.mentioned.union(below, *below.values())

    @cached_property
    def goal_numbers(self) -> dict[int, Term]:
        """The goals by the numbers of their concepts."""
        return {self._names.concept(goal): goal for goal in self.definitions.goals}

    @cached_property
    def matters(self) -> tuple[dict[Term, bool], dict[Term, bool], dict[Term, bool]]:
        """For every class, object property and data property that is known: whether some rule looks at it."""
        classes, roles, data = self._looked_at()
        meaningless = dict.fromkeys((*self.definitions.axioms.annotation_properties, *ANNOTATIONS), False)
        return {NAMED_INDIVIDUAL: False, **classes}, {**meaningless, **roles}, {**meaningless, **data}

    def _looked_at(self) -> tuple[dict[Term, bool], dict[Term, bool], dict[Term, bool]]:
        known, program = self.definitions.axioms, self.lower.program
        if self.exact:
            tables = (program.classes, program.roles, program.data)
            classes, roles, data = ({name: bool(m) for name, m in table.items()} for table in tables)
            return classes, roles, data
        extra = self.definitions.guard_roles - known.object_properties - known.data_properties
        classes = {c: self._is_needed(c) for c in (*known.classes, *self.definitions.guard_classes)}
        roles = {p: self._leads(p, self._needed) for p in (*known.object_properties, *extra)}
        data = {p: self._leads(p, self._needed) for p in (*known.data_properties, *extra)}
        always = {SAME_AS: True, DIFFERENT_FROM: True}
        return classes | {THING: False, NOTHING: True}, roles | always, data

    def asked_numbers(self, of: Listening) -> dict[Term, Asked]:
        """The data properties that the rules which lead to an event (or a guard's class) ask for numbers."""
        counts = [rule for rule in self._every if isinstance(rule, r.Count)]
        if not counts:
            return {}
        sure = dict.fromkeys((*self.profile.lower, *self.asserted.lower))
        goals = (*of.goals, *of.classes)
        leading, _ = relevant(sure, goals, self.relations, self.clauses)
        taking = [rule for rule in counts if rule in leading or rule not in sure]
        perhaps = self.leading(of)
        asking = [rule for rule in taking if rule in perhaps]
        known = self.definitions.axioms
        properties = sorted(known.data_properties)
        return asked_numbers(asking, taking, properties, self.relations, known.datatype_definitions)

    def leading(self, of: Listening) -> set[r.Rule]:
        """The rules that may lead to an event or to a class that a guard asks for."""
        goals = (*of.goals, *of.classes)
        return relevant(self._every, goals, self.relations, self.clauses)[0]

    @cached_property
    def rules(self) -> Collection[r.Rule]:
        """All that T and the definitions say, surely or perhaps."""
        folded = (r.Sub((c,), sup) for c, above in self.folded.below.items() for sup in above)
        return dict.fromkeys((*self._every, *folded)).keys()

    def saying(self, names: Iterable[Term]) -> set[Term]:
        """The classes and properties from which some others may follow, and those."""
        asked = {self.relations.of(name)[0] if name in self.relations else name for name in names}
        _, needed = relevant(self._every, asked, self.relations, self.clauses)
        known = self.definitions.axioms
        properties = known.object_properties | known.data_properties
        return {*names} | {
            name
            for name in known.classes | properties
            if self._is_needed(name, needed) or (name in self.relations and self._leads(name, needed))
        }

    def implies(self, property: Term, other: Term) -> bool:
        """Whether a property is another one, or below it."""
        if property == other or property not in self.relations or other not in self.relations:
            return property == other
        return self.relations.of(other) in self.relations.above(property)

    def sought(self, of: Listening) -> frozenset[Term]:
        """The classes and properties that some rule which leads to an event, or a guard, looks at."""
        found = {name for table in self.matters for name in table if table[name]}
        if of.alone:
            asked = [self.relations.of(p)[0] for p in of.roles if p in self.relations]
            goals: tuple[r.Symbol | int, ...] = (*of.goals, *of.classes, *asked)
            _, needed = relevant(self._every, goals, self.relations, self.clauses)
            found = {name for name in found if self._is_needed(name, needed) or self._leads(name, needed)}
        return frozenset(found) | of.classes | of.roles

    def _is_needed(self, concept: Term, needed: set[r.Symbol | int] | None = None) -> bool:
        """Whether some rule looks at a class, or at one that it is folded into."""
        needed = self._needed if needed is None else needed
        above = self.folded.below.get(concept)
        return concept in needed if above is None else not needed.isdisjoint(above)

    def _leads(self, role: Term, needed: set[r.Symbol | int]) -> bool:
        return role in self.relations and any(number in needed for number, _ in self.relations.above(role))

    def means_something(self, triple: Triple) -> bool:
        """Whether some rule that leads to an event or to a contradiction looks at a triple."""
        classes, roles, data = self.matters
        _, p, o = triple
        if p == RDF_TYPE:
            return classes.get(o, False)
        return (data if o.startswith('"') else roles).get(p, False)

    @cached_property
    def exact(self) -> bool:
        """Whether the rules decide every item, whatever it asserts."""
        return self.profile.exact() and self.asserted.exact()

    @cached_property
    def bare_store(self) -> Store:
        """What T says by itself, without K, also of what only asserted classes lead to."""
        return closed(self.lower_asserted, (), self.definitions.axioms)

    @cached_property
    def bare_upper_store(self) -> Store:
        """What T perhaps says by itself."""
        return closed(self.upper_asserted, (), self.definitions.axioms, upper=True)

    def open_goals(self, *, asserted: bool = False) -> frozenset[Term]:
        """The goals that the rules may leave undecided."""
        key = self.asserted if asserted else self.profile
        return frozenset(goal for goal in self.definitions.goals if key.reasons(goal, self.relations))

    def open_consistency(self, *, asserted: bool = False) -> bool:
        """Whether the rules may leave undecided that an item contradicts T and K."""
        return bool((self.asserted if asserted else self.profile).reasons(NOTHING, self.relations))

    @cached_property
    def reasons(self) -> dict[Term, Sequence[str]]:
        """For each event what makes it need the reasoner, in words; nothing for one that the rules decide."""
        found: dict[Term, Sequence[str]] = {}
        for event in self.expanded.events:
            goal = body_of(event) if event in self.definitions.guarded else event
            found[event] = self.profile.reasons(goal, self.relations)
        return found

    @cached_property
    def status(self) -> dict[Term, str]:
        """For each event `exact`, or what it needs the reasoner for."""
        return {
            event: f"needs the reasoner for {'; '.join(reasons)}" if reasons else "exact"
            for event, reasons in self.reasons.items()
        }

    @cached_property
    def open_in_guards(self) -> dict[Term, str]:
        """The classes and properties that guards ask for and the rules may not find, with the reasons."""
        if self.exact:
            return {}
        roles = {p: self.relations.of(p)[0] for p in self.definitions.guard_roles if p in self.relations}
        goals: dict[Term, Symbol | int] = {c: c for c in self.definitions.guard_classes} | roles
        together = self.asserted.reasons_of(goals.values(), self.relations)
        if not together or len(goals) > _MANY:  # a guard with `?x a ?c`: not worth telling them apart
            return dict.fromkeys(sorted(goals), "; ".join(together)) if together else {}
        found = {name: self.asserted.reasons_of((goal,), self.relations) for name, goal in goals.items()}
        return {name: "; ".join(reasons) for name, reasons in sorted(found.items()) if reasons}

    @cached_property
    def guard_reasons(self) -> dict[Term, Sequence[str]]:
        """The events whose guards need the reasoner, with the reasons."""
        found: dict[Term, Sequence[str]] = {}
        for iri, event in self.expanded.events.items() if self.open_in_guards else ():
            classes, roles = looked_at((event,), self.definitions.axioms)
            reasons = [words for name, words in self.open_in_guards.items() if name in classes | roles]
            if reasons:
                found[iri] = list(dict.fromkeys(reasons))
        return found

    @cached_property
    def guard_status(self) -> dict[Term, str]:
        """The same as one sentence each."""
        return {
            iri: f"has a guard that needs the reasoner for {'; '.join(reasons)}"
            for iri, reasons in self.guard_reasons.items()
        }

    @cached_property
    def bounded(self) -> frozenset[Term]:
        """The events that run as a lower bound, because they need the reasoner and there is none.

        Of composite ones only those that need it for their guards; `plan` knows what rests on what.
        """
        if self.java:
            return frozenset()
        logical = (event for event in self.definitions.bodies if self.status[event] != "exact")
        return frozenset((*logical, *self.guard_status))

    # --- what others ask

    @cached_property
    def vocabularies(self) -> Vocabularies:
        """Which names belong to each event, by what T says of its definition."""
        rules = [*self.normal.rules, *self.normal.asserted]
        return Vocabularies(rules, self.expanded, self.definitions.bodies)

    def vocabulary(self, event: Term) -> frozenset[Term]:
        """The names in an event's definition, with the classes and properties below and above them (D7)."""
        return self.vocabularies.of(event)

    @cached_property
    def hash(self) -> str:
        """A name for the content."""
        digest = blake2b(digest_size=16)
        for file in self.linked.files:
            digest.update(repr(replace(file, name="", comments=())).encode() + b"\0")
        for axiom in sorted(map(repr, self.t.axioms)):
            digest.update(axiom.encode() + b"\0")
        digest.update(self.k.digest.encode())
        for name, graph in sorted(self.named.items()):
            digest.update(f"{name} {graph.digest}".encode())
        return digest.hexdigest()


def _names_in(triple: ast.TriplePattern) -> list[ast.Name]:
    return [place for place in (triple.predicate, triple.object) if isinstance(place, ast.Name)]


def compile_bundle(
    linked: Linked,
    axioms: Axioms,
    k: Sequence[Triple] = (),
    *,
    named: Mapping[Term, Graph] | None = None,
    java: bool = True,
    cache_dir: Path | None = None,
    max_explanations: int | None = None,
    max_work: int | None = None,
) -> Bundle:
    """Bring a query, T and K together; raise what makes them impossible. Names are checked before."""
    from obep.ontology.bundle.verdicts import settled
    from obep.ontology.owl.multi_triple import beyond_triples

    k = k if isinstance(k, Graph) else Graph(k)
    axioms, more = beyond_triples(axioms, k)
    bundle = Bundle(
        linked,
        axioms,
        k,
        named=named,
        diagnostics=more,
        java=java,
        cache_dir=cache_dir,
        max_explanations=max_explanations,
        max_work=max_work,
    )
    return settled(bundle)
