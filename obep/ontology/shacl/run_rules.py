"""Rules carried out on a graph until nothing new follows.

One shape after the other by sh:order, each until its rules give nothing new, and all again until none does:
what pyshacl does with `iterate_rules`, repeated. What a rule has added is never taken back, so a rule with
a negation sees the graph as it is when its turn comes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import groupby

from obep.errors import ObepError, fail, sentence
from obep.model import Term, Triple
from obep.ontology.shacl.node_expressions import nodes_of
from obep.ontology.shacl.read_rules import Rule, SparqlRule, TripleRule
from obep.ontology.shacl.shacl_terms import UnreadableShape
from obep.ontology.shacl.sparql_graph import SparqlGraph
from obep.ontology.shacl.triple_index import TripleIndex

MOST_INFERRED = 5_000_000
"""Triples that the rules of a model may add."""
MOST_MADE = 100
"""Times that a rule may add names or values that the graph did not have."""


class RuleRun:
    """The rules of a model on a graph that grows."""

    def __init__(
        self,
        rules: Iterable[TripleRule | SparqlRule],
        graph: TripleIndex,
        file_of: Callable[[Term], str] = lambda shape: "",
    ) -> None:
        """`file_of` names the file of a shape, for messages."""
        self._shapes = [list(group) for _, group in groupby(rules, key=lambda rule: rule.shape)]
        self.graph = graph
        self._file_of = file_of
        self.sparql = SparqlGraph(graph)
        self._reads = {id(rule): rule.reads() for shape in self._shapes for rule in shape}
        self._seen: dict[int, int] = {}
        """For each rule the count of changes of the graph when it last ran."""
        self._made: dict[int, int] = {}
        self._inferred = 0
        self.by: dict[Triple, Rule] = {}
        """The added triples, with the rule of each."""

    def add(self, triples: Iterable[Triple]) -> list[Triple]:
        """Adds triples from elsewhere; those that are new."""
        new = self.graph.update(triples)
        self.sparql.add(new)
        return new

    def run(self) -> list[Triple]:
        """Run the rules and return all added triples."""
        found: list[Triple] = []
        while True:
            before = len(found)
            for rules in self._shapes:
                found += self._settle(rules)
            if len(found) == before:
                return found

    def _settle(self, rules: list[TripleRule | SparqlRule]) -> list[Triple]:
        found: list[Triple] = []
        while True:
            new = [triple for rule in rules if self._is_due(rule) for triple in self._apply(rule)]
            if not new:
                return found
            found += new

    def _is_due(self, rule: Rule) -> bool:
        """Whether something that a rule reads has changed since it ran."""
        last = self._seen.get(id(rule))
        if last is None:
            return True
        reads = self._reads[id(rule)]
        if reads is None:
            return last < self.graph.changes
        return any(self.graph.changed.get(p, 0) > last for p in reads)

    def _apply(self, rule: TripleRule | SparqlRule) -> list[Triple]:
        self._seen[id(rule)] = self.graph.changes
        try:
            nodes = rule.targets.focus_nodes(self.graph, self.sparql)
            for condition in rule.conditions:
                nodes = [node for node in nodes if condition.conforms(self.graph, node)]
            if isinstance(rule, TripleRule):
                return self._triples_of(rule, nodes)
            return self._constructed(rule, nodes)
        except UnreadableShape as error:
            raise _failed(rule, str(error), self._file_of(rule.shape)) from None

    def _triples_of(self, rule: TripleRule, nodes: list[Term]) -> list[Triple]:
        found: list[Triple] = []
        while True:
            new = self._take(
                rule,
                [
                    (s, p, o)
                    for node in nodes
                    for s in nodes_of(rule.subject, self.graph, node)
                    for p in nodes_of(rule.predicate, self.graph, node)
                    for o in nodes_of(rule.object, self.graph, node)
                    if not self.graph.has(s, p, o) and not s.startswith('"') and p.startswith("<")
                ],
            )
            found += new
            if not new or not self._reads_what(rule, new):
                return found

    def _reads_what(self, rule: TripleRule, new: list[Triple]) -> bool:
        reads = self._reads[id(rule)]
        return reads is None or any(p in reads for _, p, _ in new)

    def _constructed(self, rule: SparqlRule, nodes: list[Term]) -> list[Triple]:
        given = [t for query in rule.queries for t in self.sparql.constructed(query, nodes, rule.node)]
        new = [triple for triple in given if not self.graph.has(*triple)]
        if any(not self.graph.mentions(term) for s, _, o in new for term in (s, o)):
            self._made[id(rule)] = self._made.get(id(rule), 0) + 1
            if self._made[id(rule)] > MOST_MADE:
                raise _endless(rule, self._file_of(rule.shape))
        return self._take(rule, new)

    def _take(self, rule: Rule, triples: Iterable[Triple]) -> list[Triple]:
        new = self.add(triples)
        self.by.update(dict.fromkeys(new, rule))
        self._inferred += len(new)
        if self._inferred > MOST_INFERRED:
            raise _too_many(rule, self._file_of(rule.shape))
        return new


def _failed(rule: Rule, reason: str, file: str) -> ObepError:
    """A rule whose SPARQL cannot be carried out."""
    return fail(
        "OBEP801",
        f"{rule.label} of the shape {rule.shape} cannot be carried out",
        reason=sentence(reason),
        remedy="correct the rule, or set sh:deactivated true",
        file=file,
    )


def _endless(rule: Rule, file: str) -> ObepError:
    return fail(
        "OBEP802",
        f"{rule.label} of the shape {rule.shape} does not end",
        reason=f"It has made new names or values {MOST_MADE} times, each from those of the time before.",
        remedy="exclude its own results in its WHERE, or set sh:deactivated true",
        file=file,
    )


def _too_many(rule: Rule, file: str) -> ObepError:
    return fail(
        "OBEP802",
        f"the SHACL rules add more than {MOST_INFERRED:,} triples; the last was {rule.label} of {rule.shape}",
        reason="So many triples are not kept in memory.",
        remedy="give its shape a narrower target, or set sh:deactivated true",
        file=file,
    )
