"""Find what refused a near match: a guard, a bound, a negation or a choice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from obep.formats.timestamps import Style, show_instant
from obep.guards.block_queries import Ask, Asks
from obep.guards.block_solutions import about, is_narrow
from obep.model import Occurrence, Term
from obep.operators.candidates import NOTHING, Rows
from obep.operators.row_join import Gathering, compile_test
from obep.operators.time_relations import RELATIONS
from obep.output.why_tree import short
from obep.plan import nodes
from obep.plan.build_plan import VocabularyOf
from obep.plan.nodes import Condition, Node, Read, walk
from obep.plan.nodes.node import duration
from obep.plan.plan import EventPlan
from obep.query.free_variables import HIDDEN
from obep.query.print.printer import show
from obep.why_not.literal_mismatch import Said, other_terms
from obep.why_not.near_matches import Nearly, Recent, nearly, parts_below


@dataclass(frozen=True, slots=True)
class Reason:
    """The reason for refusing a candidate, and the aliases that it is about."""

    kind: str
    text: str
    aliases: tuple[str, ...] = ()


def reasons(
    plan: EventPlan,
    asks: Asks,
    vocabulary: VocabularyOf,
    whole: Nearly,
    recent: Recent,
    style: Style,
    said: Said,
    in_states: Iterable[Reason] = (),
) -> list[Reason]:
    """All reasons why a candidate is not reported; `in_states` are those of WHILE and UNLESS."""
    assert plan.root is not None
    found = [*_guards(plan, asks, vocabulary, whole, said), *_structure(plan.root, whole, recent, style)]
    found += in_states
    if not found and plan.policy != "unrestricted":
        found.append(Reason("policy", f"POLICY {plan.policy} chose another, or it was used up before"))
    return found


def _guards(
    plan: EventPlan, asks: Asks, vocabulary: VocabularyOf, whole: Nearly, said: Said
) -> Iterator[Reason]:
    leaves = [leaf for leaf in plan.leaves if leaf.alias in whole.parts]
    rows = {leaf.alias: rows_of(leaf, whole.parts[leaf.alias]) for leaf in leaves}
    empty = [leaf.alias for leaf in leaves if not rows[leaf.alias]]
    for leaf in leaves:
        if leaf.alias in empty:
            blocks = plan.blocks.get(leaf.alias.split("#")[0], ())
            filters = [show(one) for one in asks.all[leaf.ask].filters]  # also those that stand outside of it
            others = [text for text in filters if not any(text in block for block in blocks)]
            text = " with ".join((*blocks, *others)) or "its block"
            ask, part = asks.all[leaf.ask], whole.parts[leaf.alias]
            unseen = other_terms(ask, part, said) or _unseen(ask, vocabulary, part)
            yield Reason("block", f"{text} finds nothing in {leaf.alias}{unseen}", (leaf.alias,))
    if empty:
        return
    apart = list(_disagreements(leaves, rows))
    yield from apart
    variables = tuple(dict.fromkeys(name for leaf in leaves for name in leaf.variables))
    gather = Gathering([leaf.variables for leaf in leaves], variables)
    joined = gather(tuple(rows[leaf.alias] for leaf in leaves))
    if not joined:
        if not apart:
            shared = [n for n in variables if sum(n in leaf.variables for leaf in leaves) > 1]
            names = " and ".join(f"?{name}" for name in shared)
            yield Reason("variable", f"{names} do not agree at once", tuple(leaf.alias for leaf in leaves))
        return
    assert plan.root is not None
    aliases = tuple(alias for leaf in leaves for alias in leaf.aliases)
    known = {*(f"?{name}" for name in variables), *(alias.name for alias in aliases)}
    every = dict.fromkeys(c for node in walk(plan.root) for c in node.conditions)
    conditions = [condition for condition in every if condition.needs <= known]
    parts = tuple(whole.parts[alias.name] for alias in aliases)
    extent = parts_below(plan.root, whole) or whole
    false = []
    for condition in conditions:
        test = compile_test([condition], variables, aliases)
        if test and not test(joined, parts, extent.start, extent.end):
            false.append(condition)
            values = _values(condition.variables, variables, joined)
            yield Reason(
                "filter",
                f"FILTER({show(condition.expression)}) is not true{values}",
                _about(condition, leaves),
            )
    together = compile_test(conditions, variables, aliases)
    if not false and together and not together(joined, parts, extent.start, extent.end):
        text = " and ".join(f"FILTER({show(condition.expression)})" for condition in conditions)
        about = dict.fromkeys(alias for one in conditions for alias in _about(one, leaves))
        yield Reason("filter", f"{text} are not true of the same solution", tuple(about))


def _unseen(ask: Ask, vocabulary: VocabularyOf, occurrence: Occurrence) -> str:
    """A remark on the classes and properties that are looked for in the explanation alone, and not there."""
    own = vocabulary(ask.event)
    there = {term for (_, p, o), _ in occurrence.explanation for term in (p, o)}
    names = [about(triple) for triple in ask.triples if is_narrow(triple, own)]
    missing = dict.fromkeys(name for name in names if name not in there)
    if not missing:
        return ""
    they, belong = " and ".join(map(short, missing)), "belongs" if len(missing) == 1 else "belong"
    return (
        f"; {they} {belong} to what defines it, so only its explanation is looked at "
        "(a variable in that place looks at all of the item and of K)"
    )


def _about(condition: Condition, leaves: list[Read]) -> tuple[str, ...]:
    used = set(condition.variables)
    return tuple(leaf.alias for leaf in leaves if leaf.alias in condition.named or used & set(leaf.variables))


def rows_of(leaf: Read, occurrence: Occurrence) -> Rows:
    return NOTHING if leaf.free else occurrence._rows_of(leaf.ask)


def _disagreements(leaves: list[Read], rows: Mapping[str, Rows]) -> Iterator[Reason]:
    """Variables that two aliases share without sharing a value."""
    values: dict[str, dict[str, set[Term]]] = {}
    for leaf in leaves:
        for at, name in enumerate(leaf.variables):
            column = [row[at] for row in rows[leaf.alias]]
            if None not in column:
                values.setdefault(name, {})[leaf.alias] = {value for value in column if value is not None}
    for name, by_alias in values.items():
        if len(by_alias) > 1 and not set.intersection(*by_alias.values()):
            listed = ", ".join(f"{_some(found)} in {alias}" for alias, found in by_alias.items())
            yield Reason("variable", f"?{name} is {listed}", tuple(by_alias))


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
        if isinstance(node, nodes.Binary):
            yield from _left_window(node, whole, style)
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
            case nodes.Repeated():
                yield from _ended(node, whole, recent, style)
            case nodes.Next():
                yield from _order(node, "SEQ", whole, style)
                yield from _between(node, whole, recent, style)
            case nodes.Pair():
                yield from _order(node, node.relation, whole, style)
            case nodes.Pick():
                yield from _order(node, "SEQ", whole, style)
            case nodes.Choice():
                yield from _chosen(node, whole, recent, style)
            case nodes.Fallback():
                yield from _not_alone(node, whole, recent, style)


def _left_window(node: nodes.Binary, whole: Nearly, style: Style) -> Iterator[Reason]:
    """A leaf on a window counts while it is in the window (D35)."""
    both = parts_below(node, whole)
    for side in (node.left, node.right):
        while isinstance(side, nodes.Unary) and not isinstance(side, nodes.InWindow):
            side = side.operand
        part = parts_below(side, whole) if isinstance(side, nodes.InWindow) else None
        if part is None or both is None or not isinstance(side, nodes.InWindow):
            continue
        name, (alias,) = f"<{side.name}>", part.parts
        leaves = side.leaves(part.done)
        if side.enters(part.done) is None:
            yield Reason("window", f"{alias} was never in {name}", (alias,))
        elif leaves is not None and leaves <= both.done:
            gone = show_instant(leaves, style)
            yield Reason("window", f"{alias} left {name} at {gone}, before the rest came", (alias,))


def _order(node: nodes.Binary, relation: str, whole: Nearly, style: Style) -> Iterator[Reason]:
    """Only an absence can be out of order: its deadline comes later than its last occurrence."""
    left, right = parts_below(node.left, whole), parts_below(node.right, whole)
    if left is None or right is None:
        return
    if not _stand(relation, left, right):
        late = show_instant(left.end, style)
        stands = f"{_described(right, style)} is not in the relation {relation} to {_described(left, style)}"
        yield Reason("order", f"{stands}, which ends at {late}", (*left.parts, *right.parts))


def _stand(relation: str, left: Nearly, right: Nearly) -> bool:
    mine, other = ((one.start, one.end, one.done, one.since, (), ()) for one in (left, right))
    return RELATIONS[relation].holds(mine, other)


def _not_alone(node: nodes.Fallback, whole: Nearly, recent: Recent, style: Style) -> Iterator[Reason]:
    """An OPTIONAL is left out only where nothing fits."""
    right = parts_below(node.right, whole)
    if right is not None:
        for other in nearly(node.left, recent):
            left = parts_below(node.left, other)
            if left and _stand(node.relation, left, right) and _join(node, whole, other):
                yield Reason(
                    "optional",
                    f"{_described(other, style)} also fits, so it is not the only one",
                    (*left.parts,),
                )
                return


def _inside(node: nodes.Without, whole: Nearly, recent: Recent, style: Style) -> Iterator[Reason]:
    left = parts_below(node.left, whole)
    if left is not None:
        for other in nearly(node.right, recent):
            if left.start < other.start and other.end < left.end and _join(node, whole, other):
                yield Reason("without", f"{_described(other, style)} lies inside", tuple(other.parts))
                return


def _followed(node: nodes.Silence, whole: Nearly, recent: Recent, style: Style) -> Iterator[Reason]:
    left = parts_below(node.left, whole)
    if left is not None:
        for other in nearly(node.right, recent):
            if left.end < other.start and other.end < left.end + node.micros and _join(node, whole, other):
                yield Reason("followed", f"{_described(other, style)} followed", tuple(other.parts))
                return


def _ended(node: nodes.Repeated, whole: Nearly, recent: Recent, style: Style) -> Iterator[Reason]:
    left = parts_below(node.left, whole)
    if left is not None and not isinstance(node.right, nodes.Never):
        for other in nearly(node.right, recent):
            if left.end <= other.end < left.end + node.micros and _join(node, whole, other):
                text = f"{_described(other, style)} came before the first repetition"
                yield Reason("until", text, tuple(other.parts))
                return


def _join(node: nodes.Binary, whole: Nearly, other: Nearly) -> bool:
    """Whether another one may join: no variable keeps the two apart."""
    leaves = [leaf for leaf in walk(node) if isinstance(leaf, Read)]
    parts = {**whole.parts, **other.parts}
    here = [leaf for leaf in leaves if leaf.alias in parts]
    rows = {leaf.alias: rows_of(leaf, parts[leaf.alias]) for leaf in here}
    return all(rows.values()) and not any(_disagreements(here, rows))


def _between(node: nodes.Next, whole: Nearly, recent: Recent, style: Style) -> Iterator[Reason]:
    left, right = parts_below(node.left, whole), parts_below(node.right, whole)
    if left is None or right is None:
        return
    for operand in (node.left, node.right):
        for other in nearly(operand, recent):
            if left.end < other.start and other.end < right.start and _join(node, whole, other):
                yield Reason("next", f"{_described(other, style)} lies between", tuple(other.parts))
                return


def _chosen(node: nodes.Choice, whole: Nearly, recent: Recent, style: Style) -> Iterator[Reason]:
    part = parts_below(node.operand, whole)
    if part is None:
        return
    for other in nearly(node.operand, recent):
        hidden = other.end < part.start if node.which == "first" else part.end < other.start
        if hidden and other.done <= whole.done:
            yield Reason("choice", f"{_described(other, style)} is the {node.which} one", tuple(part.parts))
            return


def deadline(root: Node, whole: Nearly, now: int) -> int | None:
    """When the last absence of a candidate that is not decided now will be."""
    waiting = (nodes.Silence, nodes.Repeated)
    extents = [parts_below(node, whole) for node in walk(root) if isinstance(node, waiting)]
    return max((one.end for one in extents if one is not None and one.end > now), default=None)


def _described(one: Nearly, style: Style) -> str:
    return " and ".join(f"{alias} at {show_instant(part.start, style)}" for alias, part in one.parts.items())
