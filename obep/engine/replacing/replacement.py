"""The record of a replacement of the query; a dry run gives the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import msgspec

from obep.formats.timestamps import Style, show_instant
from obep.model import Alert, Term, local_name

REPLACED = "replaced"
"""The end of an alert whose state was removed or redefined."""


class Changed(NamedTuple):
    """A definition that means something else than before, with the digests of both meanings."""

    name: Term
    before: str
    after: str


class Replacement(msgspec.Struct, frozen=True, kw_only=True):
    """What keeps its state, what begins, what goes, and at which watermark.

    `kept`, `begun`, `gone` are IRIs of events, states and queries. What has `changed` begins anew. `warmed`
    are those of `begun` and `changed` whose state was built from the history.
    """

    before: str
    """The hash of the query that ran."""
    after: str
    watermark: int | None
    waiting: int | None
    """Items that have come and wait for the watermark: the new query judges them. `None`: not known."""
    kept: tuple[Term, ...]
    begun: tuple[Term, ...]
    changed: tuple[Changed, ...]
    gone: tuple[Term, ...]
    warmed: tuple[Term, ...] = ()
    streams_added: tuple[str, ...] = ()
    streams_removed: tuple[str, ...] = ()
    resolved: tuple[Alert, ...] = ()
    """Alerts that fired, of states that go or change: each is resolved here (`ended` is `replaced`)."""
    firing: tuple[Alert, ...] = ()
    """Alerts that the history has made fire, and that still do."""
    generations: int = 1
    """The number of versions of the query that run side by side after it."""

    @property
    def records(self) -> tuple[Alert, ...]:
        """Records to deliver as occurrences are."""
        return (*self.resolved, *self.firing)

    def to_json(self) -> dict[str, object]:
        """The record for other programs, without the alerts' explanations."""
        plain: dict[str, object] = {
            name: getattr(self, name) for name in ("before", "after", "watermark", "waiting", "generations")
        }
        plain |= {name: [iri[1:-1] for iri in getattr(self, name)] for name in _LISTS}
        plain["changed"] = [
            {"name": one.name[1:-1], "before": one.before, "after": one.after} for one in self.changed
        ]
        plain |= {name: list(getattr(self, name)) for name in ("streams_added", "streams_removed")}
        plain |= {name: [_alert(one) for one in getattr(self, name)] for name in ("resolved", "firing")}
        return plain

    def lines(self, style: Style | None = None) -> Iterator[str]:
        """The record for people."""
        if self.watermark is None:
            yield "before the first item"
        else:
            waiting = "" if self.waiting is None else f", with {self.waiting} items waiting"
            yield f"at {show_instant(self.watermark, style or 'iso')}{waiting}"
        for word, names in (
            ("keeps its state", self.kept),
            ("begins", tuple(name for name in self.begun if name not in self.warmed)),
            ("begins anew", tuple(c.name for c in self.changed if c.name not in self.warmed)),
            ("begins from the history", self.warmed),
            ("goes", self.gone),
        ):
            if names:
                yield f"{word}: {', '.join(map(local_name, names))}"
        for word, streams in (("new stream", self.streams_added), ("no longer read", self.streams_removed)):
            if streams:
                yield f"{word}: {', '.join(streams)}"
        for alert in self.records:
            labels = ", ".join(f"?{name} = {local_name(value)}" for name, value in alert.labels.items())
            yield f"{alert.status}: {local_name(alert.event)}{f' with {labels}' if labels else ''}"


_LISTS = ("kept", "begun", "gone", "warmed")


def _alert(alert: Alert) -> dict[str, object]:
    return {"state": alert.event[1:-1], "id": alert.id, "labels": alert.labels, "since": alert.since}


class Difference(NamedTuple):
    """The differences between the definitions of two queries."""

    kept: tuple[Term, ...]
    begun: tuple[Term, ...]
    changed: tuple[Changed, ...]
    gone: tuple[Term, ...]

    @property
    def starting(self) -> frozenset[Term]:
        """Definitions without state under the new query."""
        return frozenset((*self.begun, *(one.name for one in self.changed)))


def difference(before: Mapping[Term, str], after: Mapping[Term, str]) -> Difference:
    """Compare what two queries mean, name by name."""
    return Difference(
        tuple(name for name in after if before.get(name) == after[name]),
        tuple(name for name in after if name not in before),
        tuple(
            Changed(name, before[name], after[name])
            for name in after
            if name in before and before[name] != after[name]
        ),
        tuple(name for name in before if name not in after),
    )
