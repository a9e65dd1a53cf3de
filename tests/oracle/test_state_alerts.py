"""The oracle on alerts, worked out by hand (STATES 4)."""

from __future__ import annotations

import pytest

from obep.model import SECOND
from obep.query import ast
from oracle.state_cases import (
    agg,
    alerts_of,
    cmp,
    group,
    latest,
    leaf,
    n,
    run,
    s,
    v,
)

T = ast.EventState(n("T"), v("x"), leaf("A", "x"), leaf("B", "x"))


def told(parts: list[object], stream: str) -> list[tuple[object, ...]]:
    """(k, b, status, at, ended) of each record, in seconds."""
    records = run(parts, stream).alerts
    short = [
        (key[0][len("<http://example.org/") : -1], b, status, at, ended)
        for _, key, b, _, status, at, ended, _ in records
    ]
    return sorted(
        ((k, b // SECOND, st, at // SECOND, e) for k, b, st, at, e in short), key=lambda r: (r[3], r[2])
    )


def timed(**more: object) -> ast.EventState:
    return ast.EventState(n("T"), v("x"), leaf("A", "x"), leaf("B", "x"), **more)  # type: ignore[arg-type]


def test_an_alert_fires_and_is_resolved() -> None:
    assert told([T, alerts_of("T")], "A1x B4x A5y |9") == [
        ("x", 1, "firing", 1, ""),
        ("x", 1, "resolved", 4, "changed"),
        ("y", 5, "firing", 5, ""),
    ]


def test_an_alert_for_d_fires_before_it_is_resolved_at_one_instant() -> None:
    assert told([T, alerts_of("T", 3)], "A1x B4x A5y B7y A8z |9") == [
        ("x", 1, "firing", 4, ""),
        ("x", 1, "resolved", 4, "changed"),
    ]


HOT = ast.GroupState(
    n("T"), v("x"), group(ast.WindowGroup("w", group("?x temp ?t")), ast.Filter(cmp("?t", ">", 30)))
)
ATOM = ast.GroupState(n("U"), v("x"), group(ast.Atom(n("T"), v("x"))))
MANY = ast.OverState(n("T"), v("x"), leaf("R", "x"), s(5), having=cmp(agg("COUNT"), ">", 1))
ENDS = {
    "a q": ([timed(timeout=s(3)), alerts_of("T")], "A1x B3x |9", "changed"),
    "TIMEOUT": ([timed(timeout=s(3)), alerts_of("T")], "A1x |9", "expired"),
    "a q at the TIMEOUT": ([timed(timeout=s(3)), alerts_of("T")], "A1x B4x |9", "changed"),
    "another value": ([latest(range=s(5)), HOT, alerts_of("T")], "1x(temp=31) 3x(temp=1) |9", "changed"),
    "silence": ([latest(range=s(5)), HOT, alerts_of("T")], "1x(temp=31) |9", "expired"),
    "another value as the last one leaves": (
        [latest(range=s(5)), HOT, alerts_of("T")],
        "1x(temp=31) 6x(temp=1) |9",
        "changed",
    ),
    "silence below": ([latest(range=s(5)), HOT, ATOM, alerts_of("U")], "1x(temp=31) |9", "expired"),
    "rows that left": ([MANY, alerts_of("T")], "R1x R2x |9", "expired"),
}


@pytest.mark.parametrize("case", ENDS)
def test_a_sensor_that_goes_silent_does_not_look_repaired(case: str) -> None:
    parts, stream, expected = ENDS[case]
    assert [record[4] for record in told(parts, stream) if record[2] == "resolved"] == [expected]
