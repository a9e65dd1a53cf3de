"""States by rows and episodes that wait (issue 14), from parsed items, on one core.

    python bench/states.py                          all of it
    python bench/states.py --fill 3700000           the window of 1 h full, too (4 GB)
    python bench/states.py --episodes 1000000 --keys 1000000
    python bench/states.py --flink /path/to/python  a Python with apache-flink: Flink SQL on the same rows

OVER and W1's SEQ take the same items in turn, a slice each; FOR and NOT FOLLOWED BY run in processes of their
own, in turn. All answers are counted, and compared with those of a loop that shares nothing with obep.
"""

from __future__ import annotations

import argparse
import gc
import json
import resource
import subprocess
import sys
import time
import tracemalloc
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from figures import Figure, show

import obep
from obep.engine.engine import Engine
from obep.model import RDF_TYPE, Item

NS = "http://example.org/"
DECIMAL = "<http://www.w3.org/2001/XMLSchema#decimal>"
HEAD = f"PREFIX : <{NS}>\n"
W1 = """EVENT A AS ClassA
EVENT B AS ClassB
EVENT H(?room) MATCH A(?room) SEQ B(?room) WITHIN 5 s
RETURN H
"""
OVER = """EVENT Reading AS (amount some number)
STATE High(?room) OVER Reading(?room) AS r WITHIN {within} IF {{ EVENT r {{ ?room :amount ?v }} }}
AGGREGATE (AVG(?v) AS ?mean) (COUNT(*) AS ?n) (MAX(?v) AS ?most) {having}
EVENT Begun(?room) MATCH BEGIN High(?room)
RETURN Begun
"""
HAVING = "HAVING (?mean > 31 && ?n >= 1 && ?most > 31.5)"
EPISODES = {
    "FOR": """STATE Up(?room) FROM On(?room) TO Off(?room)
EVENT Long(?room) MATCH Up(?room) FOR 1 h
RETURN Long
""",
    "NOT FOLLOWED BY": """EVENT Long(?room) MATCH On(?room) NOT FOLLOWED BY Off(?room) WITHIN 1 h
RETURN Long
""",
}
KEY = "KEY"
SWITCHES = "EVENT On AS ClassOn\nEVENT Off AS ClassOff\n"
MILLISECOND, SECOND, HOUR = 1_000, 1_000_000, 3_600_000_000
WIDTHS = {"1 s": SECOND, "10 min": 600 * SECOND, "1 h": HOUR}
Row = tuple[int, int, int]
"""An instant, a room, an amount in tenths."""


class Rooms:
    """Amounts that drift, as temperatures do, one item at a time in a random room."""

    def __init__(self, keys: int, apart: int = MILLISECOND) -> None:
        self.random = Random(keys)
        self.names = [f"<{NS}room{number}>" for number in range(keys)]
        self.levels = [self.random.randint(150, 320) for _ in self.names]
        self.apart = apart
        self.at = 0

    def rows(self, count: int) -> Iterator[Row]:
        for _ in range(count):
            room = self.random.randrange(len(self.names))
            level = self.levels[room] + self.random.randint(-3, 3)
            self.levels[room] = min(max(level, 150), 350)
            self.at += self.apart
            yield self.at, room, self.levels[room]

    def item(self, row: Row) -> Item:
        at, room, tenths = row
        name, kind = self.names[room], self.random.choice("ABCD")
        amount = f'"{tenths // 10}.{tenths % 10}"^^{DECIMAL}'
        return Item("", at, ((name, RDF_TYPE, f"<{NS}Class{kind}>"), (name, f"<{NS}amount>", amount)))


class Loop:
    """What OVER must find, by hand: how often a room begins to be high."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.rows: deque[Row] = deque()
        self.by_room: dict[int, deque[int]] = {}
        self.sums: dict[int, int] = {}
        self.high: set[int] = set()
        self.begun = 0

    def take(self, row: Row) -> None:
        at, room, tenths = row
        touched = {room: None}
        while self.rows and self.rows[0][0] <= at - self.width:
            left = self.rows.popleft()[1]
            self.sums[left] -= self.by_room[left].popleft()
            touched[left] = None
        self.rows.append(row)
        self.by_room.setdefault(room, deque()).append(tenths)
        self.sums[room] = self.sums.get(room, 0) + tenths
        for one in touched:
            amounts = self.by_room[one]
            if amounts and self.sums[one] > 310 * len(amounts) and max(amounts) > 315:
                self.begun += one not in self.high
                self.high.add(one)
            else:
                self.high.discard(one)


class PairLoop:
    """What W1 must find, by hand: how many A have a B of their room within 5 s after them."""

    def __init__(self) -> None:
        self.waiting: dict[str, deque[int]] = {}
        self.found = 0

    def take(self, item: Item) -> None:
        room, _, kind = item.triples[0]
        waiting = self.waiting.setdefault(room, deque())
        if kind.endswith("A>"):
            waiting.append(item.at)
        elif kind.endswith("B>"):
            while waiting and item.at - waiting[0] >= 5 * SECOND:
                waiting.popleft()
            self.found += len(waiting)


def over(within: str, having: str = HAVING) -> Engine:
    return engine(OVER.format(within=within, having=having))


def engine(text: str) -> Engine:
    return obep.load(text=HEAD + text, java=False).engine(remember=0)


def push(running: Engine, items: list[Item]) -> tuple[float, int]:
    """The processor time that items take, and the answers."""
    gc.collect()
    gc.disable()
    begin = time.process_time()
    found = running.push_items(items)
    took = time.process_time() - begin
    gc.enable()
    return took, len(found)


def over_figures(fill: int, rounds: int, size: int) -> list[Figure]:
    """OVER against W1, WITHIN 1 s and 1 h against 10 min, and without HAVING."""
    rooms = Rooms(1_000)
    engines = {"W1": engine(W1), **{within: over(within) for within in WIDTHS}}
    engines["no HAVING"] = over("10 min", "")
    loops = {within: Loop(width) for within, width in WIDTHS.items()}
    pairs, answers = PairLoop(), dict.fromkeys(engines, 0)
    times: dict[str, list[float]] = {name: [] for name in engines}
    for number in range(-(-fill // size) + rounds):
        rows = list(rooms.rows(size))
        items = [rooms.item(row) for row in rows]
        for name, running in engines.items():
            took, found = push(running, items)
            answers[name] += found
            if number >= -(-fill // size):
                times[name].append(took / size * 1e6)
        for item in items:
            pairs.take(item)
        for loop in loops.values():
            for row in rows:
                loop.take(row)
    assert answers["W1"] == pairs.found, (answers, pairs.found)
    for within, loop in loops.items():
        assert answers[within] == loop.begun > 0, (within, answers[within], loop.begun)
    print(f"  {sum(map(len, times.values())):,} slices; answers as by hand: {answers}")
    base = times["W1"]
    found = [
        Figure("OVER, 1,000 keys: W1's SEQ on the same items", tuple(1e6 / one for one in base)),
        Figure("OVER AVG, COUNT, MAX, WITHIN 10 min", tuple(1e6 / one for one in times["10 min"])),
        ratio("  an item of OVER against one of W1", times["10 min"], base, most=2.0),
    ]
    for within in ("1 s", "1 h"):
        title = f"  WITHIN {within} against WITHIN 10 min"
        found.append(ratio(title, times[within], times["10 min"], most=1.1))
    found.append(ratio("  all groups hold, with new values at each item", times["no HAVING"], base))
    return found


def ratio(title: str, ones: list[float], others: list[float], most: float | None = None) -> Figure:
    values = tuple(one / other for one, other in zip(ones, others, strict=True))
    return Figure(title, values, "times", most=most)


def width_figures(rows: int, rounds: int, size: int) -> list[Figure]:
    """A window of an hour that is full of rows against one with a hundred, both with ten keys."""
    rooms = Rooms(10, apart=HOUR // rows)
    engines = (over("1 h"), over(f"{100 * rooms.apart // 1000} ms"))
    times: tuple[list[float], list[float]] = ([], [])
    filled = -(-rows // size)
    for number in range(filled + rounds):
        items = [rooms.item(row) for row in rooms.rows(size)]
        for running, spent in zip(engines, times, strict=True):
            took, _ = push(running, items)
            if number >= filled:
                spent.append(took)
    return [ratio(f"OVER: a window with {rows:,} rows against one with 100", *times, most=1.1)]


def key_figures(keys: int) -> list[Figure]:
    """What a key takes, in a process of its own."""
    return [Figure(f"OVER: a key with one row, of {keys:,}", (_own_process(KEY, keys)["bytes"],), "bytes")]


def key_bytes(keys: int) -> dict[str, float]:
    """The bytes of Python's objects for each key with a row; nothing is left when all rows have left."""
    rooms, running = Rooms(keys), over("1 h")
    rows = [((number + 1) * MILLISECOND, number, 200) for number in range(keys)]
    running.push_items([rooms.item((0, 0, 200))])
    gc.collect()
    tracemalloc.start()
    for first in range(0, keys, 10_000):
        running.push_items([rooms.item(row) for row in rows[first : first + 10_000]])
    running.advance((keys + 1) * MILLISECOND / SECOND)  # so that the last instant is closed
    gc.collect()
    each = tracemalloc.get_traced_memory()[0] / keys
    tracemalloc.stop()
    assert running.remembered == keys + 1, running.remembered
    running.advance(2 * HOUR / SECOND)
    assert running.remembered == 0, running.remembered
    return {"bytes": each}


def resident() -> int:
    """The bytes that the process holds now."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def episodes(kind: str, count: int) -> dict[str, float]:
    """Begins so many episodes, a millisecond apart; then all fire. Microseconds and bytes for each."""
    running = engine(SWITCHES + EPISODES[kind])
    running.push_items([_switch("On", -1, MILLISECOND), _switch("Off", -1, 2 * MILLISECOND)])
    apart = HOUR // 2 // count
    before, begin, fire = resident(), 0.0, 0.0
    for first in range(0, count, 10_000):
        last = min(first + 10_000, count)
        items = [_switch("On", number, SECOND + number * apart) for number in range(first, last)]
        took, early = push(running, items)
        begin += took
        assert not early
        del items
    running.advance((SECOND + count * apart) / SECOND)  # so that the last instant is closed
    gc.collect()
    each = (resident() - before) / count
    assert running.pending == count, running.pending
    answers = 0
    for number in range(0, count, 10_000):
        to = SECOND + HOUR + min(number + 10_000, count) * apart
        gc.disable()
        start = time.process_time()
        found = running.advance(to / SECOND)
        fire += time.process_time() - start
        gc.enable()
        answers += len(found)
        del found
    assert answers == count, answers
    return {"begin": begin / count * 1e6, "fire": fire / count * 1e6, "bytes": each}


def _switch(kind: str, number: int, at: int) -> Item:
    return Item("", at, ((f"<{NS}room{number}>", RDF_TYPE, f"<{NS}Class{kind}>"),))


def episode_figures(count: int, rounds: int) -> list[Figure]:
    """FOR against NOT FOLLOWED BY, each in a process of its own."""
    runs: dict[str, list[dict[str, float]]] = {kind: [] for kind in EPISODES}
    for _ in range(rounds):
        for kind, found in runs.items():
            found.append(_own_process(kind, count))
    figures = []
    for what, unit in (("begin", "us"), ("fire", "us"), ("bytes", "bytes")):
        ours, theirs = ([run[what] for run in runs[kind]] for kind in ("FOR", "NOT FOLLOWED BY"))
        title = f"FOR, {count:,} open episodes: {'memory' if what == 'bytes' else f'to {what}'}"
        figures.append(Figure(f"{title}, each", tuple(ours), unit))
        figures.append(ratio("  against NOT FOLLOWED BY", ours, theirs, most=1.0))
    return figures


def _own_process(kind: str, count: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--one", kind, "--count", str(count)]
    found: dict[str, float] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return found


def flink_figures(python: str, fill: int) -> list[Figure]:
    """A Flink SQL OVER-window job on the same rows, warm: the second run in one JVM."""
    script = Path(__file__).parent / "flink_over.py"
    command = [python, str(script), "--rows", str(fill)]
    try:
        ended = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"  Flink is missing: {error}")
        return []
    found = json.loads(ended.stdout.splitlines()[-1])
    return [
        Figure("Flink SQL, OVER 10 min, one task, by the clock", tuple(found["rates"])),
        Figure("Flink SQL, the same, of all its threads' processor time", tuple(found["cpu_rates"])),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--size", type=int, default=5_000, help="the items of a round")
    parser.add_argument("--fill", type=int, default=610_000, help="items before the first round")
    parser.add_argument("--episodes", type=int, default=100_000)
    parser.add_argument("--rows", type=int, default=1_000_000, help="the rows of the wide window")
    parser.add_argument("--keys", type=int, default=100_000)
    parser.add_argument("--flink", default="", help="a Python that has apache-flink")
    parser.add_argument("--one", choices=(KEY, *EPISODES), help="one run, for the bench itself")
    parser.add_argument("--count", type=int, default=1, help="of so many keys or episodes")
    given = parser.parse_args()
    if given.one:
        print(json.dumps(key_bytes(given.count) if given.one == KEY else episodes(given.one, given.count)))
        return
    parts: list[Callable[[], list[Figure]]] = [
        lambda: over_figures(given.fill, given.rounds, given.size),
        lambda: width_figures(given.rows, given.rounds, given.size),
        lambda: key_figures(given.keys),
        lambda: episode_figures(given.episodes, min(given.rounds, 5)),
    ]
    figures = [figure for part in parts for figure in part()]
    if given.flink:
        figures += flink_figures(given.flink, given.fill)
    else:
        print("  Flink is missing: --flink names a Python that has apache-flink")
    show(figures)


if __name__ == "__main__":
    main()
