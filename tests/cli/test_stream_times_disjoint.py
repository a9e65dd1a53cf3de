"""Streams that an event reads together, and whose times lie far apart, are warned of."""

from __future__ import annotations

from pathlib import Path

import pytest
from shell import embedded, hot

HEAD = """PREFIX : <http://e/#>
FROM STREAM <probes>
FROM STREAM <doors>
EVENT Hot AS (celsius some number[> 30])
EVENT Open AS (opened value true)
"""
BOTH = "EVENT Both(?x) MATCH Hot(?x) SEQ Open(?x) WITHIN 5 min\n"
MAPPING = """[sources.probes.mapping]
prefixes = { "" = "http://e/#" }
template = ":{id} :celsius {c:double} ."
time_format = "%d.%m.%Y %H:%M"
[sources.doors.mapping]
prefixes = { "" = "http://e/#" }
template = ":{id} :opened {o:boolean} ."
time_format = "FORM"
"""


def said(folder: Path, events: str, form: str = "%m.%d.%Y %H:%M", days: tuple[int, ...] = (3, 4)) -> str:
    """What is said where doors are written with the day first, and read with this form."""
    (folder / "obep.toml").write_text(MAPPING.replace("FORM", form))
    for name, field in (("probes", '"c": 35'), ("doors", '"o": true')):
        lines = [
            f'{{"time": "{day:02}.01.2026 08:{n:02}", "id": "a", {field}}}\n' for day in days for n in (1, 2)
        ]
        (folder / f"{name}.jsonl").write_text("".join(lines))
    query = hot(folder, f"{HEAD}{events}RETURN ALL\n")
    given = [f"--source={name}={folder}/{name}.jsonl" for name in ("probes", "doors")]
    done = embedded(query, *given, "--sink", folder / "out.jsonl")
    assert done.status == 0, done.err
    return done.err


@pytest.mark.parametrize(
    "parts", ["Hot(?x) SEQ Open(?x)", "Open(?x) AND Hot(?x)", "Hot(?x) TIMES 2 SEQ Open(?x)"]
)
def test_streams_that_lie_weeks_apart_are_warned_of(tmp_path: Path, parts: str) -> None:
    first, second = ("doors", "probes") if parts.startswith("Open") else ("probes", "doors")
    ranges = {
        "probes": "probes (from 2026-01-03T08:01:00Z to 2026-01-04T08:02:00Z)",
        "doors": "doors (from 2026-03-01T08:01:00Z to 2026-04-01T08:02:00Z)",
    }
    assert said(tmp_path, f"EVENT Both(?x) MATCH ({parts}) WITHIN 5 min\n") == (
        f"OBEP583  warning: Both reads {ranges[first]} and {ranges[second]}, further apart than its WITHIN: "
        "is the time of one of them read wrongly (day and month, unit, zone)?\n"
        "  Try:  time_format, unit or zone of the mapping or source in obep.toml\n"
    )


def test_absences_are_warned_of_though_they_are_found(tmp_path: Path) -> None:
    absent = "EVENT Left(?x) MATCH Hot(?x) NOT FOLLOWED BY Open(?x) WITHIN 5 min\n"
    assert "OBEP583  warning: Left reads probes" in said(tmp_path, absent)
    assert '"http://e/#Left"' in (tmp_path / "out.jsonl").read_text()


def test_composites_above_others_are_looked_at_as_well(tmp_path: Path) -> None:
    twice = "EVENT Twice(?x) MATCH Hot(?x) TIMES 2 WITHIN 5 min\n"
    above = f"{twice}EVENT Both(?x) MATCH Twice(?x) SEQ Open(?x) WITHIN 5 min\n"
    assert "OBEP583  warning: Both reads probes" in said(tmp_path, above)


@pytest.mark.parametrize(
    "events",
    [
        "",  # nothing reads them together
        "EVENT Either(?x) MATCH Hot(?x) OR Open(?x)\n",
        "EVENT Long(?x) MATCH Hot(?x) SEQ Open(?x) WITHIN 100 d\n",
        "EVENT Ever(?x) MATCH Hot(?x) SEQ Open(?x)\n",  # which is found
        "EVENT Twice(?x) MATCH Hot(?x) TIMES 2 WITHIN 5 min\n",
    ],
)
def test_streams_that_may_lie_apart_are_not_warned_of(tmp_path: Path, events: str) -> None:
    assert "OBEP583" not in said(tmp_path, events)


def test_without_within_a_day_is_far(tmp_path: Path) -> None:
    assert "a day or more apart" in said(tmp_path, "EVENT Ever(?x) MATCH Open(?x) SEQ Hot(?x)\n")


def test_streams_that_overlap_or_are_near_are_not_warned_of(tmp_path: Path) -> None:
    assert said(tmp_path, BOTH, "%d.%m.%Y %H:%M") == ""
    assert said(tmp_path, BOTH, days=(1, 2)) == ""  # the first of January is that in both forms


def test_two_parts_of_one_archive_are_not_warned_of(tmp_path: Path) -> None:
    """Both streams have both events, one month after the other."""
    for name, month in (("probes", 1), ("doors", 5)):
        graph = "<http://e/#a> <http://e/#celsius> 35 ; <http://e/#opened> true ."
        line = f'{{"time": "2026-0{month}-01T00:00:0%dZ", "graph": "{graph}"}}\n'
        (tmp_path / f"{name}.jsonl").write_text("".join(line % n for n in (1, 2)))
    given = [f"--source={name}={tmp_path}/{name}.jsonl" for name in ("probes", "doors")]
    assert "OBEP583" not in embedded(hot(tmp_path, f"{HEAD}{BOTH}RETURN Both\n"), *given).err
