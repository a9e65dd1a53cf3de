"""Whether an item costs more instructions than recorded: `python bench/check.py`, `make bench-check`.

    python bench/check.py            compare with bench/instructions.json; fails where there are 15 % more
    python bench/check.py --files    only W1 from files
    python bench/check.py --record   record what is counted now

Callgrind (of valgrind) counts, so it does not matter what else the machine does. One process loads all there
is and splits itself (fork) for each workload, once with few items and once with more: the difference is what
the items cost. What is compared is the ratio to the instructions of a bare loop in the same run.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random

HERE = Path(__file__).parent
RECORDED = HERE / "instructions.json"
WORSE = 1.15
FEW, MORE = 400, 1_600
LOOP = "loop"


Work = Callable[[int], object]
"""Takes a number of items."""


def from_files(folder: Path) -> dict[str, Work]:
    """W1 from a file to a file in each format, and the bare loop."""
    import w1

    from obep.cli.main import app

    def from_file(end: str) -> Work:
        def run(count: int) -> object:
            place = folder / f"{count}" / end
            options = ["--engine", "embedded", "--quiet", "--allow-path", str(place.parent)]
            command = ["run", str(place / "q.obep"), *options, "--sink", str(place / "out.jsonl")]
            return app(command, standalone_mode=False)

        return run

    for count in (FEW, MORE):
        (folder / f"{count}").mkdir()
        w1.write_files(folder / f"{count}", count)
        w1.write_projects(folder / f"{count}")
    found: dict[str, Work] = {LOOP: lambda count: w1.pairs(folder / f"{count}" / "w1.jsonl")}
    for end in w1.ENDINGS:
        found[f"w1, {end}"] = from_file(end)
    return found


def from_items() -> dict[str, Work]:
    """Workloads from parsed items, and lines of JSON."""
    import arithmetic_guards
    import latest
    import reasoning
    import states
    import workloads

    import obep
    from obep.abstraction.matcher import Matcher
    from obep.engine.reporter import line_of

    def engine(text: str) -> obep.Engine:
        return obep.load(text=f"PREFIX : <{workloads.NS}>\n{text}", java=False).engine(remember=0)

    found: dict[str, Work] = {}
    for case in (
        workloads.seq(100, 60),
        workloads.seq(100, 60, "recent"),
        workloads.absence(MORE),
        workloads.rules(50, 500),
    ):
        running, items = engine(case.query), case.items(MORE)
        found[case.title] = lambda count, running=running, items=items: running.push_items(items[:count])
    guards = engine(arithmetic_guards.QUERY.partition("\n")[2])
    amounts = arithmetic_guards.items(Random(1), 0, MORE, 20)
    found["guards"] = lambda count: guards.push_items(amounts[:count])
    over = engine(states.OVER.format(within="1 s", having=states.HAVING))
    rooms = states.Rooms(100)
    rows = [rooms.item(row) for row in rooms.rows(MORE)]
    found["OVER"] = lambda count: over.push_items(rows[:count])
    building = latest.Building(100)
    zones = obep.load(text=latest.QUERY, java=False).engine(remember=0)
    zones.push_items(building.start())
    points = [*building.items(MORE)]
    found["LATEST"] = lambda count: zones.push_items(points[:count])
    lines = engine(workloads.seq(100, 60).query)
    pairs = lines.push_items(workloads.events(4 * MORE, 100))
    found["lines of JSON"] = lambda count: [line_of(one) for one in pairs[:count]]
    shapes = reasoning.templated(MORE, 100)
    matcher, fresh = Matcher(reasoning.paper(100)), Matcher(reasoning.paper(100), remember=0)
    found["the paper's events, warm"] = lambda count: [matcher.match(item) for item in shapes[:count]]
    found["the paper's events, new shapes"] = lambda count: [fresh.match(item) for item in shapes[:count]]
    return found


def count_all(folder: Path, files: bool) -> None:
    """The process that valgrind runs: one of its children for each workload and size."""
    works = from_files(folder) | ({} if files else from_items())
    gc.collect()
    gc.freeze()  # what is loaded here is not the work of a collector there
    for name, work in works.items():
        for count in (FEW, MORE):
            child = os.fork()
            if not child:
                try:
                    work(count)
                except SystemExit as ended:
                    os._exit(int(ended.code or 0))
                except BaseException:
                    os._exit(1)
                os._exit(0)
            _, status = os.waitpid(child, 0)
            assert status == 0, f"{name} failed"
            print(json.dumps([name, count, child]), flush=True)


def counted(files: bool) -> dict[str, float]:
    """The instructions for an item of each workload."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        command = [
            "valgrind",
            "-q",
            "--tool=callgrind",
            f"--callgrind-out-file={folder}/%p.count",
            sys.executable,
        ]
        environment = {**os.environ, "PYTHONHASHSEED": "0"}
        ran = subprocess.run(
            [*command, __file__, "--counted", str(folder), *(["--files"] if files else [])],
            env=environment,
            stdout=subprocess.PIPE,
            check=True,
        )
        totals: dict[str, dict[int, int]] = {}
        for line in ran.stdout.splitlines():
            name, count, process = json.loads(line)
            said = (folder / f"{process}.count").read_text().rpartition("totals: ")[2]
            totals.setdefault(name, {})[count] = int(said.split()[0])
        return {name: (by_size[MORE] - by_size[FEW]) / (MORE - FEW) for name, by_size in totals.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--files", action="store_true", help="only W1 from files")
    parser.add_argument("--counted", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.counted:
        count_all(given.counted, given.files)
        return 0
    if shutil.which("valgrind") is None:
        print("valgrind is missing, which counts instructions", file=sys.stderr)
        return 2
    found = counted(given.files)
    now = {name: count / found[LOOP] for name, count in found.items()}
    recorded: dict[str, float] = json.loads(RECORDED.read_text())
    if given.record:
        recorded = (recorded if given.files else {}) | {name: round(ratio, 3) for name, ratio in now.items()}
        RECORDED.write_text(json.dumps(recorded, indent=1) + "\n")
    if given.files:
        recorded = {name: ratio for name, ratio in recorded.items() if name in now}
    return compare(now, recorded, found)


def compare(now: dict[str, float], recorded: dict[str, float], instructions: dict[str, float]) -> int:
    """Prints the table; 1 where something is worse than recorded, or was not counted."""
    print(f"{'':40} {'for an item':>12} {'loops':>8} {'recorded':>8} {'now':>6}")
    bad = 0
    for name, ratio in now.items():
        before = recorded.get(name)
        change = "new" if before is None else f"{ratio / before:.2f}"
        worse = before is not None and ratio > WORSE * before
        bad += worse
        told, verdict = "" if before is None else f"{before:.2f}", "  WORSE" if worse else ""
        print(f"{name:40} {instructions[name]:>12,.0f} {ratio:>8.2f} {told:>8} {change:>6}{verdict}")
    for name in recorded.keys() - now.keys():
        print(f"{name:40} is recorded, and was not counted")
        bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
