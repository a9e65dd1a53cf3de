"""Rules about variables: who binds them, who needs them, and what a negation may see (SPEC D9)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from obep.errors import Diagnostic, Span
from obep.query.ast import (
    Filter,
    Literal,
    LogicalEvent,
    Not,
    NotFollowedBy,
    Pattern,
    QueryFile,
    Seq,
    TriplePattern,
    Var,
    Without,
)
from obep.query.checks.layout import Place, Scope, Sides, times_in, variables_in, variables_of
from obep.query.checks.patterns import FIVE_MINUTES
from obep.query.checks.report import listed, quote, say
from obep.query.checks.tree import patterns
from obep.query.nearest import nearest

# --- negation -------------------------------------------------------------------------------------------


def guard_on_not(scope: Scope) -> Iterator[Diagnostic]:
    """OBEP108: NOT is about items in which something is not, so there is nothing for a guard to read."""
    for alias, span, stands_in in _guarded(scope):
        if stands_in.under_not is None:
            continue
        yield say(
            "OBEP108",
            scope.file,
            span,
            f"a guard on {alias}, which stands under NOT",
            f"NOT {alias} is an item without {alias}; there is nothing in it that a guard could read.",
            instead_of_not(scope.event.pattern, stands_in.under_not)
            or f"EVENT {_others(scope)} {{ … }}   and NOT {alias} without a guard",
        )


def _guarded(scope: Scope) -> Iterator[tuple[str, Span, Place]]:
    """What the guard reads: blocks, parameters, time functions; each alias once."""
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
    for condition in scope.filters:
        for time in times_in(condition):
            for place in scope.aliases.get(time.alias or "", ()):
                if place.alias not in said:
                    said.add(place.alias)
                    yield place.alias, time.span, place


def _others(scope: Scope) -> str:
    return ", ".join(dict.fromkeys(p.alias for p in scope.places if not p.under_not)) or "…"


def instead_of_not(pattern: Pattern, denied: Not) -> str:
    """`A SEQ NOT B SEQ C` said with WITHOUT, `A SEQ NOT B` with NOT FOLLOWED BY; else nothing."""
    for node in patterns(pattern):
        if not isinstance(node, Seq) or not any(operand is denied for operand in node.operands):
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
    """OBEP109: what a negation denies is compared with the negation's left side only."""
    said: set[tuple[str, int]] = set()
    for variable, binders in scope.binders.items():
        for number, span in binders.items():
            sides = scope.places[number].denied
            if sides is None or (variable, id(sides)) in said:
                continue
            if any(sides.on_the_left(other) for other in binders):
                continue  # the left side is tied to what stands outside, and the negation to the left side
            outside = [scope.places[other].alias for other in binders if not sides.holds(other)]
            if outside:
                said.add((variable, id(sides)))
                yield _tie(scope, number, sides, outside, span, f"?{variable}")
    for condition in scope.filters:
        yield from _filter_ties(scope, condition)


def _filter_ties(scope: Scope, condition: Filter) -> Iterator[Diagnostic]:
    needs: dict[str, list[int]] = {}
    whole = False
    for var in variables_in(condition):
        if scope.binders.get(var.name):
            needs[f"?{var.name}"] = list(scope.binders[var.name])
    for time in times_in(condition):
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
        if whole and not outside:
            outside = ["the whole candidate"]
        if outside:
            yield _tie(scope, numbers[0], sides, outside, condition.span, what)
            return


def _tie(scope: Scope, number: int, sides: Sides, outside: list[str], span: Span, what: str) -> Diagnostic:
    alias = scope.places[number].alias
    node = sides.node
    assert isinstance(node, Without | NotFollowedBy)
    word = "WITHOUT" if isinstance(node, Without) else "NOT FOLLOWED BY"
    left = quote(node.left)
    others = listed(list(dict.fromkeys(outside)))
    return say(
        "OBEP109",
        scope.file,
        span,
        f"{alias}, which {word} denies, is tied to {others} outside the negation",
        f"{what} ties them. Whether {alias} is absent is decided between it and what stands left of {word}, "
        f"{left}; nothing else is known there.",
        f"{what} bound in {left} too, or {others} moved to the left of {word}",
    )


# --- who binds what -------------------------------------------------------------------------------------


def partition(scope: Scope) -> Iterator[Diagnostic]:
    """OBEP111: every alias says which partition it belongs to."""
    for var in scope.event.partition_by:
        if var.name in scope.loose:
            continue
        binders = scope.binders.get(var.name, {})
        missing = [place for place in scope.places if place.number not in binders]
        if not missing:
            continue
        names = list(dict.fromkeys(place.alias for place in missing))
        under_not = [place for place in missing if place.under_not]
        near = nearest(var.name, scope.binders)
        if not binders and near:
            reason, remedy = "No alias binds it.", f"PARTITION BY ?{near}"
        elif under_not:
            reason = f"{under_not[0].alias} stands under NOT, and there nothing can be bound."
            remedy = instead_of_not(scope.event.pattern, under_not[0].under_not)
        else:
            reason = (
                "Each partition is evaluated on its own, so every alias has to say which one it belongs to."
            )
            remedy = _binding(missing[0], var.name, scope)
        yield say(
            "OBEP111",
            scope.file,
            var.span,
            f"PARTITION BY ?{var.name}, which {listed(names)} {'does' if len(names) == 1 else 'do'} not bind",
            reason,
            remedy,
        )


def _binding(place: Place, variable: str, scope: Scope) -> str:
    """How an alias could bind a variable: as its individual where the others do so, else by a block."""
    as_individual = any(
        var.name == variable and number == 0
        for other in scope.places
        for number, var in enumerate(other.leaf.parameters)
    )
    if as_individual and not place.leaf.parameters:
        return quote(replace(place.leaf, parameters=(Var(variable),)))
    return f"IF {{ EVENT {place.alias} {{ … ?{variable} … }} }}"


def head(scope: Scope) -> Iterator[Diagnostic]:
    """OBEP117 and OBEP125: the parameters of an event come from its pattern, each once."""
    said: set[str] = set()
    names = ", ".join(dict.fromkeys(f"?{var.name}" for var in scope.event.parameters))
    for var in scope.event.parameters:
        if var.name in said:
            yield say(
                "OBEP125",
                scope.file,
                var.span,
                f"the parameter ?{var.name} stands twice",
                "Parameters are read by position, so that two with one name would always be equal.",
                f"EVENT {scope.event.name.text}({names})",
            )
        elif var.name != "this" and not scope.bound(var.name):
            yield _unbound("OBEP117", scope, var, f"the parameter ?{var.name} of {scope.event.name.text}")
        said.add(var.name)


def construct(scope: Scope) -> Iterator[Diagnostic]:
    """OBEP119: CONSTRUCT says what was found."""
    said: set[str] = set()
    for var in variables_of(scope.event.construct):
        if var.name != "this" and var.name not in said and not scope.bound(var.name):
            said.add(var.name)
            yield _unbound("OBEP119", scope, var, f"?{var.name} in CONSTRUCT")


def filter_variables(scope: Scope) -> Iterator[Diagnostic]:
    """OBEP120: FILTER compares what is bound."""
    said: set[str] = set()
    for condition in scope.filters:
        for var in variables_in(condition):
            if var.name in said or var.name == "this" or var.name in scope.loose or var.name in scope.binders:
                continue
            said.add(var.name)
            yield _unbound("OBEP120", scope, var, f"?{var.name} in FILTER")


def _unbound(code: str, scope: Scope, var: Var, what: str) -> Diagnostic:
    positive = [v for v in scope.binders if scope.bound(v)]
    near = nearest(var.name, positive)
    denied = [scope.places[n].alias for n in scope.binders.get(var.name, ())]
    if denied:
        reason = f"Only {listed(denied)} has it, which a negation denies: there is none when it happens."
    elif positive:
        reason = f"No alias of the pattern binds it. Bound are {listed([f'?{v}' for v in positive])}."
    else:
        reason = "No alias of the pattern binds any variable."
    place = next((p for p in scope.places if p.positive and not p.leaf.parameters), None)
    if near:
        remedy = f"?{near}"
    elif place is not None:
        leaf = quote(replace(place.leaf, parameters=(Var(var.name),)))
        remedy = f"{leaf}   or IF {{ EVENT {place.alias} {{ … ?{var.name} … }} }}"
    else:
        remedy = f"IF {{ EVENT … {{ … ?{var.name} … }} }}"
    return say(code, scope.file, var.span, f"nothing binds {what}", reason, remedy)


# --- things with a place of their own -------------------------------------------------------------------


def this_elsewhere(scope: Scope) -> Iterator[Diagnostic]:
    """OBEP126: ?this is the individual of the alias whose block it stands in."""
    where = [
        *((var, "as a parameter") for place in scope.places for var in place.leaf.parameters),
        *((var, "as a parameter") for var in scope.event.parameters),
        *((var, "in PARTITION BY") for var in scope.event.partition_by),
    ]
    if scope.event.guard:
        outside = "in a FILTER outside any EVENT block"
        where += [(var, outside) for f in scope.event.guard.filters for var in variables_in(f)]
    for var, what in where:
        if var.name == "this":
            alias = scope.places[0].alias
            yield say(
                "OBEP126",
                scope.file,
                var.span,
                f"?this cannot stand {what}",
                "?this is the individual of the alias in whose EVENT block it stands.",
                f"{alias}(?x)   and ?x instead of ?this",
            )
            return


def literal_subject(triples: Iterable[TriplePattern], file: QueryFile) -> Iterator[Diagnostic]:
    """OBEP127: in RDF a literal is never a subject."""
    for triple in triples:
        if isinstance(triple.subject, Literal):
            turned = replace(triple, subject=triple.object, object=triple.subject)
            swap = not isinstance(triple.object, Literal)
            yield say(
                "OBEP127",
                file,
                triple.subject.span,
                "a literal cannot be a subject",
                "In RDF a literal is the object of a triple only, so this could match nothing.",
                quote(turned) if swap else "",
            )


def logical_guard(event: LogicalEvent, file: QueryFile) -> Iterator[Diagnostic]:
    """OBEP107, OBEP119 and OBEP120 in a logical event, whose guard speaks about ?this."""
    guard = event.guard
    own = guard.own if guard else ()
    bound = {var.name for var in variables_of(own)} | {"this"}
    for block in guard.blocks if guard else ():
        bound |= {var.name for var in variables_of(block.triples)}
        shown = " . ".join(quote(triple).rstrip(" .") for triple in block.triples[:2])
        yield say(
            "OBEP107",
            file,
            block.alias_spans[0] if block.alias_spans else block.span,
            f"the guard of {event.name.text} names an alias, but there is no pattern",
            "A logical event has no aliases; its guard speaks about its individual, ?this.",
            f"IF {{ {shown} . }}" if shown else "IF { ?this … }",
        )
    filters = [*guard.filters, *(f for block in guard.blocks for f in block.filters)] if guard else []
    for condition in filters:
        for time in times_in(condition):
            if time.alias is not None:
                yield say(
                    "OBEP107",
                    file,
                    time.span,
                    f"{time.function}({time.alias}) names an alias, but there is no pattern",
                    "A logical event has no aliases.",
                    f"{time.function}()",
                )
    for code, what, variables in (
        ("OBEP120", "FILTER", [v for f in filters for v in variables_in(f)]),
        ("OBEP119", "CONSTRUCT", list(variables_of(event.construct))),
    ):
        said: set[str] = set()
        for var in variables:
            if var.name in bound or var.name in said:
                continue
            said.add(var.name)
            near = nearest(var.name, sorted(bound))
            yield say(
                code,
                file,
                var.span,
                f"nothing binds ?{var.name} in {what}",
                f"The guard of {event.name.text} binds {listed([f'?{v}' for v in sorted(bound)])}.",
                f"?{near}" if near else f"IF {{ ?this … ?{var.name} }}",
            )
