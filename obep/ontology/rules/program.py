"""Rules as tables of small numbers, indexed by what sets them off: what `saturate` runs.

In: rules of one reading of T (lower or upper). Out: a `Program`. Hierarchies are flattened, so that an
assertion leads at once to every class and relation above it that some rule, event or guard looks at.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from obep.model import Term
from obep.ontology.owl.axioms import NOTHING, SAME_AS, DataRange
from obep.ontology.rules import rule_kinds as r
from obep.ontology.rules.role_relations import Directed, Relations
from obep.ontology.rules.rule_kinds import Role, Rule, Symbol

BOTTOM = 0
"""The concept of what cannot be."""

Heads = tuple[int, ...]
Edges = tuple[Directed, ...]
_Part = int | bool | tuple[int | Directed, ...] | dict[int, Heads]
if TYPE_CHECKING:
    Op = tuple[Any, ...]
else:
    Op = tuple[_Part, ...]
"""What a rule does: its kind, then parts that depend on the kind. msgspec reads them as `_Part`."""

# What a concept sets off.
AND, UP_FIRST, UP_SECOND, FILL, SELF_OUT, IS, APART, MERGE, KEY, BODY = range(10)
# What an edge sets off; MERGE, KEY and BODY too.
HEAD_FIRST, HEAD_SECOND, JOIN_FIRST, JOIN_SECOND, TEST, COUNT = range(10, 16)
CHAIN_FIRST, CHAIN_SECOND, SELF_IN, ROLES_APART, EDGE_MERGE = range(16, 21)
# Many JOIN_FIRST or JOIN_SECOND of one relation, as a table by concept.
JOINS_FIRST, JOINS_SECOND = range(21, 23)
# The body of a rule whose head is an edge; only for reading it backwards.
BODY_OF_EDGE = 23


def is_transitive(first: Directed, second: Directed, edges: Edges) -> bool:
    """Whether a chain says that a relation is transitive (and perhaps what lies above it)."""
    return first == second and first in edges


def witness_name(role: Role, filler: Symbol) -> Term:
    """The name, which no text can write, of the witness of an existential."""
    return f"~({role},{filler})"


class Joint(msgspec.Struct, frozen=True, array_like=True):
    """The body of a DL-safe rule and what follows from it; variables are numbers."""

    concepts: tuple[tuple[int, int], ...]
    """Concept, variable."""
    edges: tuple[tuple[int, int, int], ...]
    """Relation, and the variables that it leads from and to."""
    heads: Heads
    """The concepts of the first of the ends."""
    above: Edges
    """The edges from the first to the second of the ends."""
    ends: tuple[int, int]


class Names:
    """Numbers for concepts, data ranges and T's individuals, shared by all programs of a bundle.

    So a program of other rules can look at the same store.
    """

    def __init__(self, goals: Iterable[Symbol]) -> None:
        """Goals get the first numbers, after that of what cannot be."""
        self.concepts: dict[Symbol, int] = {NOTHING: BOTTOM}
        for goal in goals:
            self.concept(goal)
        self.last_goal = len(self.concepts) - 1
        self.individuals: dict[Term, int] = {}
        self.ranges: list[DataRange] = []
        """The data ranges that values are tested with, by their numbers."""
        self._tests: dict[DataRange, int] = {}

    def test(self, range: DataRange) -> int:
        """The number of a data range."""
        found = self._tests.get(range)
        if found is None:
            found = self._tests[range] = len(self.ranges)
            self.ranges.append(range)
        return found

    def concept(self, symbol: Symbol) -> int:
        return self.concepts.setdefault(symbol, len(self.concepts))

    def individual(self, term: Term) -> int:
        return self.individuals.setdefault(term, len(self.individuals))

    def witness(self, role: Role, filler: Symbol) -> int:
        """Whoever stands for all that an existential promises."""
        return self.individual(witness_name(role, filler))

    def intern(self, rules: Iterable[Rule]) -> None:
        """Numbers for all individuals that some rule names; those of K come after them."""
        for rule in rules:
            match rule:
                case r.Member(_, individual) | r.Is(_, individual) | r.Fill(_, _, individual):
                    self.individual(individual)
                case r.Edge(_, subject, object):
                    self.individual(subject)
                    self.individual(object)
                case r.Witness(_, role, filler):
                    self.witness(role, filler)


class Tables(msgspec.Struct, array_like=True):
    """What the rules do. `flat` holds the flattened rules once more, for reading them backwards."""

    concept_ops: list[tuple[Op, ...]]
    edge_ops: list[tuple[Op, ...]]
    stored: list[bool]
    """Whether the edges of a relation are ever looked up."""
    classes: dict[Term, Heads]
    """The consequences of a class assertion, for every class of T."""
    roles: dict[Term, Edges]
    """The consequences of an assertion of an object property."""
    data: dict[Term, Edges]
    members: tuple[tuple[int, int], ...]
    """T's own facts: concept, individual."""
    edges: tuple[tuple[int, int, int], ...]
    witnesses: frozenset[int]
    groups: tuple[frozenset[int], ...]
    universal: frozenset[int]
    equality: bool
    flat: tuple[Op, ...]
    by_value: frozenset[Term]
    """Data properties whose literals count by their values: those of keys and of disjointness."""
    reflexive: frozenset[int]
    """Relations that everything has to itself; it is not written down."""
    bodies: tuple[Joint, ...]

    def inert(self, said: dict[Term, Edges]) -> frozenset[Term]:
        """Those of some properties (`roles` or `data`) whose assertions set off no rule.

        Where a class has everything in it, or terms may be one, each name in an item may set something off.
        """
        if self.universal or self.equality:
            return frozenset()
        of_edge = self.edge_ops
        return frozenset(
            name for name, edges in said.items() if not any(of_edge[relation] for relation, _ in edges)
        ) - {SAME_AS}

    def alike(self) -> dict[Term, int]:
        """For each class a number, the same for all of whose assertions the same follows."""
        known: dict[Heads, int] = {}
        return {name: known.setdefault(heads, len(known)) for name, heads in self.classes.items() if heads}


class Program(Tables):
    """The tables, with the relations and names that their numbers stand for."""

    relations: Relations
    names: Names
