"""a variable used once

What it does: Finds a variable that is used once, if another variable was probably meant: one with almost the
same name, or one of another event that may be about the same individual.

Why: A variable that is used once relates nothing: `Hot(?p) SEQ Cold(?q)` matches any two points. A variable
that only adds a binding to the output is not reported.

Example:

    EVENT H MATCH Hot(?p) SEQ Cold(?q) WITHIN 5 min

Fix:

    EVENT H MATCH Hot(?p) SEQ Cold(?p) WITHIN 5 min
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from obep.errors import Diagnostic, Span
from obep.lints.analysis.event_order import Definitions
from obep.lints.analysis.pattern_layout import Place, Scope, conditions_of, variables_of
from obep.lints.context import QueryContext
from obep.query.ast import LogicalEvent, QueryFile, Var
from obep.query.diagnostics import quote, say

CODE = "OBEP211"
NAME = "variable-used-once"
SEVERITY = "warning"


def check_pattern(scope: Scope) -> Iterator[Diagnostic]:
    event = scope.event
    uses = [*event.parameters, *event.partition_by, *variables_of(event.construct)]
    for place in scope.places:  # the copies of TIMES share it
        uses.extend(var for var in place.leaf.parameters for _ in range(2 if place.repeated else 1))
    for block in scope.blocks:
        for var in variables_of(block.triples):
            uses.extend([var] * len(scope.read_by(block)))
    for condition in scope.conditions:
        uses.extend(condition.variables)
    times = Counter(var.name for var in uses)
    instead: dict[str, str] = {}
    for place in scope.places:
        for var in place.leaf.parameters:
            name = place.leaf.event.text
            other = _same_one(place, scope, times) if times[var.name] == 1 else None
            if other is not None:
                same = quote(replace(place.leaf, parameters=(other,)))
                instead[var.name] = f"{same}   for the same one, or {name} without ?{var.name}"
    yield from _once(uses, instead, scope.file, scope.definitions)


def _same_one(place: Place, scope: Scope, times: Mapping[str, int]) -> Var | None:
    """The variable of another leaf that may well be about the same individual, if nothing ties them yet."""
    own = scope.definitions.events.get(place.leaf.event.iri)
    tied = {n for bound in scope.binders.values() if place.number in bound for n in bound}
    if not isinstance(own, LogicalEvent):
        return None
    for other in sorted(scope.places, key=lambda other: not _shared(other, times)):
        event = scope.definitions.events.get(other.leaf.event.iri)
        if other.number in tied or not other.leaf.parameters or not isinstance(event, LogicalEvent):
            continue
        (variable,) = other.leaf.parameters
        before = _shared(other, times) or other.number < place.number
        if before and scope.definitions.may_be_one(own, event):
            return variable
    return None


def _shared(place: Place, times: Mapping[str, int]) -> bool:
    """Whether a variable of a leaf ties it to something already."""
    return any(times[var.name] > 1 for var in place.leaf.parameters)


def check(context: QueryContext) -> Iterator[Diagnostic]:
    for event, file in context.logical:
        uses = list(variables_of(event.construct))
        if event.guard:
            uses.extend(variables_of(event.guard.own))
        for condition in conditions_of(event.guard):
            uses.extend(condition.variables)
        yield from _once(uses, {}, file, context.definitions)


def _once(
    uses: list[Var], instead: dict[str, str], file: QueryFile, definitions: Definitions
) -> Iterator[Diagnostic]:
    """Suggest `instead`, or the nearest variable; without either, nothing is reported."""
    places: dict[str, list[Span]] = {}
    for var in uses:
        places.setdefault(var.name, []).append(var.span)
    names = [name for name in places if name != "this"]
    for name, spans in places.items():
        if len(spans) > 1 or name == "this":
            continue
        near = definitions.near(name, names)
        remedy = f"?{near}" if near else instead.get(name, "")
        if not remedy:
            continue
        yield say(
            CODE,
            file,
            spans[0],
            f"?{name} is used once",
            "So it ties nothing together: any value will do, and each is reported among the bindings.",
            remedy,
        )
