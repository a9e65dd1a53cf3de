"""The catalogue of obep.toml: the file of each imported ontology, and what an import without one is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from obep.model import Term

if TYPE_CHECKING:
    from obep.formats.record_mapping import Mapping as RecordMapping


class Catalogue(dict[str, Path]):
    """Files by the IRIs of ontologies. `lenient`: an import that it lacks is a warning, no error.

    `query`: what `[query]` says of the queries that are read with it;
    `looked_up`: the names that mappings look up in K, beside the ontology and the query;
    `given`: the classes and properties that mappings write;
    `mappings`: by source, its mapping, unless `units` of the source converts what it makes.
    """

    def __init__(
        self, files: Mapping[str, Path], *, lenient: bool = False, query: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(files)
        self.lenient = lenient
        self.query = query or {}
        self.looked_up: frozenset[Term] = frozenset()
        self.given: frozenset[Term] = frozenset()
        self.mappings: dict[str, RecordMapping] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Mappings are compiled, and cannot be pickled; they are compared where the query is checked."""
        return {**self.__dict__, "mappings": {}}


def is_lenient(catalogue: Mapping[str, Path]) -> bool:
    """Whether an import that a catalogue lacks is left out."""
    return isinstance(catalogue, Catalogue) and catalogue.lenient


def query_settings(catalogue: Mapping[str, Path] | None) -> Mapping[str, Any]:
    """The settings under `[query]` of obep.toml."""
    return catalogue.query if isinstance(catalogue, Catalogue) else {}


def mappings_of(catalogue: Mapping[str, Path]) -> Mapping[str, RecordMapping]:
    """The mappings of sources."""
    return catalogue.mappings if isinstance(catalogue, Catalogue) else {}


def looked_up(catalogue: Mapping[str, Path]) -> frozenset[Term]:
    """The names that mappings look up in K."""
    return catalogue.looked_up if isinstance(catalogue, Catalogue) else frozenset()


def given(catalogue: Mapping[str, Path]) -> frozenset[Term]:
    """The classes and properties that mappings write."""
    return catalogue.given if isinstance(catalogue, Catalogue) else frozenset()
