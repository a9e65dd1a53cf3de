"""a declaration without effect

What it does: Finds three kinds of declarations: a window that no event and no state reads, a state that no
event, alert or other state uses, and a RETURN whose events another RETURN names in another form.

Why: The declaration has no effect. An event is written in one form: that of the last RETURN that names it. To
get two forms, use two sinks: `--sink found.jsonl --sink found.trig`.

Example:

    FROM NAMED WINDOW <recent> ON <doors> [RANGE 10 s]
    EVENT Busy AS (Room and occupied value true)

Fix:

    EVENT Busy ON <recent> AS (Room and occupied value true)
"""

from __future__ import annotations

from collections.abc import Iterator

from obep.errors import Diagnostic
from obep.lints.analysis.event_order import Definitions
from obep.lints.context import QueryContext, declared_windows
from obep.query.ast import Var, WindowGroup
from obep.query.diagnostics import listed, say
from obep.query.link import Linked
from obep.query.walk import needs_of, walk, windows_of

CODE = "OBEP213"
NAME = "unused-declaration"
SEVERITY = "warning"

FORMS = {"event": "EVENT STREAM", "rdf": "RDF STREAM", "rows": "ROWS", "alerts": "ALERTS"}


def check(context: QueryContext) -> Iterator[Diagnostic]:
    yield from _windows(context.definitions)
    yield from _states(context.definitions.linked)
    yield from _returns(context.definitions.linked)


def _windows(definitions: Definitions) -> Iterator[Diagnostic]:
    both = [one for file in definitions.linked.files for one in (*file.events, *file.states, *file.queries)]
    used = {name for one in both for name in windows_of(one)}
    if any(
        isinstance(one, WindowGroup) and isinstance(one.window, Var) for query in both for one in walk(query)
    ):
        return  # WINDOW ?w looks at all of them
    for window, file in declared_windows(definitions):
        if window.name not in used:
            yield say(
                CODE,
                file,
                window.span,
                f"no event looks at <{window.name}>",
                "A window changes nothing by itself.",
                f"EVENT H ON <{window.name}> AS …",
            )


def _states(linked: Linked) -> Iterator[Diagnostic]:
    used = set().union(*needs_of(linked, earlier=True).values())
    used |= {name.iri for file in linked.files for clause in file.returns for name in clause.events}
    for iri, state in linked.states.items():
        if iri not in used:
            yield say(
                CODE,
                linked.file_of[iri],
                state.name.span,
                f"nothing uses the state {state.name.text}",
                "No event, no alert and no group uses it.",
                f"RETURN {state.name.text} AS ALERTS   or MATCH BEGIN {state.name.text}",
            )


def _returns(linked: Linked) -> Iterator[Diagnostic]:
    forms: dict[str, str] = {}
    for clause in linked.returns:
        names = [name.iri for name in clause.events if name.iri in linked.events]
        if clause.which != "listed":
            names = [iri for iri, event in linked.events.items() if clause.which == "all" or event.named]
        changed = [iri for iri in dict.fromkeys(names) if forms.setdefault(iri, clause.form) != clause.form]
        if changed:
            which = listed([linked.events[iri].name.text for iri in changed])
            other = FORMS[forms[changed[0]]]
            forms.update(dict.fromkeys(changed, clause.form))
            yield say(
                CODE,
                linked.file,
                clause.span,
                f"{which} {'is' if len(changed) == 1 else 'are'} returned AS {other} already",
                "An event is returned in one form; the last RETURN that names it decides.",
                "one RETURN for each event; for both forms two sinks: --sink found.jsonl --sink found.trig",
            )
