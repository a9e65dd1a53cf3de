"""Fuzz obep: `python tests/fuzz --target query --cases 100000 --seed 1`.

Without --target, the cases are spread over all targets. Cases run in a child process, so that a crash, a hang
and memory without measure are found too. `--case N` runs one case again, `--input FILE` an input.
"""

from __future__ import annotations

import argparse
import mmap
import os
import signal
import sys
import time
from pathlib import Path

from fuzz_runner import Finding, bound_memory, defect_of, fuzz, input_of, shrunk
from fuzz_targets import Target, answers, targets

SILENT = 120.0
"""Seconds after which a child that is at the same case hangs where no signal reaches it."""


def main() -> int:
    options = _options()
    known = targets()
    names = options.target or list(known)
    for name in names:
        if name not in known:
            print(f"there is no target {name}: {' '.join(known)}", file=sys.stderr)
            return 2
    if options.input is not None or options.case is not None:
        return _again(names[0], known[names[0]], options)
    found = 0
    share = max(1, options.cases // len(names))
    for name in names:
        begin = time.monotonic()
        failures = _supervise(name, known[name], options.seed, range(options.first, options.first + share))
        spent = time.monotonic() - begin
        cases = f"{share} cases from {options.first}, seed {options.seed}"
        print(f"{name}: {cases}, {failures} defects, {spent:.0f} s", flush=True)
        found += failures
    return 1 if found else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python tests/fuzz", description=__doc__)
    parser.add_argument(
        "--target", action="append", help="a target, several times if you like (default: all)"
    )
    parser.add_argument("--cases", type=int, default=10_000, help="how many, over all targets")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--case", type=int, help="run this case alone, with its traceback")
    parser.add_argument("--input", type=Path, help="run the bytes of this file alone, with the traceback")
    parser.add_argument("--shrink", action="store_true", help="with --case or --input: make it smaller")
    return parser.parse_args()


def _again(name: str, target: Target, options: argparse.Namespace) -> int:
    data = options.input.read_bytes() if options.input else input_of(name, target, options.seed, options.case)
    defect = defect_of(target, data)
    if defect is None:
        print(f"{data!r}\n{answers(target, data)}")
        return 0
    if options.shrink:
        place = defect.place
        data = shrunk(
            data, lambda one: (found := defect_of(target, one)) is not None and found.place == place
        )
    print(f"{defect.text}\n{defect.place}\n{data!r}")
    return 1


def _supervise(name: str, target: Target, seed: int, cases: range) -> int:
    """Run the cases in children: after a crash or a hang, the next one goes on behind it."""
    for case in range(3):  # what is loaded at first use is no part of a case's cost
        defect_of(target, input_of(name, target, 0, case), 1000)
    failures = 0
    shared = mmap.mmap(-1, 16)
    while cases:
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            os._exit(_work(name, target, seed, cases, shared))
        status, at = _wait(child, shared)
        failures += int.from_bytes(shared[8:16], "little")
        if status == 0:
            break
        failures += 1
        print(f"\n{name}: the process ended with {status} at case {at}\n  {_command(name, seed, at)}")
        cases = range(at + 1, cases.stop)
    return failures


def _work(name: str, target: Target, seed: int, cases: range, shared: mmap.mmap) -> int:
    """What a child does; it says at which case it is, and how many defects there were."""
    bound_memory()
    shared[:16] = bytes(16)

    def note(case: int) -> None:
        shared[:8] = case.to_bytes(8, "little")

    try:
        for number, finding in enumerate(fuzz(name, target, seed, cases, note=note), 1):
            shared[8:16] = number.to_bytes(8, "little")
            _tell(name, seed, finding)
    except BaseException as error:
        print(f"{name}: {type(error).__name__}: {error}", flush=True)
        return 3
    return 0


def _wait(child: int, shared: mmap.mmap) -> tuple[int, int]:
    """The status of a child and the case it was at; one that hangs is ended."""
    last, since = b"", time.monotonic()
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        now = shared[:8]
        if done:
            return status, int.from_bytes(now, "little")
        if now != last:
            last, since = now, time.monotonic()
        elif time.monotonic() - since > SILENT * 10:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.05)


def _command(name: str, seed: int, case: int) -> str:
    return f"python tests/fuzz --target {name} --seed {seed} --case {case}"


def _tell(name: str, seed: int, finding: Finding) -> None:
    shown = repr(finding.data)
    shown = shown if len(shown) < 3000 else f"{shown[:3000]}… ({len(finding.data)} bytes)"
    print(f"\n{name}: {finding.defect.place}\n{finding.defect.text}", end="")
    print(f"  {_command(name, seed, finding.case)}\n  {shown}", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
