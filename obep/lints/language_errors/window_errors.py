"""Rules about windows: their names, their frames, what they keep and what they can never hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from obep.errors import Diagnostic
from obep.lints.analysis.event_order import Definitions
from obep.lints.context import declared_windows
from obep.query.ast import CompositeEvent, Duration, Event, Leaf, Window
from obep.query.diagnostics import quote, say
from obep.query.walk import walk


def named_like_another(definitions: Definitions) -> Iterator[Diagnostic]:
    """OBEP101: ON <w> must mean one thing."""
    first: dict[str, str] = dict.fromkeys(definitions.linked.streams, "a stream")
    for window, file in declared_windows(definitions):
        if window.name in first:
            yield say(
                "OBEP101",
                file,
                window.span,
                f"<{window.name}> is the name of {first[window.name]} already",
                f"ON <{window.name}> would be ambiguous.",
                quote(replace(window, name=f"{window.name}2")),
            )
        first.setdefault(window.name, "another window")


def never_in_window(definitions: Definitions) -> Iterator[Diagnostic]:
    """OBEP151: `H IN <w>` needs a window that holds what H is found in."""
    windows = {window.name: window for window in definitions.linked.windows}
    for event, file in definitions.all():
        for leaf in walk(event):
            if isinstance(leaf, Leaf) and leaf.window in windows and leaf.event.iri in definitions.events:
                window = windows[leaf.window]
                if why := _foreign(definitions.events[leaf.event.iri], window, definitions):
                    name = leaf.event.text
                    yield say(
                        "OBEP151",
                        file,
                        leaf.span,
                        f"{name} is not in <{window.name}>: {why}",
                        "A leaf on a window counts while its item is in the window.",
                        f"FROM NAMED WINDOW <{window.name}> ON EVENT {name} [RANGE 5 min]",
                    )


def _foreign(event: Event, window: Window, definitions: Definitions) -> str:
    """Why an event is not held by a window."""
    if window.event is not None:
        return "" if window.event.iri == event.name.iri else f"it holds occurrences of {window.event.text}"
    if isinstance(event, CompositeEvent):
        return f"it holds items of <{window.stream}>, and no single one shows a pattern"
    if event.on == window.stream or (
        event.on is None and set(definitions.linked.streams) - definitions.linked.models <= {window.stream}
    ):
        return ""
    other = f"reads <{event.on}>" if event.on is not None else "reads other streams, too"
    return f"it holds items of <{window.stream}>, and {event.name.text} {other}"


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
                    "The durations of a window must be longer than zero.",
                    quote(replace(window, range=_positive(window.range), step=_positive(window.step))),
                )


def _positive(length: Duration | None) -> Duration | None:
    return Duration(1_000_000) if length is not None and length.micros <= 0 else length
