"""What it takes to run a query over a paper's stream: a folder with an ontology, items by instant."""

from __future__ import annotations

from pathlib import Path

import obep
from obep.engine.query import Query
from obep.model import SECOND, Item, Occurrence

NS = "http://example.org/#"
PREFIXES = f"@prefix : <{NS}> . @prefix owl: <http://www.w3.org/2002/07/owl#> . "
HEAD = f"PREFIX : <{NS}>\nVOCAB <ontology.ttl>\n"


def load(tmp_path: Path, query: str, ontology: str, static: str = "") -> Query:
    """A query over an ontology in Turtle, without Java: what these events need is exact by rules."""
    (tmp_path / "ontology.ttl").write_text(PREFIXES + ontology)
    head = HEAD
    if static:
        (tmp_path / "static.ttl").write_text(PREFIXES + static)
        head += "FROM GRAPH <static.ttl>\n"
    return obep.load(text=f"{head}FROM STREAM <s>\n{query}", folder=tmp_path, java=False)


def run(query: Query, stream: dict[int, list[str]]) -> list[Occurrence]:
    """All reports for items by second; the instants between are silent."""
    with query.engine() as engine:
        hits = []
        for second, graphs in stream.items():
            for graph in graphs:
                hits += engine.push(PREFIXES + graph, at=second, stream="s")
        return hits + engine.close()


def times(hits: list[Occurrence]) -> list[tuple[int, int, int]]:
    """(start, end, detected) in seconds, sorted."""
    return sorted((hit.start // SECOND, hit.end // SECOND, hit.detected // SECOND) for hit in hits)


def bound(hit: Occurrence, *names: str) -> set[tuple[str, ...]]:
    """The values of some variables, by the end of their IRI or as the literal's text."""
    return {tuple(short(row.get(name, "")) for name in names) for row in hit.bindings}


def short(term: str) -> str:
    return term.rsplit("#", 1)[-1].rstrip(">") if term.startswith("<") else term.split('"')[1] if term else ""


def of(hits: list[Occurrence], event: str) -> list[Occurrence]:
    return [hit for hit in hits if hit.event == f"<{NS}{event}>"]


__all__ = ["NS", "Item", "bound", "load", "of", "run", "short", "times"]
