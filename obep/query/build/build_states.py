"""States, and the clauses of their definitions."""

from __future__ import annotations

from typing import Any, get_args

from obep.query import ast
from obep.query.build.actions import Children, Clause, is_token, nodes, reading, rule
from obep.query.build.build_events import check_own_triples, clauses_of, extent_of
from obep.query.parse.spelling import span_between

WEEKDAYS: tuple[Any, ...] = get_args(ast.Weekday)
MINUTES = 24 * 60

TAKES: dict[type, tuple[str, tuple[str, ...]]] = {
    ast.EventState: ("FROM … TO …", ("timeout", "limit", "guard")),
    ast.OverState: (
        "OVER … WITHIN …",
        ("step", "each", "guard", "group_by", "aggregates", "having"),
    ),
    ast.ClassState: ("AS ( class expression )", ("on", "guard")),
    ast.GroupState: ("AS { group }", ("on",)),
    ast.DailyState: ("DAILY FROM … TO …", ("days", "zone", "guard")),
}
"""The keywords of each kind of state, and the clauses that it takes."""

WORDS = {
    "timeout": "TIMEOUT",
    "limit": "LIMIT",
    "step": "STEP",
    "each": "FOR EACH",
    "guard": "IF",
    "group_by": "GROUP BY",
    "aggregates": "AGGREGATE",
    "having": "HAVING",
    "days": "ON",
    "zone": "ZONE",
}


def _state(kind: Any, children: Children, **fields: Any) -> Any:
    """A state of its head, what defines it, and its clauses."""
    word, name, variables = children[:3]
    clauses = clauses_of(children[3:], "state")
    written, taken = TAKES[kind]
    for field in [field for field in clauses if field not in taken]:
        clause = clauses.pop(field)
        others = [how for how, known in TAKES.values() if field in known]
        reading.scope.error(
            "OBEP012",
            f"{WORDS[field]} does not belong to a state with {written}",
            clause.word.span,
            reason=f"It is a clause of STATE … {' and STATE … '.join(others)}.",
            remedy=f"remove {WORDS[field]}, or define {name.text} in the other way",
        )
    return kind(
        name,
        variables or (),
        **fields,
        **{
            field: clause.value[0] if field == "having" else clause.value for field, clause in clauses.items()
        },
        extent=extent_of(clauses),
        span=span_between(word, name),
    )


@rule
def event_state(children: Children) -> ast.EventState:
    _, start, _, end, *_ = children[3:]
    check_own_triples(children, start)
    found: ast.EventState = _state(ast.EventState, children, start=start, end=end)
    return found


@rule
def over_state(children: Children) -> ast.OverState:
    over, within, *_ = nodes(children[3:])
    check_own_triples(children, over)
    found: ast.OverState = _state(
        ast.OverState, [child for child in children if child is not within], over=over, within=within
    )
    return found


@rule
def class_state(children: Children) -> ast.ClassState:
    found: ast.ClassState = _state(ast.ClassState, children, description=children[6])
    return found


@rule
def group_state(children: Children) -> ast.GroupState:
    found: ast.GroupState = _state(ast.GroupState, children, group=children[5])
    return found


@rule
def daily_state(children: Children) -> ast.DailyState:
    _, _, start, _, end, *_ = children[3:]
    found: ast.DailyState = _state(ast.DailyState, children, start=start, end=end)
    return found


@rule
def state_use(children: Children) -> ast.StateUse:
    name, variables = children
    return ast.StateUse(name, variables or (), span=span_between(name, variables[-1] if variables else name))


# --- clauses --------------------------------------------------------------------------------------------


@rule
def timeout(children: Children) -> Any:
    return Clause("timeout", children[0], children[1], children[1])


@rule
def step(children: Children) -> Any:
    return Clause("step", children[0], children[1], children[1])


@rule
def each(children: Children) -> Any:
    return Clause("each", children[0], children[1], children[1])


@rule
def aggregates(children: Children) -> Any:
    return Clause("aggregates", children[0], children[-1], nodes(children))


@rule
def zone(children: Children) -> Any:
    word, named = children
    if named.type == "VAR":
        return Clause("zone", word, named, _variable(named))
    return Clause("zone", word, named, reading.scope.string(named))


@rule
def days(children: Children) -> Any:
    if is_token(children[1], "VAR"):
        return Clause("days", children[0], children[1], _variable(children[1]))
    found = [weekday for child in children if isinstance(child, tuple) for weekday in child[0]]
    return Clause("days", children[0], children[-1][1], tuple(dict.fromkeys(found)))


@rule
def day(children: Children) -> Any:
    """The days of `Mon` or of `Fri-Mon`, and the last word."""
    first, last = children[0], children[-1] or children[0]
    start, end = (WEEKDAYS.index(word.value[:3].title()) for word in (first, last))
    length = (end - start) % 7 + 1
    return tuple(WEEKDAYS[(start + place) % 7] for place in range(length)), last


@rule
def clock(children: Children) -> Any:
    """Minutes since midnight."""
    (word,) = children
    if word.type == "VAR":
        return _variable(word)
    hours, _, minutes = word.value.partition(":")
    found = int(hours) * 60 + int(minutes)
    if found > MINUTES or int(minutes) > 59:
        reading.scope.error(
            "OBEP013",
            f"{word.value} is not a time of day",
            span_between(word),
            reason="Times go from 00:00 to 24:00.",
            remedy="18:00",
        )
    return found


def _variable(word: Any) -> ast.Var:
    return ast.Var(word.value[1:], span=span_between(word))
