"""`obep explain FILE`: what a query is made of, as text or as a picture."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from obep.commands.output import count, write

if TYPE_CHECKING:
    from obep.engine.query import Query
    from obep.query.ast import Event
    from obep.query.link import Linked


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A query file.", show_default=False)],
    mermaid: Annotated[bool, typer.Option("--mermaid", help="Draw it, as a Mermaid flowchart.")] = False,
    config: Annotated[
        Path | None, typer.Option("--config", help="Use this obep.toml, not the one beside the query.")
    ] = None,
    allow_path: Annotated[
        list[Path] | None,
        typer.Option(metavar="DIR", help="Files may lie below this folder too. Repeatable."),
    ] = None,
) -> None:
    """Show the events of a query: strata, dependencies, and each pattern as a tree.

    A prompt event is reported when its last part is pushed, a closing one when its instant is over. A logical
    event is found exactly by rules, or needs the reasoner for some items.
    """
    from obep.commands.examine import examine
    from obep.commands.picture import mermaid as drawn

    bundle, diagnostics = examine(file, config, tuple(allow_path or ()))
    write(diagnostics)
    if bundle is None:
        raise typer.Exit(2)
    if mermaid:
        print(drawn(bundle.linked), end="")
        return
    from obep.engine.query import Query

    print("\n".join(_lines(Query(bundle.linked, bundle, diagnostics))))


def _lines(query: Query) -> Iterator[str]:
    from obep.query.ast import LogicalEvent
    from obep.query.names import strata

    linked = query.linked

    layers = strata(linked)
    strata_ = "1 stratum" if len(layers) == 1 else f"{len(layers)} strata"
    yield f"{linked.file.name}: {count(len(linked.events), 'event')} in {strata_}"
    manner = {planned.event: "prompt" if planned.prompt else "closing" for planned in query.plan.events}
    rank = {iri: place for place, iri in enumerate(linked.events)}
    for number, layer in enumerate(layers, 1):
        yield f"\nstratum {number}"
        for iri in layer:
            yield ""
            logical = isinstance(linked.events[iri], LogicalEvent)
            status = [query.bundle.status[iri]] if logical else []
            status += filter(None, [query.bundle.guard_status.get(iri)])
            yield from _event(linked.events[iri], linked, rank, [manner[iri], *status])
    for clause in linked.returns:
        names = [name.text for name in clause.events] or [clause.which.upper()]
        yield f"\nreturns {', '.join(names)} as {'RDF' if clause.form == 'rdf' else 'events'}"


def _event(event: Event, linked: Linked, rank: dict[str, int], manner: list[str]) -> Iterator[str]:
    from obep.commands.picture import tree
    from obep.query.ast import LogicalEvent
    from obep.query.names import depends
    from obep.query.printer import show

    words = ["logical" if isinstance(event, LogicalEvent) else "composite", *manner]
    head = event.name.text
    if not isinstance(event, LogicalEvent) and event.parameters:
        head += f"({', '.join(show(var) for var in event.parameters)})"
    yield f"  {head}   {', '.join(words)}"
    named = depends(event)
    parts = [
        linked.events[iri].name.text for iri in sorted(named & linked.events.keys(), key=rank.__getitem__)
    ]
    if parts:
        yield f"    from {', '.join(parts)}"
    if isinstance(event, LogicalEvent):
        if event.on is not None:
            frames = [show(window).split(" ON ")[-1] for window in linked.windows if window.name == event.on]
            yield ": ".join([f"    on <{event.on}>", *frames])
        yield f"    {show(event.description)}"
    else:
        yield from tree(event.pattern, "    ")
        if event.partition_by:
            yield f"    PARTITION BY {', '.join(show(var) for var in event.partition_by)}"
        if event.policy != "unrestricted":
            yield f"    POLICY {event.policy}"
    if event.guard:
        yield from (f"    {line}" for line in show(event.guard).split("\n"))
    if event.construct:
        yield f"    CONSTRUCT {{ {' '.join(show(triple) for triple in event.construct)} }}"
