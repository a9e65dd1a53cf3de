"""Making a failing case with states small, and showing it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from greedy_shrinking import least

from obep.model import RDF_TYPE, SECOND, Item
from obep.query import ast
from oracle.guard_semantics import parts, variables
from oracle.pattern_cases import short
from oracle.state_strategies import StateCase

CLAUSES = ("timeout", "limit", "guard", "step", "each", "having", "lasting", "until", "at_most", "range")
LISTS = ("group_by", "aggregates", "partition_by", "by", "days")


def shrunk(case: StateCase, fails: Callable[[StateCase], bool]) -> StateCase:
    """A smallest case (no single step makes it smaller) that still fails."""
    return least(case, lambda one: (less for less in _smaller(one) if not undefined(less)), fails)


def undefined(case: StateCase) -> set[str]:
    """The names of events, states and windows that the case uses and does not define."""
    file = case.file
    known = {d.name.iri for d in (*file.events, *file.states)} | {window.name for window in file.windows}
    used: set[str] = set()
    for node in parts((file.events, file.states)):
        match node:
            case ast.Leaf(name) | ast.StateUse(name) | ast.Atom(name):
                used.add(name.iri)
            case ast.WindowGroup(str() as window):
                used.add(window)
            case (
                ast.ClassState(on=str() as on)
                | ast.GroupState(on=str() as on)
                | ast.GraphEvent(on=str() as on)
            ):
                used.add(on)
    return used - known | {name for event in file.events for name in _unbound(event, case)}


def _unbound(event: ast.Node, case: StateCase) -> set[str]:
    """Aliases of a guard that the pattern does not have, and variables of its FILTERs that nothing binds."""
    if not isinstance(event, ast.CompositeEvent) or event.guard is None:
        return set()
    leaves = [part for part in parts(event.pattern) if isinstance(part, ast.Leaf)]
    named = {alias for block in event.guard.blocks for alias in block.aliases}
    reached = {leaf.event.iri for leaf in leaves}
    bound = variables((event.pattern, *(block.triples for block in event.guard.blocks)))
    bound |= variables(tuple(state for state in case.file.states if state.name.iri in reached))
    return (named - {leaf.alias or "" for leaf in leaves}) | (variables(event.guard.filters) - bound)


def _smaller(case: StateCase) -> Iterator[StateCase]:
    file = case.file
    for kind in ("events", "states", "windows", "returns"):
        members = getattr(file, kind)
        for index, member in enumerate(members):
            if isinstance(member, ast.Return) and member.form == "event":
                continue  # an engine may report what is not returned
            fewer = replace(file, **{kind: members[:index] + members[index + 1 :]})
            yield replace(case, file=_returning(fewer))
    for index in range(len(case.items)):
        yield replace(case, items=case.items[:index] + case.items[index + 1 :])
    for index in range(len(case.k)):
        yield replace(case, k=case.k[:index] + case.k[index + 1 :])
    for kind in ("events", "states", "windows"):
        members = getattr(file, kind)
        for index, member in enumerate(members):
            for simpler in _simpler(member):
                changed = (*members[:index], simpler, *members[index + 1 :])
                yield replace(case, file=replace(file, **{kind: changed}))
    for index, item in enumerate(case.items):
        for at in range(len(item.triples)):
            if len(item.triples) > 1:
                fewer_triples = item.triples[:at] + item.triples[at + 1 :]
                changed_items = (
                    *case.items[:index],
                    item._replace(triples=fewer_triples),
                    *case.items[index + 1 :],
                )
                yield replace(case, items=changed_items)
    last = max((item.at for item in case.items), default=0)
    if case.end > last:
        yield replace(case, end=last)
        yield replace(case, end=case.end - SECOND)


def _returning(file: ast.QueryFile) -> ast.QueryFile:
    """With RETURNs of what there is alone."""
    known = {d.name.iri for d in (*file.events, *file.states)}
    returns = (replace(r, events=tuple(name for name in r.events if name.iri in known)) for r in file.returns)
    return replace(file, returns=tuple(r for r in returns if r.events))


def _simpler(node: ast.Node) -> Iterator[ast.Node]:
    """The node with a clause less, or with one of its parts made simpler."""
    for name in node.__dataclass_fields__:
        value = getattr(node, name)
        needed = name == "range" and isinstance(node, ast.Window) and node.kind != "latest"
        if name in CLAUSES and value is not None and not needed:
            yield replace(node, **{name: None})
        if name in LISTS and isinstance(value, tuple) and value:
            yield from (replace(node, **{name: value[:i] + value[i + 1 :]}) for i in range(len(value)))
        if name == "policy" and value != "unrestricted":
            yield replace(node, policy="unrestricted")  # type: ignore[call-arg]
        if name in ("pattern", "start", "end", "over", "operand", "left", "right") and isinstance(
            value, ast.Node
        ):
            yield from (replace(node, **{name: operand}) for operand in _operands(value))
            yield from (replace(node, **{name: simpler}) for simpler in _simpler(value))
        if name == "operands":
            for index, operand in enumerate(value):
                for simpler in (*_operands(operand), *_simpler(operand)):
                    yield replace(node, operands=(*value[:index], simpler, *value[index + 1 :]))  # type: ignore[call-arg]


def _operands(node: ast.Node) -> Iterator[ast.Node]:
    for name in ("operands", "operand", "left", "right"):
        value = getattr(node, name, None)
        for member in value if isinstance(value, tuple) else (value,):
            if isinstance(member, ast.Optional):
                yield member.operand
            elif isinstance(member, ast.Node) and not isinstance(member, ast.StateUse):
                yield member


def show_items(case: StateCase) -> str:
    """The stream in the one line that `state_cases.read_items` reads."""
    return " ".join([*map(_word, case.items), f"|{case.end / SECOND:g}"])


def _word(item: Item) -> str:
    said: dict[str, list[str]] = {}
    for subject, predicate, value in item.triples:
        if predicate != RDF_TYPE:
            said.setdefault(subject, []).append(f"{short(predicate)}={_value(value)}")
        else:
            said.setdefault(subject, [])
    words = []
    for subject, data in said.items():
        classes = [short(o)[4:] for s, p, o in item.triples if s == subject and p == RDF_TYPE] or [""]
        for number, letter in enumerate(classes):
            told = f"({','.join(data)})" if data and not number else ""
            words.append(f"{letter}{item.at / SECOND:g}{short(subject)}{told}")
    return (f"{item.stream}/" if item.stream != "s" else "") + "+".join(words)


def _value(term: str) -> str:
    if term.startswith("<"):
        return short(term)
    return short(term) if "^^" in term else f"'{short(term)}"
