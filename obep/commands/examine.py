"""A query file as `check` and `explain` see it: parsed, linked and checked, with all there is to say."""

from __future__ import annotations

from pathlib import Path

from obep.commands.output import has_errors
from obep.errors import Diagnostic, ObepError
from obep.query.check import check
from obep.query.link import Linked, link
from obep.query.parser import read_query


def examine(path: Path, config: Path | None = None) -> tuple[Linked | None, list[Diagnostic]]:
    """The linked query, if it can be linked, and every diagnostic about it."""
    try:
        linked = link(read_query(path), path.parent)
        found = check(linked)
        if not has_errors(found) and (linked.vocab or linked.graphs):
            found += _check_against_ontology(linked, config)
        return linked, found
    except ObepError as error:
        return None, list(error.diagnostics)


def _check_against_ontology(linked: Linked, config: Path | None) -> list[Diagnostic]:
    """Unknown classes and properties. Only here the ontology is read, and its readers are imported."""
    from obep.config import load_config
    from obep.ontology.load import load_graph, load_ontology
    from obep.ontology.names import check_names

    settings = load_config(config, linked.folder)
    return list(
        check_names(linked, load_ontology(linked.vocab, settings.catalogue), load_graph(linked.graphs))
    )
