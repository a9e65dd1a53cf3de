"""Runs cases of a target within bounds, tells defects apart, and makes the input of one small."""

from __future__ import annotations

import resource
import signal
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from types import FrameType
from typing import NamedTuple

from fuzz_targets import Target, answers

SECONDS = 10.0
"""CPU time that one input may take."""
MEMORY = 1 << 30
"""Bytes of memory that a process may take beyond what it had."""
TRIALS = 1500
"""Inputs that are tried to make one smaller."""


class TooLong(BaseException):
    """An input that took more CPU time than it may; no `except Exception` holds it up."""


class Defect(NamedTuple):
    """What went wrong, with a name for the place of it that equal defects share."""

    place: str
    text: str


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise TooLong in what takes more CPU time."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TooLong

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def bound_memory(more: int = MEMORY) -> None:
    """Let this process have so much more memory; beyond it is a MemoryError."""
    with open("/proc/self/statm", encoding="ascii") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + more, now + more))


def input_of(name: str, target: Target, seed: int, case: int) -> bytes:
    """The input of a case: it depends on the target, the seed and the number only."""
    return target.make(Random(f"{name}/{seed}/{case}"))


def defect_of(target: Target, data: bytes, seconds: float = SECONDS) -> Defect | None:
    """What is wrong with how an input is taken, if something is."""
    try:
        with within(seconds):
            answers(target, data)
    except (Exception, TooLong) as error:
        return _described(error)
    return None


def _described(error: BaseException) -> Defect:
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "/obep/" in frame.filename] or frames
    where = (
        "somewhere"
        if isinstance(error, TooLong)
        else f"{own[-1].filename.rpartition('/obep/')[2]}:{own[-1].lineno}"
    )
    words = "".join(traceback.format_exception(error)[-12:])
    return Defect(f"{type(error).__name__} in {where}", words)


def shrunk(data: bytes, fails: Callable[[bytes], bool], trials: int = TRIALS) -> bytes:
    """A smaller input that fails too: pieces are left out, half of it first, a byte last."""
    size = len(data) // 2
    while size and trials > 0:
        at = 0
        while at < len(data) and trials > 0:
            smaller = data[:at] + data[at + size :]
            trials -= 1
            if fails(smaller):
                data = smaller
            else:
                at += size
        size //= 2
    return data


class Finding(NamedTuple):
    """A defect with the case that shows it and the shrunk input."""

    case: int
    defect: Defect
    data: bytes


def fuzz(
    name: str,
    target: Target,
    seed: int,
    cases: range,
    *,
    note: Callable[[int], None] = lambda case: None,
    seconds: float = SECONDS,
) -> Iterator[Finding]:
    """Run cases; each place of a defect is reported once. `note` is called with each case before it runs."""
    seen: set[str] = set()
    for case in cases:
        note(case)
        data = input_of(name, target, seed, case)
        defect = defect_of(target, data, seconds)
        if defect is None or defect.place in seen:
            continue
        seen.add(defect.place)
        place = defect.place
        slow = place.startswith("TooLong")

        def fails(smaller: bytes, place: str = place) -> bool:
            found = defect_of(target, smaller, seconds)
            return found is not None and found.place == place

        yield Finding(case, defect, data if slow else shrunk(data, fails))


def paced(seconds: float) -> Callable[[], bool]:
    """Whether so much time is not yet over."""
    end = time.monotonic() + seconds
    return lambda: time.monotonic() < end
