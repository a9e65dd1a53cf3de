"""Node expressions of SHACL-AF: the nodes that the parts of a triple rule stand for."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from obep.model import Term
from obep.ontology.shacl.read_shapes import ShapeReader
from obep.ontology.shacl.shacl_shape import Shape
from obep.ontology.shacl.shacl_terms import OF_SHACL, THIS, UnreadableShape, sh
from obep.ontology.shacl.shape_paths import Path, ends, properties_of, read_path
from obep.ontology.shacl.triple_index import TripleIndex

_DEPTH = 50


class Constant(Struct, frozen=True):
    """An IRI or a literal; sh:this is the focus node."""

    term: Term


class AlongPath(Struct, frozen=True):
    """The ends of a path from each of some nodes."""

    path: Path
    of: Expression


class Filtered:
    """The nodes that conform to a shape."""

    __match_args__ = ("shape", "of")

    def __init__(self, shape: Shape, of: Expression) -> None:
        self.shape, self.of = shape, of


class Together(Struct, frozen=True):
    """Nodes that are in some of the parts, or in each."""

    parts: tuple[Expression, ...]
    each: bool


Expression: TypeAlias = "Constant | AlongPath | Filtered | Together"
FOCUS = Constant(THIS)


def read_expression(reader: ShapeReader, node: Term, depth: int = 0) -> Expression:
    """The expression that a node of a shapes graph stands for."""
    if not node.startswith("_"):
        return Constant(node)
    if depth > _DEPTH:
        raise UnreadableShape(f"the node expression is nested deeper than {_DEPTH}")
    graph = reader.graph

    def read(inner: Term) -> Expression:
        return read_expression(reader, inner, depth + 1)

    for word in ("union", "intersection"):
        if (members := graph.one(node, sh(word))) is not None:
            return Together(tuple(map(read, graph.listed(members))), word == "intersection")
    nodes = graph.one(node, sh("nodes"))
    of = FOCUS if nodes is None else read(nodes)
    if (path := graph.one(node, sh("path"))) is not None:
        return AlongPath(read_path(graph, path), of)
    if (shape := graph.one(node, sh("filterShape"))) is not None:
        if nodes is None:
            raise UnreadableShape("a node expression with sh:filterShape needs sh:nodes")
        return Filtered(reader.shape(shape), of)
    words = [p.removeprefix(OF_SHACL)[:-1] for p in graph.properties(node) if p.startswith(OF_SHACL)]
    said = f" (sh:{', sh:'.join(sorted(words))})" if words else ""
    raise UnreadableShape(f"a node expression{said} is not supported")


def nodes_of(expression: Expression, data: TripleIndex, focus: Term) -> list[Term]:
    """The nodes that an expression gives for a focus node."""
    match expression:
        case Constant(term):
            return [focus if term == THIS else term]
        case AlongPath(path, of):
            near = nodes_of(of, data, focus)
            return [*dict.fromkeys(end for one in near for end in ends(data, path, one))]
        case Filtered(shape, of):
            return [one for one in nodes_of(of, data, focus) if shape.conforms(data, one)]
        case Together(parts, each):
            found = [nodes_of(part, data, focus) for part in parts]
            if not each:
                return [*dict.fromkeys(one for some in found for one in some)]
            return [one for one in (found[0] if found else []) if all(one in some for some in found)]


def reads(expression: Expression) -> frozenset[Term] | None:
    """The properties that an expression reads; `None` if that may be any."""
    match expression:
        case Constant():
            return frozenset()
        case AlongPath(path, of):
            inner = reads(of)
            return None if inner is None else inner | properties_of(path)
        case Filtered(shape, of):
            inner, tested = reads(of), shape.properties()
            return None if inner is None or tested is None else inner | tested
        case Together(parts):
            found = [reads(part) for part in parts]
            if any(one is None for one in found):
                return None
            return frozenset().union(*(one for one in found if one is not None))
