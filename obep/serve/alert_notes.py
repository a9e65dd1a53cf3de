"""Acknowledgements, snoozes and comments on alerts, kept and passed on as items of a stream."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

import msgspec

from obep.formats.timestamps import show_instant
from obep.model import RDF_TYPE, Item, Triple
from obep.output.rdf_writer import OBEP
from obep.serve.entries import Acted

STREAM = "acks"
"""The stream that a query reads to know of them."""
CLASSES = {
    "ack": "Acknowledgement",
    "snooze": "Snooze",
    "unsnooze": "Unsnooze",
    "comment": "Comment",
}
"""By the action, the class of its item."""
XSD_TIME = "<http://www.w3.org/2001/XMLSchema#dateTime>"


class Action(msgspec.Struct, omit_defaults=True):
    """An action as the journal has it, and as it is answered."""

    action: str
    by: str
    at: str
    until: str | None = None
    comment: str = ""


class AlertNotes:
    """By the id of an alert, what was done with it, oldest first."""

    def __init__(self, rows: Iterable[tuple[int, str, str]]) -> None:
        self._by_alert: dict[str, list[Action]] = {}
        for _, alert, record in rows:
            self._by_alert.setdefault(alert, []).append(msgspec.json.decode(record, type=Action))

    def take(self, change: Acted) -> str:
        """One more; its record for the journal."""
        until = None if change.until is None else str(show_instant(change.until))
        action = Action(change.action, change.by, str(show_instant(change.wall)), until, change.comment)
        self._by_alert.setdefault(change.alert, []).append(action)
        return msgspec.json.encode(action).decode()

    def of(self, alert: str) -> dict[str, Any]:
        """Whether it is acknowledged or snoozed, by which user, and all actions on it."""
        done = self._by_alert.get(alert, [])
        acknowledged = next((one for one in reversed(done) if one.action == "ack"), None)
        put_off = next((one for one in reversed(done) if one.action in ("snooze", "unsnooze")), None)
        return {
            "acknowledged": None if acknowledged is None else msgspec.to_builtins(acknowledged),
            "snoozed": None
            if put_off is None or put_off.action == "unsnooze"
            else msgspec.to_builtins(put_off),
            "actions": [msgspec.to_builtins(one) for one in done],
        }


def ack_item(change: Acted, watermark: int | None) -> Item:
    """The item of an action. Its instant is where the streams have come to, so that nothing is late by it."""
    named = blake2b(repr((change.alert, change.action, change.by, change.wall)).encode(), digest_size=16)
    node = f"<urn:obep:action:{named.hexdigest()}>"
    triples: list[Triple] = [
        (node, RDF_TYPE, f"<{OBEP}{CLASSES[change.action]}>"),
        (node, f"<{OBEP}alert>", f"<{change.alert}>"),
        (node, f"<{OBEP}by>", _text(change.by)),
        (node, f"<{OBEP}at>", f'"{show_instant(change.wall)}"^^{XSD_TIME}'),
    ]
    if change.until is not None:
        triples.append((node, f"<{OBEP}until>", f'"{show_instant(change.until)}"^^{XSD_TIME}'))
    if change.comment:
        triples.append((node, f"<{OBEP}comment>", _text(change.comment)))
    return Item(STREAM, change.wall if watermark is None else watermark, tuple(triples), node)


def _text(value: str) -> str:
    """A literal in N-Triples."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'
