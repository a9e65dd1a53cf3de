"""The command of a runner of W3C's tests: a line for each case, and the counts."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

Result = tuple[str, str, str]
"""Whether a case passed (`pass`, `fail`, `not expressible`), its name, and why it did not."""


def report(results: Callable[[Path], Iterable[Result]], usage: str | None) -> int:
    """Run all cases of the folder that the command line names; 1 if one failed."""
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        print(usage)
        return 2
    count: Counter[str] = Counter()
    for what, name, reason in results(Path(sys.argv[1])):
        count[what] += 1
        print(f"{what:16} {name}{f': {reason}' if reason else ''}", flush=True)
    print(", ".join(f"{count[what]} {what}" for what in ("pass", "fail", "not expressible")))
    return 1 if count["fail"] else 0
