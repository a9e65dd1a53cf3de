"""Property paths of SHACL: how they are read, and the nodes at their ends."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from obep.model import Term
from obep.ontology.shacl.shacl_terms import FIRST, UnreadableShape, sh
from obep.ontology.shacl.triple_index import TripleIndex

_DEPTH = 50


class Inverse(Struct, frozen=True):
    path: Path


class Sequence(Struct, frozen=True):
    paths: tuple[Path, ...]


class Alternatives(Struct, frozen=True):
    paths: tuple[Path, ...]


class Repeated(Struct, frozen=True):
    """`least` (0 or 1) times or more; where `once`, no or one time."""

    path: Path
    least: int
    once: bool = False


Path: TypeAlias = "Term | Inverse | Sequence | Alternatives | Repeated"


def read_path(shapes: TripleIndex, node: Term, depth: int = 0) -> Path:
    """The path that a node of a shapes graph stands for."""
    if node.startswith("<"):
        return node
    if node.startswith('"'):
        raise UnreadableShape("a literal is used where a path is needed")
    if depth > _DEPTH:
        raise UnreadableShape(f"the path is nested deeper than {_DEPTH}")

    def read(inner: Term) -> Path:
        return read_path(shapes, inner, depth + 1)

    if shapes.objects(node, FIRST):
        members = tuple(map(read, shapes.listed(node)))
        if len(members) < 2:
            raise UnreadableShape("a path that is a list has fewer than two members")
        return Sequence(members)
    if (inner := shapes.one(node, sh("inversePath"))) is not None:
        return Inverse(read(inner))
    if (inner := shapes.one(node, sh("alternativePath"))) is not None:
        if not (members := tuple(map(read, shapes.listed(inner)))):
            raise UnreadableShape("a path of alternatives has none")
        return Alternatives(members)
    if (inner := shapes.one(node, sh("zeroOrMorePath"))) is not None:
        return Repeated(read(inner), 0)
    if (inner := shapes.one(node, sh("oneOrMorePath"))) is not None:
        return Repeated(read(inner), 1)
    if (inner := shapes.one(node, sh("zeroOrOnePath"))) is not None:
        return Repeated(read(inner), 0, once=True)
    raise UnreadableShape("it is not a property path of SHACL")


def ends(graph: TripleIndex, path: Path, node: Term, backwards: bool = False) -> list[Term]:
    """The nodes that a path leads to, each once."""
    match path:
        case str():
            return graph.subjects(path, node) if backwards else graph.objects(node, path)
        case Inverse(inner):
            return ends(graph, inner, node, not backwards)
        case Sequence(paths):
            near = [node]
            for step in reversed(paths) if backwards else paths:
                near = [*dict.fromkeys(end for one in near for end in ends(graph, step, one, backwards))]
            return near
        case Alternatives(paths):
            return [*dict.fromkeys(end for one in paths for end in ends(graph, one, node, backwards))]
        case Repeated(inner, least, once):
            first = ends(graph, inner, node, backwards)
            found = dict.fromkeys(first if least else [node, *first])
            waiting = [] if once else first
            while waiting:
                for end in ends(graph, inner, waiting.pop(), backwards):
                    if end not in found:
                        found[end] = None
                        waiting.append(end)
            return [*found]


def properties_of(path: Path) -> frozenset[Term]:
    """The properties that a path reads."""
    match path:
        case str():
            return frozenset((path,))
        case Inverse(inner) | Repeated(inner):
            return properties_of(inner)
        case Sequence(paths) | Alternatives(paths):
            return frozenset().union(*map(properties_of, paths))


def show_path(path: Path) -> str:
    """A path as SPARQL writes it."""
    match path:
        case str():
            return path
        case Inverse(inner):
            return f"^({show_path(inner)})"
        case Sequence(paths):
            return "/".join(f"({show_path(one)})" for one in paths)
        case Alternatives(paths):
            return "|".join(f"({show_path(one)})" for one in paths)
        case Repeated(inner, least, once):
            return f"({show_path(inner)}){'?' if once else '+' if least else '*'}"
