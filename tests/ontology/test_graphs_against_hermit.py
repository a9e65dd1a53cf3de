"""The graphs that guards read are closed under T (SPEC D7): they hold what follows by HermiT, and no more."""

from __future__ import annotations

import os
from itertools import count, product

import pytest
from comparing import individuals, query, usable
from owl import NS
from random_ontologies import KINDS, NAMES, World, world

from obep.abstraction.guard_graphs import ClosedGraph
from obep.abstraction.matcher import Matcher
from obep.model import RDF_TYPE, DeadLetter, Item, Triple
from obep.ontology.bundle.compile import compile_bundle
from obep.ontology.hermit.reasoner import Inconsistent, shared_reasoner
from obep.ontology.owl.axiom_set import Axioms
from obep.ontology.owl.literals import value
from obep.query.link import link
from obep.query.parse.parser import parse

EXAMPLES = int(os.environ.get("OBEP_EXAMPLES", "3"))
pytestmark = [pytest.mark.java, pytest.mark.slow]


def asked(world: World) -> str:
    """The world's events, and a guard that looks at everything."""
    first = world.events[0][0].removeprefix(f"<{NS}").removesuffix(">")
    return query(world) + f"EVENT Looks MATCH :{first} WITHIN 5 s IF {{ EVENT :{first} {{ ?s ?p ?o . }} }}\n"


def entailed(T: Axioms, triples: tuple[Triple, ...]) -> set[Triple]:
    """All facts about the individuals and literals that the triples name, by HermiT."""
    names = individuals(triples)
    literals = sorted({o for _, _, o in triples if o.startswith('"')})
    facts: list[Triple] = [(x, RDF_TYPE, c) for x, c in product(names, sorted(NAMES.classes))]
    facts += [(x, p, y) for p in sorted(NAMES.object_properties) for x, y in product(names, names)]
    facts += [(x, p, v) for p in sorted(NAMES.data_properties) for x, v in product(names, literals)]
    abox = [a for t in triples if (a := T.assertion(t))]
    answers = shared_reasoner().entails(T, abox, [T.assertion(fact) for fact in facts])  # type: ignore[misc]
    assert not isinstance(answers, Inconsistent)
    return {fact for fact, yes in zip(facts, answers, strict=True) if yes}


def said(graph: ClosedGraph, T: Axioms, triples: tuple[Triple, ...]) -> set[Triple]:
    """What a graph says about them, but for the events."""
    names, classes = {x for s, _, o in triples for x in (s, o)}, NAMES.classes
    facts = {fact for fact in graph.match(None, None, None) if fact[0] in names and T.assertion(fact)}
    return {(s, p, o) for s, p, o in facts if (o in classes if p == RDF_TYPE else o in names)}


def by_value(facts: set[Triple]) -> set[tuple[object, ...]]:
    """A graph has each value as it was written, for HermiT 3 and 3.0 are one."""
    return {(s, p, value(o) if o.startswith('"') else o) for s, p, o in facts}


@pytest.mark.parametrize("kind", KINDS)
def test_graphs_are_closed_under_t(kind: str) -> None:
    compared = more = 0  # comparisons, and those in which something follows that nobody said
    for seed in count(1000):
        if compared >= 4 * EXAMPLES and more:
            break
        one = world(kind, seed, items=2)
        if not usable(one):
            continue
        compiled = compile_bundle(link(parse(asked(one))), one.t(), one.k)
        matcher = Matcher(compiled)
        T = one.full()
        for item in one.items:
            if isinstance(matcher.match(Item("s", 0, item)), DeadLetter):
                continue
            for with_k in (False, True):
                triples = tuple(dict.fromkeys((*item, *one.k) if with_k else item))
                graph = ClosedGraph(compiled, item, with_k=with_k, facts=matcher.facts)
                found, wanted = said(graph, T, triples), entailed(T, triples)
                found, wanted = by_value(found), by_value(wanted)
                assert found == wanted, (kind, seed, with_k, item, found - wanted, wanted - found)
                compared += 1
                more += len(wanted) > len(triples)
