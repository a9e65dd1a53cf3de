"""A query as a picture: each pattern as a tree of text, or all of it as a Mermaid flowchart."""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch

from obep.query import ast
from obep.query.link import Linked
from obep.query.print.printer import show
from obep.query.walk import children

_ALONE = (ast.Leaf, ast.GroupLeaf, ast.StateUse)
"""What a picture shows as it is written."""


def tree(node: ast.Node, indent: str = "") -> Iterator[str]:
    """The lines of a pattern as a tree.

    >>> from obep.query.parse.parser import parse
    >>> print("\\n".join(tree(parse("EVENT H MATCH A SEQ (B OR C) WITHIN 5 min").events[0].pattern)))
    WITHIN 5 min
    └─ SEQ
       ├─ A
       └─ OR
          ├─ B
          └─ C
    """
    yield f"{indent}{label(node)}"
    yield from _below(node, indent)


def _below(node: ast.Node, indent: str) -> Iterator[str]:
    operands = _operands(node)
    for number, operand in enumerate(operands, 1):
        last = number == len(operands)
        yield f"{indent}{'└─' if last else '├─'} {label(operand)}"
        yield from _below(operand, f"{indent}{'   ' if last else '│  '}")


def _operands(node: ast.Node) -> list[ast.Node]:
    if isinstance(node, _ALONE):
        return []
    return [child for child in children(node) if not isinstance(child, ast.Duration)]


@singledispatch
def label(node: ast.Node) -> str:
    """One node of a pattern without what is below it."""
    return node.word if isinstance(node, ast.PatternNode) and not isinstance(node, _ALONE) else show(node)


@label.register
def _(node: ast.Times) -> str:
    return f"TIMES {node.count}"


@label.register
def _(node: ast.Within) -> str:
    return f"WITHIN {show(node.within)}"


@label.register
def _(node: ast.NotFollowedBy) -> str:
    return f"NOT FOLLOWED BY … WITHIN {show(node.within)}" if node.within else "NOT FOLLOWED BY"


@label.register
def _(node: ast.Repeated) -> str:
    often = f" AT MOST {node.at_most} TIMES" if node.at_most is not None else ""
    return f"REPEATED EVERY {show(node.every)}{often}"


def mermaid(linked: Linked) -> str:
    """The query as a Mermaid flowchart: streams, events, states, and the operators between them."""
    lines = ["flowchart LR"]
    names = {iri: f"e{number}" for number, iri in enumerate(linked.events)}
    names |= {iri: f"t{number}" for number, iri in enumerate(linked.states)}
    for number, stream in enumerate(linked.streams):
        lines.append(f"  s{number}[/{_quoted(stream)}/]")
    for iri, event in linked.events.items():
        opening, closing = ("([", "])") if isinstance(event, ast.LogicalEvent) else ("[[", "]]")
        lines.append(f"  {names[iri]}{opening}{_quoted(event.name.text)}{closing}")
    for iri, state in linked.states.items():
        lines.append(f"  {names[iri]}[({_quoted(state.name.text)})]")
        lines.extend(_sources(state, names, linked))
    for iri, event in linked.events.items():
        if isinstance(event, ast.LogicalEvent):
            lines.extend(_sources(event, names, linked))
        elif isinstance(event, ast.CompositeEvent):
            lines.extend(_operators(event.pattern, names[iri], names, f"{names[iri]}_"))
    return "\n".join(lines) + "\n"


def _sources(defined: ast.LogicalEvent | ast.State, names: dict[str, str], linked: Linked) -> Iterator[str]:
    """Where a logical event or a state comes from: streams, or what its definition names."""
    from obep.query.walk import depends

    target, on = names[defined.name.iri], getattr(defined, "on", None)
    parts = sorted(names[iri] for iri in depends(defined) & names.keys())
    for part in parts:
        yield f"  {part} --> {target}"
    for number, stream in enumerate(linked.streams):
        if on == stream or (on is None and not parts):
            yield f"  s{number} --> {target}"
    for window in linked.windows:
        if on == window.name and window.event is None:
            frame = show(window).split("> ")[-1]
            yield f"  s{linked.streams.index(window.stream)} -- {_quoted(frame)} --> {target}"


def _operators(node: ast.Node, target: str, names: dict[str, str], prefix: str) -> Iterator[str]:
    """The edges and nodes of a pattern, towards `target`."""
    if isinstance(node, ast.Leaf):
        text = show(node)
        edge = "-->" if text == node.event.text else f"-- {_quoted(text)} -->"
        if node.event.iri in names:
            yield f"  {names[node.event.iri]} {edge} {target}"
        return
    yield f"  {prefix}{{{{{_quoted(label(node))}}}}} --> {target}"
    for number, operand in enumerate(_operands(node)):
        yield from _operators(operand, prefix, names, f"{prefix}{number}_")


def _quoted(text: str) -> str:
    escaped = text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")
    return f'"{escaped}"'
