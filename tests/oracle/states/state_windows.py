"""What is in a window at an instant (DIALECTS 5, STATES D42), found from all items anew."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from obep.model import RDF_TYPE, Item, Occurrence, Term, Triple
from obep.query import ast
from oracle.guard_semantics import match_pattern, term_of
from oracle.states.state_world import World

ALWAYS = 10**18


def window_items(window: ast.Window, world: World, pool: dict[Term, list[Occurrence]]) -> list[Item]:
    """The items that come into it, blank nodes told apart; ON EVENT: occurrences as items."""
    if window.event is not None:
        return [
            Item("", o.detected, (*(t for t, _ in o.explanation), (o.individual, RDF_TYPE, o.event)))
            for o in pool[window.event.iri]
        ]
    items = [item for item in world.items if item.stream == window.stream]
    return [
        item._replace(triples=tuple((_own(s, n), p, _own(o, n)) for s, p, o in item.triples))
        for n, item in enumerate(items)
    ]


def _own(term: Term, number: int) -> Term:
    return f"{term}n{number}" if term.startswith("_:") else term


def looked_at(window: ast.Window, t: int) -> int:
    """t': the last multiple of STEP."""
    return t // window.step.micros * window.step.micros if window.step else t


def inside(window: ast.Window, items: Sequence[Item], t: int, forgive: int | None = None) -> list[Item]:
    """The items in it at t; with `forgive` nothing has left it since that instant."""
    now = looked_at(window, t)
    oldest = now if forgive is None else min(now, looked_at(window, forgive))
    come = [item for item in items if item.at <= now]
    match window.kind:
        case "range":
            return [item for item in come if oldest - window.range.micros < item.at]  # type: ignore[union-attr]
        case "now":
            late = window.until.micros if window.until else 0
            early = window.range.micros if window.range else 0
            return [item for item in come if oldest - early < item.at <= now - late]
        case "landmark":
            return [item for item in come if item.at >= (window.start or 0)]
        case "fixed":
            return [item for item in come if (window.start or 0) <= item.at <= (window.end or 0)]
        case "rows":
            known = [item for item in items if item.at <= oldest]
            return [i for i in come if sum(other.at > i.at for other in known) < (window.rows or 0)]
    raise NotImplementedError(f"the oracle has no window {window.kind}")


def content(
    window: ast.Window, items: Sequence[Item], t: int, forgive: int | None = None
) -> frozenset[Triple]:
    """The triples in the window at t."""
    if window.kind != "latest":
        return frozenset(triple for item in inside(window, items, t, forgive) for triple in item.triples)
    now = looked_at(window, t)
    oldest = now if forgive is None else min(now, looked_at(window, forgive))
    after = oldest - window.range.micros if window.range else -ALWAYS
    come = [item for item in items if item.at <= now]
    if window.by:
        return frozenset(_latest_nodes(window.by, come, after))
    return frozenset(_latest_values(come, after))


def _latest_values(items: Sequence[Item], after: int) -> Iterator[Triple]:
    """D42: for each s and p what was said at the last instant at which anything was, if not too old."""
    last: dict[tuple[Term, Term], int] = {}
    for item in items:
        for s, p, _ in item.triples:
            last[s, p] = max(item.at, last.get((s, p), item.at))
    for item in items:
        led_to = {o for _, _, o in item.triples if o.startswith("_:")}
        there = {
            triple
            for triple in item.triples
            if triple[0] not in led_to and last[triple[:2]] == item.at and item.at > after
        }
        yield from with_blank_nodes(there, item)


def with_blank_nodes(there: set[Triple], item: Item) -> set[Triple]:
    """These triples of an item, and those of the blank nodes that they lead to."""
    while True:
        reached = {o for _, _, o in there if o.startswith("_:")}
        more = {triple for triple in item.triples if triple[0] in reached} - there
        if not more:
            return there
        there = there | more


def _latest_nodes(by: Sequence[ast.TriplePattern], items: Sequence[Item], after: int) -> Iterator[Triple]:
    """BY: for each value of its other variables the first subject's node, in the last item that has it."""
    last: dict[frozenset[tuple[str, Term]], Item] = {}
    nodes: dict[tuple[frozenset[tuple[str, Term]], Item], set[Term]] = {}
    subject = by[0].subject
    for item in sorted(items, key=lambda i: (i.at, sorted(i.triples))):
        for row in matches(by, item.triples):
            node = row[subject.name] if isinstance(subject, ast.Var) else term_of(subject)
            own = subject.name if isinstance(subject, ast.Var) else ""
            key = frozenset((k, v) for k, v in row.items() if k != own and not k.startswith("_:"))
            last[key] = item
            nodes.setdefault((key, item), set()).add(node)
    for key, item in last.items():
        if item.at > after:
            of_nodes = {triple for triple in item.triples if triple[0] in nodes[key, item]}
            yield from with_blank_nodes(of_nodes, item)


def matches(patterns: Sequence[ast.TriplePattern], triples: Iterable[Triple]) -> list[dict[str, Term]]:
    """The solutions of a BGP, one pattern after the other."""
    rows: list[dict[str, Term]] = [{}]
    known = list(triples)
    for pattern in patterns:
        rows = [more for row in rows for triple in known for more in match_pattern(pattern, triple, row)]
    return rows


def window_moments(window: ast.Window, items: Sequence[Item], end: int) -> set[int]:
    """ET (DIALECTS 5): multiples of STEP, or when an item comes into it or leaves it."""
    first = min((item.at for item in items), default=None)
    if first is None:
        return set()
    if window.step:
        step = window.step.micros
        return set(range(-(-first // step) * step, end + 1, step))
    late = window.until.micros if window.until else 0
    coming = {item.at + late for item in items}
    leaving = {item.at + window.range.micros for item in items} if window.range else set()
    return {t for t in coming | leaving if t <= end}
