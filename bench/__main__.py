"""One bench by its name: `python -m bench w1 --n 50000`; without a name, the names that there are.

The arguments after the name are those of the script `bench/NAME.py`.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
NO_BENCHES = ("__main__", "figures", "flink_join", "flink_over")
"""What the benches need."""


def main() -> int:
    names = sorted(path.stem for path in HERE.glob("*.py") if path.stem not in NO_BENCHES)
    if len(sys.argv) < 2 or sys.argv[1] not in names:
        print(f"python -m bench NAME …, one of: {', '.join(names)}", file=sys.stderr)
        return 2
    return subprocess.run([sys.executable, str(HERE / f"{sys.argv[1]}.py"), *sys.argv[2:]]).returncode


if __name__ == "__main__":
    sys.exit(main())
