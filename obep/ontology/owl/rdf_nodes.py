"""The nodes of an RDF graph read as OWL 2: lists, roles, class expressions, data ranges."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeVar

from obep.errors import Diagnostic, ObepError
from obep.model import Term, Triple
from obep.ontology.owl import axioms as ax
from obep.ontology.owl.axiom_set import Axioms
from obep.ontology.owl.axioms import OWL, RDF, RDFS, XSD
from obep.ontology.owl.facet_fit import slip_of
from obep.ontology.owl.facet_pattern import read_pattern
from obep.ontology.owl.literals import parts, value
from obep.ontology.owl.verbalise import name

_DEPTH = 200
_T = TypeVar("_T")


def owl(name: str) -> Term:
    return f"<{OWL}{name}>"


def rdfs(name: str) -> Term:
    return f"<{RDFS}{name}>"


COMBINING = tuple(owl(name) for name in ("intersectionOf", "unionOf", "complementOf", "oneOf"))
"""The properties whose values alone make a class expression."""
BUILT_IN = (f"<{OWL}", f"<{RDFS}", f"<{RDF}", f"<{XSD}")
_NIL, _FIRST, _REST = f"<{RDF}nil>", f"<{RDF}first>", f"<{RDF}rest>"


class Nodes:
    """A graph by subject and predicate, with the names that it uses so far."""

    def __init__(self, triples: Iterable[Triple], also: Axioms) -> None:
        self.triples = tuple(dict.fromkeys(triples))
        self.about: dict[Term, dict[Term, list[Term]]] = {}
        for s, p, o in self.triples:
            self.about.setdefault(s, {}).setdefault(p, []).append(o)
        self.classes = set(also.classes)
        self.object_properties = set(also.object_properties)
        self.data_properties = set(also.data_properties)
        self.datatypes = set(also.datatypes)
        self.annotations = set(also.annotation_properties)
        self.individuals: set[Term] = set()
        self.depth = 0

    def _values(self, s: Term, p: Term) -> list[Term]:
        return self.about.get(s, {}).get(p, [])

    def _individual(self, s: Term) -> Term:
        if s.startswith('"'):
            raise unreadable(s, "a literal is used where an individual is needed")
        self.individuals.add(s)
        return s

    def _role(self, s: Term) -> ax.ObjectProperty:
        if s.startswith("_") and (inverse := self._values(s, owl("inverseOf"))):
            return ax.inverse(self._role(inverse[0]))
        if not s.startswith("<"):
            raise unreadable(s, "it is used where an object property is needed")
        self.object_properties.add(s)
        return s

    def _one(self, s: Term, p: Term) -> Term:
        found = self._values(s, p)
        if len(found) != 1:
            raise unreadable(s, f"it has {len(found)} values of {p}")
        return found[0]

    def _list(self, s: Term) -> list[Term]:
        members: list[Term] = []
        seen = set()
        while s != _NIL:
            if s in seen:
                raise unreadable(s, "the list runs in a circle")
            seen.add(s)
            members.append(self._one(s, _FIRST))
            s = self._one(s, _REST)
        return members

    def _nonempty(self, s: Term, list_: Term) -> list[Term]:
        """The members of a list that OWL 2 does not allow to be empty, in an axiom about `s`."""
        members = self._list(list_)
        if not members:
            raise unreadable(s, "an axiom about it has an empty list")
        return members

    def expression(self, s: Term) -> ax.ClassExpression:
        """The class expression that a node stands for."""
        if s.startswith("<"):
            self.classes.add(s)
            return ax.Class(s)
        if s.startswith('"'):
            raise unreadable(s, "a literal is used where a class is needed")
        return self._nested(s, "class expression", self._anonymous)

    def _nested(self, s: Term, what: str, read: Callable[[Term], _T]) -> _T:
        self.depth += 1
        if self.depth > _DEPTH:
            raise unreadable(s, f"the {what} is nested deeper than {_DEPTH}")
        try:
            return read(s)
        finally:
            self.depth -= 1

    def _anonymous(self, s: Term) -> ax.ClassExpression:
        about = self.about.get(s, {})
        for p in COMBINING:
            if p in about:
                return self.combined(p, self._one(s, p))
        if owl("onProperty") in about:
            property = self._one(s, owl("onProperty"))
            if property in self.data_properties:
                return self._data_restriction(s, property)
            return self._restriction(s, self._role(property))
        raise unreadable(s, "it is used as a class, but is not a class expression of OWL 2")

    def combined(self, p: Term, o: Term) -> ax.ClassExpression:
        """The class expression that one of `COMBINING` makes of its value."""
        if p == owl("complementOf"):
            return ax.Not(self.expression(o))
        if p == owl("oneOf"):
            return ax.OneOf(tuple(map(self._individual, self._list(o))))
        build = ax.And if p == owl("intersectionOf") else ax.Or
        operands = tuple(map(self.expression, self._list(o)))
        if len(operands) == 1:
            return operands[0]
        return build(operands) if operands else (ax.TOP if build is ax.And else ax.BOTTOM)

    def _restriction(self, s: Term, role: ax.ObjectProperty) -> ax.ClassExpression:
        about = self.about.get(s, {})
        if owl("someValuesFrom") in about:
            return ax.Some(role, self.expression(self._one(s, owl("someValuesFrom"))))
        if owl("allValuesFrom") in about:
            return ax.Only(role, self.expression(self._one(s, owl("allValuesFrom"))))
        if owl("hasValue") in about:
            return ax.Value(role, self._individual(self._one(s, owl("hasValue"))))
        if owl("hasSelf") in about:
            return ax.HasSelf(role)
        filler = self.expression(self._one(s, owl("onClass"))) if owl("onClass") in about else ax.TOP
        for word, build in (("in", ax.Min), ("ax", ax.Max)):
            for p in (owl(f"m{word}Cardinality"), owl(f"m{word}QualifiedCardinality")):
                if p in about:
                    return build(self._count(s, p), role, filler)
        for p in (owl("cardinality"), owl("qualifiedCardinality")):
            if p in about:
                return ax.Exactly(self._count(s, p), role, filler)
        raise unreadable(s, "it is not a property restriction of OWL 2")

    def _data_restriction(self, s: Term, property: Term) -> ax.ClassExpression:
        about = self.about.get(s, {})
        if owl("someValuesFrom") in about:
            return ax.DataSome(property, self.range(self._one(s, owl("someValuesFrom"))))
        if owl("allValuesFrom") in about:
            return ax.DataOnly(property, self.range(self._one(s, owl("allValuesFrom"))))
        if owl("hasValue") in about:
            return ax.DataValue(property, self._one(s, owl("hasValue")))
        filler = (
            self.range(self._one(s, owl("onDataRange"))) if owl("onDataRange") in about else ax.ANY_LITERAL
        )
        for word, build in (("in", ax.DataMin), ("ax", ax.DataMax)):
            for p in (owl(f"m{word}Cardinality"), owl(f"m{word}QualifiedCardinality")):
                if p in about:
                    return build(self._count(s, p), property, filler)
        for p in (owl("cardinality"), owl("qualifiedCardinality")):
            if p in about:
                return ax.DataExactly(self._count(s, p), property, filler)
        raise unreadable(s, "it is not a property restriction of OWL 2")

    def _count(self, s: Term, p: Term) -> int:
        count = value(self._one(s, p)).point
        if not isinstance(count, int) or count < 0:
            raise unreadable(s, f"{p} is not a count")
        return count

    def range(self, s: Term) -> ax.DataRange:
        """The data range that a node stands for."""
        if s.startswith("<"):
            if not s.startswith(BUILT_IN):
                self.datatypes.add(s)
            return ax.Datatype(s)
        return self._nested(s, "data range", self._anonymous_range)

    def _anonymous_range(self, s: Term) -> ax.DataRange:
        about = self.about.get(s, {})
        if owl("intersectionOf") in about:
            return ax.DataAnd(tuple(map(self.range, self._list(self._one(s, owl("intersectionOf"))))))
        if owl("unionOf") in about:
            return ax.DataOr(tuple(map(self.range, self._list(self._one(s, owl("unionOf"))))))
        for p in (owl("datatypeComplementOf"), owl("complementOf")):
            if p in about:
                return ax.DataNot(self.range(self._one(s, p)))
        if owl("oneOf") in about:
            return ax.DataOneOf(tuple(self._list(self._one(s, owl("oneOf")))))
        if owl("onDatatype") in about:
            facets = [
                (facet, bound)
                for node in self._list(self._one(s, owl("withRestrictions")))
                for facet, bounds in self.about.get(node, {}).items()
                for bound in bounds
            ]
            for facet, bound in facets:
                if facet == f"<{XSD}pattern>" and isinstance(wrong := read_pattern(parts(bound)[0]), str):
                    raise unreadable(s, f"its pattern cannot be read: {wrong}")
            datatype = self._one(s, owl("onDatatype"))
            for slip in filter(None, (slip_of(datatype, *facet) for facet in facets)):
                raise Unreadable(s, "OBEP312", *slip)
            return ax.Restricted(datatype, tuple(facets))
        raise unreadable(s, "it is used as a data range, but is not a data range of OWL 2")


class Unreadable(ObepError):
    """An ontology says something that is not OWL 2, about a node of its graph."""

    def __init__(self, node: Term, code: str, said: str, reason: str, remedy: str) -> None:
        """`said` is the rest of a sentence about the axiom."""
        super().__init__(Diagnostic(code, f"{node} {said}", reason=reason, remedy=remedy))
        self.node, self._said = node, said

    def placed(self, triples: Iterable[Triple], file: str = "") -> ObepError:
        """The error with its file, and with the names that an unnamed node belongs to."""
        node, leads, restricts, property = self.node, dict[Term, Term](), dict[Term, str](), ""
        for s, p, o in triples:
            leads[o] = s
            if p == owl("onProperty"):
                restricts[s] = name(o)
        for _ in leads:  # up to something that has a name
            if not node.startswith("_"):
                break
            property = property or restricts.get(node, "")
            node = leads.get(node, node)
        about = f"{name(node)} ({property})" if property else name(node)
        [one] = self.diagnostics
        return ObepError(replace(one, message=f"an axiom about {about} {self._said}", file=file))


def unreadable(node: Term, reason: str) -> Unreadable:
    """Make the error for an unreadable node, before its file is known."""
    return Unreadable(
        node,
        "OBEP303",
        "cannot be read",
        f"{reason[0].upper()}{reason[1:]}.",
        "write it as OWL 2 requires (an editor such as Protégé helps), or remove it",
    )
