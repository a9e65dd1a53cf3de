"""A query over items that are all there, from the first to the last."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from obep.engine.query import Query
from obep.model import DeadLetter, Item, Occurrence


def run(query: Query, items: Iterable[Item | DeadLetter], **settings: Any) -> list[Occurrence]:
    """Everything that the query finds in the items; `settings` are those of `Engine`."""
    engine = query.engine(**settings)
    return [*engine.push_items(items), *engine.close()]
