"""Play schedules one after the other, from a seed on, or one of them again.

One in 500 is of the real command line, whose processes are killed by SIGKILL; one in 50 of Spark's
processor, whose micro-batches are run again.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from soak_law import hold
from soak_processes import hold_processes
from soak_schedule import QUERIES, make_schedule

EACH, EACH_PROCESSOR = 500, 50
"""Schedules for each one of processes, and of Spark's processor, which cost much more."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python tests/soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0, help="the first one")
    parser.add_argument("--count", type=int, default=10**9, help="at most so many schedules")
    parser.add_argument("--queries", nargs="+", choices=QUERIES, help="these only, and no processes")
    parser.add_argument("--replay", type=int, help="play one schedule, and show it")
    parser.add_argument("--replay-processes", type=int, help="play one schedule of the command line")
    parser.add_argument("--replay-processor", type=int, help="play one schedule of Spark's processor")
    given = parser.parse_args()
    if given.replay_processes is not None:
        print(hold_processes(given.replay_processes), "processes were killed; the law holds")
        return 0
    if given.replay_processor is not None:
        print(
            _hold_processor(given.replay_processor, given.queries or QUERIES),
            "times a part was run again; the law holds",
        )
        return 0
    if given.replay is not None:
        return _replay(given.replay, given.queries or QUERIES)
    return _soak(given.seed, given.seconds, given.count, given.queries)


def _replay(seed: int, queries: Sequence[str]) -> int:
    schedule = make_schedule(seed, queries)
    print(replace(schedule, records=[], sessions=[]))
    for record in schedule.records:
        print(" ", record)
    for session in schedule.sessions:
        print(" ", session)
    try:
        hold(seed, queries)
    except Exception:
        traceback.print_exc()
        return 1
    print("the law holds")
    return 0


def _soak(first: int, seconds: float, count: int, queries: Sequence[str] | None) -> int:
    end, failed, kinds = time.monotonic() + seconds, 0, Counter[str]()
    seed = first
    while seed - first < count and time.monotonic() < end:
        failed += not _holds(seed, "--replay", kinds, queries)
        if seed % EACH == 0 and not queries:
            failed += not _holds(seed, "--replay-processes", kinds)
        if seed % EACH_PROCESSOR == 0 and not queries:
            failed += not _holds(seed, "--replay-processor", kinds)
        seed += 1
    shown = ", ".join(f"{kind} {n}" for kind, n in kinds.most_common())
    print(f"{seed - first} schedules, seeds {first} to {seed - 1} ({shown}); {failed} failed")
    return 1 if failed else 0


def _holds(seed: int, option: str, kinds: Counter[str], queries: Sequence[str] | None = None) -> bool:
    """Play one; a failure is printed with the command that plays it again."""
    try:
        if option == "--replay":
            kinds[hold(seed, queries or QUERIES).kind] += 1
        elif option == "--replay-processes":
            kinds["killed processes"] += hold_processes(seed)
        else:
            _hold_processor(seed, QUERIES)
            kinds["Spark's processor"] += 1
    except Exception as error:
        chosen = " --queries " + " ".join(queries) if queries else ""
        print(f"{type(error).__name__}: {error}\n  python tests/soak {option} {seed}{chosen}", flush=True)
        return False
    return True


def _hold_processor(seed: int, queries: Sequence[str]) -> int:
    from soak_spark import hold_processor  # pyspark takes a second

    return hold_processor(seed, queries)


if __name__ == "__main__":
    sys.exit(main())
