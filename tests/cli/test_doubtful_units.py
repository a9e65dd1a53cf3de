"""A `unit` of times that is not theirs is warned of; simulations and honest clocks are not (OBEP566)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from shell import embedded, hot

from obep.engine.time_letters import late

CONFIG = """[sources.s.mapping]
prefixes = {{ "" = "http://e/" }}
template = ":{{id}} a :Sensor ; :celsius {{celsius}} ."
unit = "{}"
"""


def said(folder: Path, unit: str, *times: object) -> str:
    (folder / "obep.toml").write_text(CONFIG.format(unit))
    records = [json.dumps({"time": time, "id": "a", "celsius": 35}) for time in times]
    (folder / "s.jsonl").write_text("\n".join(records))
    run = embedded(hot(folder), "--source", f"s={folder}/s.jsonl")
    assert run.status == 0 and run.records
    return run.err


def test_milliseconds_that_are_read_as_microseconds(tmp_path: Path) -> None:
    # 1767261600000 ms are 2026-01-01T10:00:00Z; as µs they are 1767261.6 s: 20 days, 10 h, 54 min and 21.6 s.
    assert said(tmp_path, "us", 1767261600000, 1767261660000) == (
        'OBEP566  warning: s: with unit = "us" the first time, 1767261600000, is 1970-01-21T10:54:21.6Z; '
        "in ms it would be 2026-01-01T10:00:00Z\n"
        '  Try:  unit = "ms" for its source in obep.toml\n'
    )


@pytest.mark.parametrize(
    ("unit", "other", "times"),
    [
        ("ms", "s", (1767261600, 1767261660)),
        ("ms", "s", ("1767261600.5", "1767261600.5", "1767261601.5")),
        ("us", "s", (1767261600, 1767261660)),
        ("ns", "s", (1767261600, 1767261660)),
        ("ns", "ms", (1767261600000, 1767261660000)),
        ("ns", "us", (1767261600000000, 1767261660000000)),
        ("us", "ms", (1767261600000,)),
    ],
)
def test_every_unit_that_is_too_small_is_warned_of_once(
    tmp_path: Path, unit: str, other: str, times: tuple[object, ...]
) -> None:
    err = said(tmp_path, unit, *times)
    assert err.count("OBEP566") == 1 and f'Try:  unit = "{other}"' in err


@pytest.mark.parametrize(
    ("unit", "times"),
    [
        ("s", (3, 4, 5)),
        ("ms", (3, 4, 5)),
        ("ns", (1_000_000_000, 2_000_000_000)),  # seconds of a simulation; as s they would be 2001 and 2033
        ("us", (3_600_000_000, 7_200_000_000)),  # its hours
        ("ms", (1767261600000, 1767261660000)),
        ("s", (1767261600, 1767261660)),
        ("us", ("1970-01-01T00:00:03Z", "1970-01-01T00:00:04Z")),
    ],
)
def test_a_unit_that_may_well_be_right_is_not_warned_of(
    tmp_path: Path, unit: str, times: tuple[object, ...]
) -> None:
    assert said(tmp_path, unit, *times) == ""


def test_a_unit_that_is_too_large_is_refused_with_the_right_one(tmp_path: Path) -> None:
    (tmp_path / "obep.toml").write_text(CONFIG.format("s"))
    (tmp_path / "s.jsonl").write_text('{"time": 1767261600000, "id": "a", "celsius": 35}\n')
    run = embedded(hot(tmp_path), "--source", f"s={tmp_path}/s.jsonl")
    assert run.status == 1
    assert "OBEP603" in run.err and 'unit = "ms" for its source in obep.toml' in run.err


def test_who_is_late_by_months_was_not_late() -> None:
    day = 86_400_000_000
    assert late("s", 0, 29 * day).reason.endswith("; a longer lateness would wait for it")
    reason = late("s", 0, 31 * day).reason
    assert "1970-02-01" in reason or "2678400" in reason
    assert reason.endswith("is that right? (future under [engine] refuses such)")
