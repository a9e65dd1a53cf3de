"""Items that a check refuses, as dead letters: the shapes of `validate` under a source."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from obep.formats.stream_reader import as_sent
from obep.model import DeadLetter, Item, Triple

Checks = Mapping[str, Callable[[Iterable[Triple]], str | None]]
"""By stream, what says what is wrong with the triples of an item."""
INVALID = "OBEP806"


def checked(items: Iterable[Item | DeadLetter], checks: Checks) -> Iterator[Item | DeadLetter]:
    """The same items; one that does not conform is a dead letter with the reason."""
    for item in items:
        check = None if isinstance(item, DeadLetter) else checks.get(item.stream)
        if check is None or isinstance(item, DeadLetter) or (said := check(item.triples)) is None:
            yield item
        else:
            yield DeadLetter(item.stream, item.at, INVALID, said, as_sent(item))
