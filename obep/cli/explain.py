"""`obep explain FILE`: what a query is made of, as text or as a picture."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from obep.cli.options import AllowedFolders, ConfigFile, allowed
from obep.errors import count
from obep.run.console import write

if TYPE_CHECKING:
    from obep.engine.query import Query
    from obep.query.ast import Event
    from obep.query.link import Linked


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A query file.", show_default=False)],
    mermaid: Annotated[bool, typer.Option("--mermaid", help="Draw it, as a Mermaid flowchart.")] = False,
    config: ConfigFile = None,
    allow_path: AllowedFolders = None,
) -> None:
    """Show the events of a query: strata, dependencies, and each pattern as a tree.

    A prompt event is reported when its last part is pushed, a closing one when its instant is over. A logical
    event is found exactly by rules, or needs the reasoner for some items.
    """
    from obep.cli.checked_query import examine
    from obep.plan.query_picture import mermaid as drawn

    bundle, diagnostics = examine(file, config, allowed(allow_path))
    write(diagnostics)
    if bundle is None:
        raise typer.Exit(2)
    if mermaid:
        print(drawn(bundle.linked), end="")
        return
    from obep.engine.query import Query

    print("\n".join(_lines(Query(bundle.linked, bundle, diagnostics))))


def _lines(query: Query) -> Iterator[str]:
    from obep.plan.event_strata import in_order
    from obep.query.ast import LogicalEvent

    linked = query.linked
    follows = {iri: _follows(iri, query) for iri in query.plan.derived}
    layers = in_order(linked, follows)
    strata_ = "1 stratum" if len(layers) == 1 else f"{len(layers)} strata"
    yield f"{linked.file.name}: {count(len(linked.events), 'event')} in {strata_}"
    manner = {planned.event: "prompt" if planned.prompt else "closing" for planned in query.plan.events}
    rank = {iri: place for place, iri in enumerate(linked.events)}
    for number, layer in enumerate(layers, 1):
        yield f"\nstratum {number}"
        for iri in (iri for iri in layer if iri in linked.events):
            yield ""
            logical = isinstance(linked.events[iri], LogicalEvent)
            reasons = query.bundle.reasons[iri] if logical else ()
            guard_reasons = query.bundle.guard_reasons.get(iri, ())
            words = [manner[iri]]
            if logical:
                words.append("needs the reasoner" if reasons else "exact")
            if guard_reasons:
                words.append("has a guard that needs the reasoner")
            yield from _event(linked.events[iri], linked, rank, words, follows.get(iri, frozenset()))
            yield from (f"    left to the reasoner: {reason}" for reason in (*reasons, *guard_reasons))
    if any(query.bundle.reasons.values()) or query.bundle.guard_reasons:
        yield "\nThe reasoner (HermiT) is asked about items that the rules leave open, for the reasons above."
    for clause in linked.returns:
        names = [name.text for name in clause.events] or [clause.which.upper()]
        yield f"\nreturns {', '.join(names)} as {'RDF' if clause.form == 'rdf' else 'events'}"
    yield from _on_spark(query)


def _on_spark(query: Query) -> Iterator[str]:
    """Which events run together there, and how their work is spread."""
    from obep.plan.components import components

    found = components(query.plan, query.derived)
    if found:
        yield "\non Spark"
    for component in found:
        events = [query.linked.events[iri].name.text for iri in component.events]
        yield f"  {', '.join(events)}   {component.split}"


def _follows(iri: str, query: Query) -> frozenset[str]:
    """The events in whose occurrences this one may be found, since their class or a name that they construct
    stands in its definition or, with it, in the ontology; the plan also allows for coincidences."""
    from obep.ontology.rules.axiom_rules import mentioned
    from obep.query.ast import LogicalEvent, Name

    events, bundle = query.linked.events, query.bundle
    names = {iri}.union(*(found for axiom in bundle.t.axioms if iri in (found := set(mentioned(axiom)))))
    if isinstance(events[iri], LogicalEvent):
        names |= bundle.vocabulary(iri)
    told = {
        head: [name for triple in events[head].construct for name in (triple.predicate, triple.object)]
        for head in query.plan.derived[iri]
    }
    return frozenset(
        head
        for head, made in told.items()
        if head in names or any(isinstance(name, Name) and name.iri in names for name in made)
    )


def _event(
    event: Event, linked: Linked, rank: dict[str, int], manner: list[str], follows: frozenset[str]
) -> Iterator[str]:
    """An event; it `follows` from occurrences of some, too, by the ontology or by what they construct."""
    from obep.plan.query_picture import tree
    from obep.query.ast import CompositeEvent, LogicalEvent
    from obep.query.print.printer import show
    from obep.query.walk import depends

    words = ["logical" if isinstance(event, LogicalEvent) else "composite", *manner]
    head = event.name.text
    if not isinstance(event, LogicalEvent) and event.parameters:
        head += f"({', '.join(show(var) for var in event.parameters)})"
    yield f"  {head}   {', '.join(words)}"
    named = depends(event) & linked.events.keys()
    for how, iris in (("from", named), ("may follow from", follows - named)):
        if iris:
            names = [linked.events[iri].name.text for iri in sorted(iris, key=rank.__getitem__)]
            yield f"    {how} {', '.join(names)}"
    if isinstance(event, LogicalEvent):
        if event.on is not None:
            frames = [show(window).split(" ON ")[-1] for window in linked.windows if window.name == event.on]
            yield ": ".join([f"    on <{event.on}>", *frames])
        yield f"    {show(event.description)}"
    elif isinstance(event, CompositeEvent):
        yield from tree(event.pattern, "    ")
        if event.partition_by:
            yield f"    PARTITION BY {', '.join(show(var) for var in event.partition_by)}"
        if event.policy != "unrestricted":
            yield f"    POLICY {event.policy}"
    if event.guard:
        yield from (f"    {line}" for line in show(event.guard).split("\n"))
    if event.construct:
        yield f"    CONSTRUCT {{ {' '.join(show(triple) for triple in event.construct)} }}"
