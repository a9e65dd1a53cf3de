"""an event returned in two forms

What it does: Finds an event that two RETURNs name in different forms.

Why: An event is written in one form: that of the last RETURN that names it. The other RETURN has no effect.
To get both forms, use two sinks: `--sink found.jsonl --sink found.trig`.

Example:

    RETURN ALL
    RETURN Alarm AS RDF STREAM

Fix:

    RETURN Alarm AS RDF STREAM
"""

from __future__ import annotations

from collections.abc import Iterator

from obep.errors import Diagnostic
from obep.lints.context import QueryContext
from obep.query.diagnostics import listed, say

CODE = "OBEP216"
NAME = "returned-in-two-forms"
SEVERITY = "warning"
FORMS = {"event": "EVENT STREAM", "rdf": "RDF STREAM", "rows": "ROWS", "alerts": "ALERTS"}


def check(context: QueryContext) -> Iterator[Diagnostic]:
    definitions = context.definitions
    linked = definitions.linked
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
