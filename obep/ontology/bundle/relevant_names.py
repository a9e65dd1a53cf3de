"""Which names of items the rules of a query read: what plans and the rules about streams ask of T."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property
from itertools import compress
from typing import TypeVar

import msgspec

from obep.model import RDF_TYPE, Term, Triple
from obep.ontology.bundle.compiled_rules import CompiledRules
from obep.ontology.bundle.stream_readers import FEW, Listening, listening
from obep.ontology.owl.axiom_set import Axioms, Deferred
from obep.ontology.owl.axioms import (
    DIFFERENT_FROM,
    NAMED_INDIVIDUAL,
    NOTHING,
    SAME_AS,
    THING,
    Axiom,
    Class,
    DataOneOf,
    SubClassOf,
)
from obep.ontology.owl.rdf_to_owl import ANNOTATIONS
from obep.ontology.rules import rule_kinds as r
from obep.ontology.rules.axiom_rules import mentioned
from obep.ontology.rules.findable_numbers import Asked, asked_numbers
from obep.ontology.rules.relevance import relevant, weighed
from obep.ontology.rules.subject_scope import reaching_classes
from obep.ontology.rules.vocabulary import Vocabularies

Answer = TypeVar("Answer")
SAID = "urn:obep:said:"
"""The prefix of names of classes that stand for unnamed classes of items."""


class Answers(msgspec.Struct, array_like=True):
    """What was asked about T and would take its rules to answer again."""

    numbers: dict[tuple[tuple[Term, ...], frozenset[Term]], Mapping[Term, Asked]] = {}
    """By goals and classes of guards, the properties that are asked for numbers."""
    literals: dict[tuple[tuple[Term, ...], frozenset[Term]], list[tuple[Term, tuple[Term, ...]]]] = {}
    """By the same, the properties that are compared with some literals."""
    sought: dict[tuple[tuple[Term, ...], frozenset[Term], frozenset[Term]], frozenset[Term]] = {}
    """By goals, classes and properties of guards, the names that matter in a stream."""
    saying: dict[frozenset[Term], frozenset[Term]] = {}
    """By some names, those from which they may follow."""
    vocabularies: list[frozenset[Term]] = []
    vocabulary_of: dict[Term, int] = {}
    """The place of the vocabulary of an event (D7)."""
    marks: dict[tuple[tuple[Term, ...], tuple[Term, ...]], tuple[list[tuple[Term, ...]], list[int]]] = {}
    """By names and goals, sets of names, and for each goal the place of the set that may lead to it."""
    reaching: list[frozenset[Term] | None] = []
    """Nothing as long as it was not asked."""
    packed: dict[str, bytes] = {}
    """What rules about streams have found out of T, in msgpack: by a name of theirs."""
    hash: str = ""
    """The name for the content of the query with T and K."""


class RelevantNames(CompiledRules):
    """Compiled rules that answer which names lead to which events. Answers that take the rules are kept."""

    @cached_property
    def answers(self) -> Answers:
        """What plans and rules about streams have asked about T."""
        return Answers()

    @cached_property
    def module(self) -> Axioms:
        """T and the definitions, without the axioms that can lead to no event and no contradiction."""
        full = self.definitions.axioms
        return replace(full, axioms=Deferred(self._leading_axioms, full.about_data))

    def _leading_axioms(self) -> tuple[Axiom, ...]:
        sources = self.normal.sources.items()
        # A rule that the profile has turned into others is as good as one of them.
        kept = {a for rule, of in sources if rule in self._relevant or rule not in self._every for a in of}
        dropped = {axiom for _, of in sources for axiom in of} - kept
        dropped.update(axiom for axiom in self.t.axioms if self._leads_nowhere(axiom))
        return tuple(axiom for axiom in self.definitions.axioms.axioms if axiom not in dropped)

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
        return {self.names.concept(goal): goal for goal in self.definitions.goals}

    @cached_property
    def classes_asked_for(self) -> dict[Term, int]:
        """The classes that guards and groups see, with their numbers in the rules."""
        return {
            c: self.lower.program.names.concept(c)
            for c in (*self.definitions.guard_classes, *self.definitions.goals)
            if c.startswith("<") and not c.startswith(f"<{SAID}")
        }

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

    def asked_numbers(self, of: Listening) -> Mapping[Term, Asked]:
        """The data properties that the rules which lead to an event (or a guard's class) ask for numbers."""
        key = (of.goals, of.classes)
        known = self.answers.numbers
        if key not in known:
            known[key] = self._asked_numbers(of)
        return known[key]

    def answered(self, name: str, kind: type[Answer], ask: Callable[[], Answer]) -> Answer:
        """What is asked of T alone, under a name; it is kept with the programs."""
        known = self.answers.packed
        if name not in known:
            known[name] = msgspec.msgpack.encode(ask())
        return msgspec.msgpack.decode(known[name], type=kind)

    def ask_of_streams(self) -> None:
        """Answer what rules about streams ask: for each stream, and for each of a few events alone."""
        for stream in self.linked.streams:
            here = listening(self.linked, self.definitions, stream)
            self.asked_numbers(here)
            for event in here.events if len(here.events) <= FEW else ():
                self.asked_numbers(here.alone_with(event))

    def _asked_numbers(self, of: Listening) -> Mapping[Term, Asked]:
        counts = [rule for rule in self._every if isinstance(rule, r.Count)]
        if not counts:
            return {}
        sure = dict.fromkeys((*self.profile.lower, *self.asserted.lower))
        goals = (*of.goals, *of.classes)
        leading, _ = relevant(sure, goals, self.relations, self.clauses)
        taking = [rule for rule in counts if rule in leading or rule not in sure]
        perhaps = self._leading(of)
        asking = [rule for rule in taking if rule in perhaps]
        known = self.definitions.axioms
        properties = sorted(known.data_properties)
        return asked_numbers(asking, taking, properties, self.relations, known.datatype_definitions)

    def asked_literals(self, of: Listening) -> Sequence[tuple[Term, tuple[Term, ...]]]:
        """The data properties that the rules which may lead to an event compare with some literals."""
        key = (of.goals, of.classes)
        known = self.answers.literals
        if key not in known:
            counts = [rule for rule in self._leading(of) if isinstance(rule, r.Count)]
            known[key] = [
                (one.property, one.range.literals) for one in counts if isinstance(one.range, DataOneOf)
            ]
        return known[key]

    def _leading(self, of: Listening) -> set[r.Rule]:
        """The rules that may lead to an event or to a class that a guard asks for."""
        goals = (*of.goals, *of.classes)
        return relevant(self._every, goals, self.relations, self.clauses)[0]

    @cached_property
    def rules(self) -> Collection[r.Rule]:
        """All that T and the definitions say, surely or perhaps."""
        folded = (r.Sub((c,), sup) for c, above in self.folded.below.items() for sup in above)
        return dict.fromkeys((*self._every, *folded)).keys()

    def saying(self, names: Iterable[Term]) -> frozenset[Term]:
        """The classes and properties from which some others may follow, and those."""
        key = frozenset(names)
        known = self.answers.saying
        if key not in known:
            known[key] = self._saying(key)
        return known[key]

    def _saying(self, names: frozenset[Term]) -> frozenset[Term]:
        asked = {self.relations.of(name)[0] if name in self.relations else name for name in names}
        _, needed = relevant(self._every, asked, self.relations, self.clauses)
        known = self.definitions.axioms
        properties = known.object_properties | known.data_properties
        return names | {
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
        key = (of.goals, of.classes, of.roles)
        known = self.answers.sought
        if key not in known:
            known[key] = self._sought(of)
        return known[key]

    def _sought(self, of: Listening) -> frozenset[Term]:
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
    def vocabularies(self) -> Vocabularies:
        """Which names belong to each event, by what T says of its definition."""
        rules = [*self.normal.rules, *self.normal.asserted]
        return Vocabularies(rules, self.expanded, self.definitions.bodies)

    def vocabulary(self, event: Term) -> frozenset[Term]:
        """The names in an event's definition, with the classes and properties below and above them (D7)."""
        known, sets = self.answers.vocabulary_of, self.answers.vocabularies
        if event not in known:
            place = self._vocabulary_places.setdefault(self.vocabularies.of(event), len(sets))
            sets += [self.vocabularies.of(event)] if place == len(sets) else []
            known[event] = place
        return sets[known[event]]

    @cached_property
    def _vocabulary_places(self) -> dict[frozenset[Term], int]:
        return {found: place for place, found in enumerate(self.answers.vocabularies)}

    def leading_marks(self, marks: Sequence[Term], goals: Sequence[Term]) -> Mapping[Term, frozenset[Term]]:
        """For each goal those of some names that a derivation of it may begin with."""
        key = (tuple(marks), tuple(goals))
        known = self.answers.marks
        if key not in known:
            bit = {mark: 1 << number for number, mark in enumerate(marks)}
            weight = cache(lambda rule: sum(bit[name] for name in bit.keys() & set(mentioned(rule))))
            reached = weighed([*self.normal.rules, *self.normal.asserted], goals, self.relations, weight)
            place: dict[int, int] = {}
            places = [place.setdefault(reached[goal], len(place)) for goal in goals]
            known[key] = [tuple(compress(marks, map(int, f"{bits:b}"[::-1]))) for bits in place], places
        chosen, places = known[key]
        sets = [frozenset(names) for names in chosen]
        return {goal: sets[at] for goal, at in zip(goals, places, strict=True)}

    def reaching(self) -> frozenset[Term] | None:
        """The classes whose members the triples of other subjects may decide; None: T may reach anywhere."""
        known = self.answers.reaching
        if not known:
            found = reaching_classes(self.t.axioms, self.definitions.bodies)
            known.append(None if found is None else frozenset(found))
        return known[0]
