"""What the rules about a query look at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from obep.lints.analysis.event_order import Definitions
from obep.lints.analysis.pattern_layout import Scope
from obep.query.ast import LogicalEvent, QueryFile, Window


@dataclass(frozen=True, slots=True)
class QueryContext:
    """A query, and its events without errors. Others get no warnings: they would repeat the errors."""

    definitions: Definitions
    patterns: list[Scope] = field(default_factory=list)
    """The composite events."""
    logical: list[tuple[LogicalEvent, QueryFile]] = field(default_factory=list)


def windows_of(definitions: Definitions) -> Iterator[tuple[Window, QueryFile]]:
    """Yield every window with the file that declares it."""
    for file in definitions.linked.files:
        for window in file.windows:
            yield window, file
