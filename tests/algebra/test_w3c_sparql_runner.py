"""The runner for the W3C's SPARQL 1.1 evaluation tests, on small cases of the same format."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from w3c_sparql import results

ANSWERED = ("table", "blank", "json", "comma", "tabs", "graph", "asked", "listed", "named", "from", "order")


def test_the_runner_tells_what_passes_what_fails_and_what_cannot_be_asked() -> None:
    found = {name: what for what, name, _ in results(Path(__file__).parent / "data" / "w3c")}
    assert found == {
        **dict.fromkeys(ANSWERED, "pass"),
        **dict.fromkeys(("wrong order", "a row too many"), "fail"),
        **dict.fromkeys(("service", "entailed"), "not expressible"),
    }
