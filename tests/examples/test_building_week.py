"""The twelve rules of the building find what pandas does. OBEP_BUILDING=7x61 is a week of 300 points."""

from __future__ import annotations

import os

import pytest

pytest.importorskip("pandas", reason="the expected answers are made by pandas")

from building_week import compare

DAYS, ZONES = map(int, os.environ.get("OBEP_BUILDING", "4x5").split("x"))
EVENTS = {
    "Overheated", "Fighting", "Missing", "Frozen", "BadAir", "HeatLost", "ShortCycles", "AfterHours", "Nag",
    "Cleared", "BoxFault", "ManyAlarms", "Unusual",
}  # fmt: skip


@pytest.mark.slow
def test_the_twelve_rules_of_a_building_find_what_pandas_does() -> None:
    _, expected, found, _ = compare(DAYS, ZONES)
    assert expected - found == {}
    assert found - expected == {}
    assert {told[0] for told in expected} == EVENTS
