"""LATEST windows (STATES D42): items that would contradict T are refused; an item costs what it changes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import obep
from obep.engine.engine import Engine
from obep.engine.states.group_state import GroupState
from obep.model import Alert, DeadLetter, Item, Triple

EX = "http://example.org/obep#"
T = f"""
@prefix : <{EX}> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
:On a owl:Class ; owl:disjointWith :Off . :Off a owl:Class .
"""
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"


def name(local: str) -> str:
    return f"<{EX}{local}>"


def engine_of(folder: Path, window: str, letters: list[DeadLetter]) -> Engine:
    (folder / "t.ttl").write_text(T)
    text = f"""
VOCAB <t.ttl>
FROM NAMED WINDOW <now> ON <s> [{window}]
STATE Running(?f) ON <now> AS {{ ?f a :On }}
STATE Fast(?f) AS {{ WINDOW <now> {{ ?f a :On ; :speed ?v }} FILTER(?v > 1) }}
RETURN Running, Fast AS ALERTS
"""
    return obep.load(text=text, folder=folder, java=False).engine(on_dead_letter=letters.append)


def said(at: int, *triples: Triple) -> Item:
    return Item("s", at * 1_000_000, triples)


@pytest.mark.parametrize("window", ["LATEST", "LATEST 1 h", "LATEST STEP 1 s"])
def test_an_item_that_contradicts_what_a_latest_window_holds_is_refused_by_it_alone(
    tmp_path: Path, window: str
) -> None:
    letters: list[DeadLetter] = []
    engine = engine_of(tmp_path, window, letters)
    fan, other = name("fan"), name("other")
    engine.push_items(
        [
            said(
                1,
                (fan, TYPE, name("On")),
                (fan, name("speed"), '"2"^^<http://www.w3.org/2001/XMLSchema#integer>'),
            )
        ]
    )
    same = "<http://www.w3.org/2002/07/owl#sameAs>"
    engine.push_items([said(2, (other, TYPE, name("Off"))), said(3, (fan, same, other))])
    engine.advance(4)
    assert [letter.code for letter in letters] == ["OBEP621"]
    assert "window <now>" in letters[0].reason
    assert [one.parameters for one in engine.states("Fast")] == [{"f": fan}]
    engine.push_items(
        [said(5, (fan, TYPE, name("Off")))]
    )  # an update replaces what was known: no contradiction
    engine.advance(6)
    assert len(letters) == 1
    assert engine.states("Running") == []


def test_items_of_one_instant_enter_in_the_order_of_their_triples(tmp_path: Path) -> None:
    fan = name("fan")
    for items in ([said(1, (fan, TYPE, name("On"))), said(1, (fan, TYPE, name("Off")))],) * 2:
        for order in (items, items[::-1]):
            letters: list[DeadLetter] = []
            engine = engine_of(tmp_path, "LATEST", letters)
            engine.push_items(order)
            engine.advance(2)
            assert [letter.code for letter in letters] == ["OBEP621"]
            assert engine.states("Running") == []  # Off comes before On, which is refused


def test_a_refused_item_leaves_the_window_as_it_was_after_a_snapshot_too(tmp_path: Path) -> None:
    letters: list[DeadLetter] = []
    engine = engine_of(tmp_path, "LATEST", letters)
    fan = name("fan")
    both = said(2, (fan, TYPE, name("Off")), (fan, TYPE, name("On")), (fan, name("speed"), '"5"'))
    engine.push_items([said(1, (fan, TYPE, name("On")))])
    engine.advance(2)
    again = engine_of(tmp_path, "LATEST", letters)
    again.restore(engine.snapshot())
    again.push_items([both])  # a dead letter of its own: it contradicts T by itself
    again.advance(3)
    assert [one.parameters for one in again.states("Running")] == [{"f": fan}]


def calls(engine: Engine, items: list[Item]) -> int:
    """How many calls the engine makes for items."""
    number = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal number
        number += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        engine.push_items(items)
    finally:
        sys.setprofile(None)
    return number


THREE = """
FROM NAMED WINDOW <now> ON <s> [LATEST 1 h]
STATE TooHot(?z) AS { WINDOW <now> { ?z :t ?t ; :s ?s ; :o ?o } FILTER(?t > ?s + 2 && ?o > 0) }
RETURN TooHot AS ALERTS
"""


def test_the_cost_of_an_item_does_not_depend_on_the_number_of_keys() -> None:
    query = obep.load(text=THREE, java=False)
    costs = []
    for keys in (20, 2000):
        engine = query.engine(remember=0)
        values = {"t": 24, "s": 21, "o": 1}
        at = 0
        for key in range(keys):
            triples = [(name(f"z{key}"), name(one), _number(value)) for one, value in values.items()]
            engine.push_items([Item("s", at := at + 1, tuple(triples))])
        later = [
            Item("s", at + n, ((name(f"z{n % 10}"), name("t"), _number(22 + n % 3)),)) for n in range(1, 200)
        ]
        costs.append(calls(engine, later))
    assert abs(costs[0] - costs[1]) <= costs[0] / 100


def test_a_state_is_decided_only_when_a_row_of_its_group_has_come_or_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine = obep.load(text=THREE, java=False).engine(remember=0)
    engine.push_items([said(n, (name("z"), name(p), _number(21))) for n, p in enumerate("tso", 1)])
    decided: list[int] = []
    decide = GroupState.decide
    monkeypatch.setattr(GroupState, "decide", lambda run, at: (decided.append(at), decide(run, at))[1])
    degrees = (21, 22, 20, 24, 25, 26, 25, 22, 21)  # above 23 it is too hot, and each value is a row
    found = engine.push_items(
        [said(10 + n, (name("z"), name("t"), _number(value))) for n, value in enumerate(degrees)]
    )
    found += engine.advance(20)
    assert [(one.status, one.end // 1_000_000) for one in found if isinstance(one, Alert)] == [
        ("firing", 13),
        ("resolved", 17),
    ]
    assert [at // 1_000_000 for at in decided] == [13, 14, 15, 16, 17]


def _number(value: int) -> str:
    return f'"{value}"^^<http://www.w3.org/2001/XMLSchema#integer>'


def test_a_group_with_too_many_rows_is_refused_and_answers_again_when_there_are_few(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from obep.algebra import evaluation

    monkeypatch.setattr(evaluation, "MOST_SOLUTIONS", 20)
    text = """
FROM NAMED WINDOW <now> ON <s> [RANGE 5 s]
STATE Pair(?x) AS { WINDOW <now> { ?x :p ?v . ?y :p ?w } }
RETURN Pair AS ALERTS
"""
    letters: list[DeadLetter] = []
    engine = obep.load(text=text, java=False).engine(on_dead_letter=letters.append)
    for second in range(1, 40):
        engine.push_items([said(second, *((name(f"x{n}"), name("p"), _number(second)) for n in range(8)))])
    assert {letter.code for letter in letters} == {"OBEP645"}
    engine.push_items([said(100, (name("x"), name("p"), _number(1)))])
    engine.advance(101)
    assert [one.parameters for one in engine.states("Pair")] == [{"x": name("x")}]


def test_blank_nodes_in_a_circle_to_which_nothing_else_leads_are_in_the_window(tmp_path: Path) -> None:
    engine = engine_of(tmp_path, "LATEST 5 s", [])
    circle: tuple[Triple, ...] = (("_:a", name("next"), "_:b"), ("_:b", name("next"), "_:a"))
    fast: Triple = ("_:b", name("speed"), '"2"^^<http://www.w3.org/2001/XMLSchema#integer>')
    item = said(1, *circle, fast, ("_:b", TYPE, name("On")))
    found = [*engine.push_items([item]), *engine.advance(20)]
    alerts = sorted((one.end, one.event, one.status) for one in found if isinstance(one, Alert))
    assert alerts == [
        (at * 1_000_000, name(state), status)
        for at, status in ((1, "firing"), (6, "resolved"))
        for state in ("Fast", "Running")
    ]
