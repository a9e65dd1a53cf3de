"""Lines of JSON of very many occurrences of an event: what they have in common is written once.

What a part adds to a line it keeps, since it may be a part of many. The line is that of `json_writer`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from obep.model import Occurrence, Term
from obep.output.json_writer import (
    ENDS,
    cause_head,
    record_head,
    style_of_instant,
    written_cause,
    written_time,
)

REMEMBERED = 4096
"""Rows whose bindings are remembered as JSON."""
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
        self._named = named
        self._bindings_of = bindings
        self._bounded = bounded
        self._bindings: dict[object, bytes] = {}
        self._heads: dict[tuple[Term, str], bytes] = {}

    def of(
        self,
        times: tuple[int, int, int],
        name: str,
        parts: Sequence[Occurrence | None],
        rows: Any,
        style: str,
    ) -> bytes:
        """The line of what was found as these parts; nothing if there are none."""
        start, end, detected = times
        chosen: Any = style or style_of_instant(detected)
        heads, bounded, causes = self._heads, self._bounded, []
        for place, alias, context in self._named:
            part = parts[place]
            if part is None:
                continue
            known = part._written
            if known is None or known[0] != chosen:
                known = written_cause(part, chosen)
            head = heads.get((part.event, alias))
            if head is None:
                head = heads[part.event, alias] = cause_head(part.event, alias)
            causes.append(head + known[1] + ENDS[context, part.bounded])
            bounded = bounded or part.bounded
        if not causes:
            return b""
        said = self._bindings.get(rows)
        if said is None:
            if len(self._bindings) >= REMEMBERED:
                self._bindings.clear()
            said = self._bindings[rows] = _encode(self._bindings_of(rows))
        last = written_time(end, chosen)
        return b'%b%b,"start":%b,"end":%b,"detected":%b,"bindings":%b,"because":[%b]%b\n' % (
            self._head,
            _encode(name),
            written_time(start, chosen),
            last,
            last if detected == end else written_time(detected, chosen),
            said,
            b",".join(causes),
            ENDS[False, bounded],
        )
