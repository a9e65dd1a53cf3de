"""Variables that stand in one place (OBEP211): misspelt, meant to be another one, or for the bindings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from obep.errors import Diagnostic, Span
from obep.query.ast import Leaf, LogicalEvent, QueryFile, Var
from obep.query.checks.definitions import Definitions
from obep.query.checks.layout import Place, Scope, conditions_of, variables_of
from obep.query.checks.report import quote, say


def in_a_pattern(scope: Scope) -> Iterator[Diagnostic]:
    """OBEP211: a variable that stands in one place ties nothing together."""
    event = scope.event
    uses = [*event.parameters, *event.partition_by, *variables_of(event.construct)]
    dropped: dict[str, str] = {}
    for place in scope.places:
        for var in place.leaf.parameters:
            name, same = place.leaf.event.text, _same_one(place, var, scope)
            dropped[var.name] = f"{name}   without ?{var.name}"
            if same is not None:
                dropped[var.name] = f"{quote(same)}   for the same one, or {name} without ?{var.name}"
            uses.extend([var] * (2 if place.repeated else 1))  # the copies of TIMES share it
    for block in scope.blocks:
        for var in variables_of(block.triples):
            uses.extend([var] * len(scope.read_by(block)))
    for condition in scope.conditions:
        uses.extend(condition.variables)
    yield from _once(uses, dropped, scope.file, scope.definitions)


def _same_one(place: Place, var: Var, scope: Scope) -> Leaf | None:
    """The leaf with the variable of another one, where both may well be about the same individual."""
    before, after = scope.places[: place.number], scope.places[place.number + 1 :]
    own = scope.definitions.events.get(place.leaf.event.iri)
    if not isinstance(own, LogicalEvent):
        return None
    for other in (*reversed(before), *after):
        event = scope.definitions.events.get(other.leaf.event.iri)
        names = [one for one in other.leaf.parameters if one.name != var.name]
        if names and isinstance(event, LogicalEvent) and scope.definitions.may_be_one(own, event):
            return replace(place.leaf, parameters=(names[0],))
    return None


def in_a_definition(event: LogicalEvent, file: QueryFile, definitions: Definitions) -> Iterator[Diagnostic]:
    """OBEP211 in the guard of a logical event."""
    uses = list(variables_of(event.construct))
    if event.guard:
        uses.extend(variables_of(event.guard.own))
    for condition in conditions_of(event.guard):
        uses.extend(condition.variables)
    yield from _once(uses, {}, file, definitions)


def _once(
    uses: list[Var], dropped: dict[str, str], file: QueryFile, definitions: Definitions
) -> Iterator[Diagnostic]:
    places: dict[str, list[Span]] = {}
    for var in uses:
        places.setdefault(var.name, []).append(var.span)
    names = [name for name in places if name != "this"]
    for name, spans in places.items():
        if len(spans) > 1 or name == "this":
            continue
        near = definitions.near(name, names)
        yield say(
            "OBEP211",
            file,
            spans[0],
            f"?{name} is used once",
            "So it ties nothing together: any value will do, and each is reported among the bindings.",
            f"?{near}" if near else dropped.get(name, f"[]   for ?{name}, if its value does not matter"),
        )
