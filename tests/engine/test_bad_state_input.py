"""States on values that are no numbers, over nothing, over many keys, by calendars that K gives wrongly."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

import obep
from obep.errors import ObepError
from obep.model import Item

PREFIX = "PREFIX : <http://e/#>\nPREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n"
TURTLE = "@prefix : <http://e/#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> . "
FIGURES = {
    "n": "COUNT(*)",
    "sum": "SUM(?v)",
    "avg": "AVG(?v)",
    "min": "MIN(?v)",
    "max": "MAX(?v)",
    "last": "LAST(?v)",
    "rate": "RATE(?v)",
    "sd": "STDDEV(?v)",
    "median": "MEDIAN(?v)",
    "changes": "CHANGES(?v)",
    "travel": "TRAVEL(?v)",
}
AGGREGATES = " ".join(f"({call} AS ?{name})" for name, call in FIGURES.items())
EACH = "STATE S(?x) OVER A(?x) AS r WITHIN 1 h IF { EVENT r { ?this :p ?v } }"


@cache
def loaded(state: str) -> obep.Query:
    return obep.load(
        text=f"{PREFIX}EVENT A AS (p some rdfs:Literal)\nEVENT B AS (q some number)\n{state}\nRETURN S"
    )


def figures(state: str, *values: str) -> dict[str, str]:
    """What the state's variables are after readings of :z, ten seconds apart, without datatypes."""
    engine = loaded(state).engine()
    for number, value in enumerate(values):
        engine.push(f"{TURTLE}:z :p {value} .", at=number * 10)
    engine.advance(len(values) * 10)
    [held] = engine.states("S")
    [row] = held.bindings
    return {name: term.split('"')[1] for name, term in row.items() if name != "x"}


NAN, INF, LESS = (f'"{text}"^^xsd:double' for text in ("NaN", "INF", "-INF"))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (
            ("1", "2", "3", "6"),  # the sum of squares about 3 is 4 + 1 + 0 + 9: the root of 14/4
            {
                "n": "4",
                "sum": "12",
                "avg": "3",
                "min": "1",
                "max": "6",
                "last": "6",
                "rate": "0.1666666666666666666666666667",
                "sd": "1.8708286933869707",
                "median": "2.5",
                "changes": "3",
                "travel": "5",
            },
        ),
        # Text among numbers: what needs numbers has no value; MIN and MAX have the order of ORDER BY.
        (("1", '"abc"', "3"), {"n": "3", "min": "1", "max": "abc", "last": "3", "changes": "2"}),
        (('"b"', '"a"'), {"n": "2", "min": "a", "max": "b", "last": "a", "changes": "1"}),
        # A lexical form that its datatype does not allow is no number, and equal to nothing.
        (('"abc"^^xsd:integer', "1"), {"n": "2", "min": "1", "max": "abc", "last": "1"}),
        (
            ("1", NAN, "3"),
            {
                "n": "3",
                "sum": "NaN",
                "avg": "NaN",
                "min": "NaN",
                "max": "NaN",
                "last": "3",
                "rate": "0.1",
                "sd": "NaN",
                "median": "NaN",
                "changes": "2",
                "travel": "NaN",
            },
        ),
        (
            ("1", INF, "3"),
            {
                "n": "3",
                "sum": "INF",
                "avg": "INF",
                "min": "1",
                "max": "INF",
                "last": "3",
                "rate": "0.1",
                "sd": "NaN",
                "median": "3",
                "changes": "2",
                "travel": "INF",
            },
        ),
        (
            (INF, LESS),
            {
                "n": "2",
                "sum": "NaN",
                "avg": "NaN",
                "min": "-INF",
                "max": "INF",
                "last": "-INF",
                "rate": "-INF",
                "sd": "NaN",
                "median": "NaN",
                "changes": "1",
                "travel": "INF",
            },
        ),
        (
            ("1", "2.5", "3e0", '"4"^^xsd:float'),  # the sum of squares about 2.625 is 4.6875
            {
                "n": "4",
                "sum": "10.5",
                "avg": "2.625",
                "min": "1",
                "max": "4",
                "last": "4",
                "rate": "0.1",
                "sd": "1.0825317547305484",
                "median": "2.75",
                "changes": "3",
                "travel": "3",
            },
        ),
    ],
)
def test_a_figure_is_right_or_has_no_value(values: tuple[str, ...], expected: dict[str, str]) -> None:
    assert figures(f"{EACH} AGGREGATE {AGGREGATES}", *values) == expected


@pytest.mark.parametrize("having", ["AVG(?v) > 0", "AVG(?v) < 0", "AVG(?v) = AVG(?v)", "MAX(?v) >= 0"])
def test_nothing_that_is_no_number_makes_having_true(having: str) -> None:
    engine = loaded(f"{EACH} HAVING ({having})").engine()
    engine.push(f"{TURTLE}:z :p {NAN} .", at=0)
    engine.push(f'{TURTLE}:y :p "abc" .', at=10)
    engine.advance(20)
    assert engine.states("S") == []


def test_a_bad_reading_leaves_with_its_row() -> None:
    """Once NaN has left the window the mean is that of the others: 3 and 5."""
    state = (
        "STATE S(?x) OVER A(?x) AS r WITHIN 25 s IF { EVENT r { ?this :p ?v } } AGGREGATE (AVG(?v) AS ?avg)"
    )
    assert figures(state, NAN, "3", "5") == {"avg": "4"}


def test_aggregates_over_nothing_are_those_of_sparql() -> None:
    """A state without parameters has its group from WITHIN after the first item on, also without a row."""
    aggregates = "(COUNT(*) AS ?n) (SUM(?v) AS ?sum) (AVG(?v) AS ?avg) (MIN(?v) AS ?min) (LAST(?v) AS ?last)"
    state = f"STATE S OVER A AS r WITHIN 10 s IF {{ EVENT r {{ ?this :p ?v }} }} AGGREGATE {aggregates}"
    engine = loaded(state).engine()
    engine.push(f"{TURTLE}:z :q 1 .", at=0)
    engine.advance(11)
    [held] = engine.states("S")
    assert [{name: term.split('"')[1] for name, term in row.items()} for row in held.bindings] == [
        {"n": "0", "sum": "0", "avg": "0"}
    ]


def test_held_compared_with_a_number_never_holds() -> None:
    state = """STATE R(?x) FROM A(?x) TO B(?x) LIMIT 1 d
STATE S(?x) OVER STATE R(?x) WITHIN 1 h STEP 1 s HAVING (HELD() > 1)"""
    query = loaded(state)
    assert [one.code for one in query.warnings] == ["OBEP219"]
    engine = query.engine()
    engine.push(f"{TURTLE}:z :p 1 .", at=0)
    engine.advance(60)
    assert engine.states("S") == []


@pytest.mark.slow
def test_many_keys_have_their_own_figures_and_leave_nothing_behind() -> None:
    """Each of 3000 keys has one row; an hour later none is kept."""
    number, integer = 3_000, "<http://www.w3.org/2001/XMLSchema#integer>"
    engine = loaded(f"{EACH} AGGREGATE (SUM(?v) AS ?sum)").engine(remember=0)
    engine.push_items(
        Item("", 1000 * n, ((f"<http://e/#k{n}>", "<http://e/#p>", f'"{n}"^^{integer}'),))
        for n in range(number)
    )
    engine.advance(10)
    held = engine.states("S")
    assert {one.parameters["x"]: one.bindings[0]["sum"] for one in held} == {
        f"<http://e/#k{n}>": f'"{n}"^^{integer}' for n in range(number)
    }
    engine.advance(2 * 3600)
    assert engine.states("S") == []
    assert engine.remembered == 0


DAILY = "DAILY FROM ?o TO ?c IF { ?b :opens ?o ; :closes ?c }"


@pytest.mark.parametrize(
    ("k", "daily", "said"),
    [
        (':opens "8am" ; :closes "20:00"', DAILY, 'K gives "8am" as a time of day'),
        (':opens "08:75" ; :closes "20:00"', DAILY, 'K gives "08:75" as a time of day'),
        (':opens "25:00" ; :closes "20:00"', DAILY, 'K gives "25:00" as a time of day'),
        (':opens "24:01" ; :closes "20:00"', DAILY, 'K gives "24:01" as a time of day'),
        (':opens "08:00:30" ; :closes "20:00"', DAILY, 'K gives "08:00:30" as a time of day'),
        (':opens "08:00" ; :closes 20', DAILY, "as a time of day"),
        (':opens "08:00" ; :closes "08:00"', DAILY, "begins and ends at the same time of day"),
        (':opens "24:00" ; :closes "00:00"', DAILY, "begins and ends at the same time of day"),
        (':opens "08:00", "09:00" ; :closes "20:00"', DAILY, "K gives two calendars for <http://e/#b1>"),
        (
            ':zone "Nowhere/X"',
            "DAILY FROM 08:00 TO 20:00 ZONE ?z IF { ?b :zone ?z }",
            "no time zone Nowhere/X",
        ),
        (
            ':days "Mon-Fry"',
            "DAILY FROM 08:00 TO 20:00 ON ?d IF { ?b :days ?d }",
            'K gives "Mon-Fry" as days',
        ),
    ],
)
def test_a_calendar_that_k_gives_wrongly_is_refused(tmp_path: Path, k: str, daily: str, said: str) -> None:
    (tmp_path / "k.ttl").write_text(f"{TURTLE}:b1 {k} .")
    text = f"{PREFIX}FROM GRAPH <k.ttl>\nFROM STREAM <s>\nSTATE Open(?b) {daily}\nRETURN Open"
    with pytest.raises(ObepError) as refused:
        obep.load(text=text, folder=tmp_path).engine()
    assert "OBEP647" in str(refused.value)
    assert said in str(refused.value)


def test_a_whole_day_and_midnight_may_be_written() -> None:
    query = obep.load(text=f"{PREFIX}STATE S DAILY FROM 00:00 TO 24:00\nRETURN S")
    engine = query.engine()
    engine.push(f"{TURTLE}:z :p 1 .", at=1_000_000_000)
    engine.advance(1_000_000_000 + 3 * 86_400)
    [held] = engine.states("S")
    assert held.until is None


@pytest.mark.parametrize(
    ("state", "code", "said"),
    [
        (f"{EACH.replace('1 h', '1 h STEP 0 s')} HAVING (AVG(?v) > 0)", "OBEP124", "STEP of zero"),
        ("STATE S OVER A WITHIN 0 s HAVING (COUNT(*) = 0)", "OBEP124", "WITHIN of zero"),
        ('STATE S DAILY FROM 08:00 TO 20:00 ZONE "Europe/Rom"', "OBEP141", "no time zone Europe/Rom"),
        ("STATE S DAILY FROM 08:00 TO 08:00", "OBEP139", "begins and ends at the same time"),
        ("STATE S(?x) FROM A(?x) TO B(?x) LIMIT 0 s", "OBEP124", "LIMIT of zero"),
        (
            "STATE S(?x) FROM A(?x) TO B(?x) LIMIT 1 d\n"
            "EVENT N(?x) MATCH BEGIN S(?x) REPEATED EVERY 1 h AT MOST 0 TIMES",
            "OBEP013",
            "AT MOST",
        ),
        (
            "STATE S(?x) FROM A(?x) TO B(?x) LIMIT 1 d\n"
            "EVENT N(?x) MATCH BEGIN S(?x) REPEATED EVERY 0 s AT MOST 3 TIMES",
            "OBEP124",
            "REPEATED EVERY of zero",
        ),
    ],
)
def test_what_means_nothing_is_refused_by_name(state: str, code: str, said: str) -> None:
    with pytest.raises(ObepError) as refused:
        loaded(state)
    assert code in str(refused.value)
    assert said in str(refused.value)
