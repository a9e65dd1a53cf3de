"""All benches that are short, one after the other; at the end one table beside what is asked for.

    python bench/run.py            `make bench`: under five minutes on a quiet machine
    python bench/run.py --whole    in their full sizes, for hours

A figure that is missed is named; only a bench that fails ends with an error.
"""

from __future__ import annotations

import argparse
import subprocess
import sys

from all_benches import BENCHES

VERDICTS = ("holds", "MISSED")


def run(name: str, arguments: tuple[str, ...]) -> tuple[list[str], int]:
    """Runs a bench and shows what it prints; the lines of its table, and how it ended."""
    print(f"\n== {name} {' '.join(arguments)}", flush=True)
    command = [*BENCHES[name].command, *arguments]
    rows: list[str] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            if line.rstrip().endswith(VERDICTS):
                rows.append(line.rstrip())
    return rows, process.returncode


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--whole", action="store_true")
    given = options.parse_args()
    rows: list[str] = []
    failed: list[str] = []
    for name, bench in BENCHES.items():
        if bench.short is None:
            continue
        found, status = run(name, () if given.whole else bench.short)
        rows += found
        if status:
            failed.append(name)
    print(f"\n{'':60} {'median':>10} {'least':>10} {'most':>10} {'':8} {'asked for':>12}")
    print("\n".join(rows))
    if failed:
        sys.exit(f"these benches failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
