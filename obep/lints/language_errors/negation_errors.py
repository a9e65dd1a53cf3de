"""Rules about what a negation denies, and what it may be compared with (SPEC D9)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from obep.errors import Diagnostic, Span
from obep.lints.analysis.pattern_layout import Condition, Place, Scope, Sides
from obep.lints.language_errors.pattern_errors import FIVE_MINUTES
from obep.query.ast import Leaf, Not, NotFollowedBy, Optional, Pattern, Seq, Without
from obep.query.diagnostics import listed, quote, say
from obep.query.pattern_walk import operands, patterns, with_operands


def guard_on_not(scope: Scope) -> Iterator[Diagnostic]:
    """OBEP108: NOT is about items in which something is not, so there is nothing for a guard to read."""
    said: set[int] = set()
    for alias, span, place in _guarded(scope):
        if place.under_not is None or id(place.under_not) in said:
            continue
        said.add(id(place.under_not))
        bare = _without_parameters(place.under_not)
        yield say(
            "OBEP108",
            scope.file,
            span,
            f"a guard on {alias}, which stands under NOT",
            f"NOT {alias} is an item without {alias}; there is nothing in it that a guard could read.",
            instead_of_not(scope.event.pattern, place.under_not)
            or (
                f"{quote(bare)}   without parameters"
                if place.leaf.parameters
                else f"EVENT {_others(scope)} {{ … }}"
            ),
        )


def _guarded(scope: Scope) -> Iterator[tuple[str, Span, Place]]:
    """The uses of aliases in a guard: blocks, parameters, time functions; each alias once."""
    said: set[str] = set()
    for place in scope.places:
        if place.leaf.parameters and place.alias not in said:
            said.add(place.alias)
            yield place.alias, place.leaf.parameters[0].span, place
    for block in scope.blocks:
        spans = dict(zip(block.aliases, block.alias_spans, strict=False))
        for place in scope.read_by(block):
            if place.alias not in said:
                said.add(place.alias)
                yield place.alias, spans.get(place.alias, block.span), place
    for condition in scope.conditions:
        for time in condition.times:
            for place in scope.aliases.get(time.alias or "", ()):
                if place.alias not in said:
                    said.add(place.alias)
                    yield place.alias, time.span, place


def _without_parameters(node: Pattern) -> Pattern:
    if isinstance(node, Leaf):
        return replace(node, parameters=())
    return with_operands(node, [_without_parameters(operand) for operand in operands(node)])


def _others(scope: Scope) -> str:
    return ", ".join(dict.fromkeys(p.alias for p in scope.places if not p.under_not)) or "…"


def instead_of_not(pattern: Pattern, denied: Not | None) -> str:
    """Rewrite `A SEQ NOT B SEQ C` with WITHOUT, `A SEQ NOT B` with NOT FOLLOWED BY; else None."""
    for node in patterns(pattern):
        if (
            not isinstance(node, Seq)
            or denied is None
            or not any(operand is denied for operand in node.operands)
        ):
            continue
        number = next(n for n, operand in enumerate(node.operands) if operand is denied)
        before, after = node.operands[:number], node.operands[number + 1 :]
        if before and after:
            return quote(Without(Seq((*before, *after)), denied.operand))
        if before:
            left = before[0] if len(before) == 1 else Seq(before)
            return quote(NotFollowedBy(left, denied.operand, FIVE_MINUTES))
    return ""


def tied_outside(scope: Scope) -> Iterator[Diagnostic]:
    """OBEP108: what a negation denies is compared with the negation's left side only."""
    seen: set[tuple[str, int]] = set()
    for variable, binders in scope.binders.items():
        for number, span in binders.items():
            sides = scope.places[number].denied
            if sides is None or (variable, id(sides)) in seen:
                continue
            seen.add((variable, id(sides)))
            if any(sides.on_the_left(other) for other in binders):
                continue  # the left side is tied to what stands outside, and the negation to the left side
            outside = [scope.places[other].alias for other in binders if not sides.holds(other)]
            if outside:
                left = quote(_left(sides))
                remedy = (
                    f"?{variable} bound by {left} too, or {listed(outside)} to the left of {_word(sides)}"
                )
                yield _tie(scope, number, sides, outside, span, f"?{variable}", remedy)
    for condition in scope.conditions:
        yield from _filter_ties(scope, condition)


def _filter_ties(scope: Scope, condition: Condition) -> Iterator[Diagnostic]:
    needs: dict[str, list[int]] = {}
    whole = False
    for var in condition.variables:
        if scope.binders.get(var.name):
            needs[f"?{var.name}"] = list(scope.binders[var.name])
    for time in condition.times:
        whole = whole or time.alias is None
        if time.alias in scope.aliases:
            needs[f"{time.function}({time.alias})"] = [p.number for p in scope.aliases[time.alias]]
    for what, numbers in needs.items():
        sides = scope.places[numbers[0]].denied
        if sides is None or any(scope.places[n].denied is None for n in numbers):
            continue
        outside = [
            scope.places[others[0]].alias
            for others in needs.values()
            if not any(sides.holds(other) for other in others)
        ]
        alias = scope.places[numbers[0]].alias
        remedy = f"a FILTER over {alias} and {quote(_left(sides))} only"
        if whole and not outside:
            outside = ["the whole of the match"]
            remedy = f"getSTARTTIME({scope.places[sides.first].alias})   and the like, with an alias"
        if outside:
            yield _tie(scope, numbers[0], sides, outside, condition.filter.span, what, remedy)
            return


def _tie(
    scope: Scope, number: int, sides: Sides, outside: list[str], span: Span, what: str, remedy: str
) -> Diagnostic:
    alias, word = scope.places[number].alias, _word(sides)
    others = listed(list(dict.fromkeys(outside)))
    return say(
        "OBEP108",
        scope.file,
        span,
        f"{alias}, which {word} denies, is tied to {others} outside the negation",
        f"Whether {alias} is absent is decided between it and what stands left of {word}, "
        f"{quote(_left(sides))}; nothing else is known there. {what} asks for more.",
        remedy,
    )


def _left(sides: Sides) -> Pattern:
    node = sides.node
    return node.operand if isinstance(node, Optional) else node.left


def _word(sides: Sides) -> str:
    return "WITHOUT" if isinstance(sides.node, Without) else "NOT FOLLOWED BY"
