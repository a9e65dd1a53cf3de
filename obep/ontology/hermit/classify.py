"""T and the definitions, classified by HermiT once and remembered under a hash of their content."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from obep.errors import ObepError, fail
from obep.ontology.bundle.cache import Folder, axioms_hash
from obep.ontology.hermit.reasoner import INCONSISTENT, Hierarchy, Inconsistent, shared_reasoner
from obep.ontology.owl.axiom_set import Axioms

CANNOT = "OBEP342"
"""The code of a T that the reasoner cannot read."""


@dataclass(frozen=True)
class _Found:
    """The cached result; None: T has no model."""

    hierarchy: Hierarchy | None
    refused: tuple[str, str, str] | None = None
    """Message, reason and remedy, where the reasoner cannot read T."""


def classify(axioms: Axioms, cache_dir: Path | None = None) -> Hierarchy | Inconsistent:
    """The hierarchy of the named classes of T; `INCONSISTENT` if T has no model.

    Give the sub-expressions of the events names of their own first (`X EquivalentTo r some A`): what HermiT
    finds about names is complete, about expressions it finds nothing.
    """
    folder = None if cache_dir is None else Folder(cache_dir / "classified")
    key = "" if folder is None else axioms_hash(axioms)
    found = None if folder is None else folder.read(key, _Found)
    if found is None:
        found = _ask(axioms)
        if folder is not None:
            folder.write(key, found)
    if found.refused is not None:
        message, reason, remedy = found.refused
        raise fail(CANNOT, message, reason=reason, remedy=remedy)
    return INCONSISTENT if found.hierarchy is None else found.hierarchy


def _ask(axioms: Axioms) -> _Found:
    try:
        answer = shared_reasoner().classify(axioms)
    except ObepError as error:
        if error.code != CANNOT:  # next time there may be a Java, more time or more memory
            raise
        said = error.diagnostics[0]
        return _Found(None, (said.message, said.reason, said.remedy))
    return _Found(None if isinstance(answer, Inconsistent) else answer)
