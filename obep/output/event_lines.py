"""Lines of JSON of very many occurrences of an event: what they have in common is written once.

What a part adds to a line it keeps, since it may be a part of many. The line is that of `json_writer`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from obep.abstraction.decided_occurrences import Decided
from obep.model import Term
from obep.operators.candidates import Candidate
from obep.output.json_writer import (
    ENDS,
    LINE,
    cause_head,
    record_head,
    style_of_instant,
    written_cause,
    written_time,
)

REMEMBERED = 4096
"""Rows whose bindings are remembered as JSON, and kinds of parts whose frames are."""
Frame = tuple[bytes, bytes, bool]
"""How a cause begins and ends, and whether it is a lower bound."""
Named = Sequence[tuple[int, str, bool]]
"""The place, the alias and whether it is a context of each part that is shown."""
_encode = msgspec.json.Encoder().encode


class EventLines:
    """Writes the occurrences of one event."""

    def __init__(
        self,
        event: Term,
        named: Named,
        bindings: Callable[[Any], tuple[dict[str, Term], ...]],
        *,
        bounded: bool,
    ) -> None:
        self._head = record_head(event)
        self._aliases: list[tuple[tuple[int, str, bool], dict[object, Frame]]] = [(one, {}) for one in named]
        """The parts, each with the frames of its causes."""
        self._bindings_of = bindings
        self._bounded = bounded
        self._bindings: dict[object, bytes] = {}

    def of(self, found: Candidate, name: str, style: str) -> bytes:
        """The line of what was found; nothing if it has no parts."""
        start, end, detected, _, parts, rows = found
        chosen: Any = style or style_of_instant(detected)
        bounded, causes = self._bounded, b""
        for (place, alias, context), frames in self._aliases:
            part = parts[place]
            if part is None:
                continue
            known = part._written
            if known is None or known[0] != chosen:
                known = written_cause(part, chosen)
            kind = part.by if type(part) is Decided else (part.event, part.bounded)
            frame = frames.get(kind)
            if frame is None:
                if len(frames) >= REMEMBERED:
                    frames.clear()
                head = b"," + cause_head(part.event, alias)
                frame = frames[kind] = head, ENDS[context, part.bounded], part.bounded
            head, tail, open = frame
            bounded = bounded or open
            causes += head + known[1] + tail
        if not causes:
            return b""
        said = self._bindings.get(rows)
        if said is None:
            if len(self._bindings) >= REMEMBERED:
                self._bindings.clear()
            said = self._bindings[rows] = _encode(self._bindings_of(rows))
        last = written_time(end, chosen)
        return LINE % (
            self._head,
            _encode(name),
            written_time(start, chosen),
            last,
            last if detected == end else written_time(detected, chosen),
            said,
            b"[" + causes[1:] + b"]",
            ENDS[False, bounded] + b"\n",
        )
