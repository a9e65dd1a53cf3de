"""Warnings: what is legal, but seldom what was meant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from obep.errors import Diagnostic
from obep.lints.analysis.keyword_places import parenthesised
from obep.lints.analysis.pattern_layout import Scope
from obep.lints.rules.query.negation_rules import instead_of_not
from obep.lints.rules.query.pattern_rules import FIVE_MINUTES
from obep.query.ast import (
    And,
    Every,
    First,
    Join,
    Last,
    Leaf,
    LogicalEvent,
    Next,
    Not,
    NotFollowedBy,
    Optional,
    Or,
    Pattern,
    Seq,
    Within,
    Without,
)
from obep.query.diagnostics import listed, quote, say, twice_in_a_list
from obep.query.pattern_walk import operands, patterns, with_operands

_SEQ_LIKE = Seq | Next | Without | NotFollowedBy


def not_in_a_sequence(scope: Scope) -> Iterator[Diagnostic]:
    """OBEP201: NOT B between two events is an item that is not B, not the absence of B."""
    for node in patterns(scope.event.pattern):
        if not isinstance(node, Seq | Next):
            continue
        for number, operand in enumerate(node.operands):
            if not isinstance(operand, Not) or number == 0:
                continue
            name, before = quote(operand.operand), quote(node.operands[number - 1])
            if number < len(node.operands) - 1:
                where = f"lies between {before} and {quote(node.operands[number + 1])}"
            else:
                where = f"comes after {before}"
            yield say(
                "OBEP201",
                scope.file,
                operand.span,
                f"NOT {name} here asks for some item that is not {name}",
                f"It matches when any item without {name} {where}, even if {name} comes too.",
                instead_of_not(scope.event.pattern, operand),
            )


def bound_of_the_absence_only(scope: Scope) -> Iterator[Diagnostic]:
    """OBEP202: in `A SEQ B NOT FOLLOWED BY C WITHIN d` the bound is not that of A SEQ B."""
    for node in _uncovered(scope.event.pattern):
        if (
            isinstance(node, NotFollowedBy)
            and node.within is not None
            and isinstance(node.left, _SEQ_LIKE)
            and not parenthesised(scope.file, node.left)
            and not (isinstance(node.left, NotFollowedBy))
        ):
            yield say(
                "OBEP202",
                scope.file,
                node.within.span,
                f"this bound is the absence's only; {quote(node.left)} has none",
                f"It says how long to wait for {quote(node.right)}, not how far apart the parts of "
                f"{quote(node.left)} may be.",
                quote(replace(node, left=Within(node.left, node.within))),
            )


def _uncovered(pattern: Pattern) -> Iterator[Pattern]:
    """The pieces of a pattern that no WITHIN holds."""
    if isinstance(pattern, Within):
        return
    yield pattern
    for operand in operands(pattern):
        yield from _uncovered(operand)


def or_among_sequences(scope: Scope) -> Iterator[Diagnostic]:
    """OBEP203: `A OR B SEQ C` is `(A OR B) SEQ C`, which few people expect."""
    for node in patterns(scope.event.pattern):
        if not isinstance(node, _SEQ_LIKE):
            continue
        for operand in operands(node):
            if isinstance(operand, Or) and not parenthesised(scope.file, operand):
                yield say(
                    "OBEP203",
                    scope.file,
                    operand.span,
                    "OR binds more tightly than SEQ",
                    f"This is read as {quote(node)}; parentheses say so, or say otherwise.",
                    f"{quote(node)}{_otherwise(node, operand)}",
                )
                return


def _otherwise(node: Pattern, alternatives: Or) -> str:
    """The other way to read `A OR B SEQ C`."""
    first, *middle, last = alternatives.operands
    if not isinstance(node, Seq):
        return ""
    if node.operands[0] is alternatives:
        other = Or((first, *middle, Seq((last, *node.operands[1:]))))
    elif node.operands[-1] is alternatives:
        other = Or((Seq((*node.operands[:-1], first)), *middle, last))
    else:
        return ""
    return f"   or {quote(other)}"


def last_at_the_top(scope: Scope) -> Iterator[Diagnostic]:
    """OBEP204: each one is the last when it comes."""
    pattern = scope.event.pattern
    while isinstance(pattern, Every | Within):
        pattern = pattern.operand
    if isinstance(pattern, Last):
        alone = NotFollowedBy(pattern.operand, pattern.operand, FIVE_MINUTES)
        yield say(
            "OBEP204",
            scope.file,
            pattern.span,
            "LAST at the top of a pattern chooses nothing",
            f"A match is decided when it comes, and then each {quote(pattern.operand)} is the last so far.",
            f"{quote(pattern.operand)}   or, if no other may follow, {quote(alone)}",
        )


def frozen_view(scope: Scope) -> Iterator[Diagnostic]:
    """OBEP205: `(LAST A) WITHIN d` as an operand is decided when A comes, and stays."""
    top = scope.event.pattern
    for node in patterns(top):
        for operand in operands(node):
            if not isinstance(operand, Within) or (isinstance(node, Every) and node is top):
                continue
            last = operand.operand
            while isinstance(last, Every):
                last = last.operand
            if isinstance(last, Last):
                unfrozen = with_operands(node, [last if o is operand else o for o in operands(node)])
                yield say(
                    "OBEP205",
                    scope.file,
                    operand.span,
                    f"WITHIN freezes the view of {quote(last)}",
                    f"Inside a WITHIN, LAST is decided when {quote(last.operand)} comes, and each was the "
                    "last then. Outside, it is looked at when the rest of the pattern is there.",
                    quote(Within(unfrozen, operand.within)),
                )


def without_an_inside(scope: Scope) -> Iterator[Diagnostic]:
    """OBEP206: nothing lies strictly inside a single instant."""
    for node in patterns(scope.event.pattern):
        if isinstance(node, Without) and scope.measures.instant(node.left):
            yield say(
                "OBEP206",
                scope.file,
                node.span,
                f"WITHOUT changes nothing here: {quote(node.left)} is a single instant",
                "WITHOUT looks strictly inside what stands to its left, and an instant has no inside.",
                quote(NotFollowedBy(node.left, node.right, FIVE_MINUTES)),
            )


def naive_with_itself(scope: Scope) -> Iterator[Diagnostic]:
    """OBEP207: naive pairs the last with the last, which is the same one."""
    if scope.event.policy != "naive":
        return
    for node in patterns(scope.event.pattern):
        if not isinstance(node, Seq):
            continue
        left, right = node.operands[:2]
        if isinstance(left, Leaf) and isinstance(right, Leaf) and left.event.iri == right.event.iri:
            yield say(
                "OBEP207",
                scope.file,
                node.span,
                f"POLICY naive with {quote(left)} SEQ {quote(right)} never matches",
                f"naive pairs only the last {left.event.text} with the last {left.event.text}: the same one.",
                f"POLICY recent   or {quote(Next((left, right)))}",
            )


def and_of_streams(scope: Scope) -> Iterator[Diagnostic]:
    """OBEP208: two streams seldom speak at exactly the same instant."""
    for node in patterns(scope.event.pattern):
        if not isinstance(node, And):
            continue
        sides = [_from_streams(operand, scope) for operand in node.operands]
        known = [side for side in sides if side]
        if any(one.keys().isdisjoint(other) for one, other in combinations(known, 2)):
            leaves = {stream: leaf for side in reversed(known) for stream, leaf in side.items()}
            names = [f"{leaf.event.text} from <{stream}>" for stream, leaf in reversed(leaves.items())]
            yield say(
                "OBEP208",
                scope.file,
                node.span,
                f"AND of {listed(names)}",
                "AND wants the same instant, to the microsecond; messages of two streams seldom have that. "
                "JOIN takes them at any times.",
                quote(Within(Join(node.operands), FIVE_MINUTES)),
            )


def _from_streams(pattern: Pattern, scope: Scope) -> dict[str, Leaf]:
    """The streams that a pattern's occurrences at one instant come from, each with its event; none if that is
    not known of all of them."""
    match pattern:
        case Leaf():
            event = scope.definitions.events.get(pattern.event.iri)
            on = event.on if isinstance(event, LogicalEvent) else None
            return {on: pattern} if on and on in scope.definitions.linked.streams else {}
        case First(operand) | Last(operand) | Every(operand) | Optional(operand) | Within(operand):
            return _from_streams(operand, scope)
        case Or(operands_):
            sides = [_from_streams(one, scope) for one in operands_]
            return (
                {stream: leaf for side in reversed(sides) for stream, leaf in side.items()}
                if all(sides)
                else {}
            )
    return {}


def optional_and_later(scope: Scope) -> Iterator[Diagnostic]:
    """OBEP209: whether an OPTIONAL part fits is decided before what comes later is known."""
    ties = [(f"?{variable}", list(binders)) for variable, binders in scope.binders.items()]
    for condition in scope.conditions:
        needed = [n for var in condition.variables for n in scope.binders.get(var.name, ())]
        needed += [p.number for t in condition.times for p in scope.aliases.get(t.alias or "", ())]
        ties.append(("a FILTER", needed))
    for what, numbers in ties:
        seen: set[int] = set()
        for number in numbers:
            place = scope.places[number]
            sides = place.optional
            if sides is None or id(sides) in seen:
                continue
            seen.add(id(sides))
            bound_right = what != "a FILTER" and any(sides.middle <= n < sides.last for n in numbers)
            later = [n for n in numbers if n >= sides.last and scope.places[n].positive]
            if bound_right or not later:
                continue
            other = scope.places[later[0]].alias
            right = listed([p.alias for p in scope.places[sides.middle : sides.last]])
            yield say(
                "OBEP209",
                scope.file,
                place.leaf.span,
                f"{place.alias} is OPTIONAL, and {what} ties it to {other}, which comes later",
                f"Whether {place.alias} is there is decided before {other} comes. If they do not agree, the "
                f"match is dropped; it is not tried again without {place.alias}.",
                f"{what} over {right} too, which decides about {place.alias}; or two patterns joined with OR",
            )


def removes_nothing(scope: Scope) -> Iterator[Diagnostic]:
    """OBEP212: NOT looks at one item, and what takes time is never in one."""
    for node in patterns(scope.event.pattern):
        if isinstance(node, Not) and scope.measures.takes_time(node.operand):
            yield say(
                "OBEP212",
                scope.file,
                node.span,
                f"NOT ({quote(node.operand)}) is true of every item",
                f"NOT looks at one item at one instant, and {quote(node.operand)} takes longer than that.",
                instead_of_not(scope.event.pattern, node) or f"… WITHOUT ({quote(node.operand)})",
            )


def listed_twice(scope: Scope) -> Iterator[Diagnostic]:
    """OBEP217: PARTITION BY and the blocks of a guard name each variable, each alias, once."""
    variables = [(f"?{var.name}", var.span) for var in scope.event.partition_by]
    yield from twice_in_a_list(scope.file, "PARTITION BY", variables)
    for block in scope.blocks:
        if block.alias_spans:
            aliases = list(zip(block.aliases, block.alias_spans, strict=True))
            yield from twice_in_a_list(scope.file, "this block", aliases)
