"""Compile a query, T and K to a `Bundle`: all that a matcher needs, in one value that can be pickled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace as replace_struct

from obep.model import Term, Triple, body_of
from obep.ontology.bundle.relevant_names import Answers, RelevantNames
from obep.ontology.closure.runnable import Reading
from obep.ontology.closure.store import Store
from obep.ontology.owl.axiom_set import Axioms
from obep.ontology.owl.axioms import NOTHING, THING, Axiom, Class
from obep.ontology.owl.data_parts import data_properties_in, object_properties_of
from obep.ontology.owl.event_axioms import looked_at
from obep.ontology.owl.static_graph import Graph
from obep.ontology.rules.locality import parts_of
from obep.ontology.rules.program import Program
from obep.ontology.rules.role_relations import Relations
from obep.ontology.rules.rule_kinds import Symbol
from obep.ontology.rules.value_tests import ValueTests

if TYPE_CHECKING:
    from obep.query.link import Linked


_MANY = 200
"""The most names in guards that are examined one by one."""


class OpenNames(msgspec.Struct, array_like=True):
    """Which names matter, and what the rules do not decide, where they are not exact."""

    matters: tuple[dict[Term, bool], dict[Term, bool], dict[Term, bool]]
    in_guards: dict[Term, str]
    opaque: bool


class Bundle(RelevantNames):
    """A compiled query that answers which events need the reasoner."""

    def extended(self, axioms: Sequence[Axiom]) -> Bundle:
        """The same query and K, where T has some axioms more."""
        said = {name for axiom in axioms for _, name in parts_of(axiom) if isinstance(name, Class)}
        classes = frozenset(one.iri for one in said) - {THING, NOTHING}
        roles = object_properties_of(Axioms(tuple(axioms))) - self.definitions.axioms.object_properties
        data = data_properties_in(axioms) - self.definitions.axioms.data_properties
        # Auxiliary names are numbered by the axioms before them, so what was found out of them is left out.
        known = [pair for pair in self.subsumptions if not any(one.startswith("~") for one in pair)]
        more = Axioms(tuple(axioms), classes, frozenset(roles), frozenset(data))
        return self._like(self.t | more, self.k, known)

    def with_k(self, k: Graph) -> Bundle:
        """The same query and T with another K; what was found out about T is kept."""
        return self._like(self.t, k, self.subsumptions)

    def _like(self, t: Axioms, k: Graph, subsumptions: Sequence[tuple[Term, Term]]) -> Bundle:
        """A bundle of the same query and settings."""
        return Bundle(
            self.linked,
            t,
            k,
            named=self.named,
            subsumptions=subsumptions,
            java=self.java,
            cache_dir=self.chosen_dir,
            max_explanations=self.max_explanations,
            max_work=self.max_work,
        )

    def with_store(self, k: Graph, store: Store) -> Bundle:
        """The same query and T with another K, which is closed already; only where the rules are exact."""
        found = copy(self)
        for made in ("upper", "upper_asserted", "hash"):
            found.__dict__.pop(made, None)
        found.answers = replace_struct(self.answers, hash="")
        found.k, found.lower = k, Reading(self.lower.program, store)
        return found

    @property
    def open_names(self) -> OpenNames | None:
        """What a run looks at where items that assert an event's class need the reasoner."""
        return None if self.exact else OpenNames(self.matters, self.open_in_guards, self.opaque_if_asserted)

    @property
    def has_programs(self) -> bool:
        """Whether its programs are made, or taken."""
        return "lower" in self.__dict__

    def take_programs(
        self,
        relations: Relations,
        lower: Reading,
        lower_asserted: Program,
        value_tests: ValueTests,
        answers: Answers,
        open_names: OpenNames | None,
    ) -> None:
        """Take what an equal bundle has made; `open_names` where it does not decide every item."""
        self.names, self.relations = lower.program.names, relations
        self.lower, self.lower_asserted, self.value_tests = lower, lower_asserted, value_tests
        self.exact, self.exact_for_most = open_names is None, True
        if open_names is not None:
            self.matters, self.open_in_guards = open_names.matters, open_names.in_guards
            self.opaque_if_asserted = open_names.opaque
        self.answers = answers

    def open_goals(self, *, asserted: bool = False) -> frozenset[Term]:
        """The goals that the rules may leave undecided."""
        if self.exact or (self.exact_for_most and not asserted):
            return frozenset()
        key = self.asserted if asserted else self.profile
        return frozenset(goal for goal in self.definitions.goals if key.reasons(goal, self.relations))

    def open_consistency(self, *, asserted: bool = False) -> bool:
        """Whether the rules may leave undecided that an item contradicts T and K."""
        if self.exact or (self.exact_for_most and not asserted):
            return False
        return bool((self.asserted if asserted else self.profile).reasons(NOTHING, self.relations))

    @cached_property
    def reasons(self) -> dict[Term, Sequence[str]]:
        """For each event what makes it need the reasoner, in words; nothing for one that the rules decide."""
        found: dict[Term, Sequence[str]] = {}
        if self.exact_for_most:
            return dict.fromkeys(self.expanded.events, ())
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

    @cached_property
    def hash(self) -> str:
        """A name for the content."""
        if not self.answers.hash:
            self.answers.hash = self._hash()
        return self.answers.hash

    def _hash(self) -> str:
        digest = blake2b(digest_size=16)
        for file in self.linked.files:
            digest.update(repr(replace(file, name="", comments=())).encode() + b"\0")
        for axiom in sorted(map(repr, self.t.axioms)):
            digest.update(axiom.encode() + b"\0")
        digest.update(self.k.digest.encode())
        for name, graph in sorted(self.named.items()):
            digest.update(f"{name} {graph.digest}".encode())
        return digest.hexdigest()


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
