"""From the start of `obep run --engine spark` to its first answer: where the time goes.

    python bench/spark_start.py                             examples/01-rooms on local[2]
    python bench/spark_start.py --conf spark.driver.…=…     with further options of `obep run`

Each line has the wall time and the processor time of all processes of the run, from the start on, when a step
begins (>) and ends (<). "first answer" ends when the records of the first micro-batch are on the driver.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

STARTED = time.perf_counter()
EXAMPLE = Path(__file__).parents[1] / "examples" / "01-rooms"
TICKS = os.sysconf("SC_CLK_TCK")


def processor_seconds() -> float:
    """What all processes of this session have used so far (Linux), with those that have ended below them."""
    session, total = os.getsid(0), 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
        except OSError:  # it has just ended
            continue
        if int(fields[3]) == session:
            total += sum(map(int, fields[11:15]))
    return total / TICKS


def mark(step: str) -> None:
    print(
        f"{time.perf_counter() - STARTED:7.2f} s  {processor_seconds():7.2f} s of processors  {step}",
        file=sys.stderr,
    )


def marked(step: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, with a mark before and after it."""

    def run(*given: Any, **named: Any) -> Any:
        mark(f"> {step}")
        found = function(*given, **named)
        mark(f"< {step}")
        return found

    return run


def main() -> None:
    from obep.cli.main import app
    from obep.spark.driver import console_run, spark_run

    mark("imported")
    modules: Any = (console_run, spark_run)
    for module, name, step in (
        (modules[0], "opened", "load the query"),
        (modules[1], "session", "start Java and a session"),
        (modules[1], "open_sources", "open the sources"),
        (modules[1], "detect", "make the pipeline"),
        (modules[1], "_table", "first answer"),
    ):
        setattr(module, name, marked(step, getattr(module, name)))
    files = [str(EXAMPLE / "query.obep"), "--source", f"doors={EXAMPLE / 'stream.jsonl'}"]
    options = ["--engine", "spark", "--master", "local[2]", "--quiet"]
    sys.argv = ["obep", "run", *files, *options, *sys.argv[1:]]
    app()


if __name__ == "__main__":
    if os.getpid() != os.getsid(0):
        if os.fork():
            sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))
        os.setsid()  # so that its processes can be told from others
    main()
