"""A query file as `check` and `explain` see it: parsed, linked and checked, with all there is to say."""

from __future__ import annotations

from pathlib import Path

from obep.errors import Diagnostic, ObepError
from obep.query.check import check
from obep.query.link import Linked, link
from obep.query.parser import read_query


def examine(path: Path, config: Path | None = None) -> tuple[Linked | None, list[Diagnostic]]:
    """The linked query, if it can be linked, and every diagnostic about it."""
    try:
        linked = link(read_query(path), path.parent)
    except ObepError as error:
        return None, list(error.diagnostics)
    found = check(linked)
    if linked.vocab or linked.graphs:
        try:
            found += _check_against_ontology(linked, config)
        except ObepError as error:
            found += error.diagnostics
    order = {file.name: number for number, file in enumerate(linked.files)}
    found.sort(key=lambda d: (order.get(d.file, len(order)), d.span.start if d.span else 0))
    return linked, found


def _check_against_ontology(linked: Linked, config: Path | None) -> list[Diagnostic]:
    """Unknown classes and properties. Only here the ontology is read, and its readers are imported."""
    from obep.config import load_config
    from obep.ontology.load import load_graph, load_ontology
    from obep.ontology.names import check_names

    settings = load_config(config, linked.folder)
    return list(
        check_names(linked, load_ontology(linked.vocab, settings.catalogue), load_graph(linked.graphs))
    )
