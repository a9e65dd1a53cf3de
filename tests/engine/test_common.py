"""Sub-patterns that events have in common run once, and nobody can tell."""

from __future__ import annotations

from dataclasses import replace

import pytest
from oracle.pattern_engine import engine_answers
from oracle.pattern_runs import refusals, shown
from test_engine_laws import cases, runtime_of

from obep.engine.shared_pattern import Common
from obep.query import ast


def shared(text_of_events: str) -> int:
    from obep.engine.runtime import Runtime
    from obep.guards.block_queries import asks
    from obep.plan.build_plan import plan
    from obep.query.link import link
    from obep.query.parse.parser import parse

    logical = "PREFIX : <http://e/#>\n" + "".join(f"EVENT {name} AS Class{name}\n" for name in "ABCD")
    linked = link(parse(logical + text_of_events))
    return sum(isinstance(run, Common) for run in Runtime(plan(linked, asks(linked)))._runs)


def test_equal_sub_patterns_are_shared_whatever_their_aliases():
    assert shared("EVENT F MATCH (A SEQ B) SEQ C\nEVENT G MATCH (A AS x SEQ B AS y) SEQ D") == 1
    assert shared("EVENT F MATCH (A SEQ B) SEQ C\nEVENT G MATCH (B SEQ A) SEQ D") == 0
    assert shared("EVENT F MATCH (A SEQ B) SEQ C\nEVENT G MATCH (A SEQ B WITHIN 5 s) SEQ D") == 0
    assert shared("EVENT F MATCH (A SEQ B) TIMES 3") == 1


def test_what_is_partitioned_or_consumed_is_not_shared():
    assert shared("EVENT F MATCH A(?x) SEQ B(?x)\nEVENT G MATCH A(?x) SEQ B(?x) PARTITION BY ?x") == 0
    assert shared("EVENT F MATCH A SEQ B\nEVENT G MATCH A SEQ B POLICY recent") == 0


@pytest.mark.slow
def test_two_events_of_one_pattern_have_the_same_occurrences():
    fed = 0
    for case in cases():
        last = case.events[-1]
        name = ast.Name("Twin", "<http://example.org/Twin>")
        double = replace(case, events=(*case.events, replace(last, name=name)))
        if refusals(double):
            continue
        fed += any(isinstance(run, Common) for run in runtime_of(double)[0]._runs)
        found = engine_answers(double)
        mine, twins = (
            sorted(
                (o.explanation, o.start, o.end, o.detected, o.since, str(o.bindings))
                for o in found
                if o.event == iri
            )
            for iri in (last.name.iri, name.iri)
        )
        assert mine == twins, shown(double)
        alone = [o.id for o in engine_answers(case) if o.event == last.name.iri]
        assert sorted(alone) == sorted(o.id for o in found if o.event == last.name.iri), shown(double)
    assert fed >= 20
