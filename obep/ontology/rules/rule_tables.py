"""From rules to the tables of a `Program`: hierarchies flattened, what holds of everything left out."""

from __future__ import annotations

from collections.abc import Iterable

from obep.model import Term
from obep.ontology.owl.axioms import DIFFERENT_FROM, NOTHING, SAME_AS, THING, DataRange
from obep.ontology.rules import rule_kinds as r
from obep.ontology.rules.program import (
    AND,
    APART,
    BODY,
    BODY_OF_EDGE,
    CHAIN_FIRST,
    CHAIN_SECOND,
    COUNT,
    EDGE_MERGE,
    FILL,
    HEAD_FIRST,
    HEAD_SECOND,
    IS,
    JOIN_FIRST,
    JOIN_SECOND,
    JOINS_FIRST,
    JOINS_SECOND,
    KEY,
    MERGE,
    ROLES_APART,
    SELF_IN,
    SELF_OUT,
    TEST,
    UP_FIRST,
    UP_SECOND,
    Edges,
    Heads,
    Joint,
    Names,
    Op,
    Program,
)
from obep.ontology.rules.role_relations import Directed, Relations
from obep.ontology.rules.rule_kinds import Role, Rule, Symbol
from obep.ontology.rules.universals import Universals
from obep.query.walk import components


class ProgramBuilder:
    """Brings the rules of one reading into tables."""

    def __init__(
        self,
        rules: Iterable[Rule],
        relations: Relations,
        names: Names,
        *,
        goals: Iterable[Symbol],
        kept_roles: Iterable[Term],
        classes: Iterable[Term],
        roles: Iterable[Term],
        data: Iterable[Term],
        equality: bool = False,
    ) -> None:
        rules = list(rules)
        self.relations, self.names = relations, names
        self.goals = set(goals)
        self.kept_roles, self.classes, self.roles, self.data = set(kept_roles), classes, roles, data
        self.equality = equality or any(isinstance(rule, r.Merge | r.Is | r.Key) for rule in rules)
        always = Universals(rules, relations)
        self.universal, self.rules = always.universal, always.simplified()
        self.reflexive = frozenset(always.reflexive)

    def build(self) -> Program:
        self._kept = self._keep()
        self._above = _closure(self.rules, self._kept)
        self._numbered: dict[frozenset[Symbol], Heads] = {}
        self._looked_at = self._look()
        concept_ops: dict[int, list[Op]] = {}
        edge_ops: dict[int, list[Op]] = {}
        flat: list[Op] = []
        self._concept_ops, self._edge_ops, self._flat = concept_ops, edge_ops, flat
        self._groups: list[frozenset[int]] = []
        self._bodies: list[Joint] = []
        self._stored: set[int] = set()
        self._witnesses: dict[int, None] = {}
        members: list[tuple[int, int]] = []
        edges: list[tuple[int, int, int]] = []
        for rule in self.rules:
            match rule:
                case r.Member(concept, individual):
                    members.extend((c, self.names.individual(individual)) for c in self.heads(concept))
                case r.Edge(role, subject, object):
                    pair = (self.names.individual(subject), self.names.individual(object))
                    edges.extend((n, *(pair[::-1] if back else pair)) for n, back in self.edges(role))
                case r.Witness(_, role, filler):
                    w = self._witness(role, filler)
                    members.extend((c, w) for c in self.heads(filler))
                    self._compile(rule)
                case _:
                    self._compile(rule)
        self._stored.update(
            self.relations.of(p)[0]
            for p in (*self.kept_roles, SAME_AS, DIFFERENT_FROM)
            if p in self.relations
        )
        members.extend(self._ranges())
        classes = {c: self.heads(c) for c in self.classes}  # before the tables: it may number concepts
        known = self.names.concepts.keys() | self.goals
        universal = frozenset([self.names.concept(s) for s in sorted(self.universal & known)])
        return Program(
            _dense(concept_ops, max(len(self.names.concepts), 1)),
            [_joined(ops) for ops in _dense(edge_ops, len(self.relations))],
            [n in self._stored for n in range(len(self.relations))],
            classes,
            {p: self.edges(p) for p in (*self.roles, SAME_AS, DIFFERENT_FROM)},
            {p: self.edges(p) for p in self.data},
            tuple(dict.fromkeys(members)),
            tuple(dict.fromkeys(edges)),
            frozenset(self._witnesses),
            tuple(self._groups),
            universal,
            self.equality,
            tuple(flat),
            self._by_value(),
            self.reflexive,
            tuple(self._bodies),
            self.relations,
            self.names,
        )

    def _by_value(self) -> frozenset[Term]:
        compared: set[int] = set()
        for rule in self.rules:
            if isinstance(rule, r.Key):
                compared.update(self.relations.of(role)[0] for role in rule.roles)
            elif isinstance(rule, r.RolesApart):
                compared.update(self.relations.of(role)[0] for role in (rule.first, rule.second))
        return frozenset(p for p in self.data if any(n in compared for n, _ in self.edges(p)))

    # --- flattening

    def _keep(self) -> set[Symbol]:
        """The concepts that are looked at: events, guards, constraints, and premises of rules."""
        kept = {NOTHING} | self.goals
        for rule in self.rules:
            match rule:
                case r.Sub(premises, _):
                    if len(premises) > 1:
                        kept.update(premises)
                case r.Exists(_, filler, _):
                    kept.add(filler)
                case r.SelfOut(premise) | r.Witness(premise) | r.DataWitness(premise) | r.Fill(premise):
                    kept.add(premise)
                case r.Is(premise):
                    kept.add(premise)
                case r.Merge(premise, _, filler):
                    kept.update((premise, filler))
                case r.Key(concept):
                    kept.add(concept)
                case r.Apart(concepts):
                    kept.update(concepts)
                case r.Join(body) | r.JoinEdge(body):
                    kept.update(concept for concept, _ in body.concepts)
        return kept - self.universal

    def heads(self, symbol: Symbol) -> Heads:
        """The kept concepts that hold where this one does."""
        found = self._above.get(symbol)
        if found is None:
            found = frozenset({symbol}) & self._kept
        if found not in self._numbered:
            numbers = self.names.concepts
            for symbol in sorted(s for s in found if s not in numbers):  # the same number in each process
                self.names.concept(symbol)
            self._numbered[found] = tuple(sorted(numbers[s] for s in found))
        return self._numbered[found]

    def _look(self) -> set[int]:
        """The relations that rules and guards look at."""
        roles: list[Role] = [SAME_AS, DIFFERENT_FROM, *(p for p in self.kept_roles if p in self.relations)]
        for rule in self.rules:
            match rule:
                case r.Exists(role) | r.Count(role) | r.SelfIn(role) | r.Merge(_, role):
                    roles.append(role)
                case r.Chain(first, second) | r.RolesApart(first, second):
                    roles.extend((first, second))
                case r.Key(_, keys):
                    roles.extend(keys)
                case r.Join(body) | r.JoinEdge(body):
                    roles.extend(role for role, _, _ in body.edges)
        return {self.relations.of(role)[0] for role in roles if role in self.relations}

    def edges(self, role: Role) -> Edges:
        """The relations that hold where this role does, of those that are looked at."""
        if role not in self.relations:
            return ()
        return tuple(edge for edge in self.relations.above(role) if edge[0] in self._looked_at)

    # --- rules into operations

    def _on_concept(self, symbol: Symbol, *op: object) -> None:
        self._concept_ops.setdefault(self.names.concept(symbol), []).append(op)

    def _on_edge(self, number: int, *op: object) -> None:
        self._edge_ops.setdefault(number, []).append(op)

    def _concept(self, symbol: Symbol) -> int:
        return -1 if symbol == THING else self.names.concept(symbol)

    def _compile(self, rule: Rule) -> None:
        match rule:
            case r.Sub((first, second), head):
                heads = self.heads(head)
                if heads:
                    self._on_concept(first, AND, self._concept(second), heads)
                    self._on_concept(second, AND, self._concept(first), heads)
                    self._flat.append((AND, self._concept(first), self._concept(second), heads))
            case r.Exists(role, filler, head):
                self._compile_exists(role, filler, self.heads(head))
            case r.Count(property, range, least, head):
                self._compile_count(property, range, least, self.heads(head))
            case r.SelfIn(role, head):
                number, _ = self.relations.of(role)
                heads = self.heads(head)
                if heads:
                    self._stored.add(number)
                    self._on_edge(number, SELF_IN, heads)
                    self._flat.append((SELF_IN, number, heads))
            case r.SelfOut(premise, role):
                edges = self.edges(role)
                self._on_concept(premise, SELF_OUT, edges)
                self._flat.append((SELF_OUT, self._concept(premise), edges))
            case r.Fill(premise, role, value):
                self._compile_fill(premise, self.edges(role), self.names.individual(value))
            case r.Witness(premise, role, filler):
                self._compile_fill(premise, self.edges(role), self._witness(role, filler))
            case r.Is(premise, individual):
                a = self.names.individual(individual)
                self._on_concept(premise, IS, a)
                self._flat.append((IS, self._concept(premise), a))
            case r.Chain(first, second, sup):
                self._compile_chain(self.relations.of(first), self.relations.of(second), self.edges(sup))
            case r.RolesApart(first, second):
                self._compile_roles_apart(first, second)
            case r.Apart(concepts):
                group = frozenset([self.names.concept(c) for c in concepts])
                for concept in concepts:
                    self._on_concept(concept, APART, len(self._groups))
                self._groups.append(group)
            case r.Merge(premise, role, filler, most):
                self._compile_merge(premise, self.relations.of(role), filler, most)
            case r.Key(concept, roles):
                self._compile_key(concept, roles)
            case r.Join(body, variable, head):
                self._compile_body(body, (variable, variable), self.heads(head), ())
            case r.JoinEdge(body, ends, sup):
                self._compile_body(body, ends, (), self.edges(sup))

    def _compile_exists(self, role: Role, filler: Symbol, heads: Heads) -> None:
        if not heads or role not in self.relations:
            return
        number, backwards = self.relations.of(role)
        self._flat.append((UP_FIRST, number, backwards, self._concept(filler), heads))
        if filler == THING:
            self._on_edge(number, HEAD_SECOND if backwards else HEAD_FIRST, heads)
            return
        c = self.names.concept(filler)
        self._on_edge(number, JOIN_SECOND if backwards else JOIN_FIRST, c, heads)
        self._on_concept(filler, UP_SECOND if backwards else UP_FIRST, number, heads)
        self._stored.add(number)

    def _compile_count(self, property: Term, range: DataRange, least: int, heads: Heads) -> None:
        if not heads or property not in self.relations:
            return
        number, _ = self.relations.of(property)
        test = self.names.test(range)
        self._flat.append((COUNT, number, test, least, heads))
        if least == 1:
            self._on_edge(number, TEST, test, heads)
        else:
            self._on_edge(number, COUNT, test, least, heads)
            self._stored.add(number)

    def _compile_fill(self, premise: Symbol, edges: Edges, individual: int) -> None:
        self._on_concept(premise, FILL, edges, individual)
        self._flat.append((FILL, self._concept(premise), edges, individual))

    def _witness(self, role: Role, filler: Symbol) -> int:
        w = self.names.witness(role, filler)
        self._witnesses[w] = None
        return w

    def _compile_body(self, body: r.Body, ends: tuple[int, int], heads: Heads, above: Edges) -> None:
        if not (heads or above):
            return
        place = len(self._bodies)
        edges: list[tuple[int, int, int]] = []
        for role, source, target in body.edges:
            number, backwards = self.relations.of(role)
            edge = (target, source) if backwards else (source, target)
            edges.append((number, *edge))
            self._on_edge(number, BODY, place, *edge)
            self._stored.add(number)
        for symbol, variable in body.concepts:
            self._on_concept(symbol, BODY, place, variable)
        concepts = tuple((self._concept(symbol), variable) for symbol, variable in body.concepts)
        self._bodies.append(Joint(concepts, tuple(edges), heads, above, ends))
        self._flat.append((BODY, place, heads) if heads else (BODY_OF_EDGE, place, above))

    def _ranges(self) -> Iterable[tuple[int, int]]:
        """Apply the range of a relation to its witnesses."""
        for rule in self.rules:
            if isinstance(rule, r.Witness):
                w = self._witness(rule.role, rule.filler)
                for number, backwards in self.edges(rule.role):
                    for op in self._edge_ops.get(number, ()):
                        if op[0] == (HEAD_FIRST if backwards else HEAD_SECOND):
                            yield from ((c, w) for c in op[1])

    def _compile_chain(self, first: Directed, second: Directed, edges: Edges) -> None:
        if not edges:
            return
        self._on_edge(first[0], CHAIN_FIRST, first[1], *second, edges)
        self._on_edge(second[0], CHAIN_SECOND, second[1], *first, edges)
        self._flat.append((CHAIN_FIRST, *first, *second, edges))
        self._stored.update((first[0], second[0]))

    def _compile_roles_apart(self, first: Role, second: Role) -> None:
        (one, back), (other, other_back) = self.relations.of(first), self.relations.of(second)
        self._on_edge(one, ROLES_APART, other, back != other_back)
        if (one, back) != (other, other_back):
            self._on_edge(other, ROLES_APART, one, back != other_back)
        self._stored.update((one, other))

    def _compile_merge(self, premise: Symbol, role: Directed, filler: Symbol, most: int) -> None:
        op = (self._concept(premise), *role, self._concept(filler), most)
        self._on_edge(role[0], EDGE_MERGE, *op)
        for symbol, of_filler in ((premise, False), (filler, True)):
            if symbol != THING:
                self._on_concept(symbol, MERGE, *op, of_filler)
        self._flat.append((MERGE, *op))
        self._stored.add(role[0])

    def _compile_key(self, concept: Symbol, roles: tuple[Role, ...]) -> None:
        directed = tuple(self.relations.of(role) for role in roles)
        if concept != THING:
            self._on_concept(concept, KEY, self._concept(concept), False, directed)
        for number, backwards in directed:
            self._on_edge(number, KEY, self._concept(concept), backwards, directed)
            self._stored.add(number)
        self._flat.append((KEY, self._concept(concept), directed))


def _closure(rules: list[Rule], kept: set[Symbol]) -> dict[Symbol, frozenset[Symbol]]:
    """For each concept the kept ones above it by rules with one premise, itself too.

    Those that nothing looks at are left out: a chain of n classes would cost n² of them.
    """
    direct: dict[Symbol, list[Symbol]] = {}
    for rule in rules:
        if isinstance(rule, r.Sub) and len(rule.premises) == 1:
            direct.setdefault(rule.premises[0], []).append(rule.head)
    above: dict[Symbol, frozenset[Symbol]] = {}
    for component in components(direct, lambda symbol: direct.get(symbol, ())):
        parts = {above[sup] for symbol in component for sup in direct.get(symbol, ()) if sup in above}
        own = kept.intersection(component)
        found = parts.pop() if len(parts) == 1 and not own else own.union(*parts)
        above.update(dict.fromkeys(component, frozenset(found)))
    return above


def _dense(ops: dict[int, list[Op]], size: int) -> list[tuple[Op, ...]]:
    return [tuple(dict.fromkeys(ops.get(n, ()))) for n in range(size)]


_SEARCHED = 4
"""More joins of one relation than these are looked up by what the other end is, not tried one by one."""


def _joined(ops: tuple[Op, ...]) -> tuple[Op, ...]:
    """The operations of a relation, where many joins are one."""
    for kind, together in ((JOIN_FIRST, JOINS_FIRST), (JOIN_SECOND, JOINS_SECOND)):
        joins = [op for op in ops if op[0] == kind]
        if len(joins) > _SEARCHED:
            heads: dict[int, tuple[int, ...]] = {}
            for _, concept, found in joins:
                heads[concept] = tuple(sorted({*heads.get(concept, ()), *found}))
            ops = (*(op for op in ops if op[0] != kind), (together, heads))
    return ops
