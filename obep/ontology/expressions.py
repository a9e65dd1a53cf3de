"""Descriptions of a query (Manchester syntax) as class expressions, data and object properties told apart.

What T says about a property counts. One that T does not know (a query without VOCAB, as in the paper) is a
data property where some definition gives it a literal or a datatype, an object property where one gives it a
class, and either where `p some` is all that is said.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from obep.errors import Diagnostic, ObepError
from obep.model import Term
from obep.ontology import axioms as ax
from obep.ontology.literals import REALS, known_datatype, literal
from obep.ontology.patterns import read_pattern
from obep.query import ast

_FACETS = {
    "<": "maxExclusive",
    "<=": "maxInclusive",
    ">": "minExclusive",
    ">=": "minInclusive",
    "length": "length",
    "minLength": "minLength",
    "maxLength": "maxLength",
    "pattern": "pattern",
}
_NUMBERS = tuple(f"<{ax.XSD}{name}>" for name in ("decimal", "double", "float"))
_BARE = {f"<{ax.XSD}{name}>" for name in ("integer", "decimal", "double", "float")}
_BOUNDS: dict[str, type[ax.Min | ax.Max | ax.Exactly]] = {
    "min": ax.Min,
    "max": ax.Max,
    "exactly": ax.Exactly,
}
_DATA_BOUNDS: dict[str, type[ax.DataMin | ax.DataMax | ax.DataExactly]] = {
    "min": ax.DataMin,
    "max": ax.DataMax,
    "exactly": ax.DataExactly,
}


class Vocabulary:
    """Which names are data properties and datatypes, from T and from how the definitions use them."""

    def __init__(self, axioms: ax.Axioms, descriptions: Iterable[ast.Description] = ()) -> None:
        self.data_properties = set(axioms.data_properties)
        self.datatypes = axioms.datatypes
        self._objects = set(axioms.object_properties)
        self.used = ax.Axioms()
        """Declarations of every name that the definitions translated so far use."""
        for description in descriptions:
            self._learn(description)

    def _learn(self, node: ast.Description) -> None:
        match node:
            case ast.Intersection(operands) | ast.Union(operands):
                for operand in operands:
                    self._learn(operand)
            case ast.Complement(operand):
                self._learn(operand)
            case ast.Some(ast.Name() as p, filler) | ast.Only(ast.Name() as p, filler):
                self._meet(p.iri, filler is not None and self.is_range(filler), filler)
            case ast.Cardinality(_, _, ast.Name() as p, filler):
                self._meet(p.iri, filler is not None and self.is_range(filler), filler)
            case ast.Value(ast.Name() as p, value):
                self._meet(p.iri, isinstance(value, ast.Literal), None)
            case ast.Some(_, filler) | ast.Only(_, filler) | ast.Cardinality(_, _, _, filler) if filler:
                self._learn(filler)

    def _meet(self, property: Term, data: bool, filler: ast.Description | None) -> None:
        if data and property not in self._objects:
            self.data_properties.add(property)
        elif filler is not None and not data:
            if property not in self.data_properties:
                self._objects.add(property)
            self._learn(filler)

    def is_range(self, node: ast.Description) -> bool:
        """Whether a filler is a data range: a datatype, or made of literals."""
        match node:
            case ast.Restriction():
                return True
            case ast.ClassName(name):
                return is_number(name) or known_datatype(name.iri) or name.iri in self.datatypes
            case ast.OneOf(members):
                return any(isinstance(member, ast.Literal) for member in members)
            case ast.Intersection(operands) | ast.Union(operands):
                return any(self.is_range(operand) for operand in operands)
            case ast.Complement(operand):
                return self.is_range(operand)
        return False

    def _use(self, **names: Term) -> None:
        self.used |= ax.Axioms(**{kind: frozenset({name}) for kind, name in names.items()})  # type: ignore[arg-type]

    # --- class expressions

    def expression(self, node: ast.Description) -> ax.ClassExpression:
        """The class expression that a description means."""
        match node:
            case ast.ClassName(name):
                self._use(classes=name.iri)
                return ax.Class(name.iri)
            case ast.Intersection(operands):
                return ax.And(tuple(self.expression(operand) for operand in operands))
            case ast.Union(operands):
                return ax.Or(tuple(self.expression(operand) for operand in operands))
            case ast.Complement(operand):
                return ax.Not(self.expression(operand))
            case ast.OneOf(members):
                return ax.OneOf(tuple(self._individual(member) for member in members))
            case ast.HasSelf(property):
                return ax.HasSelf(self._role(property))
            case ast.Some(property, filler):
                if (data := self._data(property)) is not None:
                    return ax.DataSome(data, self._filler_range(filler))
                if filler is None and isinstance(property, ast.Name) and property.iri not in self._objects:
                    return self._either(property.iri)
                return ax.Some(self._role(property), self._filler(filler))
            case ast.Only(property, filler):
                if (data := self._data(property)) is not None:
                    return ax.DataOnly(data, self.range(filler))
                return ax.Only(self._role(property), self.expression(filler))
            case ast.Value(property, value):
                return self._value(property, value)
            case ast.Cardinality():
                return self._cardinality(node)
            case ast.Restriction(datatype):
                raise _misplaced(node, datatype.text)

    def _either(self, property: Term) -> ax.ClassExpression:
        """`p some` of a property of which nobody said what it relates: any value will do (Listing 1.10)."""
        self._use(object_properties=property, data_properties=property)
        return ax.Or((ax.Some(property, ax.TOP), ax.DataSome(property, ax.ANY_LITERAL)))

    def _value(self, property: ast.Property, value: ast.Name | ast.Literal) -> ax.ClassExpression:
        if (data := self._data(property)) is not None:
            if isinstance(value, ast.Name):
                raise ObepError(
                    Diagnostic(
                        "OBEP308",
                        f"{value.text} is no literal",
                        span=value.span,
                        reason="The property is a data property, so its value has to be a literal.",
                    )
                )
            return ax.DataValue(data, term(value))
        return ax.Value(self._role(property), self._individual(value))

    def _cardinality(self, node: ast.Cardinality) -> ax.ClassExpression:
        if (data := self._data(node.property)) is not None:
            return _DATA_BOUNDS[node.bound](node.count, data, self._filler_range(node.filler))
        return _BOUNDS[node.bound](node.count, self._role(node.property), self._filler(node.filler))

    def _filler(self, node: ast.Description | None) -> ax.ClassExpression:
        return ax.TOP if node is None else self.expression(node)

    def _filler_range(self, node: ast.Description | None) -> ax.DataRange:
        if node is None or (isinstance(node, ast.ClassName) and node.name.iri == ax.THING):
            return ax.ANY_LITERAL  # `p some Thing` over a data property can only mean: some value
        return self.range(node)

    def _data(self, property: ast.Property) -> Term | None:
        if isinstance(property, ast.Name) and property.iri in self.data_properties:
            self._use(data_properties=property.iri)
            return property.iri
        return None

    def _role(self, property: ast.Property) -> ax.ObjectProperty:
        if isinstance(property, ast.Inverse):
            self._use(object_properties=property.property.iri)
            return ax.Inverse(property.property.iri)
        self._use(object_properties=property.iri)
        return property.iri

    def _individual(self, node: ast.Name | ast.Literal) -> Term:
        if isinstance(node, ast.Literal):
            raise ObepError(
                Diagnostic(
                    "OBEP308",
                    f"the literal {node.lexical!r} stands where an individual is needed",
                    span=node.span,
                    reason="The property is an object property, or the set also names individuals.",
                )
            )
        self._use(individuals=node.iri)
        return node.iri

    # --- data ranges

    def range(self, node: ast.Description) -> ax.DataRange:
        """The data range that a description means."""
        match node:
            case ast.ClassName(name):
                if is_number(name):
                    return ax.DataOr(tuple(ax.Datatype(number) for number in _NUMBERS))
                if not known_datatype(name.iri) and name.iri not in self.datatypes:
                    raise _misplaced(node, name.text)
                return ax.Datatype(name.iri)
            case ast.Restriction(datatype, facets):
                if is_number(datatype):
                    return ax.DataOr(tuple(_restricted(number, facets) for number in _NUMBERS))
                return _restricted(datatype.iri, facets)
            case ast.Intersection(operands):
                return ax.DataAnd(tuple(self.range(operand) for operand in operands))
            case ast.Union(operands):
                return ax.DataOr(tuple(self.range(operand) for operand in operands))
            case ast.Complement(operand):
                return ax.DataNot(self.range(operand))
            case ast.OneOf(members):
                return ax.DataOneOf(tuple(term(m) for m in members if isinstance(m, ast.Literal)))
        raise _misplaced(node, "this class expression")


def is_number(name: ast.Name) -> bool:
    """Whether a name is obep's `number`: decimal, double or float."""
    return name.text == "number"


def term(node: ast.Literal) -> Term:
    """The term of a literal as written."""
    if node.datatype is None:
        return literal(node.lexical, language=node.language)
    return literal(node.lexical, node.datatype.iri, node.language)


def _restricted(datatype: Term, facets: tuple[ast.Facet, ...]) -> ax.DataRange:
    return ax.Restricted(datatype, tuple(_facet(datatype, facet) for facet in facets))


def _facet(datatype: Term, facet: ast.Facet) -> tuple[Term, Term]:
    if facet.facet == "langRange":
        return f"<{ax.RDF}langRange>", term(facet.value)
    bound = term(facet.value)
    if facet.facet in ("<", "<=", ">", ">="):
        bound = _as(datatype, facet.value)
    elif facet.facet != "pattern":
        bound = literal(facet.value.lexical, f"<{ax.XSD}integer>")
    elif isinstance(wrong := read_pattern(facet.value.lexical), str):
        raise ObepError(
            Diagnostic("OBEP311", "the pattern cannot be read", span=facet.value.span, reason=wrong)
        )
    return f"<{ax.XSD}{_FACETS[facet.facet]}>", bound


def _as(datatype: Term, bound: ast.Literal) -> Term:
    """A bare number takes the restricted datatype (SPEC §2)."""
    own = bound.datatype.iri if bound.datatype is not None else ""
    if bound.language or (own and own not in _BARE):
        return term(bound)
    if datatype in REALS:
        try:
            return literal(format(Decimal(bound.lexical), "f"), f"<{ax.XSD}decimal>")
        except ArithmeticError:
            return term(bound)
    return literal(bound.lexical, datatype)


def _misplaced(node: ast.Node, text: str) -> ObepError:
    return ObepError(
        Diagnostic(
            "OBEP308",
            f"{text} does not fit here",
            span=node.span,
            reason="A data property takes a datatype; an object property, `and` and `or` take classes.",
        )
    )
