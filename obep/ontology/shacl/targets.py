"""Targets: the focus nodes of a shape."""

from __future__ import annotations

from dataclasses import dataclass, field

from obep.model import RDF_TYPE, Term
from obep.ontology.owl.axioms import OWL, RDFS
from obep.ontology.shacl.shacl_terms import SUB_CLASS_OF, UnreadableShape, sh
from obep.ontology.shacl.sparql_graph import SparqlGraph, check_query
from obep.ontology.shacl.sparql_text import Query, read_query
from obep.ontology.shacl.triple_index import TripleIndex

_CLASSES = (f"<{RDFS}Class>", f"<{OWL}Class>")


@dataclass(frozen=True)
class Targets:
    """The targets of a shape."""

    nodes: tuple[Term, ...] = ()
    classes: tuple[Term, ...] = ()
    """The classes of sh:targetClass, and the shape itself if it is a class."""
    subjects_of: tuple[Term, ...] = ()
    objects_of: tuple[Term, ...] = ()
    queries: tuple[Query, ...] = field(default=())

    @property
    def any(self) -> bool:
        """Whether there is some target."""
        return bool(self.nodes or self.classes or self.subjects_of or self.objects_of or self.queries)

    def reads(self) -> frozenset[Term] | None:
        """The properties that finding the nodes reads; `None` if that may be any."""
        if self.queries:
            return None
        of_classes = (RDF_TYPE, SUB_CLASS_OF) if self.classes else ()
        return frozenset((*of_classes, *self.subjects_of, *self.objects_of))

    def focus_nodes(self, data: TripleIndex, sparql: SparqlGraph | None) -> list[Term]:
        """The focus nodes, each once."""
        found = dict.fromkeys(self.nodes)
        for name in self.classes:
            found.update(dict.fromkeys(data.members(name)))
        for p in self.subjects_of:
            found.update((s, None) for s, _ in data.pairs(p))
        for p in self.objects_of:
            found.update((o, None) for _, o in data.pairs(p))
        for query in self.queries:
            if sparql is None:
                raise UnreadableShape("a target in SPARQL has no place here")
            found.update((row["this"], None) for row in sparql.selected(query) if "this" in row)
        return [*found]


def read_targets(shapes: TripleIndex, shape: Term) -> Targets:
    """The targets of a shape."""
    classes = shapes.objects(shape, sh("targetClass"))
    if is_class(shapes, shape):
        classes.append(shape)
    queries = []
    for target in shapes.objects(shape, sh("target")):
        select = shapes.one(target, sh("select"))
        if select is None:
            raise UnreadableShape("sh:target has no sh:select: of the targets only SPARQL's are carried out")
        queries.append(read_query(shapes, target, select, "SELECT"))
        check_query(queries[-1])
    return Targets(
        tuple(shapes.objects(shape, sh("targetNode"))),
        tuple(dict.fromkeys(classes)),
        tuple(shapes.objects(shape, sh("targetSubjectsOf"))),
        tuple(shapes.objects(shape, sh("targetObjectsOf"))),
        tuple(queries),
    )


def is_class(shapes: TripleIndex, node: Term) -> bool:
    """Whether a shape is a class, which then is its target."""
    return node.startswith("<") and any(shapes.is_member(node, kind) for kind in _CLASSES)
