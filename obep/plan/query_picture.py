"""A query as a picture: each pattern as a tree of text, or all of it as a Mermaid flowchart."""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch
from typing import NamedTuple

from obep.query import ast
from obep.query.link import Linked
from obep.query.print.printer import show
from obep.query.walk import children, depends, windows_of

_ALONE = (ast.Leaf, ast.GroupLeaf, ast.StateUse)
"""Nodes that a picture shows as they are written."""


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


class ChartNode(NamedTuple):
    """A stream, window, event, state or operator of a flowchart."""

    id: str
    kind: str
    text: str


class ChartEdge(NamedTuple):
    """The data between two nodes; `text` describes their use."""

    source: str
    target: str
    text: str = ""


class Chart:
    """A query as a flowchart: streams, windows, events, states, and the operators between them."""

    def __init__(self, linked: Linked) -> None:
        self.nodes: list[ChartNode] = []
        self.edges: list[ChartEdge] = []
        self._linked = linked
        self._names = {iri: f"e{number}" for number, iri in enumerate(linked.events)}
        self._names |= {iri: f"t{number}" for number, iri in enumerate(linked.states)}
        streams = {stream: f"s{number}" for number, stream in enumerate(linked.streams)}
        self.nodes += [ChartNode(id, "stream", stream) for stream, id in streams.items()]
        self._inputs = dict(streams)
        for number, window in enumerate(linked.windows):
            source = streams.get(window.stream) if window.event is None else self._names.get(window.event.iri)
            self._inputs[window.name] = f"w{number}"
            self.nodes.append(
                ChartNode(f"w{number}", "window", f"{window.name} {show(window).split('> ')[-1]}")
            )
            if source is not None:
                self.edges.append(ChartEdge(source, f"w{number}"))
        for iri, event in linked.events.items():
            kind = "logical" if isinstance(event, ast.LogicalEvent) else "composite"
            self.nodes.append(ChartNode(self._names[iri], kind, event.name.text))
        for iri, state in linked.states.items():
            self.nodes.append(ChartNode(self._names[iri], "state", state.name.text))
            self._sources(state)
        for iri, event in linked.events.items():
            if isinstance(event, ast.CompositeEvent):
                self._operators(event.pattern, self._names[iri], f"{self._names[iri]}_")
            else:
                self._sources(event)

    def _sources(self, defined: ast.Event | ast.State) -> None:
        """Where a logical event or a state comes from: windows, streams, or what its definition names."""
        target, looked = self._names[defined.name.iri], [*windows_of(defined)]
        on = getattr(defined, "on", None)
        parts = sorted(self._names[iri] for iri in depends(defined) & self._names.keys())
        read = [self._inputs[name] for name in dict.fromkeys((on, *looked)) if name in self._inputs]
        of_items = isinstance(defined, ast.Event) and not (parts or read)  # other states: calendars, and K's
        every = [self._inputs[stream] for stream in self._linked.streams] if of_items else []
        self.edges += [ChartEdge(source, target) for source in (*parts, *read, *every)]

    def _operators(self, node: ast.Node, target: str, id: str) -> None:
        """The edges and nodes of a pattern, towards `target`."""
        if isinstance(node, ast.Leaf | ast.StateUse):
            text, name = show(node), node.event if isinstance(node, ast.Leaf) else node.state
            if name.iri in self._names:
                said = "" if text == name.text else text
                self.edges.append(ChartEdge(self._names[name.iri], target, said))
            return
        self.nodes.append(ChartNode(id, "operator", label(node)))
        self.edges.append(ChartEdge(id, target))
        for number, operand in enumerate(_operands(node)):
            self._operators(operand, id, f"{id}{number}_")


_SHAPES = {
    "stream": ("[/", "/]"),
    "window": ("[", "]"),
    "logical": ("([", "])"),
    "composite": ("[[", "]]"),
    "state": ("[(", ")]"),
    "operator": ("{{", "}}"),
}


def mermaid(linked: Linked) -> str:
    """The flowchart of a query in Mermaid's language."""
    chart = Chart(linked)
    lines = ["flowchart LR"]
    lines += [
        _quoted(one.text).join((f"  {one.id}{_SHAPES[one.kind][0]}", _SHAPES[one.kind][1]))
        for one in chart.nodes
    ]
    for edge in chart.edges:
        arrow = f"-- {_quoted(edge.text)} -->" if edge.text else "-->"
        lines.append(f"  {edge.source} {arrow} {edge.target}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    escaped = text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")
    return f'"{escaped}"'
