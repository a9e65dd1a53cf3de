"""Rules about windows: their names, their frames, what they keep and what they can never hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from obep.errors import Diagnostic
from obep.lints.analysis.event_order import Definitions
from obep.lints.context import declared_windows
from obep.query.ast import Duration
from obep.query.diagnostics import quote, say


def named_like_another(definitions: Definitions) -> Iterator[Diagnostic]:
    """OBEP128: ON <w> must mean one thing."""
    first: dict[str, str] = dict.fromkeys(definitions.linked.streams, "a stream")
    for window, file in declared_windows(definitions):
        if window.name in first:
            yield say(
                "OBEP128",
                file,
                window.span,
                f"<{window.name}> is the name of {first[window.name]} already",
                f"ON <{window.name}> would not say which of the two an event looks at.",
                quote(replace(window, name=f"{window.name}2")),
            )
        first.setdefault(window.name, "another window")


def bound_of_zero(definitions: Definitions) -> Iterator[Diagnostic]:
    """OBEP124: a window holds some time, and steps forward."""
    for window, file in declared_windows(definitions):
        word = "LATEST" if window.kind == "latest" else "RANGE"
        for name, length in ((word, window.range), ("STEP", window.step)):
            if length is not None and length.micros <= 0:
                yield say(
                    "OBEP124",
                    file,
                    length.span,
                    f"a {name} of zero",
                    "Nothing lies in no time, and a window that is never moved on is never looked at.",
                    quote(replace(window, range=_positive(window.range), step=_positive(window.step))),
                )


def _positive(length: Duration | None) -> Duration | None:
    return Duration(1_000_000) if length is not None and length.micros <= 0 else length
