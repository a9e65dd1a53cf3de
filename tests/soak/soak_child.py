"""The real `obep`, killed by SIGKILL at a step that its first arguments name: what, how often, and a size."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

import obep.run.pipeline as pipeline
from obep.cli.main import main
from obep.run.checkpoint import Checkpoint
from obep.streams.sinks.open_sinks import FileSink
from obep.streams.sources import batches, merge

PLACES: dict[str, tuple[type, str]] = {
    "take": (pipeline.Run, "take"),
    "save": (Checkpoint, "save"),
    "send": (FileSink, "send"),
    "flush": (FileSink, "flush"),
}


def killing(call: Callable[..., Any], after: int) -> Callable[..., Any]:
    """A function after whose so manieth call the process is gone."""
    left = [after]

    def called(*given: Any) -> Any:
        result = call(*given)
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    return called


if __name__ == "__main__":
    place, after, size = sys.argv.pop(1), int(sys.argv.pop(1)), int(sys.argv.pop(1))
    pipeline.INTERVAL_S = 0.0
    batches.SIZE = merge.SIZE = size
    if place in PLACES:
        owner, name = PLACES[place]
        setattr(owner, name, killing(getattr(owner, name), after))
    main()
