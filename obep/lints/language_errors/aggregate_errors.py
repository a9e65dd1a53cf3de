"""Errors in AGGREGATE and HAVING of a state: variables without a value, aggregates that cannot be had."""

from __future__ import annotations

from collections.abc import Iterator

from obep.errors import Diagnostic
from obep.lints.analysis.bound_variables import in_scope
from obep.lints.analysis.event_order import Definitions
from obep.lints.language_errors.state_errors import all_definitions
from obep.lints.language_errors.variable_errors import in_a_block
from obep.query.ast import Aggregate, Expression, Leaf, Node, OverState, QueryFile, StateUse, Var
from obep.query.diagnostics import listed, quote, say
from obep.query.free_variables import THIS
from obep.query.walk import leaves, walk


def impossible_aggregates(definitions: Definitions) -> Iterator[Diagnostic]:
    """OBEP153: an aggregate of an aggregate, and HELD() where there are no episodes."""
    for definition, file in all_definitions(definitions):
        for node in walk(definition):
            if not isinstance(node, Aggregate):
                continue
            inner = next((one for one in walk(node) if isinstance(one, Aggregate) and one is not node), None)
            if inner is not None:
                yield say(
                    "OBEP153",
                    file,
                    inner.span,
                    f"{quote(inner)} stands inside of {node.function}",
                    "An aggregate is computed from rows of a group, which contain no other aggregates.",
                    f"({quote(inner)} AS ?y) in a sub-select of its own, and {node.function}(?y) over it",
                )
            of_state = isinstance(definition, OverState) and isinstance(definition.over, StateUse)
            if node.function == "HELD" and not of_state:
                yield say(
                    "OBEP153",
                    file,
                    node.span,
                    "HELD() is of OVER STATE only",
                    "It is the time for which a state held, but these rows are not episodes.",
                    "STATE … OVER STATE S(?k) WITHIN 1 h STEP 1 min HAVING (HELD() > 10 min)",
                )


def without_value(definitions: Definitions) -> Iterator[Diagnostic]:
    """OBEP120: a variable of GROUP BY, AGGREGATE or HAVING that has no value."""
    for file in definitions.linked.files:
        for state in file.states:
            if isinstance(state, OverState):
                yield from _without_value(state, file, definitions)


def _without_value(state: OverState, file: QueryFile, definitions: Definitions) -> Iterator[Diagnostic]:
    rows = _row_variables(state, definitions)
    known = {one.name for one in state.group_by or state.parameters}
    parameters = {one.name for one in state.parameters}
    for variable in state.group_by:
        if variable.name not in rows | parameters:  # of a parameter its own check speaks
            yield _nothing_binds(variable, rows, "GROUP BY", state, file, definitions)
    for one in state.aggregates:
        if one.expression is not None:
            yield from _unknown(one.expression, known, rows, "AGGREGATE", state, file, definitions)
        known.add(one.variable.name)
    if state.having is not None:
        yield from _unknown(state.having, known, rows, "HAVING", state, file, definitions)


def _unknown(
    expression: Expression,
    known: set[str],
    rows: set[str],
    word: str,
    state: OverState,
    file: QueryFile,
    definitions: Definitions,
) -> Iterator[Diagnostic]:
    inside = {id(node) for one in walk(expression) if isinstance(one, Aggregate) for node in walk(one)}
    for node in walk(expression):
        if not isinstance(node, Var):
            continue
        of_rows = id(node) in inside
        if node.name in known or (of_rows and node.name in rows):
            continue
        if node.name in rows:
            reason = "A group has many rows. Only the GROUP BY values are the same in all of them."
            remedy = f"AVG(?{node.name}), MAX(?{node.name}), LAST(?{node.name}), or GROUP BY ?{node.name}"
            message = f"{word} asks for ?{node.name}, which differs from row to row"
            yield say("OBEP120", file, node.span, message, reason, remedy)
        elif of_rows:
            yield _nothing_binds(node, rows | known, word, state, file, definitions)
        else:
            yield _nothing_computes(node, known, word, file, definitions)


def _nothing_binds(
    variable: Var, bound: set[str], word: str, state: OverState, file: QueryFile, definitions: Definitions
) -> Diagnostic:
    near = definitions.near_variable(variable.name, sorted(bound))
    reason = f"Its rows have {_named(bound)}."
    remedy = f"?{near}" if near else _binding(state, variable.name)
    message = f"nothing binds ?{variable.name} of {word}"
    return say("OBEP120", file, variable.span, message, reason, remedy)


def _nothing_computes(
    variable: Var, known: set[str], word: str, file: QueryFile, definitions: Definitions
) -> Diagnostic:
    """Outside of an aggregate there are the values of a group: a pattern that binds more is no remedy."""
    near = definitions.near_variable(variable.name, sorted(known))
    reason = f"Its groups have {_named(known)}."
    first = f"AGGREGATE (COUNT(*) AS ?{variable.name})   before {'it' if word == 'AGGREGATE' else word}"
    message = f"nothing binds ?{variable.name} of {word}"
    return say("OBEP120", file, variable.span, message, reason, f"?{near}" if near else first)


def _named(names: set[str]) -> str:
    return listed([f"?{name}" for name in sorted(names)]) if names else "nothing"


def _binding(state: OverState, name: str) -> str:
    """Suggest what gives a variable a value."""
    if isinstance(state.over, StateUse):
        return f"HELD(), or a variable of {state.over.state.text}"
    leaf = next(leaves(state.over), None)
    return in_a_block(leaf, name, state.guard) if leaf is not None else f"?{name} in the group of its pattern"


def _row_variables(state: OverState, definitions: Definitions) -> set[str]:
    """All variables that a row may bind."""
    places: list[Node] = [state.over, *([state.guard] if state.guard is not None else [])]
    nodes = [node for place in places for node in walk(place)]
    found = {node.name for node in nodes if isinstance(node, Var)} - {THIS}
    used = [node.event.iri for node in nodes if isinstance(node, Leaf)]
    used += [node.state.iri for node in nodes if isinstance(node, StateUse)]
    return found.union(*(in_scope(iri, definitions) for iri in used))
