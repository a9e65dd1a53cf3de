"""One reading of T, ready to run: its program, and K closed under it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from obep.model import RDF_TYPE, Term, Triple
from obep.ontology.bundle.cache import Folder, content_hash
from obep.ontology.closure.mmap_store import open_store, write_store
from obep.ontology.closure.saturate import Closing, Closure
from obep.ontology.closure.store import Store
from obep.ontology.closure.work_budget import OverBudget
from obep.ontology.owl.axiom_set import Axioms
from obep.ontology.owl.axioms import NOTHING, SAME_AS, THING, Inverse
from obep.ontology.owl.literals import Value, value
from obep.ontology.owl.static_graph import Graph
from obep.ontology.rules import rule_kinds as r
from obep.ontology.rules.program import BOTTOM, Heads, Names, Program
from obep.ontology.rules.role_relations import Relations
from obep.ontology.rules.rule_kinds import Role, Rule, Symbol
from obep.ontology.rules.rule_tables import ProgramBuilder
from obep.ontology.rules.universals import Universals


@dataclass(frozen=True, slots=True)
class LookedAt:
    """The names that are looked at."""

    axioms: Axioms
    goals: tuple[Symbol, ...]
    guard_classes: frozenset[Term] = frozenset()
    guard_roles: frozenset[Term] = frozenset()
    folded: Mapping[Term, tuple[Term, ...]] = field(default_factory=dict)
    """Classes that stand for others (`obep.ontology.rules.class_folding`)."""


def relations_of(
    rules: Iterable[Rule], sure: Iterable[Rule], axioms: Axioms, guard_roles: Iterable[Term] = ()
) -> Relations:
    """The relations of T; through a reflexive relation in a chain one may also stay where one is.

    `sure`: the rules by which a relation may be known to be reflexive.
    """
    rules = list(rules)
    inclusions = [rule for rule in rules if isinstance(rule, r.SubRole)]
    roles: list[Role] = [*axioms.object_properties, *axioms.data_properties, *guard_roles]
    chains = [rule for rule in rules if isinstance(rule, r.Chain)]
    roles.extend(chain.sup for chain in chains)
    sure = list(sure) if chains and any(isinstance(rule, r.SelfOut) for rule in rules) else []
    for rule in rules:
        if isinstance(rule, r.Join | r.JoinEdge):
            roles.extend(role for role, _, _ in rule.body.edges)
        for name in ("role", "first", "second", "sup", "property"):
            role = getattr(rule, name, None)
            if isinstance(role, str | Inverse):
                roles.append(role)
    while True:
        relations = Relations(sorted(set(roles), key=str), inclusions)
        stays = Universals(sure, relations).reflexive
        more = [
            r.SubRole(goes, chain.sup)
            for chain in chains
            for still, goes in ((chain.first, chain.second), (chain.second, chain.first))
            if relations.of(still)[0] in stays
        ]
        new = [rule for rule in more if rule not in inclusions]
        if not new:
            return relations
        inclusions += new


@dataclass(slots=True)
class Reading:
    """A program with its store."""

    program: Program
    store: Store


def assert_triples(program: Program, store: Store, triples: Sequence[Triple]) -> Closure:
    """Make a closure of the triples that is not run yet. Names outside T are ignored."""
    ids, size = store.ids, store.size
    own: list[Term] = []
    mine: dict[Term, int] = {}
    values: dict[Value, Term] = {}
    closure = Closure(program, store, own)
    for number, (s, p, o) in enumerate(triples):
        heads = edges = None
        if p == RDF_TYPE:
            heads = program.classes.get(o)
            if not heads:
                continue
        else:
            edges = program.data.get(p) if o[0] == '"' else program.roles.get(p)
            if not edges:
                continue
        x = ids.get(s)
        if x is None:
            x = mine.get(s)
            if x is None:
                x = mine[s] = size + len(own)
                own.append(s)
        if heads is not None:
            closure.add_types(x, heads, number)
            continue
        if p in program.by_value:
            o = store.canonical.get(value(o)) or values.setdefault(value(o), o)
        y = ids.get(o)
        if y is None:
            y = mine.get(o)
            if y is None:
                y = mine[o] = size + len(own)
                own.append(o)
        if p == SAME_AS:
            closure.equality = True
        closure.add_edges(edges, x, y, number)  # type: ignore[arg-type]  # without heads it has some
    return closure


def build_reading(
    rules: Iterable[Rule],
    relations: Relations,
    names: Names,
    looked_at: LookedAt,
    k: Graph,
    *,
    upper: bool = False,
    folder: Path | None = None,
) -> Reading:
    """The program of these rules, and K closed under it; a large K in a file below `folder`, for all."""
    rules = list(dict.fromkeys(rules))
    equality = k.facts.same_as or any(isinstance(rule, r.Edge) and rule.role == SAME_AS for rule in rules)
    program, rules, static = possible_program(
        rules, relations, names, looked_at, equality, upper=upper, folder=folder
    )
    if not len(k):
        store = static
    elif folder is None or len(k) < SHARED or program.by_value:
        store = closed(program, k, looked_at.axioms, upper=upper)
    else:
        store = _shared(program, rules, k, looked_at.axioms, folder, upper=upper)
    store.t_alone = static
    return Reading(program, store)


def possible_program(
    rules: list[Rule],
    relations: Relations,
    names: Names,
    looked_at: LookedAt,
    equality: bool,
    *,
    upper: bool = False,
    folder: Path | None = None,
) -> tuple[Program, list[Rule], Store]:
    """The program, its rules, T's own facts; what leads to a witness that cannot be is impossible.

    Raises `OverBudget` where there is too much that T perhaps says. `folder` as in `build_reading`.
    """
    while True:
        program = build_program(rules, relations, names, looked_at, equality)
        static = _facts_of_t(program, rules, looked_at.axioms, folder, upper=upper)
        impossible = _impossible(rules, program, static)
        fewer = [_without_impossible(rule, names, impossible) for rule in rules]
        if upper:  # there it may be possible all the same: both count
            fewer = list(dict.fromkeys([*rules, *fewer]))
        if fewer == rules:
            return program, rules, static
        rules = fewer


def _impossible(rules: list[Rule], program: Program, static: Store) -> set[int]:
    """The witnesses that cannot be, with those that promise such a one, and so on."""
    names = program.names
    promising: dict[int, list[int]] = {}
    """For each witness the concepts that promise it."""
    for rule in rules:
        if isinstance(rule, r.Witness):
            witness = names.witness(rule.role, rule.filler)
            promising.setdefault(witness, []).append(names.concept(rule.premise))
    of: dict[int, list[int]] = {}
    """For each concept that promises something the witnesses that are in it."""
    asked = {concept for concepts in promising.values() for concept in concepts}
    for witness in program.witnesses:
        for concept in asked & static.types[witness]:
            of.setdefault(concept, []).append(witness)
    waiting = [w for w in program.witnesses if BOTTOM in static.types[w]]
    found = set(waiting)
    while waiting:
        for concept in promising.get(waiting.pop(), ()):
            more = [w for w in of.get(concept, ()) if w not in found]
            found.update(more)
            waiting += more
    return found


def _facts_of_t(
    program: Program, rules: list[Rule], axioms: Axioms, folder: Path | None, *, upper: bool
) -> Store:
    """The closure of T alone; a large one is cached in a file, also that it was too large."""
    most = MOST_OF_T if upper else None
    if folder is None or len(program.witnesses) < MANY_WITNESSES or program.by_value:
        return closed(program, (), axioms, upper=upper, most=most)
    key = _key(program, rules, "", upper=upper)
    given_up = Folder(folder / "given-up")
    if given_up.read(key, int) == most and upper:
        raise OverBudget
    try:
        return _kept(program, (), axioms, folder / "t" / f"{key}.t", key, upper=upper, most=most)
    except OverBudget:
        given_up.write(key, most)
        raise


def _key(program: Program, rules: list[Rule], k: str, *, upper: bool) -> str:
    kept = (sorted(p for p, e in program.roles.items() if e), sorted(p for p, e in program.data.items() if e))
    return content_hash((k, sorted(map(repr, rules)), list(program.names.individuals), kept, upper))


def _kept(
    program: Program,
    k: Iterable[Triple],
    axioms: Axioms,
    path: Path,
    key: str,
    *,
    upper: bool,
    most: int | None = None,
) -> Store:
    """Closed facts out of a file; made and put there first, if it is missing."""
    datatypes = axioms.datatype_definitions
    found = open_store(path, program, key, datatypes)
    if found is None:
        store = closed(program, k, axioms, upper=upper, most=most)
        write_store(store, program, key, path)
        found = open_store(path, program, key, datatypes)
        if found is None:  # nowhere to write
            return store
    return found


def _shared(
    program: Program, rules: list[Rule], k: Graph, axioms: Axioms, folder: Path, *, upper: bool
) -> Store:
    """The closed K out of a file; made and put there first, if it is missing."""
    key = _key(program, rules, k.digest, upper=upper)
    return _kept(program, k.once(), axioms, folder / "k" / f"{key}.k", key, upper=upper)


def build_program(
    rules: Iterable[Rule], relations: Relations, names: Names, looked_at: LookedAt, equality: bool
) -> Program:
    """The tables for these rules."""
    known = looked_at.axioms
    # What only guards know may lead to anything.
    only_guards = looked_at.guard_roles - known.object_properties - known.data_properties
    folded = looked_at.folded
    program = ProgramBuilder(
        rules,
        relations,
        names,
        goals=(*looked_at.goals, *looked_at.guard_classes),
        kept_roles=looked_at.guard_roles,
        classes=(*sorted((known.classes | looked_at.guard_classes) - folded.keys()), THING, NOTHING),
        roles=sorted(known.object_properties | only_guards),
        data=sorted(known.data_properties | only_guards),
        equality=equality,
    ).build()
    said: dict[tuple[Term, ...], Heads] = {}
    for name, above in folded.items():
        heads = said.get(above)
        if heads is None:
            heads = said[above] = tuple(sorted({c for sup in above for c in program.classes.get(sup, ())}))
        program.classes[name] = heads
    return program


def _without_impossible(rule: Rule, names: Names, impossible: set[int]) -> Rule:
    """A witness that cannot be makes its premise impossible."""
    if isinstance(rule, r.Witness) and names.witness(rule.role, rule.filler) in impossible:
        return r.Sub((rule.premise,), NOTHING)
    return rule


class Contradiction(Exception):
    """T and K contradict each other, about these individuals."""

    def __init__(self, individuals: list[Term]) -> None:
        super().__init__(", ".join(individuals))
        self.individuals = individuals


def closed(
    program: Program, k: Iterable[Triple], axioms: Axioms, *, upper: bool = False, most: int | None = None
) -> Store:
    """T's own facts and K, closed. What the upper reading finds contradictory need not be so.

    Raises `OverBudget` if that takes more than `most` steps.
    """
    datatypes = axioms.datatype_definitions
    terms = list(program.names.individuals)
    empty = Store([], {}, len(program.stored), program.names.ranges, datatypes)
    closure = Closing(program, empty, terms, keep=True)
    closure.limit = most
    for c, x in program.members:
        closure.add_types(x, (c,), _GIVEN)
    for relation, x, y in program.edges:
        closure.add_edges(((relation, False),), x, y, _GIVEN)
    ids = dict(program.names.individuals)
    asserted: list[tuple[int, int, Triple]] = []
    canonical: dict[Value, Term] = {value(term): term for term in terms if term[0] == '"'}
    for triple in k:
        s, p, o = triple
        if p == RDF_TYPE:
            if heads := program.classes.get(o):
                x = _number(s, ids, terms)
                closure.add_types(x, heads, _GIVEN)
                asserted.append((x, -1, triple))
        elif edges := (program.data if o[0] == '"' else program.roles).get(p):
            if p in program.by_value:
                o = canonical.setdefault(value(o), o)
            x, y = _number(s, ids, terms), _number(o, ids, terms)
            closure.add_edges(edges, x, y, _GIVEN)
            asserted.append((x, y, triple))
    closure.run()
    contradictory = [terms[x] for _, x, _ in closure.clashes if x not in program.witnesses]
    if (contradictory or BOTTOM in program.universal) and not upper:
        raise Contradiction(contradictory)
    store = Store(terms, ids, len(program.stored), program.names.ranges, datatypes)
    shared: dict[frozenset[int], frozenset[int]] = {}
    of: list[frozenset[int]] = [frozenset()] * len(terms)
    for x, types in closure.types.items():
        known = frozenset(types)
        of[x] = shared.setdefault(known, known)
    store.types = of
    store.forwards = {key: tuple(found) for key, found in closure.forwards.items()}
    store.backwards = {key: tuple(found) for key, found in closure.backwards.items()}
    store.canonical = canonical
    store.remember(asserted)
    return store


def _number(term: Term, ids: dict[Term, int], terms: list[Term]) -> int:
    x = ids.get(term)
    if x is None:
        x = ids[term] = len(terms)
        terms.append(term)
    return x


_GIVEN = 0
MOST_OF_T = 2_000_000
"""The most steps to close the upper reading of T alone; beyond them there is no upper bound."""
MANY_WITNESSES = 500
"""The number of witnesses from which on the closure of T alone is cached in a file, too."""
SHARED = 50_000
"""Triples from which on a closed K lies in a file that processes share."""
