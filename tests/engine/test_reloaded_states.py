"""A runtime with states whose `load` forgets all that it held, as when Spark runs a task again."""

from __future__ import annotations

import msgspec
import pytest

import obep
from obep.abstraction.matcher import Matched, Matcher
from obep.engine.runtime import Runtime
from obep.model import RDF_TYPE, SECOND, Alert, Item, Occurrence, Triple

E = "http://e/"
TEXT = """PREFIX : <http://e/>
FROM STREAM <s>
FROM NAMED WINDOW <known> ON <s> [LATEST]
EVENT Hot AS Warmth
EVENT Cold AS Chill
STATE Warm(?s) FROM Hot(?s) TO Cold(?s) TIMEOUT 8 s
STATE Both(?s) AS { Warm(?s) FOR 3 s . WINDOW <known> { ?s :celsius ?k } }
EVENT Long(?s) MATCH Warm(?s) FOR 5 s
"""
HOT = ((f"<{E}y>", RDF_TYPE, f"<{E}Warmth>"), (f"<{E}y>", f"<{E}celsius>", '"41"'))


COLD = ((f"<{E}y>", RDF_TYPE, f"<{E}Chill>"),)


def begun(returned: str) -> tuple[Runtime, Matcher]:
    """A runtime to which y was hot at 1 s."""
    query = obep.load(text=TEXT + returned, java=False)
    matcher = Matcher(query.bundle, query.asks.all)
    runtime = Runtime(query.plan, matcher)
    assert pushed(runtime, matcher, 1, HOT) == []
    return runtime, matcher


def pushed(runtime: Runtime, matcher: Matcher, second: int, triples: tuple[Triple, ...]) -> list[Occurrence]:
    item = Item("s", second * SECOND, triples)
    matched = matcher.match(item)
    assert isinstance(matched, Matched)
    return runtime.push(item.at, matched.occurrences, (item,))


def advanced(runtime: Runtime, *seconds: int) -> list[Occurrence]:
    return [one for second in seconds for one in runtime.advance(second * SECOND)]


def seen(found: list[Occurrence]) -> list[tuple[str, float, float]]:
    return [(one.event.removeprefix(f"<{E}")[:-1], one.start / SECOND, one.end / SECOND) for one in found]


@pytest.mark.parametrize("ahead", [6, 7, 20])
def test_an_episode_that_lasted_long_enough_is_reported_once_after_a_load(ahead: int) -> None:
    """At 6 s it is ripe, and reported when that instant closes: it was ripe twice."""
    runtime, _ = begun("RETURN Long")
    advanced(runtime, 5)
    before = msgspec.msgpack.encode(runtime.dump())
    advanced(runtime, ahead)
    runtime.load(msgspec.msgpack.decode(before))
    assert seen(advanced(runtime, 6, 7)) == [("Long", 1, 6)]


@pytest.mark.parametrize("ahead", [5, 8, 20])
def test_an_episode_of_a_group_whose_rows_are_there_already_begins_after_a_load(ahead: int) -> None:
    """The rows are those of before the load; none came, and so the episode did not begin."""
    runtime, _ = begun("RETURN Both AS ALERTS")
    advanced(runtime, 4)
    before = msgspec.msgpack.encode(runtime.dump())
    advanced(runtime, ahead)
    runtime.load(msgspec.msgpack.decode(before))
    assert seen(advanced(runtime, 5)) == [("Both", 4, 4)]


def test_what_expired_before_a_load_has_not_expired_after_it() -> None:
    """Without the cold at 9 s y would expire then."""
    runtime, matcher = begun("RETURN Both AS ALERTS")
    advanced(runtime, 8)
    before = msgspec.msgpack.encode(runtime.dump())
    assert [one.ended for one in advanced(runtime, 10) if isinstance(one, Alert)] == ["expired"]
    runtime.load(msgspec.msgpack.decode(before))
    found = [*pushed(runtime, matcher, 9, COLD), *advanced(runtime, 10)]
    assert [one.ended for one in found if isinstance(one, Alert)] == ["changed"]
