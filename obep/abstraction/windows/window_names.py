"""The names that groups over windows see, and those whose triples entail nothing else."""

from __future__ import annotations

from obep.model import Term
from obep.ontology.bundle.compile import Bundle
from obep.ontology.owl.axioms import SAME_AS
from obep.ontology.rules import program as p
from obep.ontology.rules.role_relations import SAME


class WindowNames:
    """The classes and properties that groups see, and the numbers that they have in the rules."""

    def __init__(self, bundle: Bundle) -> None:
        program = bundle.lower_asserted
        self.classes = bundle.classes_asked_for
        self.relations = program.relations
        self.of_concept: dict[int, list[Term]] = {}
        for name, c in self.classes.items():
            self.of_concept.setdefault(c, []).append(name)
        self.of_relation: dict[int, list[tuple[Term, bool]]] = {}
        for name in sorted(bundle.definitions.guard_roles):
            if name in self.relations:
                relation, backwards = self.relations.of(name)
                self.of_relation.setdefault(relation, []).append((name, backwards))
        self.apart = _apart(program, self.of_relation)


Apart = tuple[dict[Term, bool], dict[Term, bool]]


def _apart(program: p.Program, seen: dict[int, list[tuple[Term, bool]]]) -> Apart:
    """Properties (with individuals, and with literals) of whose triples nothing but themselves follows, and
    that follow from nothing else: whether groups see them."""
    found: Apart = ({}, {})
    if program.equality:
        return found
    led_to = {number for op in program.flat if op[0] in (p.FILL, p.SELF_OUT) for number, _ in op[2]}
    led_to |= {number for op in program.flat if op[0] == p.CHAIN_FIRST for number, _ in op[5]}
    said_by: dict[int, set[Term]] = {}
    for table in (program.roles, program.data):
        for name, edges in table.items():
            for number, _ in edges:
                said_by.setdefault(number, set()).add(name)
    for known, table in zip(found, (program.roles, program.data), strict=True):
        for name, edges in table.items():
            numbers = {number for number, _ in edges}
            if name == SAME_AS:
                continue
            if not edges:
                known[name] = False
            elif (
                len(edges) == 1
                and not edges[0][1]
                and said_by[edges[0][0]] == {name}
                and numbers.isdisjoint(led_to)
                and edges[0][0] != SAME
                and not program.edge_ops[edges[0][0]]
                and seen.get(edges[0][0], [(name, False)]) == [(name, False)]
            ):
                known[name] = edges[0][0] in seen
    return found
