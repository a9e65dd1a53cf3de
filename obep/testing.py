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

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Unpack

from obep.engine.engine import Engine
from obep.engine.query import EngineSettings, Query
from obep.engine.time_letters import kept_streams
from obep.errors import count, fail
from obep.formats.tables.frame_items import Settings
from obep.frames.detect_frame import open_frames
from obep.frames.result import Result
from obep.model import SECOND, Alert, DeadLetter, Item, Occurrence, local_name
from obep.output.json_writer import to_json
from obep.run.case_comparison import Record, difference
from obep.run.cases import as_expected, expected
from obep.why_not.target import question, split, state_question


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


class CheckSettings(EngineSettings, total=False):
    """How items are read, as `obep.detect` has it, and the settings of the engine."""

    mapping: Settings | None
    time: str
    subject: str
    stream: str | None


def hits_in(query: Query, items: Any, **settings: Unpack[CheckSettings]) -> tuple[Engine, list[Occurrence]]:
    """The engine after all items and its end, and what it has found.

    `items` are pairs of an instant and a graph (and the stream), or a frame as `obep.detect` takes it, whose
    `mapping`, `time`, `subject` and `stream` are given as there. It is an error if all are refused.

    >>> import obep
    >>> query = obep.load(text="PREFIX : <http://e/>\\nEVENT Hot AS (celsius some number[> 30])\\nRETURN Hot")
    >>> rows = [{"time": 1, "room": "z1", "celsius": 31}, {"time": 2, "room": "z2", "celsius": 12}]
    >>> engine, hits = hits_in(query, rows)
    >>> [hit.individual for hit in hits]
    ['<http://e/z1>']
    """
    engine, hits, _ = _found(query, _kept(items), settings)
    return engine, hits


HOW = ("mapping", "time", "subject", "stream")


def _found(
    query: Query, given: Any, settings: Mapping[str, Any]
) -> tuple[Engine, list[Occurrence], list[str]]:
    """The engine, what it has found, and a line about what was refused."""
    how, own = _apart(settings)
    letters: list[DeadLetter] = []
    engine = query.engine(**{"remember": None, "on_dead_letter": letters.append, **own})
    if _are_pairs(given):
        hits = [hit for pair in given for hit in _push(engine, pair)]
    else:
        hits = engine.push_frame(given, **how)
    hits += engine.close()
    refused, taken = engine.counters["dead_letters"], engine.counters["items"]
    if not (refused and letters):  # letters may be about occurrences, which are no items of the next stratum
        return engine, hits, []
    said = f"{refused} of {taken} items refused, the first with {letters[0].code}"
    if refused == taken:
        raise fail("OBEP560", said, reason=f"{letters[0].reason}.")
    return engine, hits, [f"{said}: {letters[0].reason}"]


def _kept(items: Any) -> Any:
    """Items that can be gone through more than once."""
    return list(items) if isinstance(items, Iterator) else items


def _apart(settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """How items are read, and the settings of the engine."""
    how = {name: settings[name] for name in HOW if name in settings}
    return how, {name: value for name, value in settings.items() if name not in how}


def _are_pairs(given: Any) -> bool:
    """Whether items are pairs of an instant and a graph, or triples with a stream."""
    first = given[0] if isinstance(given, Sequence) and given else None
    return isinstance(first, tuple) and not isinstance(first, Item | DeadLetter)


def _push(engine: Engine, pair: tuple[Any, ...]) -> list[Occurrence]:
    at, graph, *stream = pair
    return engine.push(graph, at=at, stream=stream[0] if stream else None)


def _pushes(query: Query, given: Any, how: dict[str, Any]) -> list[Callable[[Engine], list[Occurrence]]]:
    """What takes each of some items by itself."""
    if _are_pairs(given):
        return [partial(_push, pair=pair) for pair in given]
    items = kept_streams(list(open_frames(query, given, **how).items), query.linked.streams)
    return [partial(Engine.push_items, items=[item]) for item in items]


def found_in(query: Query, items: Any, **settings: Unpack[CheckSettings]) -> list[Record]:
    """Everything that the query finds in the items up to their end; `settings` are those of `hits_in`.

    >>> import obep
    >>> query = obep.load(text="PREFIX : <http://e/>\\nEVENT Hot AS (celsius some number[> 30])\\nRETURN Hot")
    >>> rows = [{"time": 1, "room": "z1", "celsius": 31}, {"time": 2, "room": "z2", "celsius": 12}]
    >>> [(one["start"], one["because"][0]["individual"]) for one in found_in(query, rows)]
    [(1, 'http://e/z1')]
    """
    return [to_json(hit) for hit in hits_in(query, items, **settings)[1]]


def assert_finds(
    query: Query, items: Any, expected: Sequence[Record], **settings: Unpack[CheckSettings]
) -> None:
    """Fails with a diff unless the query finds just what is expected, in any order.

    >>> import obep
    >>> query = obep.load(text="PREFIX : <http://e/>\\nEVENT Hot AS (celsius some number[> 30])\\nRETURN Hot")
    >>> rows = [{"time": 1, "room": "z1", "celsius": 31}, {"time": 2, "room": "z2", "celsius": 12}]
    >>> assert_finds(query, rows, [{"event": "Hot", "start": 1}])
    """
    _, hits, refused = _found(query, _kept(items), settings)
    if lines := difference([to_json(hit) for hit in hits], list(expected)):
        raise AssertionError("\n".join([*lines, *refused]))


def assert_occurs(query: Query, items: Any, event: str, **settings: Unpack[CheckSettings]) -> Occurrence:
    """Fails with what came nearest unless the query reports the event; gives the first occurrence of it.

    `event` is written as in `Engine.why_not`: `Hot`, `Overheated(:z1)`, `Pair(:a, _)`. A state
    occurs when its alert fires.

    >>> import obep
    >>> query = obep.load(text="PREFIX : <http://e/>\\nEVENT Hot AS (celsius some number[> 30])\\nRETURN Hot")
    >>> assert_occurs(query, [{"time": 1, "room": "z1", "celsius": 31.5}], "Hot(:z1)").start
    1000000
    """
    engine, hits, refused = _found(query, _kept(items), settings)
    fits = _asked(query, event)
    found = next((hit for hit in hits if fits(hit)), None)
    if found is None:
        raise AssertionError("\n".join([f"{event} does not occur.", *refused, str(engine.why_not(event))]))
    return found


def assert_never_occurs(query: Query, items: Any, event: str, **settings: Unpack[CheckSettings]) -> None:
    """Fails with the causes if the query reports the event; it is written as in `assert_occurs`.

    >>> import obep
    >>> query = obep.load(text="PREFIX : <http://e/>\\nEVENT Hot AS (celsius some number[> 30])\\nRETURN Hot")
    >>> rows = [{"time": 1, "room": "z1", "celsius": 31}, {"time": 2, "room": "z2", "celsius": 12}]
    >>> assert_never_occurs(query, rows, "Hot(:z2)")
    """
    _, hits = hits_in(query, items, **settings)
    fits = _asked(query, event)
    if found := [hit for hit in hits if fits(hit)]:
        raise AssertionError(f"{event} occurs {count(len(found), 'time')}; the first:\n{found[0].why()}")


def _asked(query: Query, event: str) -> Callable[[Occurrence], bool]:
    """Whether an occurrence is one of those that are written so; of an event that is returned."""
    name, arguments = split(event)
    file = query.linked.file
    for state in query.plan.states:
        if name in (state.name, state.state[1:-1], local_name(state.state)):
            of_state = state_question(state, arguments, file)
            return lambda hit: isinstance(hit, Alert) and hit.event == state.state and of_state.fits(hit)
    for plan in query.plan.events:
        if not plan.hidden and name in (plan.name, plan.event[1:-1], local_name(plan.event)):
            if plan.event not in query.plan.returned:
                raise fail("OBEP882", f"{name} is not returned by the query", remedy=f"RETURN {plan.name}")
            of_event = question(plan, arguments, file)
            return lambda hit: hit.event == plan.event and of_event.fits(hit)
    known = ", ".join(plan.name for plan in query.plan.events if not plan.hidden)
    raise fail("OBEP100", f"the query defines no event {name}", reason=f"It defines {known}.")


def assert_survives_crashes(
    query: Query, items: Any, at: Iterable[int] | None = None, **settings: Unpack[CheckSettings]
) -> list[Occurrence]:
    """Fails unless a run that crashes after some of the items finds the same as one that does not.

    `at` are the numbers of the items after which the engine is dropped and another one continues from its
    snapshot; by default after each. Gives what is found.

    >>> import obep
    >>> query = obep.load(text="PREFIX : <http://e/>\\nEVENT Hot AS (celsius some number[> 30])\\nRETURN Hot")
    >>> rows = [{"time": 1, "room": "z1", "celsius": 31}, {"time": 2, "room": "z2", "celsius": 12}]
    >>> len(assert_survives_crashes(query, rows))
    1
    """
    given, (how, own) = _kept(items), _apart(settings)
    pushes = _pushes(query, given, how)
    crashes = set(range(1, len(pushes) + 1) if at is None else at)
    if beyond := crashes - set(range(1, len(pushes) + 1)):
        raise ValueError(f"there is no item {min(beyond)} to crash after: at counts from 1 to {len(pushes)}")
    _, whole = hits_in(query, given, **settings)
    engine, found = query.engine(**own), []
    for number, push in enumerate(pushes, 1):
        found += push(engine)
        if number in crashes:
            saved = engine.snapshot()
            engine = query.engine(**own)
            engine.restore(saved)
    found += engine.close()
    if [hit.record_id for hit in found] != [hit.record_id for hit in whole]:
        lines = difference([to_json(hit) for hit in found], [to_json(hit) for hit in whole])
        raise AssertionError("\n".join(["crashes change what is found:", *lines]))
    return found


def assert_snapshot(found: Result | Iterable[Occurrence], path: str | Path) -> None:
    """Fails with a diff unless what was found is what the file holds, as JSON lines.

    A file that is not there is written, and so is any with `pytest --obep-update` or OBEP_UPDATE=1: read it
    before you keep it.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     assert_snapshot([], f"{folder}/found.jsonl")  # writes it
    ...     assert_snapshot([], f"{folder}/found.jsonl")  # compares
    """
    hits = found.found if isinstance(found, Result) else found
    path, records = Path(path), [to_json(hit) for hit in hits]
    if os.environ.get("OBEP_UPDATE") or not path.exists():
        path.write_text(as_expected(records), "utf-8")
        return
    if lines := difference(records, expected(path)):
        raise AssertionError("\n".join([*lines, f"OBEP_UPDATE=1 writes {path.name} anew"]))
