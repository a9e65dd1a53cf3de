"""Rules about the aliases of a pattern, and about the guard that names them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count

from obep.errors import Diagnostic, Span
from obep.lints.analysis.pattern_layout import Place, Scope
from obep.query.ast import Leaf, Pattern, Within
from obep.query.diagnostics import listed, quote, say
from obep.query.nearest_name import split
from obep.query.pattern_walk import operands, with_operands

_NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five"}


def twice(scope: Scope) -> Iterator[Diagnostic]:
    """OBEP101: an alias names one leaf."""
    for alias, places in scope.aliases.items():
        if len(places) < 2 or all(place.leaf.alias is None for place in places):
            continue
        written = [place for place in places if place.leaf.alias is not None]
        again = next((place for place in written if place is not places[0]), written[0])
        first = next(place for place in places if place is not again)
        yield say(
            "OBEP101",
            scope.file,
            again.leaf.span,
            f"the alias {alias} is used twice",
            f"It stands for {quote(replace(first.leaf, alias=None))} (line {first.leaf.span.line}, column "
            f"{first.leaf.span.column}) already, and means one thing.",
            quote(replace(again.leaf, alias=_unused(alias, scope))),
        )


def named_like_an_event(scope: Scope) -> Iterator[Diagnostic]:
    """OBEP101: an alias is not the name of another event."""
    events = scope.definitions.by_local_name
    for place in scope.places:
        alias = place.leaf.alias or ""
        other = events.get(alias)
        if other is None or other.name.iri == place.leaf.event.iri:
            continue
        yield say(
            "OBEP101",
            scope.file,
            place.leaf.span,
            f"the alias {alias} is the name of another event",
            f"There is an event {alias}, and here {alias} would stand for {place.leaf.event.text}.",
            quote(replace(place.leaf, alias=_unused(alias, scope))),
        )


def ambiguous(scope: Scope) -> Iterator[Diagnostic]:
    """OBEP106: where a guard names an event that stands twice, aliases must say which one."""
    named = {alias for alias, _, _ in _named_by_guard(scope)}
    said: set[str] = set()
    for alias, (first, *_) in scope.aliases.items():
        iri = first.leaf.event.iri
        places = [p for p in scope.places if p.leaf.alias is None and p.leaf.event.iri == iri]
        if alias not in named or first.leaf.alias is not None or len(places) < 2 or iri in said:
            continue
        said.add(iri)  # it may be written in two ways, as Room and as b:Room
        yield say(
            "OBEP106",
            scope.file,
            places[1].leaf.span,
            f"the guard says {alias}, and the pattern has {_NUMBERS.get(len(places), len(places))} of them",
            f"AS gives each a name of its own, which the guard can use: EVENT {alias}1 {{ … }} for one of "
            f"them, EVENT {alias}1, {alias}2 {{ … }} for several.",
            quote(_with_aliases(scope.event.pattern, alias, places)),
        )


def not_there(scope: Scope) -> Iterator[Diagnostic]:
    """OBEP107: a guard uses aliases of the pattern."""
    unknown = [p for p in scope.places if p.leaf.event.iri not in scope.definitions.events]
    for alias, span, written in _named_by_guard(scope):
        if alias in scope.aliases:
            continue
        if any(scope.definitions.near(alias, [p.alias]) for p in unknown):
            continue  # the pattern misspells it, which has been said
        message, reason, instead = _missing(alias, scope)
        remedy = listed([written.replace("·", one) for one in instead], "or")
        yield say("OBEP107", scope.file, span, message, reason, remedy)


def _missing(alias: str, scope: Scope) -> tuple[str, str, list[str]]:
    """Why an alias is not there, and what to write instead."""
    local, known = split(alias)[1], list(scope.aliases)
    renamed = [p.alias for p in scope.places if split(p.leaf.event.text)[1] == local and p.leaf.alias]
    if renamed:
        said = listed([f"{alias} AS {one}" for one in renamed])
        reason = f"The pattern says {said}; from there on that is its name."
        return f"{alias} is called {listed(renamed, 'or')} here", reason, renamed
    reason = f"A guard asks about the events of its own pattern: {listed(known)}."
    near = scope.definitions.near(alias, known)
    if near:
        return f"there is no {alias} in this pattern; did you mean {near}?", reason, [near]
    if local in scope.definitions.by_local_name:
        reason += f" {alias} is an event, but not one of them."
    return f"there is no {alias} in this pattern", reason, known


def _named_by_guard(scope: Scope) -> Iterator[tuple[str, Span, str]]:
    """The aliases that blocks and time functions name, where, and how (with a dot for the alias)."""
    for block in scope.blocks:
        spans = block.alias_spans or (block.span,) * len(block.aliases)
        yield from ((alias, span, "EVENT · { … }") for alias, span in zip(block.aliases, spans, strict=True))
    for condition in scope.conditions:
        for time in condition.times:
            if time.alias is not None:
                yield time.alias, time.span, f"{time.function}(·)"


def _unused(alias: str, scope: Scope) -> str:
    free = (f"{alias}{n}" for n in count(2))
    return next(
        name for name in free if name not in scope.aliases and name not in scope.definitions.by_local_name
    )


def _with_aliases(pattern: Pattern, alias: str, places: list[Place]) -> Pattern:
    """The pattern with `A AS A1`, `A AS A2`, … for the leaves of one event."""
    numbers = {id(place.leaf): number for number, place in enumerate(places, 1)}

    def change(node: Pattern) -> Pattern:
        if isinstance(node, Leaf):
            number = numbers.get(id(node))
            return replace(node, alias=f"{alias}{number}") if number else node
        return with_operands(node, [change(operand) for operand in operands(node)])

    inner = pattern.operand if isinstance(pattern, Within) else pattern  # the bound is not the point here
    return change(inner)
