"""Terms as rdflib's nodes, and back."""

from __future__ import annotations

import re
from typing import Any

from rdflib.term import BNode, Identifier, Literal, URIRef

from obep.guards.guard_terms import literal
from obep.guards.typed_values import ExpressionError, split_literal
from obep.model import Term

_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|^`\\]*\Z")


def to_rdflib(term: Term) -> Identifier:
    """A term as rdflib's, with its lexical form as it is."""
    if term[0] == "<":
        return URIRef(term[1:-1])
    if term[0] == "_":
        return BNode(term[2:])
    lexical, language, datatype = split_literal(term)
    if language:
        return Literal(lexical, lang=language)
    if datatype.endswith("XMLSchema#string"):
        return Literal(lexical)
    return Literal(lexical, datatype=URIRef(datatype), normalize=False)


def from_rdflib(node: Any) -> Term:
    """The term of a node of rdflib's."""
    if isinstance(node, Literal):
        if node.language:
            return literal(str(node), language=node.language)
        return literal(str(node)) if node.datatype is None else literal(str(node), f"<{node.datatype}>")
    if isinstance(node, URIRef):
        if not _IRI.match(node):
            raise ExpressionError  # relative, or no IRI at all: nothing that an output could hold
        return f"<{node}>"
    if isinstance(node, BNode):
        return f"_:{node}"
    raise ExpressionError
