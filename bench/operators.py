"""Speed of the operators (issue 4): from logical occurrences on, one core.

python bench/operators.py            W1 beside the bare loop, interleaved
python bench/operators.py --growth   how the work grows with the stream
python bench/operators.py --memory   10 million items within a bound: memory must not grow
"""

from __future__ import annotations

import argparse
import cProfile
import gc
import resource
import statistics
import time
from collections import deque
from random import Random
from types import SimpleNamespace

from obep.engine.instants import Runtime
from obep.guards.asks import asks
from obep.model import Occurrence
from obep.plan.build import plan
from obep.query.link import link
from obep.query.parser import parse

ANSWERS = 61_842
WITHIN = 5_000_000
QUERY = """
PREFIX : <http://example.org/>
EVENT A AS ClassA
EVENT B AS ClassB
EVENT H(?room) MATCH A(?room) SEQ B(?room) WITHIN 5 s
RETURN H
"""


def stream(events: int, millisecond: int = 1000) -> list[tuple[int, str, int]]:
    """One event for each millisecond: (instant, kind, room)."""
    random = Random(7)
    return [(n * millisecond, random.choice("ABCD"), random.randrange(1000)) for n in range(events)]


def occurrences(events: list[tuple[int, str, int]]) -> list[Occurrence]:
    """The occurrences of A and B, as abstraction would give them."""
    found = []
    types = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
    rooms = [f"<http://example.org/room{number}>" for number in range(1000)]
    for at, kind, room in events:
        if kind in "AB":
            triple = (rooms[room], types, f"<http://example.org/Class{kind}>")
            found.append(
                Occurrence(
                    f"<http://example.org/{kind}>", rooms[room], ((triple, at),), at, at, at, at,
                    {0 if kind == "A" else 1: ((rooms[room],),)},
                )
            )  # fmt: skip
    return found


def bare(found: list[Occurrence]) -> int:
    """What Python takes at least: a deque for each room, a tuple for each pair."""
    waiting: dict[str, deque[tuple[int, Occurrence]]] = {}
    answers = []
    for o in found:
        if o.event == "<http://example.org/A>":
            room = waiting.get(o.individual)
            if room is None:
                room = waiting[o.individual] = deque()
            room.append((o.start, o))
        else:
            room = waiting.get(o.individual)
            if room:
                at = o.start
                while room and at - room[0][0] >= WITHIN:
                    room.popleft()
                for start, one in room:
                    answers.append((start, at, one, o))
    return len(answers)


LINKED = link(parse(QUERY))
PLAN = plan(LINKED, asks(LINKED), SimpleNamespace(vocabulary=lambda event: frozenset()))


def engine(found: list[Occurrence]) -> int:
    return len(Runtime(PLAN).push_occurrences(found))


def timed(function, found) -> tuple[float, int]:  # type: ignore[no-untyped-def]
    gc.collect()
    start = time.process_time()
    answers = function(found)
    return time.process_time() - start, answers


def speed(rounds: int) -> None:
    found = occurrences(stream(200_000))
    times: dict[str, list[float]] = {"bare": [], "engine": []}
    for _ in range(rounds):
        for name, function in (("bare", bare), ("engine", engine)):
            seconds, answers = timed(function, found)
            assert answers == ANSWERS, (name, answers)
            times[name].append(seconds)
    print(f"{len(found)} occurrences, {ANSWERS} answers, {rounds} rounds, interleaved, CPU seconds")
    for name, seconds in times.items():
        middle = statistics.median(seconds)
        print(
            f"  {name:7} median {middle:.3f} s ({min(seconds):.3f} … {max(seconds):.3f}), "
            f"{len(found) / middle:,.0f} occurrences/s"
        )
    ratio = statistics.median(times["bare"]) / statistics.median(times["engine"])
    print(f"  engine / bare: {ratio:.2f} (wanted: 0.33)")


def operations(events: int) -> int:
    """The calls that a stream takes, Python's and those into C."""
    found = occurrences(stream(events))
    running = Runtime(PLAN)
    profile = cProfile.Profile()
    profile.runcall(running.push_occurrences, found)
    return sum(entry.callcount for entry in profile.getstats())


def growth() -> None:
    small, large = operations(20_000), operations(200_000)
    print(
        f"calls for 20,000 events: {small:,}; for 200,000: {large:,}; ratio {large / small:.2f} (wanted: 10)"
    )


def memory(events: int) -> None:
    """Very many items, in batches; what is remembered must not grow with them."""
    running, random, at, answers = Runtime(PLAN), Random(7), 0, 0
    rooms = [f"<http://example.org/room{number}>" for number in range(1000)]
    report, start = events // 10, time.process_time()
    for first in range(0, events, 10_000):
        batch = []
        for number in range(first, first + 10_000):
            kind, room = random.choice("ABCD"), rooms[random.randrange(1000)]
            if kind in "AB":
                at = number * 1000
                batch.append(
                    Occurrence(
                        f"<http://example.org/{kind}>", room, (), at, at, at, at,
                        {0 if kind == "A" else 1: ((room,),)},
                    )
                )  # fmt: skip
        answers += len(running.push_occurrences(batch))
        if (first + 10_000) % report == 0:
            print(
                f"  {first + 10_000:>10,} items, {answers:>9,} answers, {running.size():>6,} remembered, "
                f"{resident():>5.1f} MB, {time.process_time() - start:.0f} s",
                flush=True,
            )


def resident() -> float:
    """What the process holds now, in MB."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--events", type=int, default=10_000_000, help="for --memory")
    arguments = parser.parse_args()
    if arguments.growth:
        growth()
    elif arguments.memory:
        memory(arguments.events)
    else:
        speed(arguments.rounds)


if __name__ == "__main__":
    main()
