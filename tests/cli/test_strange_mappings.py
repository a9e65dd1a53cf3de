"""Mappings that a stranger writes at first: what is wrong with them is said at once, and how to mend it."""

from __future__ import annotations

from pathlib import Path

import pytest
from shell import embedded, hot, obep

TEMPLATE = """prefixes = { "" = "http://e/" }
template = ":{id} a :Sensor ; :celsius {air.val:double} ."
"""


@pytest.mark.parametrize("place", ["[sources.s.mapping]", "[mappings.unused]"])
def test_units_of_a_field_that_the_template_lacks_are_refused_by_check_and_run(
    place: str, tmp_path: Path
) -> None:
    query = hot(tmp_path)
    units = 'units = { "val" = { field = "air.u", to = "C" } }\n'
    (tmp_path / "obep.toml").write_text(f"{place}\n{TEMPLATE}{units}")
    (tmp_path / "s.jsonl").write_text('{"id": "a", "time": 1, "air": {"val": 50, "u": "F"}}\n')
    for said in (obep("check", query), embedded(query, "--source", f"s={tmp_path}/s.jsonl")):
        assert said.status == 2
        assert "OBEP521" in said.err
        assert "units.val: the template has no {val}; is it air.val?" in said.err
        assert "obep.toml" in said.err
