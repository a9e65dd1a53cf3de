"""`python -m worlds --items N --seed S`: compare obep with the judges on N items of random worlds."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from worlds.checking_explanations import compare_explanations, cut
from worlds.comparing_worlds import Comparison, Difference
from worlds.drawing import draw_world
from worlds.judges import MISSING, Judges, jars
from worlds.kinds_of_owl import PAIRS, kinds_of
from worlds.reporting import program, short_report
from worlds.shrinking import confirmed, shrink


def main() -> int:
    options = _options()
    if not jars():
        print(MISSING, file=sys.stderr)
        return 2
    options.out.mkdir(parents=True, exist_ok=True)
    seen: set[str] = set()
    number, found, started = options.world, 0, time.monotonic()
    with Judges() as judges:
        comparison = Comparison(judges)
        while comparison.count["items"] < options.items:
            world = draw_world(options.seed, number, options.each, options.plain)
            differences = comparison.compare(world)
            for difference in _one_of_each(differences):
                if difference.kind != "judges" or options.judges:
                    found += _report(difference, judges, seen, options.out, options.shrink)
            if number % options.explain == 0 and not differences and (small := cut(world)):
                comparison.count["items with explanations"] += 1
                for difference in compare_explanations(judges, small):
                    found += _report(difference, judges, seen, options.out, options.shrink)
            number += 1
            if number % 10 == 0:
                seconds = time.monotonic() - started
                print(f"# {number} worlds, {seconds:.0f} s, {dict(comparison.count)}", flush=True)
        print(f"# worlds {options.world} to {number - 1} of seed {options.seed}: {dict(comparison.count)}")
        print(f"# pairs of kinds in worlds that were compared: {len(comparison.pairs)} of {len(PAIRS)}")
        for error, times in sorted(judges.errors.items(), key=lambda one: -one[1])[:20]:
            print(f"# {times} times {error}")
    print(f"# {found} differences of different kinds")
    return 1 if found else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m worlds", description=__doc__)
    parser.add_argument("--items", type=int, default=1000, help="how many items to compare")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--world", type=int, default=0, help="the number of the first world")
    parser.add_argument("--each", type=int, default=30, help="how many items each world has")
    parser.add_argument(
        "--shrink", type=int, default=120, help="how many smaller worlds to try for a difference"
    )
    parser.add_argument(
        "--plain", action="store_true", help="items say nothing that takes more than one triple"
    )
    parser.add_argument("--explain", type=int, default=10, help="check explanations in every n-th world")
    parser.add_argument("--judges", action="store_true", help="report items on which two judges differ, too")
    parser.add_argument(
        "--out", type=Path, default=Path("/tmp/worlds"), help="where programs that show a difference go"
    )
    return parser.parse_args()


def _one_of_each(differences: list[Difference]) -> list[Difference]:
    return list({difference.kind: difference for difference in reversed(differences)}.values())


def _report(difference: Difference, judges: Judges, seen: set[str], out: Path, budget: int) -> int:
    """Shrinks a difference and writes it, unless one with the same kinds of axioms was seen before."""
    if not budget:
        print(difference.line(), flush=True)
        return 1
    keeps = confirmed(judges, difference)
    first = keeps(difference.world)
    if first is None:
        print(f"not confirmed: {difference.line()}", flush=True)
        return 0
    small = shrink(first, keeps, budget)
    world = small.world
    kinds = sorted(kinds_of((*world.axioms, *world.k, *(body for _, body in world.events))))
    mark = f"{small.kind}: {' '.join(kinds)}"
    if mark in seen:
        print(f"again: {mark} ({difference.line()})"[:300], flush=True)
        return 0
    seen.add(mark)
    path = out / f"world-{world.seed}-{world.number}-{small.kind.replace(' ', '-')}.py"
    path.write_text(program(small), "utf-8")
    print(f"{short_report(small)}\n- program: {path}\n", flush=True)
    return 1


if __name__ == "__main__":
    sys.exit(main())
