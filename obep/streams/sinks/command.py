"""A command that is run for each occurrence, with its JSON on standard input (`exec:notify --loud`)."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from typing import Any

from obep.errors import fail
from obep.streams.sinks.open_sinks import ImmediateSink
from obep.streams.stream_uri import Address

TIMEOUT = 30_000_000
STANDARD_ERROR = 2
"""Where what the program prints goes: standard output is for occurrences."""


class CommandSink(ImmediateSink):
    """Runs a program without a shell, so nothing in an occurrence can become part of the command."""

    def __init__(self, address: Address, settings: Mapping[str, Any]) -> None:
        try:
            self._words = shlex.split(address.path)
        except ValueError as error:
            raise fail("OBEP512", f"{address.shown}: {error}") from None
        if not self._words:
            raise fail("OBEP512", "exec: needs a command", remedy="exec:./notify.sh")
        if shutil.which(self._words[0]) is None:
            raise fail(
                "OBEP554",
                f"{address.shown}: there is no program {self._words[0]}",
                reason="It must be a program on the PATH, or a path, and be executable.",
                remedy=f"chmod +x {self._words[0]}" if "/" in self._words[0] else f"exec:./{self._words[0]}",
            )
        self._timeout = settings.get("timeout", TIMEOUT) / 1_000_000

    def send(self, id: str, payload: bytes) -> None:
        try:
            done = subprocess.run(
                self._words,
                input=payload,
                stdout=STANDARD_ERROR,
                timeout=self._timeout,
                env={**os.environ, "OBEP_ID": id},
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise fail("OBEP555", f"{self._words[0]} did not take {id}: {error}") from None
        if done.returncode:
            raise fail("OBEP555", f"{self._words[0]} did not take {id}: it ended with {done.returncode}")

    def hurry(self) -> None:
        """It tries nothing twice."""
