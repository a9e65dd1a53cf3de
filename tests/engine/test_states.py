"""States from text to answers: each expected value is worked out by hand from STATES.md."""

from __future__ import annotations

from pathlib import Path

import pytest

import obep
from obep.errors import ObepError
from obep.model import Alert, Occurrence, local_name
from obep.run.cases import run_case

EX = "http://example.org/obep#"
Pushed = tuple[float, str, str]
"""Second, stream, Turtle."""


def run(text: str, items: list[Pushed], folder: Path | None = None) -> list[Occurrence]:
    query = obep.load(text=text, folder=folder, java=False)
    engine = query.engine()
    found: list[Occurrence] = []
    for at, stream, turtle in items:
        found += engine.push(f"@prefix : <{EX}> . {turtle} .", at, stream, format="turtle")
    return [*found, *engine.close()]


def shown(found: list[Occurrence]) -> list[tuple[str, float, float]]:
    return [(one.event[1:-1].removeprefix(EX), one.start / 1e6, one.end / 1e6) for one in found]


def test_the_examples_of_states_md_give_what_their_text_says() -> None:
    outcome = run_case(Path(__file__).parent / "data" / "states_text")
    assert (len(outcome.found), outcome.difference) == (22, [])


LATEST = """
FROM NAMED WINDOW <now> ON <points> [LATEST 5 min]
FROM NAMED WINDOW <set> ON <setpoints> [LATEST 1 h]
STATE TooHot(?z) AS {
  WINDOW <now> { ?z :temperature ?t } WINDOW <set> { ?z :setpoint ?s } FILTER(?t > ?s + 2)
}
EVENT Overheated(?z) MATCH TooHot(?z) FOR 10 min
EVENT Cooled(?z) MATCH END TooHot(?z) FOR 10 min
RETURN Overheated, Cooled
RETURN TooHot AS ALERTS
"""


def test_a_state_over_two_latest_windows_begins_lasts_and_expires() -> None:
    readings = [(60.0 * n, "points", ":z :temperature 25") for n in range(1, 14)]
    end = (2000.0, "points", ":other :temperature 1")
    found = run(LATEST, [(0.0, "setpoints", ":z :setpoint 20"), *readings, end])
    assert shown([one for one in found if not isinstance(one, Alert)]) == [
        ("Overheated", 60, 660),
        ("Cooled", 1080, 1080),  # the last reading, of 780, leaves 5 minutes later
    ]
    firing, resolved = [one for one in found if isinstance(one, Alert)]
    assert (firing.status, firing.start, firing.until) == ("firing", 60_000_000, None)
    assert (resolved.status, resolved.until, resolved.ended) == ("resolved", 1_080_000_000, "expired")
    assert firing.id == resolved.id
    assert firing.labels == {"z": f"<{EX}z>"}


def test_a_sensor_that_never_reports_is_found_by_what_the_static_graph_says(tmp_path: Path) -> None:
    (tmp_path / "k.ttl").write_text(f"@prefix : <{EX}> . :a a :Sensor . :b a :Sensor .")
    text = """
FROM GRAPH <k.ttl>
FROM STREAM <s>
EVENT Reading AS Measured
STATE Installed(?s) AS (Sensor)
EVENT Silent(?s) MATCH BEGIN Installed(?s) NOT FOLLOWED BY Reading(?s) WITHIN 15 s
RETURN Silent
"""
    found = run(text, [(10.0, "s", ":a a :Measured"), (40.0, "s", ":a a :Measured")], tmp_path)
    assert [(one.bindings, one.start, one.end) for one in found] == [
        (({"s": f"<{EX}b>"},), 9_999_999, 24_999_999)
    ]


def test_over_counts_the_rows_of_the_last_while() -> None:
    text = """
FROM STREAM <s>
EVENT Started AS Start
STATE Cycling(?c) OVER Started(?c) WITHIN 60 s AGGREGATE (COUNT(*) AS ?n) HAVING (?n > 2)
EVENT Short(?c) MATCH BEGIN Cycling(?c)
EVENT Calm(?c) MATCH END Cycling(?c)
RETURN Short, Calm
"""
    found = run(text, [(t, "s", ":c a :Start") for t in (0.0, 10.0, 20.0, 100.0)])
    assert shown(found) == [("Short", 20, 20), ("Calm", 60, 60)]


def test_a_nag_is_repeated_until_it_is_acknowledged() -> None:
    text = """
FROM STREAM <s>
EVENT Alarm AS Raised
EVENT Ack AS Acknowledged
EVENT Nag(?z) MATCH Alarm(?z) REPEATED EVERY 10 s UNTIL Ack(?z) AT MOST 5 TIMES
RETURN Nag
"""
    items = [(0.0, "s", ":z a :Raised"), (25.0, "s", ":z a :Acknowledged"), (100.0, "s", ":x a :Other")]
    assert shown(run(text, items)) == [("Nag", 0, 10), ("Nag", 0, 20)]


def test_while_and_unless_ask_a_calendar() -> None:
    text = """
FROM STREAM <s>
EVENT Seen AS Present
STATE Night DAILY FROM 22:00 TO 06:00
EVENT Intruder(?z) MATCH Seen(?z) WHILE Night
EVENT Visitor(?z) MATCH Seen(?z) UNLESS Night
RETURN Intruder, Visitor
"""
    hours = [(3600.0 * hour, "s", ":z a :Present") for hour in (12, 23, 30, 31)]
    assert shown(run(text, hours)) == [
        ("Visitor", 43_200, 43_200),
        ("Intruder", 82_800, 82_800),
        ("Visitor", 108_000, 108_000),  # six o'clock is not night any more
        ("Visitor", 111_600, 111_600),
    ]


TWO_USES = """
FROM STREAM <s>
EVENT B AS Read
STATE S(?x) OVER B(?x) AS r WITHIN 4 s IF {{ EVENT r {{ ?this :v ?v }} }}
  AGGREGATE (SUM(?v) AS ?sum) (COUNT(*) AS ?n)
EVENT H{parameters} MATCH {pattern} IF {{ FILTER(?n <= 1) }}
RETURN H
"""
READ_TWICE = [(10.0, "s", ":a a :Read ; :v 4"), (12.0, "s", ":b a :Read ; :v 1"), (20.0, "s", ":c a :Other")]
"""a holds from 10 to 14 with the sum 4, b from 12 to 16 with the sum 1; the count of each is 1 all the time.
So two uses of S share ?n, which the FILTER names, and it is equal; ?sum is not named, and not shared."""


@pytest.mark.parametrize(
    ("pattern", "pairs"),
    [
        # At 10 only a holds, at 12 both.
        ("BEGIN S(?x) WHILE S(?k)", "aa ba bb"),
        ("BEGIN S(?x) AS s WHILE S(?k)", "aa ba bb"),
        # The inner WHILE takes nothing away: x itself holds at its beginning.
        ("(BEGIN S(?x) AS s WHILE S(?x)) WHILE S(?k)", "aa ba bb"),
        # Both ends, of 14 and 16, come after both beginnings.
        ("BEGIN S(?x) SEQ END S(?k)", "aa ab ba bb"),
    ],
)
def test_two_uses_of_a_state_share_only_the_variables_that_the_event_names(pattern: str, pairs: str) -> None:
    found = run(TWO_USES.format(parameters="(?x, ?k)", pattern=pattern), READ_TWICE)
    assert " ".join(sorted(row["x"][-2] + row["k"][-2] for one in found for row in one.bindings)) == pairs


def test_two_uses_of_a_state_without_its_parameters_share_none_of_these() -> None:
    """Each of the two beginnings comes before each of the two ends, whatever the keys are."""
    found = run(TWO_USES.format(parameters="", pattern="BEGIN S SEQ END S"), READ_TWICE)
    assert sorted(shown(found)) == [("H", 10, 14), ("H", 10, 16), ("H", 12, 14), ("H", 12, 16)]


def test_a_graph_event_has_one_occurrence_for_each_value_of_its_parameters(tmp_path: Path) -> None:
    (tmp_path / "k.ttl").write_text(f"@prefix : <{EX}> . :z1 :in :r1 . :z2 :in :r1 . :z3 :in :r2 .")
    text = """
FROM GRAPH <k.ttl>
FROM STREAM <s>
EVENT Hot(?r) AS { ?z :temperature ?t ; :in ?r . FILTER(?t > 22) }
RETURN Hot
"""
    [hot] = run(
        text, [(1.0, "s", ":z1 :temperature 23 . :z2 :temperature 25 . :z3 :temperature 2")], tmp_path
    )
    assert {row["r"] for row in hot.bindings} == {f"<{EX}r1>"}
    assert {row["z"] for row in hot.bindings} == {f"<{EX}z1>", f"<{EX}z2>"}


def test_a_calendar_of_the_static_graph_must_be_one(tmp_path: Path) -> None:
    (tmp_path / "k.ttl").write_text(f'@prefix : <{EX}> . :shop :opens "early" ; :closes "18:00" .')
    text = """
FROM GRAPH <k.ttl>
FROM STREAM <s>
STATE Open(?x) DAILY FROM ?from TO ?to IF { ?x :opens ?from ; :closes ?to }
EVENT Opened(?x) MATCH BEGIN Open(?x)
RETURN Opened
"""
    query = obep.load(text=text, folder=tmp_path, java=False)
    with pytest.raises(ObepError, match="OBEP647"):
        query.engine()


@pytest.mark.parametrize(
    ("bounds", "until", "ended"),
    [
        ("TIMEOUT 5 s", 7, "expired"),  # 5 s after the last On, of 2
        ("LIMIT 5 s", 6, "changed"),  # 5 s after the first one, of 1
        ("TIMEOUT 4 s LIMIT 5 s", 6, "expired"),  # both at once: what went silent is not repaired
        ("TIMEOUT 30 s LIMIT 30 s", 8, "changed"),  # an Off comes first
    ],
)
def test_timeout_expires_and_limit_changes_also_below_an_atom(bounds: str, until: int, ended: str) -> None:
    text = f"""
FROM STREAM <s>
EVENT On AS Started
EVENT Off AS Stopped
STATE Running(?c) FROM On(?c) TO Off(?c) {bounds}
STATE Busy(?c) AS {{ Running(?c) }}
RETURN Running, Busy AS ALERTS
"""
    items = [(1.0, "s", ":a a :Started"), (2.0, "s", ":a a :Started"), (8.0, "s", ":a a :Stopped")]
    found = [one for one in run(text, items) if isinstance(one, Alert) and one.status == "resolved"]
    assert [(one.event, one.until, one.ended) for one in found] == [
        (f"<{EX}Running>", until * 1_000_000, ended),
        (f"<{EX}Busy>", until * 1_000_000, ended),
    ]


@pytest.mark.parametrize(
    ("bounds", "starts", "until", "ended"),
    [
        ("LIMIT 10 s", (0, 10), 20, "changed"),
        ("LIMIT 10 s", (0, 5, 10, 15), 20, "changed"),
        ("LIMIT 10 s", (0, 10, 20), 30, "changed"),
        ("LIMIT 10 s", (0, 9), 10, "changed"),
        ("TIMEOUT 7 s LIMIT 10 s", (0, 5, 10), 17, "expired"),
        ("TIMEOUT 5 s LIMIT 8 s", (0, 5), 8, "changed"),  # TIMEOUT, off and on at 5, does not restart LIMIT
    ],
)
def test_limit_counts_anew_from_a_start_at_the_instant_at_which_it_ends(
    bounds: str, starts: tuple[int, ...], until: int, ended: str
) -> None:
    text = f"PREFIX : <{EX}>\nEVENT On AS Started\nEVENT Off AS Stopped\n"
    query = obep.load(text=f"{text}STATE S(?c) FROM On(?c) TO Off(?c) {bounds}\nRETURN S", java=False)
    for stored in (False, True):
        engine, found = query.engine(), []
        for at in starts:
            found += engine.push(f"<{EX}a> a <{EX}Started> .", at=at)
            if stored:
                snapshot = engine.snapshot()
                engine = query.engine()
                engine.restore(snapshot)
        found += engine.advance(100)
        alerts = [one for one in found if isinstance(one, Alert)]
        assert [(one.status, one.since) for one in alerts] == [("firing", 0), ("resolved", 0)]
        assert (alerts[1].until, alerts[1].ended) == (until * 1_000_000, ended)
        assert engine.states("S") == []


def test_a_graph_event_that_two_items_of_an_instant_show_is_one_in_whatever_order_they_come() -> None:
    query = obep.load(text="PREFIX : <http://e/>\nEVENT Warm(?r) AS { ?r :heat ?h }\nRETURN Warm", java=False)
    said = [f"<http://e/x> <http://e/heat> {heat} ." for heat in (8, 6, 7)]
    found = []
    for order in (said, said[::-1]):
        engine = query.engine()
        pushed = [one for text in order for one in engine.push(text, at=1)]
        found.append([one.to_json() for one in (*pushed, *engine.close())])
    assert found[0] == found[1]
    assert len(found[0]) == 1


def test_a_query_that_returns_alerts_alone_reports_no_events() -> None:
    text = (
        "PREFIX : <http://e/>\nEVENT A AS Alpha\nSTATE S(?r) FROM A(?r) TO A(?r) LIMIT 1 s\n"
        "EVENT Began(?r) MATCH BEGIN S(?r)\nRETURN S AS ALERTS"
    )
    engine = obep.load(text=text, java=False).engine()
    engine.push("<http://e/x> a <http://e/Alpha> .", at=1)
    found = engine.advance(5)
    assert [type(one).__name__ for one in found] == ["Alert", "Alert"]


LATE = """
FROM STREAM <s>
EVENT A AS Inside
EVENT B AS Opened
EVENT C AS Shut
EVENT Reading AS (amount some number)
STATE Known(?c) OVER Reading(?c) AS r WITHIN 100 s IF { EVENT r { ?c :amount ?v } }
  AGGREGATE (MAX(?v) AS ?most)
EVENT Seen(?c, ?most) MATCH (A(?c) DURING (B(?c) SEQ C(?c) WITHIN 10 s) WITHIN 10 s) WHILE Known(?c)
RETURN Seen
"""


def test_while_sees_the_bindings_as_of_the_end_of_what_is_decided_later() -> None:
    readings = [(0.0, "s", ":a :amount 1"), (2.0, "s", ":a :amount 10"), (4.0, "s", ":a :amount 30")]
    others = [(1.0, "s", ":a a :Opened"), (3.0, "s", ":a a :Inside"), (5.0, "s", ":a a :Shut")]
    found = run(LATE, sorted(readings + others))
    assert [(one.start, one.detected) for one in found] == [(3_000_000, 5_000_000)]
    assert [row["most"].split('"')[1] for row in found[0].bindings] == ["10"]  # as of 3, not of 5


@pytest.mark.slow
def test_what_a_state_was_is_forgotten_when_nobody_can_ask_any_more() -> None:
    engine = obep.load(text=LATE, java=False).engine()
    sizes = []
    for second in range(0, 4_000, 2):
        # For 100 s a value rises, then there is nothing for 200 s.
        if second % 300 < 100:
            engine.push(f"@prefix : <{EX}> . :a :amount {second} .", second, format="turtle")
        else:
            engine.push(f"@prefix : <{EX}> . :a a :Opened .", second, format="turtle")
        sizes.append((engine.remembered, len(engine.snapshot())))
    first, later = sizes[:1_000], sizes[1_000:]
    assert max(size for size, _ in later) <= max(size for size, _ in first)
    assert max(length for _, length in later) <= 1.05 * max(length for _, length in first)


MANY_KEYS = """
FROM STREAM <s>
EVENT Reading AS (amount some number)
STATE High(?x) OVER Reading(?x) AS r WITHIN 10 s IF { EVENT r { ?x :amount ?v } }
AGGREGATE (AVG(?v) AS ?mean) (COUNT(*) AS ?n) (MAX(?v) AS ?most) HAVING (?mean > 5)
RETURN High
"""


def test_a_key_whose_rows_have_all_left_is_forgotten() -> None:
    engine = obep.load(text=MANY_KEYS, java=False).engine(remember=0)
    empty = len(engine.snapshot())
    sizes = []
    for number in range(1_000):  # no key comes twice; a window has ten
        engine.push(f"@prefix : <{EX}> . :k{number} :amount {number % 10} .", number, format="turtle")
        sizes.append((engine.remembered, len(engine.snapshot())))
    assert max(kept for kept, _ in sizes) <= 10 + 5  # ten rows, and the keys that hold
    assert max(length for _, length in sizes[500:]) <= 1.05 * max(length for _, length in sizes[:500])
    engine.advance(2_000)
    assert engine.remembered == 0 and not engine.states("High")
    assert len(engine.snapshot()) < empty + 200


GRAPH_NEWS = """
FROM GRAPH <k.ttl>
FROM STREAM <s>
EVENT Beside(?x) AS { ?x :p ?v . ?x :in+ ?z }
EVENT Alone(?x, ?y) AS { ?x :in+ ?y FILTER EXISTS { ?x :hot ?h } }
RETURN Beside, Alone
"""


def test_a_pair_of_a_path_that_the_static_graph_does_not_have_is_news_and_no_other_is(tmp_path: Path) -> None:
    (tmp_path / "k.ttl").write_text(f"@prefix : <{EX}> . :a :in :r ; :p 1 . :k :p 1 .")
    items = [
        (0.0, "s", ":a :hot 1"),  # (a, r) is in K
        (1.0, "s", ":k :in :a"),  # (k, a) and (k, r) are not, beside ?x :p ?v, which is
        (2.0, "s", ":k :other 1"),
        (3.0, "s", ":n :in :a ; :hot 1"),
    ]
    assert shown(run(GRAPH_NEWS, items, tmp_path)) == [
        ("Beside", 1, 1),
        ("Alone", 3, 3),  # (n, a)
        ("Alone", 3, 3),  # (n, r)
    ]


def test_while_a_calendar_without_a_break_keeps_what_lasts_for_weeks() -> None:
    text = """
EVENT A AS Opened
EVENT B AS Shut
STATE Always DAILY FROM 00:00 TO 24:00
EVENT Long(?x) MATCH (A(?x) SEQ B(?x) WITHIN 30 d) WHILE Always
RETURN Long
"""
    weeks = 20 * 86_400.0
    found = run(text, [(0.0, "s", ":a a :Opened"), (weeks, "s", ":a a :Shut")])
    assert shown(found) == [("Long", 0, weeks)]


def test_two_graph_events_of_one_text_have_identifiers_of_their_own() -> None:
    group = "{ ?x :p ?v BIND(STRUUID() AS ?u) }"
    text = f"EVENT G(?x) AS {group}\nEVENT H(?x) AS {group}\nRETURN G, H\n"
    first, second = (
        [row["u"] for one in run(text, [(0.0, "s", ":a :p 1")]) for row in one.bindings] for _ in "ab"
    )
    assert first == second  # the same input gives the same output
    assert len(set(first)) == 2  # a function of the query, too (D17)


def test_what_a_window_entails_is_explained_by_what_it_says(tmp_path: Path) -> None:
    (tmp_path / "t.ttl").write_text(
        f"@prefix : <{EX}> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . :hot rdfs:domain :Hot ;"
        " a <http://www.w3.org/2002/07/owl#DatatypeProperty> ."
    )
    text = """VOCAB <t.ttl>
    FROM NAMED WINDOW <w> ON <s> [LATEST 10 s]
    STATE High(?x) ON <w> AS (lev some number[> 2])
    STATE Hot(?x) ON <w> AS { ?x a :Hot }
    STATE Both(?x) AS { High(?x) . Hot(?x) }
    RETURN High, Hot, Both AS ALERTS
    """
    items = [(1.0, "s", ":a :lev 3 ; :size 9"), (2.0, "s", ":a :hot 1"), (3.0, "s", ":b :lev 1")]
    alerts = {one.event.split("#")[1][:-1]: one for one in run(text, items, tmp_path)}
    hot, lev = ((f"<{EX}{name}>", at * 1_000_000) for name, at in (("hot", 2), ("lev", 1)))
    assert {name: [(triple[1], at) for triple, at in one.explanation] for name, one in alerts.items()} == {
        "High": [lev],
        "Hot": [hot],
        "Both": [hot, lev],
    }


def test_the_end_of_a_state_by_a_group_is_explained_by_what_ended_it() -> None:
    """A of END S is that of its BEGIN and what ended it: a value, what must not be, a state below."""
    engine = obep.load(
        text="""PREFIX : <http://e/#>
        FROM STREAM <s>
        FROM NAMED WINDOW <now> ON <s> [LATEST 5 min]
        STATE Hot(?z) AS { WINDOW <now> { ?z :temp ?t } FILTER(?t > 30)
                           FILTER NOT EXISTS { WINDOW <now> { ?z :seen ?by } } }
        STATE Bad(?z) AS { Hot(?z) . WINDOW <now> { ?z :temp ?t } }
        EVENT Over(?z) MATCH END Hot(?z)
        EVENT Good(?z) MATCH END Bad(?z)
        RETURN Over, Good"""
    ).engine()
    found = []
    for at, said in ((0, ":x :temp 31"), (1, ":y :temp 32"), (2, ":x :temp 20"), (3, ":y :seen 1")):
        found += engine.push(f"@prefix : <http://e/#> . {said} .", at=at)
    found += engine.close()
    causes = {(one.event, one.detected // 10**6): _causes(one) for one in found}
    assert causes == {
        ("<http://e/#Over>", 2): {("temp", "31", 0), ("temp", "20", 2)},
        ("<http://e/#Good>", 2): {("temp", "31", 0), ("temp", "20", 2)},
        ("<http://e/#Over>", 3): {("temp", "32", 1), ("seen", "1", 3)},
        ("<http://e/#Good>", 3): {("temp", "32", 1), ("seen", "1", 3)},
    }
    [over] = [one for one in found if one.event.endswith("Over>") and one.detected == 3 * 10**6]
    assert over.why().split("\n")[-4:] == [
        "    before its end",
        '      y temp "32"  (seen at 1)',
        "    at its end",
        '      y seen "1"  (seen at 3)',
    ]


def test_a_state_by_a_sub_select_is_explained_by_the_rows_that_it_counts() -> None:
    engine = obep.load(
        text="""PREFIX : <http://e/#>
        FROM STREAM <s>
        FROM NAMED WINDOW <w> ON <s> [RANGE 1 min]
        STATE Busy(?f) ON <w> AS {
          SELECT ?f (COUNT(*) AS ?n) { ?z :floor ?f ; :temp _:t } GROUP BY ?f HAVING (?n >= 2) }
        EVENT Much(?f) MATCH BEGIN Busy(?f)
        RETURN Much"""
    ).engine()
    found = []
    for at, said in (
        (0, ":x :floor :f"),
        (0, ":x :temp 1"),
        (1, ":y :floor :g ; :temp 2"),
        (2, ":v :floor :f ; :temp 3"),
    ):
        found += engine.push(f"@prefix : <http://e/#> . {said} .", at=at)
    [much] = found + engine.close()
    assert _causes(much) == {
        ("floor", "f", 0),
        ("temp", "1", 0),
        ("floor", "f", 2),
        ("temp", "3", 2),
    }


def _causes(one: obep.Occurrence) -> set[tuple[str, str, int | None]]:
    """Property, value and second of what explains an occurrence."""
    return {
        (local_name(p), o.split('"')[1] if '"' in o else local_name(o), None if at is None else at // 10**6)
        for (_, p, o), at in one.explanation
    }


def test_at_one_instant_all_that_fires_comes_before_what_is_resolved() -> None:
    """The order of alerts holds across the states of a query, whichever is defined first (STATES 4)."""
    states = ["STATE Off(?x) FROM A(?x) TO B(?x) LIMIT 1 h", "STATE Up(?x) FROM B(?x) TO A(?x) LIMIT 1 h"]
    for texts in (states, states[::-1]):
        found = run(
            f"""PREFIX : <{EX}> EVENT A AS (a some number) EVENT B AS (b some number)
            {" ".join(texts)} RETURN Off, Up AS ALERTS""",
            [(0, "", ":x :a 1"), (5, "", ":x :b 1"), (9, "", ":x :a 1")],
        )
        said = [(one.detected // 10**6, one.status) for one in found if isinstance(one, Alert)]
        expected = [(0, "firing"), (5, "firing"), (5, "resolved"), (9, "firing"), (9, "resolved")]
        assert said == expected


def test_a_state_asks_a_graph_that_is_no_part_of_k(tmp_path: Path) -> None:
    """GRAPH <g> is cl of that graph, and it is no part of K (DIALECTS 5)."""
    (tmp_path / "n.ttl").write_text(f"@prefix : <{EX}> . :x :limit 30 . :y :limit 40 .")
    for place in ("<n.ttl>", "?g"):
        text = f"""PREFIX : <{EX}>
        FROM NAMED GRAPH <n.ttl>
        FROM STREAM <s>
        FROM NAMED WINDOW <now> ON <s> [LATEST 5 min]
        STATE Hot(?z) AS {{ WINDOW <now> {{ ?z :temp ?t }} GRAPH {place} {{ ?z :limit ?m }} FILTER(?t > ?m) }}
        STATE Known(?z) AS {{ ?z :limit ?m }}
        RETURN Hot, Known AS ALERTS"""
        found = run(
            text, [(0, "s", ":x :temp 31"), (1, "s", ":y :temp 31"), (4, "s", ":x :temp 20")], tmp_path
        )
        assert [(one.event, one.start, one.status) for one in found if isinstance(one, Alert)] == [
            (f"<{EX}Hot>", 0, "firing"),
            (f"<{EX}Hot>", 0, "resolved"),
        ]
        assert _causes(found[0]) == {("temp", "31", 0), ("limit", "30", None)}


@pytest.mark.parametrize("place", ["<n.ttl>", "?g"])
def test_an_event_asks_a_graph_that_is_no_part_of_k(tmp_path: Path, place: str) -> None:
    """Only what the item says is news (D38): not a limit that the item says, too."""
    (tmp_path / "n.ttl").write_text(f"@prefix : <{EX}> . :x :limit 30 . :y :limit 40 .")
    text = f"""PREFIX : <{EX}>
    FROM NAMED GRAPH <n.ttl>
    FROM STREAM <s>
    FROM NAMED WINDOW <now> ON <s> [RANGE 10 s]
    EVENT Hot(?z) AS {{ ?z :temp ?t . GRAPH {place} {{ ?z :limit ?m }} FILTER(?t > ?m) }}
    EVENT Warm(?z) ON <now> AS {{ ?z :temp ?t . GRAPH {place} {{ ?z :limit ?m }} FILTER(?t > ?m) }}
    EVENT Known(?z) AS {{ GRAPH {place} {{ ?z :limit ?m }} }}
    EVENT Limited(?z) AS {{ ?z :limit ?m }}
    EVENT Cooled(?z) MATCH Hot(?z) SEQ {{ ?z :temp ?t . GRAPH {place} {{ ?z :limit ?m }} FILTER(?t < ?m) }}
      WITHIN 9 s
    RETURN Hot, Warm, Known, Limited, Cooled"""
    items = [
        (0, "s", ":x :temp 31"),
        (1, "s", ":y :temp 31"),
        (4, "s", ":x :temp 20"),
        (5, "s", ":x :limit 30"),
    ]
    found = run(text, items, tmp_path)
    assert sorted(shown(found), key=lambda one: (one[2], one[0])) == [
        ("Hot", 0, 0),
        ("Warm", 0, 0),
        ("Cooled", 0, 4),
        ("Limited", 5, 5),
    ]
    hot = next(one for one in found if one.event == f"<{EX}Hot>")
    assert _causes(hot) == {("temp", "31", 0), ("limit", "30", None)}


def test_a_window_by_a_variable_is_each_window_of_the_file() -> None:
    text = """FROM STREAM <a>
FROM STREAM <b>
FROM NAMED WINDOW <now> ON <a> [LATEST 5 s]
FROM NAMED WINDOW <recent> ON <b> [RANGE 3 s]
STATE Seen(?z, ?w) AS { WINDOW ?w { ?z :v ?v } }
EVENT Asked(?z, ?w) AS { ?z :asks ?y . WINDOW ?w { ?z :v ?v } }
EVENT Episode(?z, ?w) MATCH Seen(?z, ?w)
RETURN Episode, Asked
"""
    said = [(1.0, "a", ":x :v 1"), (1.0, "b", ":x :v 1"), (2.0, "b", ":y :v 1"), (3.0, "a", ":x :asks 1")]
    found = run(text, [*said, (9.0, "b", ":k :w 1"), (9.0, "a", ":k :w 1")])
    told = sorted(
        (
            local_name(one.event),
            one.bindings[0]["w"],
            one.bindings[0]["z"][-2],
            one.start / 1e6,
            one.end / 1e6,
        )
        for one in found
    )
    assert told == [
        ("Asked", "<now>", "x", 3, 3),
        ("Asked", "<recent>", "x", 3, 3),
        ("Episode", "<now>", "x", 1, 6),
        ("Episode", "<recent>", "x", 1, 4),
        ("Episode", "<recent>", "y", 2, 5),
    ]
