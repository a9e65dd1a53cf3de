"""All benches one after the other, and at the end one table: what was measured beside what is asked for.

    python bench/run.py            everything (`make bench`)
    python bench/run.py --quick    small sizes, one round: whether everything runs, not how fast it is

A figure that is missed is said; only a bench that fails ends with an error.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
BENCHES: dict[str, tuple[str, ...]] = {
    "reasoning.py": ("--items", "2000", "--rounds", "1", "--naive", "1", "--only", "paper"),
    "operators.py": ("--rounds", "1"),
    "w1.py": ("--n", "5000", "--rounds", "1", "--engines", "obep-jsonl,obep-nq,loop,msgspec,pyoxigraph"),
    "stream_rules.py": ("--items", "5000", "--rounds", "1"),
    "latest.py": ("--items", "2000", "--rounds", "1"),
    "guards.py": ("--items", "2000", "--rounds", "1"),
    "states.py": (
        *("--fill", "20000", "--rounds", "1", "--size", "2000"),
        *("--episodes", "5000", "--rows", "20000", "--keys", "5000"),
    ),
    "rules.py": ("--most", "100", "--items", "400"),
    "spark.py": ("--events", "200000", "--runs", "1", "--all"),
}
"""Each bench with what makes it quick."""
WHOLE: dict[str, tuple[str, ...]] = {"spark.py": ("--all",)}
"""What the whole of a bench needs to be told."""
VERDICTS = ("holds", "MISSED")


def run(name: str, arguments: tuple[str, ...]) -> tuple[list[str], int]:
    """Runs a bench and shows what it says; the lines of its table, and how it ended."""
    print(f"\n== {name} {' '.join(arguments)}", flush=True)
    command = [sys.executable, str(HERE / name), *arguments]
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
    options.add_argument("--quick", action="store_true")
    given = options.parse_args()
    rows: list[str] = []
    failed: list[str] = []
    for name, quick in BENCHES.items():
        found, status = run(name, quick if given.quick else WHOLE.get(name, ()))
        rows += found
        if status:
            failed.append(name)
    print(f"\n{'':60} {'median':>10} {'least':>10} {'most':>10} {'':8} {'asked for':>12}")
    print("\n".join(rows))
    if failed:
        sys.exit(f"these benches failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
