"""Rare functions that rdflib's evaluator carries out; rdflib is loaded when a query first calls one."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from obep.guards.terms import literal
from obep.guards.values import ExpressionError, split_literal
from obep.model import Term

if TYPE_CHECKING:
    from rdflib.term import Identifier

_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|^`\\]*\Z")

ARGUMENTS: dict[str, tuple[str, ...]] = {
    "IRI": ("arg",),
    "URI": ("arg",),
    "MD5": ("arg",),
    "SHA1": ("arg",),
    "SHA256": ("arg",),
    "SHA384": ("arg",),
    "SHA512": ("arg",),
}
"""The functions, and what rdflib calls their arguments."""


def rdflib_function(name: str) -> Callable[..., Term]:
    """A function over terms that asks rdflib.

    >>> rdflib_function("MD5")('"abc"')
    '"900150983cd24fb0d6963f7d28e17f72"'
    """
    from rdflib.plugins.sparql import operators
    from rdflib.plugins.sparql.parserutils import Expr
    from rdflib.plugins.sparql.sparql import FrozenBindings, Prologue, QueryContext, SPARQLError

    function = getattr(operators, f"Builtin_{'IRI' if name == 'URI' else name}")
    places = ARGUMENTS[name]
    context = QueryContext()
    context.prologue = Prologue()
    bindings = FrozenBindings(context)

    def call(*terms: Term) -> Term:
        arguments: dict[str, Any] = dict(zip(places, map(to_rdflib, terms), strict=True))
        try:
            result = Expr(f"Builtin_{name}", function, **arguments).eval(bindings)
        except Exception:
            # Python's own errors (of a type, of a value) are how rdflib says that arguments do not fit.
            raise ExpressionError from None
        if isinstance(result, SPARQLError):
            raise ExpressionError
        return from_rdflib(result)

    return call


def to_rdflib(term: Term) -> Identifier:
    """A term as rdflib's, with its lexical form as it is."""
    from rdflib.term import BNode, Literal, URIRef

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
    from rdflib.term import BNode, Literal, URIRef

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
