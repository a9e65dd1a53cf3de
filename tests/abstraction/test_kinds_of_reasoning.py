"""One case for each kind of reasoning, as data: `data/*.toml`."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from cases import bundle, found, item

from obep.abstraction.matcher import Matcher
from obep.model import DeadLetter

DATA = Path(__file__).parent / "data"
CASES = [
    pytest.param(case, id=f"{path.stem}: {case['name']}")
    for path in sorted(DATA.glob("*.toml"))
    for case in tomllib.loads(path.read_text())["case"]
]


@pytest.mark.parametrize("case", CASES)
def test_kinds_of_reasoning(case: dict[str, Any]) -> None:
    compiled = bundle(case.get("t", ""), case["events"], case.get("k", ""))
    assert set(compiled.status.values()) == {"exact"}
    matcher = Matcher(compiled)
    if "clash" in case:
        answer = matcher.match(item(case["item"]))
        assert isinstance(answer, DeadLetter)
        assert answer.code == "OBEP620"
        _, said, *because = answer.reason.split(": ")
        assert sorted(said.split(", ")) == sorted(case["clash"])
        assert because == (["; ".join(case["because"])] if "because" in case else [])
    else:
        assert found(matcher, case["item"]) == set(case["expect"])
    assert matcher.unknown == case.get("unknown", 0)
