"""Workloads from parsed items, each beside a loop by hand.

    python -m bench keys --n 200000 --engines obep,loop
    python -m bench absence --n 1000000
    python -m bench policies, devices, start

Each engine runs each case in a process of its own, in turn: `obep` takes all items in one call, `push` one at
a time, `loop` is written by hand and says how many answers there must be. Processor time, time by the clock
and the greatest memory are those of that process, without its start and the making of the items. Growth is
what an item costs beside what it costs in a stream a hundredth as long.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from figures import Figure, show

import obep
from obep.model import RDF_TYPE, SECOND, Item

NS = "http://example.org/"
INTEGER = "<http://www.w3.org/2001/XMLSchema#integer>"
CLASSES = "EVENT A AS ClassA\nEVENT B AS ClassB\n"
EXAMPLE = Path(__file__).parents[1] / "examples" / "01-rooms"
ENGINES = ("obep", "push", "loop")
GROWTH = 100
Room = tuple[int, str, int]
"""The instant of an event, its class and its room."""


@dataclass(frozen=True)
class Case:
    """A query, its items, and by hand the number of its answers."""

    title: str
    query: str
    items: Callable[[int], list[Item]]
    by_hand: Callable[[Sequence[Item]], int]
    least: float | None = None
    """Items a second that are asked for."""
    ends: int = 0
    """How far time moves on after the last item, in seconds."""


def events(count: int, keys: int, apart: int = 20_000, classes: str = "AB") -> list[Item]:
    """Events of random rooms and classes, no two at one instant."""
    random = Random(7)
    names = [f"<{NS}room{number}>" for number in range(keys)]
    kinds = {kind: f"<{NS}Class{kind}>" for kind in classes}
    return [
        Item("", n * apart, ((random.choice(names), RDF_TYPE, kinds[random.choice(classes)]),))
        for n in range(count)
    ]


def by_policy(policy: str, within: int) -> Callable[[Sequence[Item]], int]:
    """The answers of `A SEQ B` for each room: a deque of the instants of A."""

    def count(items: Sequence[Item]) -> int:
        waiting: dict[str, deque[int]] = {}
        found = 0
        for _, at, ((room, _, kind), *_), *_ in items:
            before = waiting.setdefault(room, deque())
            while before and before[0] <= at - within * SECOND:
                before.popleft()
            if kind.endswith("A>"):
                before.append(at)
            elif policy == "unrestricted":
                found += len(before)
            elif before:
                found += 1
                if policy != "naive":
                    _ = before.popleft() if policy == "chronological" else before.pop()
        return found

    return count


def seq(keys: int, within: int, policy: str = "unrestricted") -> Case:
    """A, then B of the same room."""
    ending = "" if policy == "unrestricted" else f" PARTITION BY ?room POLICY {policy}"
    return Case(
        f"{keys:,} keys, WITHIN {within} s" if policy == "unrestricted" else policy,
        f"{CLASSES}EVENT H(?room) MATCH A(?room) SEQ B(?room) WITHIN {within} s{ending}\nRETURN H",
        lambda count: events(count, keys),
        by_policy(policy, within),
    )


def rules(count: int, devices: int) -> Case:
    """A rule for each kind of device, with a limit of its own; each device has a kind."""

    def items(number: int) -> list[Item]:
        random, found = Random(7), []
        for n in range(number):
            device, value = random.randrange(devices), random.randrange(1000)
            triples = (
                (f"<{NS}d{device}>", f"<{NS}kind>", f"<{NS}k{device % count}>"),
                (f"<{NS}d{device}>", f"<{NS}amount>", f'"{value}"^^{INTEGER}'),
            )
            found.append(Item("", n * 100, triples))
        return found

    def by_hand(some: Sequence[Item]) -> int:
        return sum(
            int(amount.split('"')[1]) > 900 + int(kind[len(NS) + 2 : -1]) % 100
            for _, _, ((_, _, kind), (_, _, amount)), *_ in some
        )

    text = "".join(
        f"EVENT R{n} AS kind value k{n} IF {{ ?this :amount ?v . FILTER(?v > {900 + n % 100}) }}\n"
        for n in range(count)
    )
    return Case(f"{count:,} rules, {devices:,} devices", f"{text}RETURN ALL", items, by_hand, least=10_000)


def absence(count: int) -> Case:
    """Each A waits an hour for a B that does not come."""
    return Case(
        "A NOT FOLLOWED BY B WITHIN 1 h, all pending",
        f"{CLASSES}EVENT H(?room) MATCH A(?room) NOT FOLLOWED BY B(?room) WITHIN 1 h\nRETURN H",
        lambda number: [
            Item("", n * 100, ((f"<{NS}room{n}>", RDF_TYPE, f"<{NS}ClassA>"),)) for n in range(number)
        ],
        len,
        ends=7_200,
    )


GRID = ((10, 1), (10, 10), (1_000, 5), (1_000, 60), (100_000, 5), (100_000, 60))
POLICIES = ("unrestricted", "chronological", "recent", "naive")
WORKLOADS: dict[str, Callable[[int], list[Case]]] = {
    "keys": lambda n: [seq(*one) for one in GRID],
    "policies": lambda n: [seq(1_000, 60, policy) for policy in POLICIES],
    "absence": lambda n: [absence(n)],
    "devices": lambda n: [rules(min(10_000, n), min(100_000, 10 * n))],
}


def one_run(case: Case, engine: str, count: int) -> dict[str, float]:
    """What a case takes by one engine, in this process."""
    items = case.items(count)
    running = None
    if engine != "loop":
        running = obep.load(text=f"PREFIX : <{NS}>\n{case.query}", java=False).engine(remember=0)
    gc.collect()
    gc.freeze()
    clock, processor = time.perf_counter(), time.process_time()
    answers = 0
    if running is None:
        answers = case.by_hand(items)
    elif engine == "obep":
        answers = len(running.push_items(items))
    else:
        for item in items:
            answers += len(running.push_items((item,)))
    if running is not None and case.ends:
        answers += len(running.advance((items[-1].at // SECOND) + case.ends))
    return {
        "cpu": time.process_time() - processor,
        "wall": time.perf_counter() - clock,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "answers": answers,
    }


def apart(name: str, place: int, engine: str, count: int, size: int) -> dict[str, float]:
    """The same in a process of its own; `size` is that of the whole workload."""
    command = [sys.executable, __file__, name, "--n", str(size)]
    command += ["--one", f"{place},{engine},{count}"]
    found: dict[str, float] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return found


def figures(name: str, engines: Sequence[str], count: int, rounds: int) -> list[Figure]:
    """All cases of a workload, by all engines in turn."""
    found: list[Figure] = []
    few = max(count // GROWTH, 1)
    for place, case in enumerate(WORKLOADS[name](count)):
        runs: dict[str, list[dict[str, float]]] = {engine: [] for engine in engines}
        small: list[float] = []
        wanted = case.by_hand(case.items(count))
        for _ in range(rounds):
            for engine, spent in runs.items():
                spent.append(apart(name, place, engine, count, count))
                assert spent[-1]["answers"] == wanted, (case.title, engine, spent[-1], wanted)
            small.append(apart(name, place, engines[0], few, count)["cpu"] / few)
        for engine, spent in runs.items():
            least = case.least if engine == "obep" else None
            found.append(
                Figure(
                    f"{case.title}: {engine}",
                    tuple(count / max(one["cpu"], 1e-6) for one in spent),
                    least=least,
                )
            )
            found.append(Figure("  by the clock", tuple(count / max(one["wall"], 1e-6) for one in spent)))
            found.append(Figure("  memory of the process", tuple(one["megabytes"] for one in spent), "MB"))
        each = [one["cpu"] / count for one in runs[engines[0]]]
        growth = tuple(large / little for large, little in zip(each, small, strict=True))
        found.append(Figure(f"  an item of {count:,} against one of {few:,}", growth, "times"))
        found.append(Figure("  answers", (wanted,), ""))
    return found


def starts(rounds: int) -> list[Figure]:
    """`obep run` of a small example with an empty cache, and again."""
    found: dict[str, list[tuple[float, float]]] = {"cold": [], "warm": []}
    files = [str(EXAMPLE / "query.obep"), "--source", f"doors={EXAMPLE / 'stream.jsonl'}"]
    command = [sys.executable, "-m", "obep", "run", *files, "--engine", "embedded", "--quiet"]
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "OBEP_CACHE": folder}
            for times in found.values():
                begin = time.perf_counter()
                with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as process:
                    assert process.stdout is not None
                    answers = len(process.stdout.read().splitlines())
                    _, status, usage = os.wait4(process.pid, 0)
                    process.returncode = os.waitstatus_to_exitcode(status)
                assert process.returncode == 0 and answers, (process.returncode, answers)
                times.append((usage.ru_utime + usage.ru_stime, time.perf_counter() - begin))
    return [
        Figure(f"start of `obep run`, {name}{words}", tuple(one[place] for one in times), "s")
        for name, times in found.items()
        for place, words in enumerate(("", ": by the clock"))
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("workload", choices=(*WORKLOADS, "start"))
    parser.add_argument("--n", type=int, default=200_000, help="the number of items")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--engines", default="obep,push,loop", help="some of obep, push, loop")
    parser.add_argument("--one", default="", help=argparse.SUPPRESS)
    given = parser.parse_args()
    engines = given.engines.split(",")
    if missing := [one for one in engines if one not in ENGINES]:
        parser.error(f"there is no engine {missing[0]}; there are {', '.join(ENGINES)}")
    if given.workload == "start":
        show(starts(given.rounds))
    elif given.one:
        place, engine, count = given.one.split(",")
        print(json.dumps(one_run(WORKLOADS[given.workload](given.n)[int(place)], engine, int(count))))
    else:
        show(figures(given.workload, engines, given.n, given.rounds))


if __name__ == "__main__":
    main()
