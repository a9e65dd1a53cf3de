"""Rules about variables: who binds them, and who needs them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from obep.errors import Diagnostic
from obep.lints.analysis.event_order import Definitions
from obep.lints.analysis.pattern_layout import Place, Scope, conditions_of, variables_of
from obep.lints.language_errors.negation_errors import instead_of_not
from obep.query.ast import Guard, Leaf, Literal, LogicalEvent, Pattern, QueryFile, TriplePattern, Var
from obep.query.diagnostics import listed, quote, say
from obep.query.pattern_walk import operands, with_operands
from obep.query.walk import alias_of


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
        near = scope.definitions.near_variable(var.name, scope.binders)
        if not binders and near:
            reason, remedy = "No alias binds it.", f"PARTITION BY ?{near}"
        elif under_not:
            reason = f"{under_not[0].alias} is under NOT, which binds nothing."
            remedy = instead_of_not(scope.event.pattern, under_not[0].under_not)
            remedy += f"   with {quote(replace(under_not[0].leaf, parameters=(var,)))}" if remedy else ""
        else:
            reason = "Each partition is evaluated separately, so every alias must bind it."
            remedy = _binding(missing, var, scope)
        yield say(
            "OBEP111",
            scope.file,
            var.span,
            f"PARTITION BY ?{var.name}, which {listed(names)} {'does' if len(names) == 1 else 'do'} not bind",
            reason,
            remedy,
        )


def _binding(missing: list[Place], var: Var, scope: Scope) -> str:
    """Suggest a binding of a variable: as an individual if other aliases do so, else in a block."""
    first = missing[0]
    as_individual = any(p.leaf.parameters and p.leaf.parameters[0].name == var.name for p in scope.places)
    by_no_leaf = len(missing) == len(scope.places) and not any(p.leaf.parameters for p in missing)
    if as_individual and not first.leaf.parameters:
        return quote(replace(first.leaf, parameters=(var,)))
    for block in scope.blocks:
        if block.aliases and var.name in {bound.name for bound in variables_of(block.triples)}:
            return f"EVENT {', '.join((*block.aliases, first.alias))} {{ … ?{var.name} … }}"
    if by_no_leaf:
        return f"{quote(_with_parameter(scope.event.pattern, var))}   if ?{var.name} is their individual"
    return in_a_block(first.leaf, var.name, scope.event.guard)


def in_a_block(leaf: Leaf, name: str, guard: Guard | None) -> str:
    """Suggest a block that binds a variable to a property of what a leaf is about."""
    subject = f"?{leaf.parameters[0].name}" if leaf.parameters else "?this"
    block = f"EVENT {alias_of(leaf)} {{ {subject} :property ?{name} }}"
    return f"{block}   in its IF" if guard is not None else f"IF {{ {block} }}"


def _with_parameter(node: Pattern, var: Var) -> Pattern:
    if isinstance(node, Leaf):
        return replace(node, parameters=(var,))
    return with_operands(node, [_with_parameter(operand, var) for operand in operands(node)])


def head(scope: Scope) -> Iterator[Diagnostic]:
    """OBEP120 and OBEP011: the parameters of an event come from its pattern, each once."""
    said: set[str] = set()
    names = ", ".join(dict.fromkeys(f"?{var.name}" for var in scope.event.parameters))
    for var in scope.event.parameters:
        if var.name in said:
            yield say(
                "OBEP011",
                scope.file,
                var.span,
                f"the parameter ?{var.name} stands twice",
                "Parameters are read by position, so that two with one name would always be equal.",
                f"EVENT {scope.event.name.text}({names})",
            )
        elif var.name != "this" and not scope.bound(var.name):
            yield _unbound("OBEP120", scope, var, f"the parameter ?{var.name} of {scope.event.name.text}")
        said.add(var.name)


def construct(scope: Scope) -> Iterator[Diagnostic]:
    """OBEP120: CONSTRUCT says what was found."""
    said: set[str] = set()
    for var in variables_of(scope.event.construct):
        if var.name != "this" and var.name not in said and not scope.bound(var.name):
            said.add(var.name)
            yield _unbound("OBEP120", scope, var, f"?{var.name} in CONSTRUCT")


def filter_variables(scope: Scope) -> Iterator[Diagnostic]:
    """OBEP120: FILTER compares what is bound."""
    said: set[str] = set()
    for condition in scope.conditions:
        for var in condition.variables:
            if var.name in said or var.name == "this" or var.name in scope.loose or var.name in scope.binders:
                continue
            said.add(var.name)
            yield _unbound("OBEP120", scope, var, f"?{var.name} in FILTER")


def _unbound(code: str, scope: Scope, var: Var, what: str) -> Diagnostic:
    near = scope.definitions.near_variable(var.name, scope.reported)
    denied = [scope.places[n].alias for n in scope.binders.get(var.name, ())]
    if denied:
        reason = f"Only {listed(denied)} has it, which a negation denies: there is none when it happens."
    elif scope.reported:
        reason = f"The pattern and its guard bind {listed([f'?{v}' for v in scope.reported])}."
    else:
        reason = "The pattern and its guard bind no variable."
    takes_part = [p for p in scope.places if p.positive] or list(scope.places)
    place = next((p for p in takes_part if not p.leaf.parameters), None)
    if near:
        remedy = f"?{near}"
    elif place is not None:
        leaf = quote(replace(place.leaf, parameters=(Var(var.name),)))
        remedy = f"{leaf}   or {in_a_block(place.leaf, var.name, scope.event.guard)}"
    else:
        remedy = in_a_block(takes_part[0].leaf, var.name, scope.event.guard)
    return say(code, scope.file, var.span, f"nothing binds {what}", reason, remedy)


def this_elsewhere(scope: Scope) -> Iterator[Diagnostic]:
    """OBEP120: ?this is the individual of the alias whose block it stands in."""
    where = [
        *((var, "be a parameter") for place in scope.places for var in place.leaf.parameters),
        *((var, "be a parameter") for var in scope.event.parameters),
        *((var, "stand in PARTITION BY") for var in scope.event.partition_by),
    ]
    if scope.event.guard:
        outside = "stand in a FILTER outside any EVENT block"
        top = set(map(id, scope.event.guard.filters))
        where += [(var, outside) for c in scope.conditions if id(c.filter) in top for var in c.variables]
    for var, what in where:
        if var.name == "this":
            alias = scope.places[0].alias
            yield say(
                "OBEP120",
                scope.file,
                var.span,
                f"?this cannot {what}",
                "?this is the individual of the alias whose EVENT block contains it.",
                f"{alias}(?x)   and ?x instead of ?this",
            )
            return


def literal_subject(triples: Iterable[TriplePattern], file: QueryFile) -> Iterator[Diagnostic]:
    """OBEP127: in RDF a literal is never a subject."""
    for triple in triples:
        if isinstance(triple.subject, Literal):
            turned = replace(triple, subject=triple.object, object=triple.subject)
            if isinstance(triple.object, Literal):
                turned = replace(triple, subject=Var("this"))
            yield say(
                "OBEP127",
                file,
                triple.subject.span,
                "a literal cannot be a subject",
                "In RDF a literal is the object of a triple only.",
                quote(turned),
            )


def logical_guard(event: LogicalEvent, file: QueryFile, definitions: Definitions) -> Iterator[Diagnostic]:
    """OBEP107 and OBEP120 in a logical event, whose guard is about ?this."""
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
            f"{event.name.text} is defined with AS, so its guard has no EVENT blocks",
            "Aliases are for the events of a MATCH. A logical event has ?this, its individual.",
            f"IF {{ {shown} . }}" if shown else "IF { ?this … }",
        )
    conditions = conditions_of(guard)
    for condition in conditions:
        for time in condition.times:
            if time.alias is not None:
                yield say(
                    "OBEP107",
                    file,
                    time.span,
                    f"{event.name.text} is defined with AS, so there is no {time.alias} to choose",
                    "Aliases are for the events of a MATCH. Without one, the time is that of this event.",
                    f"{time.function}()",
                )
    for code, what, variables in (
        ("OBEP120", "FILTER", [v for c in conditions for v in c.variables]),
        ("OBEP120", "CONSTRUCT", list(variables_of(event.construct))),
    ):
        said: set[str] = set()
        for var in variables:
            if var.name in bound or var.name in said:
                continue
            said.add(var.name)
            near = definitions.near_variable(var.name, sorted(bound))
            yield say(
                code,
                file,
                var.span,
                f"nothing binds ?{var.name} in {what}",
                f"The guard of {event.name.text} binds {listed([f'?{v}' for v in sorted(bound)])}.",
                f"?{near}"
                if near
                else f"?this :property ?{var.name}   in its IF"
                if guard
                else f"IF {{ ?this :property ?{var.name} }}",
            )
