"""The input of the rules about a query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from obep.errors import Diagnostic
from obep.lints.analysis.event_order import Definitions
from obep.lints.analysis.pattern_layout import Scope
from obep.model import Triple
from obep.query.ast import LogicalEvent, QueryFile, Window


@dataclass(frozen=True, slots=True)
class QueryContext:
    """A query, and its events without errors. Others get no warnings: they would repeat the errors."""

    definitions: Definitions
    patterns: list[Scope] = field(default_factory=list)
    """The composite events."""
    logical: list[tuple[LogicalEvent, QueryFile]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class OntologyContext:
    """The words of OWL in a query's ontology, and what was found about names, whether or not it compiles."""

    words: Mapping[Path, list[Triple]]
    """Of each ontology file the triples that show which words of OWL it uses."""
    names: list[Diagnostic]
    missing: Mapping[str, Path] = field(default_factory=dict)
    """The imports that were left out, each with the file that names it."""


def declared_windows(definitions: Definitions) -> Iterator[tuple[Window, QueryFile]]:
    """Yield every window with the file that declares it."""
    for file in definitions.linked.files:
        for window in file.windows:
            yield window, file
