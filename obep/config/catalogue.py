"""The catalogue of obep.toml: the file of each imported ontology, and what an import without one is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


class Catalogue(dict[str, Path]):
    """Files by the IRIs of ontologies. `lenient`: an import that it lacks is a warning, no error."""

    def __init__(self, files: Mapping[str, Path], *, lenient: bool = False) -> None:
        super().__init__(files)
        self.lenient = lenient


def is_lenient(catalogue: Mapping[str, Path]) -> bool:
    """Whether an import that a catalogue lacks is left out."""
    return isinstance(catalogue, Catalogue) and catalogue.lenient
