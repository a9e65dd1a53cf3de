"""Rules about windows: their names, their frames, what they keep and what they can never hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from obep.errors import Diagnostic
from obep.lints.analysis.event_order import Definitions
from obep.query.ast import CompositeEvent, Duration, LogicalEvent, QueryFile, Window
from obep.query.diagnostics import listed, quote, say
from obep.query.nearest_name import alike
from obep.query.walk import depends


def named_like_another(definitions: Definitions) -> Iterator[Diagnostic]:
    """OBEP128: ON <w> must mean one thing."""
    first: dict[str, str] = dict.fromkeys(definitions.linked.streams, "a stream")
    for window, file in _all(definitions):
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
    for window, file in _all(definitions):
        for name, length in (("RANGE", window.range), ("STEP", window.step)):
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


def kept_for_ever(definitions: Definitions) -> Iterator[Diagnostic]:
    """OBEP200: a landmark has no end."""
    for window, file in _all(definitions):
        if window.kind == "landmark":
            yield say(
                "OBEP200",
                file,
                window.span,
                f"all items of <{window.stream}> are kept for ever",
                "Nothing leaves a window that begins at a landmark: the state grows with the stream.",
                quote(replace(window, kind="range", start=None, range=Duration(300_000_000))),
            )


def unused(definitions: Definitions) -> Iterator[Diagnostic]:
    """OBEP213: a window is there for the events that look at it."""
    used = {event.on for event, _ in definitions.all() if isinstance(event, LogicalEvent)}
    for window, file in _all(definitions):
        if window.name not in used:
            yield say(
                "OBEP213",
                file,
                window.span,
                f"no event looks at <{window.name}>",
                "A window changes nothing by itself.",
                f"EVENT H ON <{window.name}> AS …",
            )


def misspelt_stream(definitions: Definitions) -> Iterator[Diagnostic]:
    """OBEP218: a window may be all that names its stream, but not if FROM STREAM has almost the same."""
    sources = [source for file in definitions.linked.files for source in file.sources]
    declared = list(dict.fromkeys(source.iri for source in sources if source.kind == "stream"))
    for window, file in _all(definitions):
        near = [] if window.stream in declared else [one for one in declared if alike(window.stream, one)]
        if near:
            yield say(
                "OBEP218",
                file,
                window.span,
                f"no FROM STREAM declares <{window.stream}>",
                f"The window looks at a stream of its own, then; here FROM STREAM has {_listed(declared)}.",
                quote(replace(window, stream=near[0])),
            )


def _listed(streams: list[str]) -> str:
    return listed([f"<{stream}>" for stream in streams])


def gaps(definitions: Definitions) -> Iterator[Diagnostic]:
    """OBEP214: items that come and go between two steps are never looked at."""
    for window, file in _all(definitions):
        if window.range and window.step and window.step.micros > window.range.micros > 0:
            yield say(
                "OBEP214",
                file,
                window.span,
                "some items are never looked at",
                f"The window holds {quote(window.range)} and is looked at every {quote(window.step)}: what "
                "comes in between has left before.",
                quote(replace(window, step=window.range)),
            )


def never_holds(definitions: Definitions) -> Iterator[Diagnostic]:
    """OBEP215: occurrences of composites are no items of a stream."""
    for event, file in definitions.all():
        if not isinstance(event, LogicalEvent) or event.on not in definitions.linked.window_names:
            continue
        named = [definitions.events.get(iri) for iri in sorted(depends(event))]
        outside = [
            one.name.text
            for one in named
            if isinstance(one, CompositeEvent) or (isinstance(one, LogicalEvent) and one.guard)
        ]
        if outside:
            yield say(
                "OBEP215",
                file,
                event.span,
                f"<{event.on}> never holds an occurrence of {listed(outside)}",
                "A window holds the items of its stream. What is found in them goes to events without ON.",
                f"EVENT {event.name.text} AS …   (without ON <{event.on}>)",
            )


def _all(definitions: Definitions) -> Iterator[tuple[Window, QueryFile]]:
    for file in definitions.linked.files:
        for window in file.windows:
            yield window, file
