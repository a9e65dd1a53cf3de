"""A file of another language as one of OBEP: the same answers, or an error for each part that OBEP lacks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from obep.query import ast
from obep.query.linked_queries import is_simple, link_queries
from obep.query.parse.file_scope import DEFAULT_NAMESPACE
from obep.query.translation.match_query import is_match_alone, match_events
from obep.query.translation.timed_query import timed_event
from obep.query.translation.untranslatable import AS_IT_IS, Refusals
from obep.query.translation.window_query import window_query, windows_of

DEFAULTS = {"report": "nonempty", "closed": "right", "policy": "unrestricted"}
"""The settings that say what OBEP does in any case."""


def as_obep(file: ast.QueryFile) -> ast.QueryFile:
    """Translate queries to OBEP; raises an ObepError with all parts that OBEP cannot express."""
    if file.language == "obep":
        return file
    refused = Refusals(file)
    for setting in file.settings:
        if setting.key != "entailment" and setting.value != DEFAULTS[setting.key]:
            what = f"{setting.key.upper()} {setting.value}"
            refused.add(setting, what, "OBEP has no words for this setting.", AS_IT_IS)
    parts: dict[str, Any] = {"windows": [], "events": [], "queries": [], "returns": []}
    returned: list[ast.Name] = []
    known = link_queries([file])
    for query in known.values():
        if query.timed:
            event = timed_event(query, _namespace(file), refused)
            parts["events"] += [event] if event is not None else []
            returned += [event.name] if event is not None else []
        elif is_match_alone(query.register) and not has_knowledge(file):
            *events, match = match_events(query, _namespace(file), refused)
            parts["windows"] += [one for one in windows_of(query) if one not in parts["windows"]]
            parts["events"] += [*events, match]
            returned.append(match.name)
        else:
            windows, register = window_query(query, refused, has_knowledge(file))
            parts["windows"] += [one for one in windows if one not in parts["windows"]]
            parts["queries"].append(register)
    if returned:
        parts["returns"].append(ast.Return("listed", tuple(returned), "rows"))
    refused.check()
    own = {query.name for query in known.values()}
    streams = dict.fromkeys(one.stream for one in parts["windows"] if one.stream not in own)
    return ast.QueryFile(
        file.base,
        file.prefixes,
        (*_sources(file), *(ast.Source("stream", stream) for stream in streams)),
        tuple(parts["windows"]),
        tuple(parts["events"]),
        tuple(parts["returns"]),
        queries=tuple(parts["queries"]),
        name=file.name,
    )


def _namespace(file: ast.QueryFile) -> str:
    """The namespace of the prefix `:`."""
    declared = [one.iri for one in file.prefixes if one.prefix in ("", ":")]
    return declared[-1] if declared else file.base or DEFAULT_NAMESPACE


def has_knowledge(file: ast.QueryFile) -> bool:
    """Whether there is an ontology or a static graph."""
    return bool(file.sources or any(query.graphs for query in file.queries))


def _sources(file: ast.QueryFile) -> list[ast.Source]:
    """VOCAB and FROM GRAPH: the axioms in static graphs are used in the other languages (D13)."""
    graphs = [
        ast.Source("named" if one.named else "graph", one.graph.iri[1:-1])
        for query in file.queries
        for one in query.graphs
    ]
    found = [*(replace(one) for one in file.sources), *graphs]
    if is_simple(file):
        return [one for one in dict.fromkeys(found) if one.kind != "vocab"]
    vocab = [replace(one, kind="vocab") for one in found if one.kind == "graph"]
    return sorted(dict.fromkeys([*vocab, *found]), key=lambda one: one.kind != "vocab")
