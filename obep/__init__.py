"""Ontology-based event processing over RDF streams.

    import obep
    query = obep.load("rooms.obep")
    with query.engine() as engine:
        for hit in engine.push(graph, at="2026-01-01T10:00:00Z", stream="doors"):
            print(hit.event, hit.start, hit.end, hit.why())

Names are imported when they are first used, so `import obep` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from obep.engine.engine import Engine
    from obep.engine.query import Query, run
    from obep.engine.states.held_states import Held
    from obep.errors import Diagnostic, ObepError
    from obep.frames.async_stream import Stream, stream
    from obep.frames.detect_frame import detect
    from obep.frames.result import Result, Table
    from obep.model import DeadLetter, Item, Occurrence, Part
    from obep.run.load_query import load

__version__ = "0.1.0"

_HOMES = {
    "load": "obep.run.load_query",
    "Query": "obep.engine.query",
    "Engine": "obep.engine.engine",
    "Held": "obep.engine.states.held_states",
    "run": "obep.engine.query",
    "detect": "obep.frames.detect_frame",
    "stream": "obep.frames.async_stream",
    "Stream": "obep.frames.async_stream",
    "Result": "obep.frames.result",
    "Table": "obep.frames.result",
    "Diagnostic": "obep.errors",
    "ObepError": "obep.errors",
    "DeadLetter": "obep.model",
    "Item": "obep.model",
    "Occurrence": "obep.model",
    "Part": "obep.model",
}

__all__ = [
    "DeadLetter",
    "Diagnostic",
    "Engine",
    "Held",
    "Item",
    "ObepError",
    "Occurrence",
    "Part",
    "Query",
    "Result",
    "Stream",
    "Table",
    "__version__",
    "detect",
    "load",
    "run",
    "stream",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'obep' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
