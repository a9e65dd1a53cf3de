"""Plain records (JSON of a device, a CSV row) to items: a JSON-LD context, or a template of triples."""

from __future__ import annotations

from typing import Any, Protocol

from obep.formats.reading import Reading
from obep.model import DeadLetter, Item

Record = dict[str, Any]


class Mapping(Protocol):
    """Makes the item of one record."""

    def item(self, record: Record, raw: bytes, reading: Reading) -> Item | DeadLetter: ...
