"""Tests of queries in milliseconds: run one on a list of items, and compare with what is expected of it.

    from obep.testing import assert_finds

    def test_the_room_is_left():
        query = obep.load("rooms.obep")
        assert_finds(query, [(2, CLOSED), (3, OPEN)], [{"event": "Exiting", "start": 2, "end": 3}])

An expected record holds as much of an occurrence as matters: its event (by IRI or name) and any of id, start,
end, detected, bindings, because (all of its causes, of each as much as matters). `obep test` compares in the
same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from obep.engine.query import Query
from obep.model import SECOND
from obep.output.json_writer import to_json
from obep.run.case_comparison import Record, difference

Timed = tuple[Any, Any] | tuple[Any, Any, str]
"""An instant, a graph (whatever `Engine.push` takes), and its stream if there are several."""


class HandClock:
    """A clock of arrival that only moves by hand: `query.engine(idle=60, now=HandClock())`.

    >>> clock = HandClock()
    >>> clock.move(90)
    >>> clock()
    90000000
    """

    def __init__(self, seconds: float = 0) -> None:
        self.seconds = seconds

    def move(self, seconds: float) -> None:
        """Let so much time pass."""
        self.seconds += seconds

    def __call__(self) -> int:
        return round(self.seconds * SECOND)


def found_in(query: Query, items: Iterable[Timed], **settings: Any) -> list[Record]:
    """Everything that the query finds in the items up to their end; `settings` are those of the engine."""
    engine = query.engine(**settings)
    hits = []
    for at, graph, *stream in items:
        hits += engine.push(graph, at=at, stream=stream[0] if stream else None)
    hits += engine.close()
    return [to_json(hit) for hit in hits]


def assert_finds(query: Query, items: Iterable[Timed], expected: Sequence[Record], **settings: Any) -> None:
    """Fails with a diff unless the query finds just what is expected, in any order."""
    lines = difference(found_in(query, items, **settings), list(expected))
    if lines:
        raise AssertionError("\n".join(lines))
