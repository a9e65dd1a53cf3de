"""The way of an item is short: a line of JSON goes in, a line of JSON comes out."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from types import FrameType

import obep
from obep.formats.json_lines import read_json_lines
from obep.formats.stream_reader import Reading
from obep.output.json_writer import to_line

ROOT = Path(obep.__file__).parent
MOST = 22
MOST_OF_STATES = 30
"""With the state itself, its episodes and their record."""
BESIDE = ("cli", "lints", "run", "why_not")
QUERY = """FROM STREAM <doors>
EVENT Busy AS B
EVENT Free AS F
EVENT Exiting(?room) MATCH Busy(?room) SEQ Free(?room) WITHIN 5 min
RETURN Exiting
"""


def line(at: int, room: str, kind: str) -> str:
    graph = f"<http://e/{room}> a <http://example.org/obep#{kind}> ."
    return f'{{"stream": "doors", "time": {at}, "graph": "{graph}"}}\n'


STATES = """FROM STREAM <doors>
EVENT Busy AS B
EVENT Free AS F
STATE Occupied(?room) FROM Busy(?room) TO Free(?room) TIMEOUT 1 h
EVENT Exiting(?room) MATCH END Occupied(?room)
RETURN Exiting
"""


def passed_modules(query: str) -> tuple[int, set[str]]:
    """How much two items find after eight others, and the modules that they pass."""
    engine = obep.load(text=query, java=False).engine(remember=0)  # without an observer
    reading = Reading("doors")  # one stream: only its first time is looked at for its unit

    def run(*lines: str) -> list[str]:
        records = read_json_lines(io.BytesIO("".join(lines).encode()), reading)
        return [to_line(found) for found in engine.push_items(records)]

    run(*[line(at, "a", "BF"[at % 2]) for at in range(8)])  # from now on such items are known
    passed: set[str] = set()

    def watch(frame: FrameType, event: str, argument: object) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(str(ROOT)):
            passed.add(str(Path(name).relative_to(ROOT)))

    sys.setprofile(watch)
    try:
        found = run(line(8, "a", "B"), line(9, "a", "F"), line(10, "a", "B"))
    finally:
        sys.setprofile(None)
    return len(found), passed


def test_an_item_passes_few_modules() -> None:
    found, passed = passed_modules(QUERY)
    assert found == 5  # each of the B before
    assert len(passed) <= MOST, sorted(passed)
    assert {name for name in passed if name.split("/")[0] in BESIDE} == set()


def test_an_item_of_a_state_passes_no_module_of_diagnosis() -> None:
    found, passed = passed_modules(STATES)
    assert found == 2  # the ends at 7 and 9, each when the next instant comes
    assert len(passed) <= MOST_OF_STATES, sorted(passed)
    assert {name for name in passed if name.split("/")[0] in BESIDE} == set()
