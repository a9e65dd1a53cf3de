"""Questions: why, why not, what is wrong with a query, what it is made of."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from typing import Any

import msgspec
from starlette.responses import Response

from obep.engine.construct import construct
from obep.engine.query import Query
from obep.errors import fail
from obep.model import Occurrence
from obep.output.json_reader import Lookup, ReadOccurrence, read_line
from obep.output.why_tree import why as tree
from obep.plan.explain_text import defined
from obep.plan.query_picture import Chart, mermaid
from obep.query.ast import LogicalEvent, Name
from obep.query.print.printer import show
from obep.query.walk import walk
from obep.serve.api.calls import Call
from obep.serve.api.http_answers import answer, errors
from obep.serve.api.query_names import query_name
from obep.serve.journal import Journal
from obep.serve.service import Service
from obep.why_not.linking_axioms import linking_axioms

AXIOMS = 50
"""The most of an event that an answer names."""
_IRI = re.compile(r"<[^<>\s]*>")


class OfId(msgspec.Struct, forbid_unknown_fields=True):
    """Which occurrence."""

    id: str


class OfEvent(msgspec.Struct, forbid_unknown_fields=True):
    """Which event or state, perhaps of some individuals: `Low(:PenA)`."""

    event: str


class Text(msgspec.Struct, forbid_unknown_fields=True):
    """A query, and whose place it takes (that of the first one)."""

    query: str
    name: str = ""


class PerhapsText(msgspec.Struct, forbid_unknown_fields=True):
    """A query, or the name of one that runs (the first one)."""

    query: str | None = None
    name: str = ""


async def why(call: Call) -> Response:
    """The record of an occurrence and its causes as a tree of text."""
    wanted = await call.json(OfId)
    rows = await asyncio.to_thread(call.service.journal.with_id, wanted.id)
    if not rows:
        raise fail(
            "OBEP530",
            f"no occurrence {wanted.id[:200]!r} is kept",
            reason=f"None of the last {call.service.settings.keep} records has this id.",
            remedy="GET /events lists records with their ids",
        )
    record = rows[-1].record
    read = await asyncio.to_thread(read_line, record, _lookup(call.service.journal, frozenset({wanted.id})))
    text = "" if read is None else tree(read.occurrence, read.style)
    axioms = await asyncio.to_thread(_axioms, call.service, msgspec.json.decode(record))
    known = [] if read is None else await asyncio.to_thread(_known, call.service, read.occurrence)
    said = {"id": wanted.id, "record": msgspec.Raw(record.encode())}
    return answer({**said, "text": text, "axioms": axioms, "known": known})


def _known(service: Service, found: Occurrence) -> list[str]:
    """The facts of K that the guard of an occurrence has found: its triple patterns with these values."""
    for query in service.queries.queries.values():
        event = query.linked.events.get(found.event)
        if event is not None and (guard := event.guard) is not None:
            asked = (*guard.own, *(triple for block in guard.blocks for triple in block.triples))
            facts = [triple for triple in construct(asked, found) if triple in query.bundle.k]
            return [f"{s} {p} {o} ." for s, p, o in facts]
    return []


def _axioms(service: Service, record: Any) -> dict[str, list[str]]:
    """By logical event of a record, the axioms of T by which its facts may lead to its definition."""
    found: dict[str, list[str]] = {}
    for event, facts in _facts(record).items():
        for query in service.queries.queries.values():
            defined_as = query.linked.events.get(f"<{event}>")
            if isinstance(defined_as, LogicalEvent) and event not in found:
                wanted = {part.iri for part in walk(defined_as) if isinstance(part, Name)}
                axioms = linking_axioms(query.bundle.t.axioms, facts, wanted)
                found |= {event: axioms[:AXIOMS]} if axioms else {}
    return found


def _facts(node: Any) -> dict[str, set[str]]:
    """The names in the facts of a record and its causes, by the events that these facts show."""
    found: dict[str, set[str]] = {}
    if "event" in node:
        found[node["event"]] = {name for line in node.get("assertions", ()) for name in _IRI.findall(line)}
    for part in (*node.get("because", ()), *node.get("follows_from", ())):
        for event, names in _facts(part).items():
            found[event] = found.get(event, set()) | names
    return found


def _lookup(journal: Journal, met: frozenset[str]) -> Lookup:
    def look(id: str) -> ReadOccurrence | None:
        rows = [] if id in met else journal.with_id(id)
        return read_line(rows[-1].record, _lookup(journal, met | {id})) if rows else None

    return look


async def why_not(call: Call) -> Response:
    """What came furthest of the latest items, and what kept it from being reported."""
    wanted = await call.json(OfEvent)
    found = await asyncio.to_thread(call.ask, lambda engine: engine.why_not(wanted.event))
    return answer({"event": found.event, "reported": found.reported, "text": str(found)})


async def check(call: Call) -> Response:
    """All diagnostics of a text as a query of this project; nothing changes by it."""
    wanted = await call.json(Text)
    name = query_name(wanted.name)
    checked = await asyncio.to_thread(call.service.project.check, wanted.query, name)
    shown = [call.context.plain.diagnostic(one) for one in checked.diagnostics]
    return answer({"ok": checked.query is not None, "diagnostics": shown})


async def explain(call: Call) -> Response:
    """What a query is made of, as text and as a Mermaid flowchart."""
    wanted = await call.json(PerhapsText)
    queries, name = call.service.queries, query_name(wanted.name)
    if wanted.query is None:
        query = (queries[name] if name else queries.first).query
    else:
        checked = await asyncio.to_thread(call.service.project.check, wanted.query, name, lints=False)
        if checked.query is None:
            wrong = [replace(one) for one in checked.diagnostics if one.severity == "error"]
            return errors(wrong, call.context.plain)
        query = checked.query
    text = await asyncio.to_thread(query.explain)
    chart = Chart(query.linked)
    return answer(
        {
            "text": call.context.plain.text(text),
            "mermaid": mermaid(query.linked),
            "graph": {
                "nodes": [one._asdict() for one in chart.nodes],
                "edges": [one._asdict() for one in chart.edges],
            },
            "definitions": _definitions(query),
        }
    )


def _definitions(query: Query) -> list[dict[str, Any]]:
    """Each event and state with its parameters and what it is defined as."""
    linked = query.linked
    texts = {iri: "\n".join(defined(one, linked)) for iri, one in linked.events.items()}
    texts |= {iri: show(one) for iri, one in linked.states.items()}
    return [
        {
            "iri": iri.strip("<>"),
            "name": one.name.text,
            "parameters": [show(var).lstrip("?") for var in getattr(one, "parameters", ())],
            "text": texts[iri],
        }
        for iri, one in (*linked.events.items(), *linked.states.items())
    ]
