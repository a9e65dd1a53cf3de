"""Why a candidate that nearly was is none: the guard, bound, negation or choice that refused it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from obep.engine.nearly import Nearly, nearly, parts_below
from obep.engine.why import short
from obep.formats.instants import Style, show_instant
from obep.guards.mentions import HIDDEN
from obep.model import Occurrence, Term
from obep.operators.candidates import NOTHING, Rows
from obep.operators.rows import Gathering, compile_test
from obep.plan import nodes
from obep.plan.nodes import Node, Read, walk
from obep.plan.plan import EventPlan
from obep.plan.show import duration
from obep.query.printer import show

Recent = Mapping[Term, Sequence[Occurrence]]


@dataclass(frozen=True, slots=True)
class Reason:
    """What refused a candidate, in words, and the aliases that it is about."""

    kind: str
    text: str
    aliases: tuple[str, ...] = ()


def reasons(plan: EventPlan, whole: Nearly, recent: Recent, style: Style) -> list[Reason]:
    """All that keeps a candidate from being reported."""
    assert plan.root is not None
    found = [*_guards(plan, whole), *_structure(plan.root, whole, recent, style)]
    if not found and plan.policy != "unrestricted":
        found.append(Reason("policy", f"POLICY {plan.policy} chose another, or it was used up before"))
    return found


def _guards(plan: EventPlan, whole: Nearly) -> Iterator[Reason]:
    leaves = [leaf for leaf in plan.leaves if leaf.alias in whole.parts]
    rows = {leaf.alias: _rows(leaf, whole.parts[leaf.alias]) for leaf in leaves}
    empty = [leaf.alias for leaf in leaves if not rows[leaf.alias]]
    for alias in empty:
        text = "; ".join(plan.blocks.get(alias.split("#")[0], ())) or "its block"
        yield Reason("block", f"{text} finds nothing in {alias}", (alias,))
    if empty:
        return
    yield from _disagreements(leaves, rows)
    variables = tuple(dict.fromkeys(name for leaf in leaves for name in leaf.variables))
    gather = Gathering([leaf.variables for leaf in leaves], variables)
    joined = gather(tuple(rows[leaf.alias] for leaf in leaves))
    if not joined:
        return
    assert plan.root is not None
    aliases = tuple(alias for leaf in leaves for alias in leaf.aliases)
    for condition in dict.fromkeys(c for node in walk(plan.root) for c in node.conditions):
        test = compile_test([condition], variables, aliases)
        parts = tuple(whole.parts[alias.name] for alias in aliases)
        known = condition.needs <= {*(f"?{name}" for name in variables), *(alias.name for alias in aliases)}
        if test and known and not test(joined, parts, whole.start, whole.end):
            values = _values(condition.variables, variables, joined)
            yield Reason(
                "filter",
                f"FILTER({show(condition.expression)}) is not true{values}",
                tuple(leaf.alias for leaf in leaves if set(leaf.variables) & set(condition.variables)),
            )


def _rows(leaf: Read, occurrence: Occurrence) -> Rows:
    return NOTHING if leaf.free else occurrence.solutions.get(leaf.ask, ())


def _disagreements(leaves: list[Read], rows: Mapping[str, Rows]) -> Iterator[Reason]:
    """Variables that two aliases share without sharing a value."""
    values: dict[str, dict[str, set[Term]]] = {}
    for leaf in leaves:
        for at, name in enumerate(leaf.variables):
            found = {row[at] for row in rows[leaf.alias]}
            if None not in found:
                values.setdefault(name, {})[leaf.alias] = found  # type: ignore[assignment]
    for name, by_alias in values.items():
        if len(by_alias) > 1 and not set.intersection(*by_alias.values()):
            told = ", ".join(f"{_some(found)} in {alias}" for alias, found in by_alias.items())
            yield Reason("variable", f"?{name} is {told}", tuple(by_alias))


def _values(wanted: tuple[str, ...], variables: tuple[str, ...], rows: Rows) -> str:
    shown = []
    for name in wanted:
        if not name.startswith(HIDDEN):
            found = {value for row in rows if (value := row[variables.index(name)]) is not None}
            shown.append(f"?{name} = {_some(found)}")
    return f" for {', '.join(shown)}" if shown else ""


def _some(values: set[Term]) -> str:
    names = sorted(map(short, values))
    return ", ".join(names[:3]) + (", …" if len(names) > 3 else "")


def _structure(root: Node, whole: Nearly, recent: Recent, style: Style) -> Iterator[Reason]:
    for node in walk(root):
        match node:
            case nodes.Within():
                part = parts_below(node, whole)
                if part is not None and part.done - part.since >= node.micros:
                    took = duration(part.done - part.since)
                    yield Reason("within", f"it took {took}, and WITHIN is {duration(node.micros)}")
            case nodes.Without():
                yield from _inside(node, whole, recent, style)
            case nodes.Silence():
                yield from _followed(node, whole, recent, style)
            case nodes.Next():
                yield from _between(node, whole, recent, style)
            case nodes.Choice():
                yield from _chosen(node, whole, recent, style)


def _inside(node: nodes.Without, whole: Nearly, recent: Recent, style: Style) -> Iterator[Reason]:
    left = parts_below(node.left, whole)
    if left is not None:
        for other in nearly(node.right, recent):
            if left.start < other.start and other.end < left.end and _join(node, whole, other):
                yield Reason("without", f"{_told(other, style)} lies inside", tuple(other.parts))
                return


def _followed(node: nodes.Silence, whole: Nearly, recent: Recent, style: Style) -> Iterator[Reason]:
    left = parts_below(node.left, whole)
    if left is not None:
        for other in nearly(node.right, recent):
            if left.end < other.start and other.end < left.end + node.micros and _join(node, whole, other):
                yield Reason("followed", f"{_told(other, style)} followed", tuple(other.parts))
                return


def _join(node: nodes.Negation, whole: Nearly, other: Nearly) -> bool:
    """Whether an n may join: no variable keeps the two apart."""
    leaves = [leaf for leaf in walk(node) if isinstance(leaf, Read)]
    parts = {**whole.parts, **other.parts}
    here = [leaf for leaf in leaves if leaf.alias in parts]
    rows = {leaf.alias: _rows(leaf, parts[leaf.alias]) for leaf in here}
    return all(rows.values()) and not any(_disagreements(here, rows))


def _between(node: nodes.Next, whole: Nearly, recent: Recent, style: Style) -> Iterator[Reason]:
    left, right = parts_below(node.left, whole), parts_below(node.right, whole)
    if left is None or right is None:
        return
    for operand in (node.left, node.right):
        for other in nearly(operand, recent):
            if left.end < other.start and other.end < right.start:
                yield Reason("next", f"{_told(other, style)} lies between", tuple(other.parts))
                return


def _chosen(node: nodes.Choice, whole: Nearly, recent: Recent, style: Style) -> Iterator[Reason]:
    part = parts_below(node.operand, whole)
    if part is None:
        return
    for other in nearly(node.operand, recent):
        hidden = other.end < part.start if node.which == "first" else part.end < other.start
        if hidden and other.done <= whole.done:
            yield Reason("choice", f"{_told(other, style)} is the {node.which} one", tuple(part.parts))
            return


def _told(one: Nearly, style: Style) -> str:
    return " and ".join(f"{alias} at {show_instant(part.start, style)}" for alias, part in one.parts.items())
