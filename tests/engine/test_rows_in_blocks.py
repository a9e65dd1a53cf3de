"""Items that come many at once, where a state by rows is all that reads them: as if they came one by one."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

import obep
from obep.engine.runtime import Runtime
from obep.engine.states import over_state
from obep.engine.states.rows_in_turn import rows_in_turn
from obep.model import RDF_TYPE, SECOND, Alert, Item

HEAD = """PREFIX : <http://e/>
EVENT Reading AS Read
EVENT Other AS Bell
"""
QUERIES = {
    "begin and end": """STATE S(?r) OVER Reading(?r) AS x WITHIN 4 s IF { EVENT x { ?r :value ?v } }
AGGREGATE (AVG(?v) AS ?m) (COUNT(*) AS ?n) (MAX(?v) AS ?most) HAVING (?m > 1 && ?n >= 2 && ?most < 4)
EVENT B(?r) MATCH BEGIN S(?r)
EVENT E(?r) MATCH END S(?r)
RETURN B, E
""",
    "alerts after a while": """STATE S(?r) OVER Reading(?r) AS x WITHIN 5 s IF { EVENT x { ?r :value ?v } }
AGGREGATE (MIN(?v) AS ?m) HAVING (?m >= 1)
RETURN S FOR 2 s AS ALERTS
""",
    "what holds at the end": """STATE S(?r) OVER Reading(?r) AS x WITHIN 9 s IF { EVENT x { ?r :value ?v } }
AGGREGATE (AVG(?v) AS ?m) (MIN(?v) AS ?least) (COUNT(*) AS ?n) HAVING (?least >= 0)
EVENT E(?r) MATCH END S(?r) AS e IF { FILTER(?n > 1) }
EVENT D(?r) MATCH S(?r)
RETURN D, E
""",
    "full and groups": """STATE S(?r) OVER Reading(?r) AS x WITHIN 3 s IF { EVENT x { ?r :value ?v } }
GROUP BY ?r, ?v
AGGREGATE (COUNT(*) AS ?n) HAVING (?n >= 2 || FULL())
RETURN S AS ALERTS
""",
    "with another deadline": """STATE S(?r) OVER Reading(?r) AS x WITHIN 4 s IF { EVENT x { ?r :value ?v } }
AGGREGATE (SUM(?v) AS ?s) (TIMEAVG(?v) AS ?a) HAVING (?s > 2)
EVENT B(?r) MATCH BEGIN S(?r) NOT FOLLOWED BY END S(?r) WITHIN 2 s
EVENT N(?r) MATCH Other(?r) NOT FOLLOWED BY Other(?r) WITHIN 3 s
RETURN B, N
""",
    "one deviation": """STATE S(?r) OVER Reading(?r) AS x WITHIN 4 s IF { EVENT x { ?r :value ?v } }
AGGREGATE (STDDEV(?v) AS ?d) HAVING (?d >= 0)
RETURN S AS ALERTS
""",
    "a state of a state": """STATE S(?r) OVER Reading(?r) AS x WITHIN 4 s IF { EVENT x { ?r :value ?v } }
AGGREGATE (AVG(?v) AS ?m) HAVING (?m > 1)
STATE T(?r) AS { S(?r) FILTER(?m < 3) }
RETURN T AS ALERTS
""",
    "bounds from above": """STATE S(?r) OVER Reading(?r) AS x WITHIN 4 s IF { EVENT x { ?r :value ?v } }
AGGREGATE (MAX(?v) AS ?most) (COUNT(*) AS ?n) HAVING (?n <= 2 && ?most <= 2)
RETURN S AS ALERTS
""",
    "no parameters": """STATE S OVER Reading(?r) AS x WITHIN 3 s IF { EVENT x { ?r :value ?v } }
AGGREGATE (COUNT(*) AS ?n) HAVING (?n = 0)
RETURN S AS ALERTS
""",
}
FOR_EACH = """EVENT Silent AS Silence
STATE Rings(?r) FROM Other(?r) TO Silent(?r)
STATE S(?r) OVER Reading(?r) AS x WITHIN 10 s FOR EACH Rings(?r) IF { EVENT x { ?r :value ?v } }
AGGREGATE (AVG(?v) AS ?m) HAVING (?m > 1)
RETURN S AS ALERTS
"""
STEPPED = """STATE S(?r) OVER Reading(?r) AS x WITHIN 6 s STEP 4 s IF { EVENT x { ?r :value ?v } }
AGGREGATE (SUM(?v) AS ?s) (MAX(?v) AS ?most) (COUNT(*) AS ?n) HAVING (?s > 1 && ?n >= 1)
EVENT E(?r, ?s, ?most) MATCH END S(?r)
RETURN S AS ALERTS
RETURN E
"""
Drawn = tuple[float, str, str, tuple[str, ...]]
ROWS: st.SearchStrategy[list[Drawn]] = st.lists(
    st.tuples(
        st.sampled_from((1, 1, 1, 0, 1.5, 2, 3, 6)),
        st.sampled_from("ab"),
        st.sampled_from(("Read", "Read", "Read", "Read", "Bell")),
        st.lists(st.sampled_from(('"0"', '"1.5"', '"2"', '"5"', '"x"')), max_size=2).map(tuple),
    ),
    min_size=5,
    max_size=30,
)
KINDS = {'"0"': "integer", '"1.5"': "decimal", '"2"': "integer", '"5"': "double", '"x"': "string"}


def items_of(rows: list[Drawn]) -> list[Item]:
    at, found = 0, []
    for apart, room, kind, values in rows:
        at += round(apart * SECOND)
        name = f"<http://e/{room}>"
        said = [(name, "<http://e/value>", _literal(value)) for value in values]
        found.append(Item("", at, ((name, RDF_TYPE, f"<http://e/{kind}>"), *said)))
    return found


def _literal(value: str) -> str:
    kind = KINDS[value]
    return value if kind == "string" else f"{value}^^<http://www.w3.org/2001/XMLSchema#{kind}>"


def told(query: obep.Query, lots: list[list[Item]], end: float, *, stored: bool = False) -> list[Any]:
    """What is reported, and what holds before the end; `stored`: with a snapshot after each lot."""
    engine, found = query.engine(remember=0), []
    for lot in lots:
        found += engine.push_items(lot)
        if stored:
            snapshot = engine.snapshot()
            engine = query.engine(remember=0)
            engine.restore(snapshot)
    held = [(one.parameters, one.since, one.bindings) for one in engine.states("S")]
    found += engine.advance(end)
    return [held, *[(hit.to_json(), hit.bindings) for hit in found]]


@pytest.mark.slow
@pytest.mark.parametrize("name", QUERIES)
def test_many_items_at_once_are_as_one_by_one(name: str) -> None:
    query = obep.load(text=HEAD + QUERIES[name], java=False)
    alone = 0

    def counted(self: Runtime, entries: Any, place: int, last: int, found: Any) -> int:
        nonlocal alone
        reached = close_alone(self, entries, place, last, found)
        alone += reached - place - 1
        return reached

    @given(ROWS, st.integers(0, 30))
    def holds(rows: list[Drawn], cut: int) -> None:
        items = items_of(rows)
        end = (items[-1].at if items else 0) / SECOND + 20
        one_by_one = told(query, [[item] for item in items], end)
        for stored in (False, True):
            assert told(query, [items[:cut], items[cut:]], end, stored=stored) == one_by_one

    close_alone = Runtime._close_alone
    with patch.object(Runtime, "_close_alone", counted):
        holds()
    assert alone > 20  # else the property says nothing


def test_the_rows_of_a_block_are_made_once_though_much_else_is_to_come() -> None:
    text = QUERIES["begin and end"].replace("?m > 1 &&", "FULL() &&")  # each row fills a group 4 s later
    query = obep.load(text=HEAD + text, java=False)
    items = items_of([(1, f"r{number % 50}", "Read", ('"1.5"',)) for number in range(300)])
    with patch.object(over_state, "rows_in_turn", wraps=rows_in_turn) as made:
        query.engine(remember=0).push_items(items)
    assert 0 < made.call_count < 4, "each call looks at all the rest of a block"


def test_a_state_that_ends_with_its_for_each_says_what_it_held_with_last() -> None:
    query = obep.load(text=HEAD + FOR_EACH, java=False)
    items = items_of(
        [
            *[(1, "a", "Bell", ()), (10, "a", "Read", ('"1.5"',)), (2, "a", "Read", ('"2"',))],
            *[(3, "a", "Silence", ()), (20, "a", "Bell", ())],
        ]
    )
    for lots in ([[item] for item in items], [items]):
        engine = query.engine(remember=0)
        alerts = [hit.to_json() for lot in lots for hit in engine.push_items(lot)]
        assert [(one["status"], one["bindings"]) for one in alerts] == [
            ("firing", [{"m": _literal('"1.5"')}]),
            ("resolved", [{"m": _literal('"1.5"').replace("1.5", "1.75")}]),  # the mean from 13 s to 16 s
        ]


def test_groups_that_end_between_two_rows_are_reported_in_their_order() -> None:
    query = obep.load(text=HEAD + QUERIES["alerts after a while"], java=False)
    both: list[Drawn] = [(1, "b", "Read", ('"2"',)), (0, "a", "Read", ('"2"',))]
    items = items_of([*both, *[(wait, "c", "Read", ('"0"',)) for wait in (2, 4, 1, 1)]])
    for lots in ([[item] for item in items], [items]):
        found = told(query, lots, 30)[1:]
        ended = [(one["labels"]["r"], one["until"]) for one, _ in found if one["status"] == "resolved"]
        # Both rows of 1 s leave at 6 s, between two rows of c.
        assert ended == [("<http://e/a>", 6), ("<http://e/b>", 6)]


STEPS = """STATE Sum(?m) OVER Reading(?m) AS r WITHIN 10 s STEP 5 s IF { EVENT r { ?m :value ?t } }
AGGREGATE (SUM(?t) AS ?a) HAVING (?a > 100)
EVENT Over(?m, ?a) MATCH END Sum(?m)
RETURN Sum AS ALERTS
RETURN Over
"""


@pytest.mark.parametrize("stored", [None, *range(1, 7)])
def test_what_holds_between_two_steps_has_the_values_of_the_last_step(stored: int | None) -> None:
    query = obep.load(text=HEAD + STEPS, java=False)
    engine, found, held = query.engine(), [], []
    values = [(33, 40), (36, 40), (38, 41), (39, 42), (47, 5), (48, 40), (53, 20)]
    for place, (at, value) in enumerate(values):
        if place == stored:
            snapshot = engine.snapshot()
            engine = query.engine()
            engine.restore(snapshot)
        found += engine.push(f"<http://e/a> a <http://e/Read> ; <http://e/value> {value} .", at=at)
        if at >= 48:  # not sooner: a value that is read is computed then
            held.append([number(one.bindings) for one in engine.states("Sum")])
    found += engine.advance(60)
    # at 40 there are 40, 40, 41 and 42 (163); at 45 those after 35; at 50 only 5 and 40
    assert held == [[123], []]
    alerts = [(one.status, number(one.bindings)) for one in found if isinstance(one, Alert)]
    assert alerts == [("firing", 163), ("resolved", 123)]
    assert [number(one.bindings) for one in found if not isinstance(one, Alert)] == [123]


def number(bindings: tuple[dict[str, str], ...]) -> int:
    [row] = bindings
    return int(row["a"].split('"')[1])


@pytest.mark.slow
@pytest.mark.parametrize("text", [*QUERIES.values(), STEPPED], ids=[*QUERIES, "steps"])
def test_values_that_are_computed_when_they_are_read_are_those_computed_at_once(text: str) -> None:
    query = obep.load(text=HEAD + text, java=False)

    def read(items: list[Item], lots: list[bool], stores: list[bool]) -> list[Any]:
        """What is reported and what holds after each lot of items, with snapshots after some."""
        engine, found, lot = query.engine(remember=0), [], []
        for place, item in enumerate(items):
            lot.append(item)
            if lots[place % len(lots)]:
                continue
            found.append([hit.to_json() for hit in engine.push_items(lot)])
            lot = []
            if stores[place % len(stores)]:
                snapshot = engine.snapshot()
                engine = query.engine(remember=0)
                engine.restore(snapshot)
            found.append([(one.parameters, one.since, one.bindings) for one in engine.states("S")])
        last = engine.push_items(lot) + engine.advance((items[-1].at if items else 0) / SECOND + 20)
        return [*found, [hit.to_json() for hit in last]]

    @given(ROWS, st.lists(st.booleans(), min_size=1, max_size=7), st.lists(st.booleans(), min_size=1))
    def holds(rows: list[Drawn], lots: list[bool], stores: list[bool]) -> None:
        items = items_of(rows)
        lazy = read(items, lots, stores)
        with patch.object(over_state.OverState, "_choose_laziness", lambda self: None):
            assert read(items, lots, [False]) == lazy

    holds()


def test_a_state_that_reads_another_follows_its_values_while_that_holds_on() -> None:
    query = obep.load(text=HEAD + QUERIES["a state of a state"], java=False)
    silent: list[Drawn] = [(1, "a", "Read", ())] * 3
    items = items_of([(1, "a", "Read", ('"0"',)), (1, "a", "Read", ('"5"',)), *silent])
    for lots in ([[item] for item in items], [items]):
        engine = query.engine(remember=0)
        found = [hit for lot in lots for hit in engine.push_items(lot)] + engine.advance(20)
        alerts = [hit.to_json() for hit in found]
        # At 5 s the 0 of 1 s leaves: the mean is 5, and no longer less than 3.
        assert [(one["status"], one.get("until")) for one in alerts] == [("firing", None), ("resolved", 5)]
