"""`[query]` of obep.toml: the settings of queries in other languages than OBEP (DIALECTS 1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from obep.query import ast


def with_settings(file: ast.QueryFile, settings: Mapping[str, Any]) -> ast.QueryFile:
    """A file with the settings that it does not say itself; ontologies, graphs and streams are added."""
    if file.language == "obep" or not settings:
        return file
    said = {one.key for one in file.settings}
    mapped = {one.iri for one in file.stream_sources}
    keys: tuple[Any, ...] = ("entailment", "policy", "report", "closed")
    values = [ast.Setting(key, settings[key]) for key in keys if key in settings and key not in said]
    kinds: tuple[Any, ...] = ("vocab", "graph")
    sources = [ast.Source(kind, path) for kind in kinds for path in settings.get(kind, ())]
    streams = [
        ast.StreamSource(iri, source)
        for iri, source in settings.get("streams", {}).items()
        if iri not in mapped
    ]
    return replace(
        file,
        settings=(*file.settings, *values),
        sources=(*file.sources, *(one for one in sources if one not in file.sources)),
        stream_sources=(*file.stream_sources, *streams),
    )
