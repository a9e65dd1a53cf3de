"""What many goals rest on, found in one pass, is what each of them rests on by itself."""

from __future__ import annotations

from random import Random

import pytest
from comparing import query
from random_ontologies import KINDS, world

from obep.ontology.bundle.compile import Bundle, compile_bundle
from obep.ontology.owl.axiom_set import Axioms
from obep.ontology.rules.relevance import relevant, weighed
from obep.query.link import link
from obep.query.parse.parser import parse


@pytest.mark.parametrize("kind", KINDS)
def test_many_goals_at_once_rest_on_what_each_rests_on(kind: str) -> None:
    made = world(kind, 3)
    bundle = Bundle(link(parse(query(made))), made.t(), made.k, java=False)
    rules = [*bundle.normal.rules, *bundle.normal.asserted]
    bit = {rule: 1 << number for number, rule in enumerate(rules)}
    goals = list(bundle.definitions.goals)
    assert len(goals) > 1

    together = weighed(rules, goals, bundle.relations, bit.__getitem__)

    for goal in goals:
        alone, _ = relevant(rules, (goal,), bundle.relations)
        assert {rule for rule in rules if bit[rule] & together[goal]} == alone


def test_events_that_compare_one_property_have_few_rules_each() -> None:
    """An event that is asserted says that its value passes the tests of all that are wider."""
    most = {}
    for count in (50, 200):
        bounds = [Random(count).randrange(1000) for _ in range(count)]
        text = "".join(f"EVENT E{n} AS (:d some number[> {bound}])\n" for n, bound in enumerate(bounds))
        linked = link(parse(f"PREFIX : <urn:>\n{text}RETURN ALL"))
        bundle = compile_bundle(linked, Axioms(), java=False)
        assert bundle.exact
        most[count] = len(bundle.asserted.lower) / count
    assert most[200] < 1.2 * most[50]
