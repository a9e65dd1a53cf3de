"""Speed and memory of the operators (issue 4), one core.

python bench/operators.py            W1 from logical occurrences on, beside the bare loop, interleaved
python bench/operators.py --growth   how the work grows with the stream
python bench/operators.py --memory   10 million items through an engine, WITHIN 5 s: memory must not grow
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

import obep
from obep.engine.runtime import Runtime
from obep.model import RDF_TYPE, EagerOccurrence, Item, Occurrence
from obep.output.json_writer import to_line

ANSWERS = 61_842
WITHIN = 5_000_000
QUERY = """
PREFIX : <http://example.org/>
EVENT A AS ClassA
EVENT B AS ClassB
EVENT H(?room) MATCH A(?room) SEQ B(?room) WITHIN 5 s
RETURN H
"""


ROOMS = [f"<http://example.org/room{number}>" for number in range(1000)]


def draws(random: Random) -> tuple[str, int]:
    """The kind of an event, and its room."""
    return random.choice("ABCD"), random.randrange(1000)


def occurrences(events: int, millisecond: int = 1000) -> list[Occurrence]:
    """One event for each millisecond: the occurrences of A and B, as abstraction would give them."""
    found, random = [], Random(7)
    asked = {ask.event: ask.number for ask in QUERIED.asks.all}
    for at in range(0, events * millisecond, millisecond):
        kind, number = draws(random)
        if kind in "AB":
            room, event = ROOMS[number], f"<http://example.org/{kind}>"
            triple = (room, RDF_TYPE, f"<http://example.org/Class{kind}>")
            found.append(
                EagerOccurrence(event, room, ((triple, at),), at, at, at, at, {asked[event]: ((room,),)})
            )
    return found


def items(first: int, last: int, random: Random) -> list[Item]:
    """The same events as items, from one number to before another."""
    made = []
    for number in range(first, last):
        kind, room = draws(random)
        triple = (ROOMS[room], RDF_TYPE, f"<http://example.org/Class{kind}>")
        made.append(Item("", number * 1000, (triple,)))
    return made


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


QUERIED = obep.load(text=QUERY)
PLAN = QUERIED.plan


def engine(found: list[Occurrence]) -> int:
    """Many at a time, as a bucket on Spark takes them."""
    return len(Runtime(PLAN).push_occurrences(found))


def one_by_one(found: list[Occurrence]) -> int:
    """As an embedded engine takes the items of a live stream."""
    running, answers = Runtime(PLAN), 0
    for one in found:
        answers += len(running.push(one.detected, (one,)))
    return answers


def written(found: list[Occurrence]) -> int:
    """All the way to lines of JSON, with ids and causes."""
    return sum(to_line(hit).startswith("{") for hit in Runtime(PLAN).push_occurrences(found))


def timed(function, found) -> tuple[float, int]:  # type: ignore[no-untyped-def]
    gc.collect()
    start = time.process_time()
    answers = function(found)
    return time.process_time() - start, answers


RUNS = {"bare": bare, "engine": engine, "one by one": one_by_one, "to JSON": written}


def speed(rounds: int) -> None:
    times: dict[str, list[float]] = {name: [] for name in RUNS}
    for _ in range(rounds):
        for name, function in RUNS.items():
            found = occurrences(200_000)  # new ones: an occurrence keeps what was written about it
            seconds, answers = timed(function, found)
            assert answers == ANSWERS, (name, answers)
            times[name].append(seconds)
    print(f"{len(found)} occurrences, {ANSWERS} answers, {rounds} rounds, interleaved, CPU seconds")
    for name, seconds in times.items():
        middle = statistics.median(seconds)
        print(
            f"  {name:10} median {middle:.3f} s ({min(seconds):.3f} … {max(seconds):.3f}), "
            f"{len(found) / middle:,.0f} occurrences/s"
        )
    ratio = statistics.median(times["bare"]) / statistics.median(times["engine"])
    print(f"  engine / bare: {ratio:.2f} (wanted: 0.33)")


def operations(events: int) -> int:
    """The calls that a stream takes, Python's and those into C."""
    found = occurrences(events)
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
    """Very many items through an engine, in batches; what is remembered must not grow with them."""
    running, random, answers = QUERIED.engine(), Random(7), 0
    shown = {events // 100, events // 10, events // 5, events // 2, events}
    start = time.process_time()
    for first in range(0, events, 10_000):
        answers += len(running.push_items(items(first, first + 10_000, random)))
        done = first + 10_000
        if done in shown:
            gc.collect()
            print(
                f"  {done:>10,} items, {answers:>9,} answers, {running.remembered:>6,} remembered, "
                f"{len(gc.get_objects()):>7,} objects, {resident():>5.1f} MB, "
                f"{time.process_time() - start:.0f} s",
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
