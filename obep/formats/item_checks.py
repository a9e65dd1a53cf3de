"""Items that a check refuses, as dead letters: the shapes of `validate` under a source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from obep.formats.stream_reader import as_sent
from obep.model import DeadLetter, Item, Triple

INVALID = "OBEP806"


class Check(Protocol):
    """Says what is wrong with the triples of an item, beside those of K; it follows the changes of K."""

    def wrong(self, triples: Iterable[Triple]) -> str | None: ...

    def begin(self, k: Iterable[Triple]) -> None: ...

    def change(self, come: Iterable[Triple], gone: Iterable[Triple]) -> None: ...


Checks = Mapping[str, Check]
"""By stream, the check of its items."""


def refused_by(check: Check, item: Item) -> Item | DeadLetter:
    """The item; or its dead letter with the reason, if it does not conform."""
    said = check.wrong(item.triples)
    return item if said is None else DeadLetter(item.stream, item.at, INVALID, said, as_sent(item))
