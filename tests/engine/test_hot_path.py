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
QUERY = """FROM STREAM <doors>
EVENT Busy AS B
EVENT Free AS F
EVENT Exiting(?room) MATCH Busy(?room) SEQ Free(?room) WITHIN 5 min
RETURN Exiting
"""


def line(at: int, room: str, kind: str) -> str:
    graph = f"<http://e/{room}> a <http://example.org/obep#{kind}> ."
    return f'{{"stream": "doors", "time": {at}, "graph": "{graph}"}}\n'


def test_an_item_passes_few_modules() -> None:
    engine = obep.load(text=QUERY, java=False).engine(remember=0)  # nobody listens

    def run(*lines: str) -> list[str]:
        records = read_json_lines(io.BytesIO("".join(lines).encode()), Reading("doors"))
        return [to_line(found) for found in engine.push_items(records)]

    run(*[line(at, "a", "BF"[at % 2]) for at in range(8)])  # from now on such items are known
    passed: set[str] = set()

    def watch(frame: FrameType, event: str, argument: object) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(str(ROOT)):
            passed.add(str(Path(name).relative_to(ROOT)))

    sys.setprofile(watch)
    try:
        found = run(line(8, "a", "B"), line(9, "a", "F"))
    finally:
        sys.setprofile(None)
    assert len(found) == 5  # each of the B before
    assert len(passed) <= MOST, sorted(passed)
    beside = {name for name in passed if name.split("/")[0] in ("cli", "lints", "run", "why_not")}
    assert beside == set()
