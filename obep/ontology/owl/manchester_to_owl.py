"""Descriptions of a query (Manchester syntax) as class expressions of data and object properties.

What T says about a property counts. One that T does not know (a query without VOCAB, as in the paper) is a
data property where some definition gives it a literal or a datatype, an object property where one gives it a
class, and either where `p some` is all that is said.
"""

from __future__ import annotations

from collections.abc import Iterable

from obep.errors import Span
from obep.formats.quantities import NUMERIC_VALUES, UNIT
from obep.formats.units import unit_iri, unit_named
from obep.model import Term
from obep.ontology.owl import axioms as ax
from obep.ontology.owl.axiom_set import Axioms
from obep.ontology.owl.data_ranges import is_empty
from obep.ontology.owl.facets import Misfit, facet_of, ill_typed, misfits_of, term
from obep.ontology.owl.literals import known_datatype
from obep.ontology.rules.units_asked import UnitsAsked, facets_in, unit_text
from obep.ontology.rules.universal_data import Expression, decided
from obep.query import ast
from obep.query.print.printer import show

_NUMBERS = tuple(f"<{ax.XSD}{name}>" for name in ("decimal", "double", "float"))
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


class Translation:
    """Translates descriptions; which names are data properties or datatypes is known from T and from use."""

    def __init__(self, axioms: Axioms, descriptions: Iterable[ast.Description] = ()) -> None:
        self.data_properties = {*axioms.data_properties, ax.TOP_DATA_PROPERTY, ax.BOTTOM_DATA_PROPERTY}
        self.datatypes = axioms.datatypes
        self._definitions = axioms.datatype_definitions
        self._classes = axioms.classes
        self._objects = {*axioms.object_properties, ax.TOP_OBJECT_PROPERTY}
        self._used: dict[str, set[Term]] = {}
        self.units = UnitsAsked(axioms.about_data)
        """The units that definitions name."""
        self.misfits: list[Misfit] = []
        """Misplaced names in the definitions translated so far."""
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
        for kind, name in names.items() if ax.UNIVERSAL.isdisjoint(names.values()) else ():
            self._used.setdefault(kind, set()).add(name)

    @property
    def used(self) -> Axioms:
        """Declarations of every name that the definitions translated so far use."""
        used = {kind: frozenset(names) for kind, names in self._used.items()}
        return Axioms(**used)  # type: ignore[arg-type]  # `_use` names declarations only

    # --- class expressions

    def expression(self, node: ast.Description) -> ax.ClassExpression:
        """The class expression that a description means."""
        return _without_empty(self._expression(node))

    def _expression(self, node: ast.Description) -> ax.ClassExpression:
        match node:
            case ast.ClassName(name):
                if self.is_range(node) and name.iri not in self._classes:
                    self._no_class(node, name.text)
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
                    found = self._decided(ax.DataSome(data, self._filler_range(filler, data)))
                    return self._of_unit(found, data, filler)
                if filler is None and isinstance(property, ast.Name) and property.iri not in self._objects:
                    return self._either(property.iri)
                return ax.Some(self._role(property), self._filler(filler))
            case ast.Only(property, filler):
                if (data := self._data(property)) is not None:
                    return self._decided(ax.DataOnly(data, self._filler_range(filler, data)))
                return ax.Only(self._role(property), self.expression(filler))
            case ast.Value(property, value):
                return self._value(property, value)
            case ast.Cardinality():
                return self._cardinality(node)
            case ast.Restriction(datatype):
                self._no_class(node, datatype.text)
                return ax.TOP

    def _either(self, property: Term) -> ax.ClassExpression:
        """`p some` of a property without a declared kind: any value will do (Listing 1.10)."""
        self._use(object_properties=property, data_properties=property)
        return ax.Or((ax.Some(property, ax.TOP), ax.DataSome(property, ax.ANY_LITERAL)))

    def _decided(self, expression: Expression) -> ax.ClassExpression:
        if expression.property != ax.TOP_DATA_PROPERTY:
            return expression
        return decided(expression, self._definitions)

    def _value(self, property: ast.Property, value: ast.Name | ast.Literal) -> ax.ClassExpression:
        if (data := self._data(property)) is not None:
            if isinstance(value, ast.Name):
                self._note(
                    value.span, f"{value.text} is no literal",
                    f"{_text(property)} is a data property, so its value is a literal.", f'"{value.text}"',
                )  # fmt: skip
                return ax.TOP
            return self._decided(ax.DataValue(data, self._literal(value)))
        return ax.Value(self._role(property), self._individual(value))

    def _cardinality(self, node: ast.Cardinality) -> ax.ClassExpression:
        if (data := self._data(node.property)) is not None:
            bound = _DATA_BOUNDS[node.bound]
            return self._decided(bound(node.count, data, self._filler_range(node.filler, data)))
        return _BOUNDS[node.bound](node.count, self._role(node.property), self._filler(node.filler))

    def _filler(self, node: ast.Description | None) -> ax.ClassExpression:
        return ax.TOP if node is None else self.expression(node)

    def _of_unit(
        self, found: ax.ClassExpression, property: Term, filler: ast.Description | None
    ) -> ax.ClassExpression:
        """The number of a quantity counts only beside its unit, to which sources with `units` bring it."""
        named = [unit for facet in facets_in(filler) if (unit := unit_text(facet))]
        if property not in NUMERIC_VALUES or not named or unit_named(named[0]) is None:
            return found
        self._use(object_properties=UNIT)
        return ax.And((found, ax.Value(UNIT, unit_iri(named[0]))))

    def _filler_range(self, node: ast.Description | None, property: Term) -> ax.DataRange:
        self.misfits += (Misfit(*one) for one in self.units.take(property, facets_in(node)))
        if node is None or (isinstance(node, ast.ClassName) and node.name.iri == ax.THING):
            return ax.ANY_LITERAL  # `p some Thing` over a data property can only mean: some value
        return self.range(node)

    def _data(self, property: ast.Property) -> Term | None:
        if isinstance(property, ast.Name) and property.iri in self.data_properties:
            self._use(data_properties=property.iri)
            return property.iri
        return None

    def _role(self, property: ast.Property) -> ax.ObjectProperty:
        name = property.property if isinstance(property, ast.Inverse) else property
        if name.iri in self.data_properties:
            self.misfits.append(_both_ways(property, name))
        self._use(object_properties=name.iri)
        return ax.Inverse(name.iri) if isinstance(property, ast.Inverse) else name.iri

    def _individual(self, node: ast.Name | ast.Literal) -> Term:
        if isinstance(node, ast.Literal):
            self._note(
                node.span, f"the literal {show(node)} is used where an individual is needed",
                "The property is an object property, or the set also names individuals.",
                "the name of an individual, or a data property",
            )  # fmt: skip
            return ax.THING
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
                    self._no_datatype(node, name.text)
                return ax.Datatype(name.iri)
            case ast.Restriction():
                return self._restriction(node)
            case ast.Intersection(operands):
                return ax.DataAnd(tuple(self.range(operand) for operand in operands))
            case ast.Union(operands):
                return ax.DataOr(tuple(self.range(operand) for operand in operands))
            case ast.Complement(operand):
                return ax.DataNot(self.range(operand))
            case ast.OneOf(members):
                return ax.DataOneOf(tuple(self._member(member) for member in members))
        self._no_datatype(node, "this class expression")
        return ax.ANY_LITERAL

    def _restriction(self, node: ast.Restriction) -> ax.DataRange:
        wrong = [one for facet in node.facets for one in misfits_of(node.datatype, facet)]
        self.misfits += wrong
        first = _restricted(_NUMBERS[0] if is_number(node.datatype) else node.datatype.iri, node.facets)
        if not wrong and is_empty(first):
            self.misfits.append(
                Misfit(
                    "OBEP312", node.span, f"no {node.datatype.text} fits all of these facets",
                    "All facets must hold, so this never matches.",
                    " or ".join(f"{node.datatype.text}[{show(facet)}]" for facet in node.facets),
                )
            )  # fmt: skip
        if is_number(node.datatype):
            return ax.DataOr(tuple(_restricted(number, node.facets) for number in _NUMBERS))
        return _restricted(node.datatype.iri, node.facets)

    def _member(self, member: ast.Name | ast.Literal) -> Term:
        if isinstance(member, ast.Literal):
            return self._literal(member)
        self._note(
            member.span, f"{member.text} is no literal",
            "The others of the set are literals, so this one has to be one.", f'"{member.text}"',
        )  # fmt: skip
        return member.iri

    def _literal(self, node: ast.Literal) -> Term:
        self.misfits += ill_typed(node)
        return term(node)

    def _note(self, span: Span, message: str, reason: str, remedy: str) -> None:
        self.misfits.append(Misfit("OBEP308", span, message, reason, remedy))

    def _no_class(self, node: ast.Node, text: str) -> None:
        self._note(
            node.span, f"{text} is a datatype, and a class is needed here",
            "Object properties, and, or and not take classes; only a data property leads to values.",
            f"p some {text}, where p is a data property",
        )  # fmt: skip

    def _no_datatype(self, node: ast.Node, text: str) -> None:
        self._note(
            node.span, f"{text} is not a datatype",
            "A data property leads to values, so a datatype follows it.",
            "xsd:double, xsd:string or another datatype; or an object property before it",
        )  # fmt: skip


def _without_empty(expression: ax.ClassExpression) -> ax.ClassExpression:
    """An expression over one of the empty properties is `Thing` or `Nothing`: nothing has a value of them."""
    property = getattr(expression, "property", None)
    if (property.property if isinstance(property, ax.Inverse) else property) not in ax.EMPTY:
        return expression
    match expression:
        case ax.Only() | ax.DataOnly() | ax.Max() | ax.DataMax():
            return ax.TOP
        case ax.Min(0) | ax.DataMin(0) | ax.Exactly(0) | ax.DataExactly(0):
            return ax.TOP
    return ax.BOTTOM


def is_number(name: ast.Name) -> bool:
    """Whether a name is obep's `number`: decimal, double or float."""
    return name.text == "number"


def _restricted(datatype: Term, facets: tuple[ast.Facet, ...]) -> ax.Restricted:
    return ax.Restricted(datatype, tuple(facet_of(datatype, facet) for facet in facets))


def _both_ways(property: ast.Property, name: ast.Name) -> Misfit:
    if isinstance(property, ast.Inverse):
        said = "it has no inverse", "Only object properties can be read backwards."
    else:
        said = "nothing leads to itself", "Only object properties can be followed by Self."
    message = f"{name.text} leads to literals, so {said[0]}"
    return Misfit("OBEP307", property.span, message, said[1], f"{name.text} some, or an object property")


def _text(property: ast.Property) -> str:
    return property.text if isinstance(property, ast.Name) else show(property)
