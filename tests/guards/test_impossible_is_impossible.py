"""What OBEP219 says to be never true is true of no value, as guards compute it."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from obep.guards.filter_closures import compile_condition
from obep.lints.check_query import check
from obep.query import ast
from obep.query.link import link
from obep.query.parse.parser import parse

XSD = "http://www.w3.org/2001/XMLSchema#"
HEAD = "PREFIX : <http://e/#>\nEVENT Hot AS (Pen and celsius some number)\n"
NUMBERS = (
    "4",
    "5",
    "5.0",
    "4.99999999999999999",
    "5.00000000001",
    "5e0",
    "4.9",
    "0.1",
    "1e-1",
    "0.1000000001",
)
TEXTS = ('"a"', '"b"', ":A", ":B", "1 min", "60 s")
SIGNS = ("=", "!=", "<", ">", "<=", ">=")
VALUES = (
    *(
        f'"{lexical}"^^<{XSD}{datatype}>'
        for lexical in NUMBERS
        for datatype in ("decimal", "double", "float")
        if "e" not in lexical or datatype != "decimal"
    ),
    f'"5"^^<{XSD}integer>', f'"NaN"^^<{XSD}double>', f'"PT1M"^^<{XSD}dayTimeDuration>',
    '"a"', '"b"', '"a"@en', "<http://e/#A>", "<http://e/#B>", "_:x",
)  # fmt: skip

comparisons = st.builds(
    lambda sign, constant, flipped: f"{constant} {sign} ?v" if flipped else f"?v {sign} {constant}",
    st.sampled_from(SIGNS),
    st.sampled_from((*NUMBERS, *TEXTS)),
    st.booleans(),
)


@given(st.lists(comparisons, min_size=2, max_size=3))
@example(["?v >= 5e0", "?v < 5.0"])
@example(["?v = 5.00000000001", "?v = 5"])
@example(["?v > 5", "?v < 5"])
def test_no_value_meets_what_is_said_to_be_never_true(conditions: list[str]) -> None:
    guard = f"EVENT h {{ ?this :other ?v . FILTER({' && '.join(conditions)}) }}"
    linked = link(parse(f"{HEAD}EVENT Alarm MATCH Hot AS h IF {{ {guard} }}\nRETURN Alarm\n"))
    if not any(one.code == "OBEP219" for one in check(linked)):
        return
    alarm = linked.events["<http://e/#Alarm>"]
    assert alarm.guard is not None
    (filter_,) = (node for block in alarm.guard.blocks for node in block.filters)
    assert isinstance(filter_, ast.Filter)
    holds = compile_condition(filter_.condition, {"v": 0}, {"": 0})
    assert [value for value in VALUES if holds([value], ((0, 0),))] == []


SIDES = (
    "getSTARTTIME()", "getENDTIME()", "getENDTIME() + 5 min", "getDURATION()",
    "getENDTIME() - getSTARTTIME()",
    "getDURATION() * 2", "getDURATION() / 1 s", "SECONDS(getDURATION())", "0", "60",
    "60.0", "1e9", "-5", "1 min",
    '"PT1M"', '"1970-01-01T00:01:00Z"', '"1970-01-01T00:01:00Z"^^xsd:dateTime', '"PT1M"^^xsd:dayTimeDuration',
    '"60"^^xsd:string', '"60"@en', "YEAR(getSTARTTIME())",
)  # fmt: skip
MINUTE = 60_000_000


@given(st.sampled_from(SIDES), st.sampled_from(SIGNS), st.sampled_from(SIDES))
def test_no_times_meet_what_is_said_to_be_never_true(left: str, sign: str, right: str) -> None:
    guard = f"FILTER({left} {sign} {right})"
    linked = link(parse(f"{HEAD}EVENT Alarm MATCH Hot AS h SEQ Hot AS i IF {{ {guard} }}\nRETURN Alarm\n"))
    if not any(one.code == "OBEP219" for one in check(linked)):
        return
    alarm = linked.events["<http://e/#Alarm>"]
    assert alarm.guard is not None
    holds = compile_condition(alarm.guard.filters[0].condition, {}, {"": 0})
    times = [(0, MINUTE), (MINUTE, MINUTE + 1), (MINUTE, 2 * MINUTE), (1, 30_000_001), (60 * MINUTE, 10**15)]
    assert [one for one in times if holds([], (one,))] == []
