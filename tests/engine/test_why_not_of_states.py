"""Why a state did not hold, and why what is made of it did not happen: worked out by hand, in minutes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

import obep
from obep.errors import ObepError

PREFIX = "PREFIX : <http://e/#>\n"
HOT = """FROM STREAM <points>
FROM NAMED WINDOW <now> ON <points> [LATEST 5 min]
STATE Hot(?z) ON <now> AS { ?z :temperature ?t FILTER(?t > 30) }
STATE Warm(?z) ON <now> AS (temperature some number[> 25] and occupied value true)
EVENT Overheated(?z) MATCH Hot(?z) FOR 10 min
EVENT Cooled(?z) MATCH END Hot(?z) FOR 10 min
EVENT Spell(?z) MATCH Hot(?z)
EVENT Began(?z) MATCH BEGIN Hot(?z)
EVENT Heat(?z) ON <now> AS { ?z :temperature ?t FILTER(?t > 40) }
RETURN ALL
"""
TEMPERATURES = [
    (0, ":z1 :temperature 31 ."),
    (4, ":z1 :temperature 32 ."),
    (7, ":z1 :temperature 29 ."),
    (8, ":z2 :temperature 33 ."),
    (30, ":z2 :temperature 33 ."),
    (33, ":z3 :temperature 20 ."),
]
STUFFY = """EVENT Reading AS (co2 some number)
STATE Stuffy(?z) OVER Reading(?z) AS r WITHIN 10 min
  IF { EVENT r { ?this :co2 ?ppm } }
  AGGREGATE (AVG(?ppm) AS ?mean) (COUNT(*) AS ?n)
  HAVING (?mean > 1000 && ?n >= 3)
STATE Often(?z) OVER Reading(?z) WITHIN 10 min HAVING (COUNT(*) > 6)
EVENT Bad(?z) MATCH Stuffy(?z)
RETURN ALL
"""
CO2 = [
    (0, ":z1 :co2 800 ."),
    (4, ":z1 :co2 900 ."),
    (8, ":z1 :co2 922 ."),
    (30, ":z1 :co2 1200 ."),
    (31, ":z2 :humidity 1 ."),
]
FANS = """EVENT On AS (status value "on")
EVENT Off AS (status value "off")
EVENT Trip AS (fault some number)
STATE Running(?f) FROM On(?f) TO Off(?f) TIMEOUT 30 min
STATE Closed DAILY FROM 20:00 TO 06:00
STATE Busy(?f) OVER STATE Running(?f) WITHIN 1 h STEP 5 min HAVING (HELD() >= 10 min)
STATE Long(?f) AS { Running(?f) FOR 10 min }
EVENT Fault(?f) MATCH Trip(?f) WHILE Running(?f)
EVENT Idle(?f) MATCH Trip(?f) UNLESS Running(?f)
EVENT Night(?f) MATCH Trip(?f) WHILE Closed
EVENT Day(?f) MATCH Trip(?f) UNLESS Closed
EVENT Again(?f) MATCH BEGIN Running(?f) REPEATED EVERY 10 min UNTIL Off(?f) AT MOST 2 TIMES
EVENT NightLong MATCH Closed FOR 1 h
RETURN ALL
"""
EIGHT = 8 * 60


def asked(query: str, question: str, items: Sequence[tuple[float, str]], **settings: object) -> list[str]:
    """The lines of the answer after a run over messages at these minutes."""
    engine = obep.load(text=PREFIX + query).engine(**settings)
    for minute, graph in items:
        engine.push(f"@prefix : <http://e/#> . {graph}", at=minute * 60)
    engine.close()
    return str(engine.why_not(question)).splitlines()


@pytest.mark.parametrize(
    ("question", "lines"),
    [
        (
            "Overheated",
            [
                "Overheated was reported never.",
                "  Hot: never lately",
                'Hot(z1) held 7 min of 10 min, from 0 to 420, then came z1 temperature "29"',
                "Hot(z2) held 5 min of 10 min, from 480 to 780, then it expired: its last item is too old",
                "Hot(z2) holds since 1800, 3 min of 10 min; it is decided at 2400; "
                "the stream ended before, at 1980",
            ],
        ),
        (
            "Cooled(:z2)",
            [
                "Cooled(z2) was reported never.",
                "  Hot: never lately",
                "Hot(z2) held 5 min of 10 min, from 480 to 780, then it expired: its last item is too old",
                "Hot(z2) holds since 1800 and has not ended",
            ],
        ),
        (
            "Began(:z3)",
            [
                "Began(z3) was reported never.",
                "  Hot: never lately",
                "Hot(z3) never held",
                '  at 1980 FILTER(?t > 30) is not true for ?t = "20"',
            ],
        ),
        (
            "Began(:z9)",
            [
                "Began(z9) was reported never.",
                "  Hot: never lately",
                "Hot(z9) never held",
                "  at 1980 nothing matches ?z :temperature ?t with ?z = z9",
            ],
        ),
        (
            "Heat(:z3)",
            [
                "Heat(z3) was reported never.",
                "  Heat: never lately",
                "Heat(z3) never held",
                '  at 1980 FILTER(?t > 40) is not true for ?t = "20"',
            ],
        ),
        (
            "Hot",
            [
                "Hot held 3 times.",
                'Hot(z1) held from 0 to 420, then came z1 temperature "29"',
                "Hot(z2) held from 480 to 780, then it expired: its last item is too old",
                "Hot(z2) holds since 1800",
            ],
        ),
        ("Hot(:z3)", ["Hot(z3) never held.", 'at 1980 FILTER(?t > 30) is not true for ?t = "20"']),
    ],
)
def test_an_episode_tells_how_long_it_held_and_what_ended_it(question: str, lines: list[str]) -> None:
    assert asked(HOT, question, TEMPERATURES) == lines


def test_a_state_by_a_class_names_the_part_that_is_missing() -> None:
    found = asked(HOT, "Warm(:z2)", TEMPERATURES)
    assert found[:2] == ["Warm(z2) never held.", "z2 is the nearest:"]
    assert "    temperature some number[> 25]: yes" in found
    assert "    occupied value true: missing" in found


def test_a_state_by_a_class_of_the_static_graph_names_the_part_that_is_missing(tmp_path: Path) -> None:
    """Fuzzing found a TypeError."""
    graph = '@prefix : <http://e/#> . :b :status "shut" . :c :status "open" .'
    (tmp_path / "k.ttl").write_text(graph, "utf-8")
    text = "FROM GRAPH <k.ttl>\nEVENT T AS (temperature some number)\n"
    text += 'STATE Installed(?z) AS (status value "open")\nEVENT In(?z) MATCH BEGIN Installed(?z)\nRETURN In'
    engine = obep.load(text=PREFIX + text, folder=tmp_path).engine()
    engine.push("@prefix : <http://e/#> . :b :temperature 3 .", at=60)
    engine.close()
    found = str(engine.why_not("Installed(:b)")).splitlines()
    assert found[1:] == ["b is the nearest:", '  status value "open": missing; it is "shut"']


@pytest.mark.parametrize(
    ("question", "lines"),
    [
        (
            "Stuffy(:z1)",
            [
                "Stuffy(z1) never held.",
                "Stuffy(z1) came nearest at 480, with 3 rows:",
                '  HAVING asks ?mean > 1000, and ?mean is "874"',
                '  its rows: at 0 ?ppm "800"; at 240 ?ppm "900"; at 480 ?ppm "922"',
            ],
        ),
        (
            "Bad",
            [
                "Bad was reported never.",
                "  Stuffy: never lately",
                "Stuffy never held",
                "  Stuffy(z1) came nearest at 480, with 3 rows:",
                '    HAVING asks ?mean > 1000, and ?mean is "874"',
                '    its rows: at 0 ?ppm "800"; at 240 ?ppm "900"; at 480 ?ppm "922"',
            ],
        ),
        (
            "Often(:z1)",
            [
                "Often(z1) never held.",
                "Often(z1) came nearest at 480, with 3 rows:",
                '  HAVING asks COUNT(*) > 6, and COUNT(*) is "3"',
                "  its rows: at 0; at 240; at 480",
            ],
        ),
        ("Stuffy(:z2)", ["Stuffy(z2) never held.", "it has had no row", "OVER r: never lately"]),
    ],
)
def test_a_state_by_rows_tells_its_figures_where_it_came_nearest(question: str, lines: list[str]) -> None:
    assert asked(STUFFY, question, CO2) == lines


ENDED = [
    *((minute, ":z1 :co2 1200 .") for minute in (0, 3, 6, 9)),
    (14, ":z1 :co2 600 ."),
    *((minute, f":z2 :co2 {ppm} .") for minute, ppm in ((15, 1200), (16, 1100), (17, 1000), (18, 300))),
]


@pytest.mark.parametrize(
    ("question", "line"),
    [
        (
            "Stuffy(:z1)",  # at 13 the row of 3 leaves
            'Stuffy(z1) held from 360 to 780, then with 2 rows ?n was "2" where HAVING asks ?n >= 3',
        ),
        (
            "Stuffy(:z2)",
            'Stuffy(z2) held from 1020 to 1080, then with 4 rows ?mean was "900" '
            "where HAVING asks ?mean > 1000",
        ),
    ],
)
def test_a_state_by_rows_tells_what_it_lacked_at_its_end(question: str, line: str) -> None:
    assert line in asked(STUFFY, question, ENDED)


def test_a_state_by_rows_without_having_ends_with_its_last_row() -> None:
    query = """EVENT On AS (status value "on")
    STATE Seen(?f) OVER On(?f) WITHIN 10 min
    EVENT Long(?f) MATCH Seen(?f) FOR 1 h
    RETURN ALL"""
    items = [(0, ':f1 :status "on" .'), (30, ':f2 :status "on" .')]
    assert (
        asked(query, "Long(:f1)", items)[-1]
        == "Seen(f1) held 10 min of 1 h, from 0 to 600, then its last row left"
    )


def test_what_ended_a_state_names_first_what_it_asks_for() -> None:
    items = [(0, ":z1 :temperature 31 ."), (7, ":z1 :co2 950 ; :temperature 29 .")]
    assert asked(HOT, "Hot(:z1)", items)[1] == (
        "Hot(z1) held from 0 to 300, then it expired: its last item is too old"
    )
    items = [(0, ":z1 :temperature 31 ."), (4, ":z1 :co2 950 ; :temperature 29 .")]
    assert asked(HOT, "Hot(:z1)", items)[1] == (
        'Hot(z1) held from 0 to 240, then came z1 temperature "29"; z1 co2 "950"'
    )


@pytest.mark.parametrize(
    ("bounds", "minute", "how"),
    [
        ("LIMIT 10 min", 30, "from 0 to 600, then LIMIT ended it"),
        (
            "LIMIT 10 min",
            10,
            "from 0 to 600, then LIMIT ended it",
        ),  # what comes then about f1 does not end it
        ("TIMEOUT 10 min LIMIT 10 min", 30, "from 0 to 600, then it expired: its last item is too old"),
    ],
)
def test_an_episode_that_limit_ended_says_so(bounds: str, minute: int, how: str) -> None:
    query = f"""EVENT On AS (status value "on")
    EVENT Off AS (status value "off")
    STATE Running(?f) FROM On(?f) TO Off(?f) {bounds}
    RETURN Running"""
    items = [(0, ':f1 :status "on" .'), (minute, ":f1 :speed 3 ."), (40, ":f2 :speed 3 .")]
    assert asked(query, "Running(:f1)", items)[1] == f"Running(f1) held {how}"


def test_only_the_last_rows_are_shown() -> None:
    readings = [(minute, f":z1 :co2 {500 + minute} .") for minute in range(8)]
    assert asked(STUFFY, "Stuffy(:z1)", readings)[-1] == (
        '  its rows: at 180 ?ppm "503"; at 240 ?ppm "504"; at 300 ?ppm "505"; at 360 ?ppm "506"; '
        'at 420 ?ppm "507", and 3 before them'
    )


WATCHED = """FROM STREAM <points>
FROM STREAM <fitted>
FROM NAMED WINDOW <fittings> ON <fitted> [LATEST 1 h]
EVENT Reading AS (co2 some number)
STATE Fitted(?z) ON <fittings> AS (fitted value true)
STATE Silent(?z) OVER Reading(?z) WITHIN 5 min FOR EACH Fitted(?z) AGGREGATE (COUNT(*) AS ?n) HAVING (?n = 0)
RETURN Silent
"""


def test_a_state_for_each_says_first_that_its_other_state_does_not_hold() -> None:
    engine = obep.load(text=PREFIX + WATCHED).engine()
    for minute, graph, stream in (
        (0, ":z1 :fitted true .", "fitted"),
        (1, ":z1 :co2 800 .", "points"),
        (2, ":z1 :fitted false .", "fitted"),
        (3, ":z2 :fitted true .", "fitted"),
        (4, ":z2 :co2 800 .", "points"),
    ):
        engine.push(f"@prefix : <http://e/#> . {graph}", at=minute * 60, stream=stream)
    engine.close()
    never = str(engine.why_not("Silent(:z9)")).splitlines()
    assert never[1] == "FOR EACH Fitted(z9): it never held" and not any("OVER" in one for one in never)
    gone = str(engine.why_not("Silent(:z1)")).splitlines()
    assert [one for one in gone if one.startswith("FOR EACH")] == [
        'FOR EACH Fitted(z1): it held from 0 to 120, then came z1 fitted "false"'
    ]
    fitted = str(engine.why_not("Silent(:z2)"))
    assert fitted.startswith("Silent(z2) never held.") and "FOR EACH" not in fitted


STOPPED = [(EIGHT, ':f1 :status "on" .'), (EIGHT + 5, ':f1 :status "off" .'), (EIGHT + 12, ":f1 :fault 7 .")]
RUNNING = [(EIGHT, ':f1 :status "on" .'), (EIGHT + 5, ":f1 :fault 3 .")]
LATE = [(22 * 60, ":f1 :fault 3 .")]


@pytest.mark.parametrize(
    ("question", "items", "lines"),
    [
        (
            "Fault",
            STOPPED,
            [
                "Trip at 29520 (f1) came, but",
                "  Running(f1) did not hold at 29520; it held from 28800 to 29100",
            ],
        ),
        (
            "Fault",
            LATE,
            ["Trip at 79200 (f1) came, but", "  Running(f1) did not hold at 79200; it never held"],
        ),
        ("Idle", RUNNING, ["Trip at 29100 (f1) came, but", "  Running(f1) held at 29100, since 28800"]),
        ("Day", LATE, ["Trip at 79200 (f1) came, but", "  Closed held at 79200, since 72000"]),
        (
            "Again",
            STOPPED,
            ["Running at 28800 (f1) came, but", "  Off at 29100 came before the first repetition"],
        ),
        (
            "Again",
            RUNNING,
            ["Running at 28800 (f1) is decided at 29400; the stream ended before, at 29100"],
        ),
        ("Running(:f2)", STOPPED, ["FROM On: never lately"]),
        (
            "Busy(:f1)",
            STOPPED,
            [
                "Busy(f1) came nearest at 29400, with 1 row:",
                '  HAVING asks HELD() >= 10 min, and HELD() is "PT5M"',
                '  its rows: from 28800 to 29100, then came f1 status "off"',
            ],
        ),
        ("Long(:f1)", RUNNING, ["at 29100 Running(f1) has held 5 min of 10 min, since 28800"]),
        ("Long(:f1)", STOPPED, ["at 29520 Running(f1) does not hold; it held until 29100"]),
        ("Closed", STOPPED, ["at 29520 it is Thu 08:12 in UTC; Closed holds next from 72000 to 108000"]),
        (
            "NightLong",
            LATE,
            ["Closed holds since 72000; it had held 1 h before the first item"],
        ),
    ],
)
def test_while_unless_repeated_and_calendars_say_which_state_held_since_when(
    question: str, items: list[tuple[float, str]], lines: list[str]
) -> None:
    assert asked(FANS, question, items)[-len(lines) :] == lines


def test_an_episode_that_has_been_forgotten_is_not_said_to_be_missing() -> None:
    items = [(n, f':f{n} :status "on" .') for n in range(3)]
    items += [(3, ":f0 :fault 1 ."), *[(4 + n, f':f{n} :status "off" .') for n in range(3)]]
    found = asked(FANS, "Idle(:f0)", items, remember=2)
    assert not any("did not hold" in line or "held" in line for line in found)


def test_parts_of_states_cannot_be_asked_for_by_name() -> None:
    engine = obep.load(text=PREFIX + HOT).engine()
    for name in ("Warm#class", "class", "http://e/#Warm#class", "Hot#begin", "Heat#state"):
        with pytest.raises(ObepError, match=r"OBEP100.*defines no event"):
            engine.why_not(name)


def test_the_parameters_of_a_state_are_checked() -> None:
    engine = obep.load(text=PREFIX + HOT).engine()
    with pytest.raises(ObepError, match=r"OBEP579.*Hot has one parameter, not 2"):
        engine.why_not("Hot(:a, :b)")


def test_the_end_of_a_calendar_is_not_put_on_the_message_of_that_instant() -> None:
    engine = obep.load(
        text="""PREFIX : <http://e/#> EVENT A AS (a some number)
        STATE Night DAILY FROM 20:00 TO 06:00 EVENT E MATCH END Night RETURN E"""
    ).engine()
    for hour in (5, 6, 7):
        engine.push("@prefix : <http://e/#> . :z :a 1 .", at=3600 * hour)
    assert "Night held from -14400 to 21600, as its calendar says" in str(engine.why_not("Night"))


STUFFY_AIR = [(0, ":z1 :co2 1800 ."), (4, ":z1 :co2 1900 ."), (8, ":z1 :co2 1922 ."), (60, ":z2 :co2 1 .")]


def restored(query: str, before: Sequence[tuple[float, str]]) -> obep.Engine:
    """An engine that goes on from the snapshot of another."""
    loaded = obep.load(text=PREFIX + query)
    first, second = loaded.engine(), loaded.engine()
    for minute, graph in before:
        first.push(f"@prefix : <http://e/#> . {graph}", at=minute * 60)
    assert str(first.why_not("Bad")).startswith("Bad was reported once.")
    second.restore(first.snapshot())
    return second


def test_after_a_restore_never_is_said_only_of_the_time_since() -> None:
    engine = restored(STUFFY, STUFFY_AIR)
    since = "since the restore at 3600"
    assert str(engine.why_not("Stuffy(:z1)")).splitlines() == [
        f"Stuffy(z1) never held {since}.",
        f"it has had no row {since}",
        "OVER r: never lately",
    ]
    assert str(engine.why_not("Bad(:z1)")).splitlines() == [
        f"Bad(z1) was reported never {since}.",
        "  Stuffy: never lately",
        f"Stuffy(z1) never held {since}",
        f"  it has had no row {since}",
        "  OVER r: never lately",
    ]
    assert str(engine.why_not("Reading")).startswith(f"Reading was reported never {since}.")


def test_an_engine_that_remembers_nothing_says_so() -> None:
    unknown = "is not known: nothing is remembered. Try: remember=100"
    assert asked(STUFFY, "Bad", STUFFY_AIR, remember=0) == [f"Whether Bad was reported {unknown}"]
    assert asked(STUFFY, "Stuffy(:z1)", STUFFY_AIR, remember=0) == [
        f"Whether Stuffy(z1) held before {unknown}"
    ]
    assert asked(HOT, "Hot(:z1)", [(0, ":z1 :temperature 33 .")], remember=0)[1:] == ["Hot(z1) holds since 0"]


def test_a_graph_event_says_what_it_asked_a_named_graph_for(tmp_path: Path) -> None:
    (tmp_path / "n.ttl").write_text("@prefix : <http://e/#> . :z1 :limit 30 .")
    text = """FROM NAMED GRAPH <n.ttl>
FROM STREAM <s>
EVENT Hot(?z) AS { ?z :temperature ?t . GRAPH <n.ttl> { ?z :limit ?m } FILTER(?t > ?m) }
RETURN Hot
"""
    engine = obep.load(text=PREFIX + text, folder=tmp_path).engine()
    engine.push("@prefix : <http://e/#> . :z1 :temperature 20 .", at=60, stream="s")
    engine.close()
    [_, *lines] = str(engine.why_not("Hot(:z1)")).splitlines()
    assert any('FILTER(?t > ?m) is not true for ?t = "20", ?m = "30"' in line for line in lines), lines


def test_an_episode_that_ends_at_the_instant_0_is_kept() -> None:
    """The first instant was taken for the one at which something had expired."""
    text = """PREFIX : <http://e/> FROM STREAM <s>
        EVENT Hot AS (hot value true) EVENT Cool AS (hot value false)
        STATE Warm(?x) FROM Hot(?x) TO Cool(?x) RETURN Hot"""
    engine = obep.load(text=text).engine()
    for second, hot in ((-1, "true"), (0, "false"), (1, "true")):
        engine.push(f"<http://e/a> <http://e/hot> {hot} .", at=second)
    assert 'Warm(a) held from -1 to 0, then came a hot "false"' in str(engine.why_not("Warm"))
