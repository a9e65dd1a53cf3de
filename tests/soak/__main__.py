"""`python tests/soak --seconds N --seed S`: schedules one after the other; `--replay SEED`: one of them."""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections import Counter
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from soak_law import hold
from soak_schedule import make_schedule


def main() -> int:
    parser = argparse.ArgumentParser(prog="python tests/soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0, help="the first one")
    parser.add_argument("--count", type=int, default=10**9, help="at most so many schedules")
    parser.add_argument("--replay", type=int, help="play one schedule, and show it")
    given = parser.parse_args()
    if given.replay is not None:
        return _replay(given.replay)
    return _soak(given.seed, given.seconds, given.count)


def _replay(seed: int) -> int:
    schedule = make_schedule(seed)
    print(replace(schedule, records=[], sessions=[]))
    for record in schedule.records:
        print(" ", record)
    for session in schedule.sessions:
        print(" ", session)
    try:
        hold(seed)
    except Exception:
        traceback.print_exc()
        return 1
    print("the law holds")
    return 0


def _soak(first: int, seconds: float, count: int) -> int:
    end, failed, kinds = time.monotonic() + seconds, 0, Counter[str]()
    seed = first
    while seed - first < count and time.monotonic() < end:
        try:
            kinds[hold(seed).kind] += 1
        except Exception as error:
            failed += 1
            print(f"{type(error).__name__}: {error}\n  python tests/soak --replay {seed}", flush=True)
        seed += 1
    shown = ", ".join(f"{kind} {n}" for kind, n in kinds.most_common())
    print(f"{seed - first} schedules, seeds {first} to {seed - 1} ({shown}); {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
