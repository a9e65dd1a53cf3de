"""States and windows say what was sent of a number that was brought to another unit, as events do."""

from __future__ import annotations

import json

import pytest

import obep
from obep.engine.engine import Engine
from obep.formats.record_mapping import make_mapping
from obep.formats.stream_reader import Reading
from obep.model import RDF_TYPE, Alert, DeadLetter, Item, Occurrence
from obep.output.json_reader import read_line
from obep.output.json_writer import to_line

NS = "http://example.org/m#"
ON_WINDOW = "STATE Hot(?s) ON <now> AS { ?s :celsius ?c FILTER(?c > 29) }\nRETURN Hot AS ALERTS"
OVER = (
    "EVENT Reading AS (celsius some number)\n"
    "STATE Hot(?s) OVER Reading AS r WITHIN 10 s IF { EVENT r { ?s :celsius ?c } }\n"
    "  AGGREGATE (MAX(?c) AS ?most) (COUNT(*) AS ?n) HAVING (?most > 29)\nRETURN Hot AS ALERTS"
)
FROM_TO = (
    "EVENT Warm AS (celsius some number[> 29])\nEVENT Cold AS (celsius some number[< 10])\n"
    "STATE Hot(?s) FROM Warm AS w TO Cold AS k\n"
    "  IF { EVENT w { ?s :celsius ?c } EVENT k { ?s :celsius ?d } }\nRETURN Hot AS ALERTS"
)
STATES = {
    "OVER": OVER,
    "FROM … TO": FROM_TO,
    "LATEST": f"FROM NAMED WINDOW <now> ON <s> [LATEST 10 s]\n{ON_WINDOW}",
    "LATEST STEP": f"FROM NAMED WINDOW <now> ON <s> [LATEST 10 s STEP 1 s]\n{ON_WINDOW}",
    "RANGE": f"FROM NAMED WINDOW <now> ON <s> [RANGE 10 s]\n{ON_WINDOW}",
    "ROWS": f"FROM NAMED WINDOW <now> ON <s> [ROWS 1]\n{ON_WINDOW}",
}
WITH_ROWS = {**STATES, "OVER, two rows": OVER.replace("?most > 29", "?most > 29 && ?n > 1")}
MAPPING = make_mapping(
    {
        "prefixes": {"": NS},
        "template": ":{id} :celsius {v} ; :battery {b} .",
        "units": {"v": "degF -> degC", "b": "degF -> degC"},
    },
    "the mapping",
)


def sent(at: int, value: int, sensor: str = "s1") -> Item:
    record = {"id": sensor, "time": at, "v": value, "b": 50}
    item = MAPPING.item(record, json.dumps(record).encode(), Reading("s"))
    assert not isinstance(item, DeadLetter), item
    return item


def engine_of(text: str) -> Engine:
    return obep.load(text=f"PREFIX : <{NS}>\n{text}", java=False).engine()


def alerts_of(found: list[Occurrence]) -> list[Alert]:
    return [one for one in found if isinstance(one, Alert)]


def restored(engine: Engine, text: str) -> Engine:
    other = engine_of(text)
    other.restore(engine.snapshot())
    return other


@pytest.mark.parametrize("text", STATES.values(), ids=STATES)
def test_an_alert_says_what_was_sent(text: str) -> None:
    engine = engine_of(text)
    found = alerts_of([*engine.push_items([sent(1, 86)]), *engine.push_items([sent(2, 86, "s2")])])
    fired = found[0]
    assert "(86 degF = 30.0 degC, seen at" in fired.why()
    assert fired.why().count(" = 30.0 degC") == 1, "the battery is no part of the explanation"
    [cause] = json.loads(to_line(fired))["because"]
    assert cause["converted"] == ["86 degF = 30.0 degC"]
    read = read_line(to_line(fired))
    assert read is not None
    assert read.occurrence.why() == fired.why()
    assert to_line(read.occurrence) == to_line(fired)


@pytest.mark.parametrize("text", WITH_ROWS.values(), ids=WITH_ROWS)
@pytest.mark.parametrize("at", [0, 1], ids=["before its episode", "within its episode"])
def test_a_snapshot_keeps_it(text: str, at: int) -> None:
    """It is taken while the item is still to be decided, and once the episode has begun."""
    items = [sent(1, 86), sent(2, 88), sent(3, 41), sent(20, 41), sent(40, 41)]
    expected, found = [], []
    one = engine_of(text)
    for item in items:
        expected += one.push_items([item])
    other = engine_of(text)
    for number, item in enumerate(items):
        found += other.push_items([item])
        if number == at:
            other = restored(other, text)
    assert [to_line(alert) for alert in found] == [to_line(alert) for alert in expected]
    fired, resolved, *_ = alerts_of(found)
    assert (fired.status, resolved.status) == ("firing", "resolved")
    assert "86 degF = 30.0 degC" in fired.why()
    assert "86 degF = 30.0 degC" in resolved.why()


def test_the_end_of_a_state_says_what_was_sent_at_both_ends() -> None:
    engine = engine_of(FROM_TO)
    found = [one for at, v in ((1, 86), (2, 41), (3, 50)) for one in engine.push_items([sent(at, v)])]
    resolved = next(one for one in alerts_of(found) if one.status == "resolved")
    assert "86 degF = 30.0 degC" in resolved.why()
    assert "41 degF = 5.0 degC" in resolved.why()


def test_a_pattern_of_states_says_what_was_sent() -> None:
    text = STATES["LATEST"].removesuffix("RETURN Hot AS ALERTS")
    engine = engine_of(f"{text}EVENT Long(?s) MATCH Hot(?s) FOR 2 s\nRETURN Long")
    engine.push_items([sent(1, 86)])
    [hit] = restored(engine, f"{text}EVENT Long(?s) MATCH Hot(?s) FOR 2 s\nRETURN Long").advance(9_000_000)
    assert "86 degF = 30.0 degC" in hit.why()


def test_a_window_says_what_its_last_item_sent() -> None:
    """The same value sent in another unit, or by the number itself, is what was said last."""
    text = STATES["LATEST"].replace("?s :celsius ?c FILTER", "?s :celsius ?c ; a :On FILTER")
    engine = engine_of(text)
    first = sent(1, 86)
    plain = first._replace(at=2_000_000, converted=())
    on = Item("s", 3_000_000, ((f"<{NS}s1>", RDF_TYPE, f"<{NS}On>"),))
    found = [hit for item in (first, plain, on, sent(9, 50)) for hit in engine.push_items([item])]
    assert " = 30.0" not in alerts_of(found)[0].why()


def test_events_of_a_window_and_of_a_graph_say_it() -> None:
    together = (
        "FROM NAMED WINDOW <w> ON <s> [RANGE 10 s]\n"
        "EVENT Both ON <w> AS (celsius some number[> 29]) and (battery some number[< 11])\nRETURN Both"
    )
    graph = "EVENT Warm(?s) AS { ?s :celsius ?c FILTER(?c > 29) }\nRETURN Warm"
    for text in (together, graph):
        engine = engine_of(text)
        found = [*engine.push_items([sent(1, 86)]), *engine.push_items([sent(2, 41, "s2")])]
        assert "86 degF = 30.0 degC" in found[0].why()
