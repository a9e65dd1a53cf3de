"""Run one bench by its name.

    python -m bench                          the names of all benches
    python -m bench w1 --engines obep-jsonl,loop --n 50000 --json figures.jsonl
    python -m bench keys --help              what else a bench takes

`--n` is the size of a bench, whatever it counts; `--json` adds a line for each figure to a file.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # `python -m bench` does not, the scripts themselves do

from all_benches import BENCHES
from figures import TO_FILE


def main(arguments: list[str]) -> int:
    if not arguments or arguments[0] not in BENCHES:
        width = max(map(len, BENCHES))
        lines = [f"  {name:{width}}  {bench.about}" for name, bench in BENCHES.items()]
        print("python -m bench NAME …, one of:", *lines, sep="\n", file=sys.stderr)
        return 2
    bench, rest = BENCHES[arguments[0]], arguments[1:]
    environment = dict(os.environ)
    if "--json" in rest:
        place = rest.index("--json")
        environment[TO_FILE] = str(Path(rest[place + 1]).absolute())
        del rest[place : place + 2]
    if "--n" in rest:
        if not bench.size:
            print(f"{arguments[0]} has no size that --n could set", file=sys.stderr)
            return 2
        rest[rest.index("--n")] = bench.size
    if "--engines" in rest and not bench.engines:
        print(
            f"{arguments[0]} has no engines to choose from: it measures what it compares in turn",
            file=sys.stderr,
        )
        return 2
    return subprocess.run([*bench.command, *rest], env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
