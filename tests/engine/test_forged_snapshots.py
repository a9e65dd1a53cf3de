"""A snapshot that somebody wrote under a right digest is refused when it is restored, not in a later push."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

import obep
from obep.engine.snapshots.sealed import sealed, unsealed
from obep.errors import ObepError

QUERY = obep.load(
    text="""PREFIX : <http://e/>
FROM STREAM <s>
EVENT X AS A
EVENT Y AS B
EVENT Pair(?k) MATCH X AS x SEQ Y AS y WITHIN 10 s PARTITION BY ?k
  IF { EVENT x { ?this :k ?k . } EVENT y { ?this :k ?k . } }
RETURN ALL""",
    java=False,
)
CLOCK, COUNTERS, WAITING, VERSIONS = 2, 3, 4, 5
NOW, OCCURRENCES, RUNS, ARRIVED, ITEMS, CONTENTS = range(6)
Tree = Any


def snapshot() -> bytes:
    engine = QUERY.engine(lateness=2)
    for at, kind in enumerate("ABAAB", 1):
        engine.push(f"<http://e/x> a <http://e/{kind}> ; <http://e/k> 1 .", at=at)
    return engine.snapshot()


def forged(change: Callable[[Tree], object]) -> bytes:
    tree = msgspec.msgpack.decode(unsealed(snapshot(), "", ""))
    change(tree)
    return sealed(msgspec.msgpack.encode(tree))


CHANGES: dict[str, Callable[[Tree], object]] = {
    "a counter is missing": lambda tree: tree[COUNTERS].pop("items"),
    "a term of a waiting item is empty": lambda tree: tree[WAITING][0][2][0].__setitem__(0, ""),
    "a waiting item holds statements in a term": lambda tree: tree[WAITING][0][2][0].__setitem__(
        2, "<http://e/a> . <http://e/b> <http://e/p> <http://e/c>"
    ),
    "what has arrived is a number": lambda tree: _state(tree)[ARRIVED].append(7),
    "what has arrived is none of the occurrences": lambda tree: _state(tree)[ARRIVED].append({"o": 99}),
    "an explanation has a number for a triple": lambda tree: _state(tree)[OCCURRENCES][0][2].append([5, 1]),
    "an instant of an occurrence is a text": lambda tree: _state(tree)[OCCURRENCES][0][3].__setitem__(0, "1"),
    "a leaf that there is not waits": lambda tree: _runs(tree)[-1].append([9, {"o": 0}]),
    "a number waits for a leaf": lambda tree: _runs(tree)[-1].append([0, 0]),
    "there is no version of the query": lambda tree: tree[VERSIONS].clear(),
    "an older version has no syntax tree": lambda tree: tree[VERSIONS][0].__setitem__(0, b"query"),
    "a version decides what it does not define": lambda tree: tree[VERSIONS][0][2].append("<http://e/Z>"),
    "a version began for what it does not define": lambda tree: tree[VERSIONS][0].__setitem__(1, ["<x>"]),
}


def _state(tree: Tree) -> Tree:
    """What the only version of the query remembers."""
    ((*_, state),) = tree[VERSIONS]
    return state


def _runs(tree: Tree) -> Tree:
    """The state of `Pair`: what its intake holds stands last."""
    (state,) = [state for event, state in _state(tree)[RUNS] if event == "<http://e/Pair>"]
    return state


def test_a_snapshot_that_was_taken_apart_and_put_together_is_taken() -> None:
    engine = QUERY.engine(lateness=2)
    engine.restore(forged(lambda tree: None))
    assert engine.counters["items"] == 5


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_state_of_another_form_is_refused_before_anything_is_taken_from_it(
    change: Callable[[Tree], object],
) -> None:
    engine = QUERY.engine(lateness=2)
    engine.push("<http://e/x> a <http://e/A> .", at=1)
    before = engine.snapshot()
    with pytest.raises(ObepError) as caught:
        engine.restore(forged(change))
    assert caught.value.code == "OBEP573"
    assert engine.snapshot() == before
