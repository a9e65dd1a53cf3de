"""One case for each kind of reasoning that the rules leave to HermiT, as data: `data_reasoner/*.toml`."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from cases import bundle, found, item

from obep.abstraction.matcher import Matcher
from obep.model import DeadLetter

CASES = [
    pytest.param(case, id=case["name"])
    for path in sorted((Path(__file__).parent / "data_reasoner").glob("*.toml"))
    for case in tomllib.loads(path.read_text())["case"]
]


@pytest.mark.java
@pytest.mark.parametrize("case", CASES)
def test_kinds_for_the_reasoner(case: dict[str, Any]) -> None:
    compiled = bundle(case["t"], case["events"], case.get("k", ""), java=True)
    matcher = Matcher(compiled)
    if "clash" in case:
        answer = matcher.match(item(case["item"]))
        assert isinstance(answer, DeadLetter)
        assert sorted(answer.reason.split(": ", 1)[1].split(", ")) == sorted(case["clash"])
    else:
        assert found(matcher, case["item"]) == set(case["expect"])


@pytest.mark.parametrize("case", CASES)
def test_without_java_these_are_named_and_nothing_is_invented(case: dict[str, Any]) -> None:
    compiled = bundle(case["t"], case["events"], case.get("k", ""))
    assert all(words.startswith("needs the reasoner for ") for words in compiled.status.values())
    assert found(Matcher(compiled), case["item"]) <= set(case.get("expect", ()))
