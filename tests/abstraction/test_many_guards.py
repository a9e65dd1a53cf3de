"""Many guarded events over one class: what is the same for all of them is found out once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import obep
from obep.abstraction.explanations import Explainer
from obep.guards.block_solutions import Block
from obep.model import RDF_TYPE

HEAD = "PREFIX : <http://e/#>\nFROM STREAM <s>\n"
CASES = {
    "whole item": "A IF {{ ?this :v ?v . FILTER(?v = {0}) }}",
    "explanation": "(A and p some B) IF {{ ?this :p ?y ; :v ?v . FILTER(?v = {0}) }}",
}


def calls(monkeypatch: pytest.MonkeyPatch, owner: type, name: str) -> list[str]:
    """A list that grows with every call of a method."""
    made: list[str] = []
    method: Callable[..., Any] = getattr(owner, name)

    def counted(*arguments: Any, **settings: Any) -> Any:
        made.append(name)
        return method(*arguments, **settings)

    monkeypatch.setattr(owner, name, counted)
    return made


def work(monkeypatch: pytest.MonkeyPatch, rules: int, definition: str) -> tuple[int, int]:
    """How often guards are solved and explanations searched for; five events occur for the first time."""
    events = "".join(f"EVENT E{n} AS {definition.format(n)}\n" for n in range(rules))
    engine = obep.load(text=f"{HEAD}{events}RETURN ALL", java=False, lints=False).engine()
    solved = calls(monkeypatch, Block, "solutions")
    searched = calls(monkeypatch, Explainer, "search")
    for n in range(5):
        item = f"@prefix : <http://e/#> . :x a :A ; :p :y ; :v {n} . :y a :B ."
        hits = [hit.event for hit in engine.push(item, at=n)]
        assert hits == [f"<http://e/#E{n - 1}>"] * bool(n)  # an instant closes with the next item
    assert [hit.event for hit in engine.close()] == ["<http://e/#E4>"]
    monkeypatch.undo()
    return len(solved), len(searched)


@pytest.mark.parametrize("case", CASES)
def test_the_work_for_first_matches_does_not_grow_with_the_rules(
    monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    few = work(monkeypatch, 6, CASES[case])
    assert work(monkeypatch, 24, CASES[case]) == few
    assert few[0] <= 6  # once for the items' shape, and at most once for each event that occurs


def test_patterns_of_different_vocabulary_are_told_apart() -> None:
    """A property of the definition is read off the explanation, any other off the item (SPEC D7)."""
    engine = obep.load(
        text=HEAD
        + "EVENT Narrow AS A and p some B IF { ?this :p ?y . }\n"
        + "EVENT Wide AS A and p some B and q some B IF { ?this :p ?y . }\n"
        + "EVENT Whole AS A IF { ?this :p ?y . }\nRETURN ALL",
        java=False,
    ).engine()
    item = "@prefix : <http://e/#> . :x a :A ; :p :y, :z ; :q :y . :y a :B ."
    found = [*engine.push(item, at=1), *engine.close()]
    said = ("<http://e/#x>", RDF_TYPE, "<http://e/#A>")
    of_item = [hit for hit in found if said in dict(hit.explanation)]  # the others are of the next stratum
    rows = {hit.event: sorted(row["y"] for row in hit.bindings) for hit in of_item}
    assert rows == {
        "<http://e/#Narrow>": ["<http://e/#y>"],
        "<http://e/#Wide>": ["<http://e/#y>"],
        "<http://e/#Whole>": ["<http://e/#y>", "<http://e/#z>"],
    }
