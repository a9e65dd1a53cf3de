"""Queries over triple occurrences (EP-SPARQL, Sparkwave) as events of OBEP.

An event of OBEP looks at one item, a group of EP-SPARQL at triples of any times: they are the same where
each group has one triple pattern.
"""

from __future__ import annotations

from dataclasses import replace

from obep.formats.timestamps import parse_duration
from obep.query import ast
from obep.query.free_variables import variables
from obep.query.group_walk import group_variables
from obep.query.linked_queries import LinkedQuery
from obep.query.translation.untranslatable import AS_IT_IS, Refusals
from obep.query.walk import walk

DURATIONS = [f"<http://www.w3.org/2001/XMLSchema#{name}>" for name in ("duration", "dayTimeDuration")]
ONE_ITEM = "Its triples may come at several times; an event of OBEP looks at one item."


def timed_event(
    query: LinkedQuery, namespace: str, refused: Refusals
) -> ast.CompositeEvent | ast.GraphEvent | None:
    """The event whose rows are those of a query."""
    form = query.register.form
    if not isinstance(form, ast.Select):
        rule = isinstance(form, ast.ConstructQuery)
        what = "a rule that feeds its stream" if rule else "ASK over triples with times"
        reason = (
            "What CONSTRUCT derives has an interval, and may be used by the rule itself."
            if rule
            else "The rows of an event are its matches."
        )
        refused.add(query.register, what, reason, "EVENT … MATCH … CONSTRUCT { … }" if rule else "SELECT")
        return None
    refuse_modifiers(form, refused)
    for window in query.windows:
        refused.add(window, "FROM STREAM of a pattern", "An event sees all streams.", AS_IT_IS)
    name = ast.Name(f":{query.name}", f"<{namespace}{query.name}>")
    shown = [one.variable for one in form.projection] or [ast.Var(one) for one in group_variables(form.where)]
    filters = [one for one in form.where.elements if isinstance(one, ast.Filter)]
    others = [one for one in form.where.elements if not isinstance(one, ast.Filter)]
    for one in filters:
        if any(isinstance(part, ast.Exists) for part in walk(one)):
            refused.add(one, "EXISTS over triples with times", ONE_ITEM, "A WITHOUT B, in a MATCH")
    if len(others) != 1:
        refused.add(form.where, "these parts side by side", ONE_ITEM, "{ … } SEQ { … }")
        return None
    parameters = tuple(shown)
    only = others[0]
    if isinstance(only, ast.TimedJoin):
        pattern = _pattern(only, refused)
        maybe = _optional_variables(only)
        for one in filters:
            if maybe & {*variables(one)}:
                reason = "A FILTER of OBEP asks nothing of a part that is not there; here it is not passed."
                refused.add(one, "a FILTER over an optional part", reason, "the FILTER inside that part")
        if any(isinstance(part, ast.Optional) for part in walk(pattern)):
            guard = ast.Guard((), tuple(filters)) if filters else None
        else:
            pattern, guard = _bounded(pattern, filters)
        return ast.CompositeEvent(name, pattern, parameters, guard=guard)
    _one_triple(ast.Group((only,), span=only.span), refused)
    return ast.GraphEvent(name, form.where, parameters)


def _bounded(pattern: ast.Pattern, filters: list[ast.Filter]) -> tuple[ast.Pattern, ast.Guard | None]:
    """The pattern with a WITHIN for `getDURATION() < d`, and a guard of what is left."""
    parts = [part for one in filters for part in _conjuncts(one.condition)]
    lengths = {id(part): length for part in parts if (length := _length(part)) is not None}
    rest = tuple(ast.Filter(part) for part in parts if id(part) not in lengths)
    if lengths:
        pattern = ast.Within(pattern, ast.Duration(min(lengths.values())))
    return pattern, ast.Guard((), rest) if rest else None


def _conjuncts(condition: ast.Expression) -> tuple[ast.Expression, ...]:
    return condition.operands if isinstance(condition, ast.Conjunction) else (condition,)


def _length(condition: ast.Expression) -> int | None:
    """The length d of `getDURATION() < d`."""
    if not isinstance(condition, ast.Comparison) or condition.operator != "<":
        return None
    asked, bound = condition.left, condition.right
    if not isinstance(asked, ast.TimeFunction) or asked.function != "getDURATION":
        return None
    if isinstance(bound, ast.Duration):
        return bound.micros
    if not isinstance(bound, ast.Literal) or bound.datatype is None or bound.datatype.iri not in DURATIONS:
        return None
    try:
        return parse_duration(bound.lexical)
    except ValueError:
        return None


def refuse_modifiers(select: ast.Select, refused: Refusals) -> None:
    """Refuse what a SELECT has beside its variables and its WHERE."""
    said = {
        "DISTINCT": select.distinct,
        "REDUCED": select.reduced,
        "GROUP BY": select.group_by,
        "HAVING": select.having,
        "ORDER BY": select.order_by,
        "LIMIT": select.limit is not None,
        "OFFSET": select.offset,
        "VALUES after the query": select.values is not None,
        "an expression in SELECT": any(one.expression is not None for one in select.projection),
    }
    for what, is_so in said.items():
        if is_so:
            reason = "The rows of an event are its matches, each as it is decided."
            refused.add(select, f"{what} over triples with times", reason, AS_IT_IS)


def _optional_variables(node: ast.Node) -> set[str]:
    """The variables that only optional parts bind."""
    maybe: set[str] = set()
    always: set[str] = set()
    stack = [(node, False)]
    while stack:
        one, optional = stack.pop()
        if isinstance(one, ast.TimedJoin):
            stack.append((one.left, optional or one.operator == "OPTIONALSEQ"))
            stack.append((one.right, optional or one.operator == "EQUALSOPTIONAL"))
        else:
            (maybe if optional else always).update(variables(one))
    return maybe - always


def _pattern(node: ast.TimedOperand, refused: Refusals) -> ast.Pattern:
    if isinstance(node, ast.TimedJoin):
        sides = (_pattern(node.left, refused), _pattern(node.right, refused))
        if node.operator in ("SEQ", "EQUALS"):
            chain = ast.Seq if node.operator == "SEQ" else ast.And
            left = sides[0].operands if type(sides[0]) is chain else (sides[0],)
            return chain((*left, sides[1]))
        maybe, other = sides if node.operator == "OPTIONALSEQ" else sides[::-1]
        chain = ast.Seq if node.operator == "OPTIONALSEQ" else ast.And
        return chain((ast.Optional(maybe), other))
    if isinstance(node, ast.Group):
        _one_triple(node, refused)
        return ast.GroupLeaf(replace(node))
    refused.add(
        node, "UNION over triples with times", "Each alternative binds other variables.", "a query for each"
    )
    return ast.GroupLeaf(node.groups[0])


def _one_triple(group: ast.Group, refused: Refusals) -> None:
    others = [one for one in group.elements if not isinstance(one, ast.Filter)]
    only = others[0] if len(others) == 1 else None
    patterns = only.patterns if isinstance(only, ast.Bgp) else ()
    if len(patterns) != 1 or not isinstance(patterns[0], ast.TriplePattern):
        refused.add(group, "a group of more than one triple", ONE_ITEM, "{ one triple } SEQ { another }")
    elif any(name.startswith("_:") for name in variables(patterns[0])) or not variables(patterns[0]):
        reason = "An event occurs once for each value of its variables."
        refused.add(group, "a blank node, or a triple without variables, in a pattern", reason, "a variable")
    elif any(isinstance(part, ast.Exists | ast.TimeFunction) for part in walk(group)):
        refused.add(group, "EXISTS or times in the FILTER of a group", ONE_ITEM, "a FILTER outside of it")
