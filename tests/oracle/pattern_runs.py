"""Cases as text and back, whether the checker accepts them, and making a failing one small."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache

from greedy_shrinking import least

from obep.errors import ObepError
from obep.lints.check_query import check
from obep.model import SECOND
from obep.query import ast
from obep.query.link import Linked, link
from obep.query.parse.parser import parse
from obep.query.print.printer import show
from oracle.pattern_cases import Arrival, Case, query_text, read_case, read_stream, show_stream
from oracle.pattern_strategies import Maker, operands_of, with_operands


class _Text:
    """The text of the events that were asked for last: many cases are of the same ones."""

    events: tuple[ast.CompositeEvent, ...] = ()
    text = ""


def case_text(case: Case) -> str:
    """The composite events of a case as they would be written."""
    if case.events is not _Text.events:
        _Text.events, _Text.text = case.events, "\n".join(show(event) for event in case.events)
    return _Text.text


def linked_case(case: Case) -> Linked:
    return linked_text(case_text(case))


@lru_cache(maxsize=4)
def linked_text(text: str) -> Linked:
    """The linked query around some composite events."""
    return link(parse(query_text(text)), None)


def refusals(case: Case) -> list[str]:
    """What the checker has against a case; empty if it may run."""
    try:
        return [d.code for d in check(linked_case(case)) if d.severity == "error"]
    except ObepError as problem:
        return [str(problem)]


def as_parsed(case: Case) -> Case:
    """The case with the events as the parser reads them back, so that its text says all."""
    events = tuple(e for e in linked_case(case).file.events if isinstance(e, ast.CompositeEvent))
    assert events == case.events, case_text(case)
    return replace(case, events=events)


def shown(case: Case) -> str:
    """The case as a ready test case."""
    return f"read_case(\n    '''\n{case_text(case)}\n''',\n    {show_stream(case)!r},\n)"


def drawn(maker: Maker) -> Case | None:
    """The case that a maker draws, or nothing if the checker refuses it."""
    case = maker.case()
    return None if refusals(case) else as_parsed(case)


# --- making it small --------------------------------------------------------------------------------------


def shrunk(case: Case, fails: Callable[[Case], bool]) -> Case:
    """A smallest case (no single step makes it smaller) that is valid and still fails."""
    return least(case, lambda one: (as_parsed(less) for less in _smaller(one) if not refusals(less)), fails)


def _smaller(case: Case) -> Iterator[Case]:
    for index in range(len(case.events) - 1):
        yield replace(case, events=case.events[:index] + case.events[index + 1 :])
    if len(case.events) > 1:
        yield replace(case, events=case.events[:-1])
    for index in range(len(case.arrivals)):
        yield replace(case, arrivals=case.arrivals[:index] + case.arrivals[index + 1 :])
    for index, event in enumerate(case.events):
        for smaller in _smaller_event(event):
            yield replace(case, events=(*case.events[:index], smaller, *case.events[index + 1 :]))
    for index, arrival in enumerate(case.arrivals):
        for other in _smaller_arrival(arrival):
            yield replace(case, arrivals=(*case.arrivals[:index], other, *case.arrivals[index + 1 :]))
    last = max((arrival.item.at for arrival in case.arrivals), default=0)
    if case.end > last:
        yield replace(case, end=last)
        yield replace(case, end=case.end - SECOND)


def _smaller_event(event: ast.CompositeEvent) -> Iterator[ast.CompositeEvent]:
    for pattern in _smaller_pattern(event.pattern):
        yield replace(event, pattern=pattern)
        yield replace(event, pattern=pattern, guard=None)
    if event.guard:
        yield replace(event, guard=None)
        for guard in _smaller_guard(event.guard):
            yield replace(event, guard=guard if guard.blocks or guard.filters else None)
    if event.policy != "unrestricted":
        yield replace(event, policy="unrestricted")
    if event.partition_by:
        yield replace(event, partition_by=())
    if event.parameters:
        yield replace(event, parameters=())


def _smaller_pattern(node: ast.Pattern) -> Iterator[ast.Pattern]:
    operands = operands_of(node)
    yield from operands
    if isinstance(node, ast.Seq | ast.Next | ast.And | ast.Join | ast.Or) and len(operands) > 2:
        for index in range(len(operands)):
            yield replace(node, operands=operands[:index] + operands[index + 1 :])
    for index, operand in enumerate(operands):
        for smaller in _smaller_pattern(operand):
            yield with_operands(node, [*operands[:index], smaller, *operands[index + 1 :]])
    match node:
        case ast.Leaf(_, parameters, alias):
            if parameters:
                yield replace(node, parameters=())
            if alias:
                yield replace(node, alias=None)
        case ast.Times(_, count) if count > 1:
            yield replace(node, count=count - 1)
        case ast.Within(_, within) | ast.NotFollowedBy(_, _, within) if within and within.micros > SECOND:
            yield replace(node, within=ast.Duration(within.micros - SECOND))


def _smaller_guard(guard: ast.Guard) -> Iterator[ast.Guard]:
    for index, block in enumerate(guard.blocks):
        others = (guard.blocks[:index], guard.blocks[index + 1 :])
        yield replace(guard, blocks=(*others[0], *others[1]))
        if block.filters:
            yield replace(guard, blocks=(*others[0], replace(block, filters=()), *others[1]))
        if len(block.triples) > 1:
            for at in range(len(block.triples)):
                fewer = replace(block, triples=block.triples[:at] + block.triples[at + 1 :])
                yield replace(guard, blocks=(*others[0], fewer, *others[1]))
    for index, condition in enumerate(guard.filters):
        yield replace(guard, filters=guard.filters[:index] + guard.filters[index + 1 :])
        match condition.condition:
            case ast.Conjunction(operands) | ast.Disjunction(operands):
                for operand in operands:
                    simpler = (*guard.filters[:index], ast.Filter(operand), *guard.filters[index + 1 :])
                    yield replace(guard, filters=simpler)


def _smaller_arrival(arrival: Arrival) -> Iterator[Arrival]:
    """With fewer occurrences, without data, without the triple that explains nothing."""
    single = Case((), (arrival,), arrival.item.at)
    word = show_stream(single).split(" ")[0]
    if word.endswith("'"):
        yield from read_stream(word[:-1])[0]
    bare, mark = word.rstrip("'"), "'" if word.endswith("'") else ""
    pieces = bare.split("+")
    if len(pieces) > 1:
        for index in range(len(pieces)):
            yield from read_stream("+".join(pieces[:index] + pieces[index + 1 :]) + mark)[0]
    for index, piece in enumerate(pieces):
        for simpler in _simpler(piece):
            yield from read_stream("+".join([*pieces[:index], simpler, *pieces[index + 1 :]]) + mark)[0]


def _simpler(piece: str) -> Iterator[str]:
    if "(" in piece:
        name, data = piece.rstrip(")").split("(")
        yield name
        fields = data.split(",")
        for index, field in enumerate(fields):
            rest = [*fields[:index], *fields[index + 1 :]]
            if rest:
                yield f"{name}({','.join(rest)})"
            prop, values = field.split("=")
            for value in values.split("|") if "|" in values else ():
                kept = "|".join(v for v in values.split("|") if v != value)
                yield f"{name}({','.join([*fields[:index], f'{prop}={kept}', *fields[index + 1 :]])})"


__all__ = [
    "as_parsed",
    "case_text",
    "drawn",
    "linked_case",
    "linked_text",
    "read_case",
    "refusals",
    "shown",
    "shrunk",
]
