"""OBEP593: [LATEST] without BY over a stream whose subjects are always new."""

from __future__ import annotations

from pathlib import Path

import pytest
from stream_cases import findings_in

QUERY = """PREFIX : <http://e/#>
FROM STREAM <s>
FROM NAMED WINDOW <now> ON <s> [LATEST 5 min%s]
STATE Hot(?s) ON <now> AS { ?o :madeBy ?s ; :result ?t FILTER(?t > 30) }
RETURN Hot AS ALERTS
"""
P = "@prefix : <http://e/#> . "


def observations(number: int, subject: str = ":o%d", sensors: int = 3) -> list[str]:
    some = (subject % n if "%d" in subject else subject for n in range(number))
    return [f"{P}{one} :madeBy :s{n % sensors} ; :result {n} ." for n, one in enumerate(some)]


@pytest.mark.parametrize("subject", [":o%d", "[]"])
def test_a_node_for_each_message_is_found(tmp_path: Path, subject: str) -> None:
    said = findings_in(tmp_path, QUERY % "", observations(30, subject))
    assert "OBEP593  warning: s: no subject of 30 items came twice, and 10 of them have madeBy s2\n" in said
    assert "[LATEST … BY { ?o <http://e/#madeBy> ?x }]" in said


@pytest.mark.parametrize(
    ("by", "graphs"),
    [
        (" BY { ?o :madeBy ?s }", observations(30)),  # BY says what follows what
        ("", observations(19)),  # too few to say
        ("", observations(30, ":o%d", 30)),  # as many sensors as messages
        ("", [*observations(30), *observations(1)]),  # a subject that comes again
        ("", [f"{P}:z{n} :temperature {n} ." for n in range(30)]),  # thirty zones, each once
        ("", observations(600, ":o%d", 200)),  # many senders, and only the first 500 are looked at
    ],
)
def test_what_may_be_meant_is_not_warned_of(tmp_path: Path, by: str, graphs: list[str]) -> None:
    assert "OBEP593" not in findings_in(tmp_path, QUERY % by, graphs)


def test_subjects_that_the_static_graph_knows_are_no_messages(tmp_path: Path) -> None:
    (tmp_path / "k.ttl").write_text(P + " ".join(f":o{n} a :Zone ." for n in range(30)))
    query = (QUERY % "").replace("FROM STREAM <s>", "FROM GRAPH <k.ttl>\nFROM STREAM <s>")
    assert "OBEP593" not in findings_in(tmp_path, query, observations(30))
