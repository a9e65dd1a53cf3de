"""The frame of a run, whichever engine it is on: it goes, watches for signals, reports, closes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

from obep.run.progress import Progress
from obep.run.signals import interrupted


class Going(Protocol):
    """As much of a run as its frame needs."""

    def go(self) -> None: ...

    def close(self) -> None: ...

    def stop(self) -> None: ...


class Closing(Protocol):
    """A resource that is closed with the run: the endpoint of its metrics."""

    def close(self) -> None: ...


class Ended(NamedTuple):
    """The end of a run."""

    caught: list[int]
    """The signals that asked it to stop."""
    status: int | None = None
    """The exit status of one that broke off."""


Broken = Callable[[Exception], tuple[str, int] | None]
"""The message and exit status of an error that ends a run; None if it is not an error of the run."""


def watch(
    run: Going,
    progress: Progress,
    figures: Callable[[], Mapping[str, object]],
    endpoint: Closing | None,
    broken: Broken,
) -> Ended:
    """Let a run go to its end, or to where a signal or an error ends it, and print its summary."""
    caught: list[int] = []
    try:
        with interrupted(run.stop, caught):
            run.go()
            run.close()
    except Exception as error:
        report = broken(error)
        if report is None:
            raise
        text, status = report
        progress.end(figures(), stopped=True)
        print(text, file=sys.stderr)
        return Ended(caught, status)
    finally:
        if endpoint is not None:
            endpoint.close()
    progress.end(figures(), stopped=bool(caught))
    return Ended(caught)
