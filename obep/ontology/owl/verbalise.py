"""Axioms and class expressions in words, for people: `Detection is a Human or a Pet`."""

from __future__ import annotations

from collections.abc import Iterable

from obep.model import Term
from obep.ontology.owl import axioms as ax

_CHARACTERS: dict[type, str] = {
    ax.Functional: "has at most one value",
    ax.InverseFunctional: "has at most one subject for a value",
    ax.Reflexive: "is reflexive",
    ax.Irreflexive: "is irreflexive",
    ax.Symmetric: "is symmetric",
    ax.Asymmetric: "is asymmetric",
    ax.Transitive: "is transitive",
    ax.FunctionalData: "has at most one value",
}


def name(term: object) -> str:
    """The last part of an IRI; a literal or blank node as it is.

    >>> name("<http://example.org/building#Room>")
    'Room'
    """
    if isinstance(term, ax.Inverse):
        return f"inverse {name(term.property)}"
    text = str(term)
    if text.startswith("<"):
        text = text[1:-1]
        return text.rstrip("#/").rsplit("#", 1)[-1].rsplit("/", 1)[-1] or text
    return text.split("^^", 1)[0]


def prefixed(term: Term) -> str:
    """A word of OWL, RDF or XML Schema with its usual prefix; anything else as it is.

    >>> prefixed("<http://www.w3.org/2001/XMLSchema#double>")
    'xsd:double'
    """
    for prefix, namespace in (("xsd", ax.XSD), ("owl", ax.OWL), ("rdfs", ax.RDFS), ("rdf", ax.RDF)):
        if term.startswith(f"<{namespace}"):
            return f"{prefix}:{term[len(namespace) + 1 : -1]}"
    return term


def show(node: object) -> str:
    """An axiom as a sentence, a class expression as Manchester syntax."""
    match node:
        case ax.SubClassOf(ax.Class() as sub, ax.Or(operands)) if _all_named(operands):
            return f"{show(sub)} is {' or '.join(_a(operand) for operand in operands)}"
        case ax.SubClassOf(ax.Class() as sub, ax.Class() as sup):
            return f"{show(sub)} is {_a(sup)}"
        case ax.SubClassOf(sub, sup):
            return f"{show(sub)} SubClassOf {show(sup)}"
        case ax.EquivalentClasses(operands):
            return " EquivalentTo ".join(map(show, operands))
        case ax.DisjointClasses(operands):
            return f"{_listed(map(show, operands))} are disjoint"
        case ax.DisjointUnion(iri, operands):
            return f"{name(iri)} is the disjoint union of {_listed(map(show, operands))}"
        case ax.ClassAssertion(expression, individual):
            return f"{name(individual)} is {_a(expression)}"
        case ax.Domain(role, expression) | ax.DataDomain(role, expression):
            return f"what has {name(role)} is {_a(expression)}"
        case ax.Range(role, expression):
            return f"what {name(role)} leads to is {_a(expression)}"
        case ax.DataPropertyRange(role, range):
            kind = _datatype(range.iri) if isinstance(range, ax.Datatype) else show(range)
            return f"a value of {name(role)} is {kind}"
        case ax.SameIndividual(individuals):
            return f"{_listed(map(name, individuals))} are the same"
        case ax.DifferentIndividuals(individuals):
            return f"{_listed(map(name, individuals))} are different"
        case ax.HasKey(expression, roles, data):
            return f"{show(expression)} has the key {_listed(map(name, (*roles, *data)))}"
        case ax.SafeRule(body, head):
            return f"if {' and '.join(map(show, body))} then {show(head)}"
        case ax.ClassAtom(expression, variable):
            return f"{variable} is {_a(expression)}"
        case ax.PropertyAtom(role, source, target):
            return f"{source} {name(role)} {target}"
    return _show_property(node) or _show_expression(node) or _show_range(node) or str(node)


def _show_property(node: object) -> str:
    match node:
        case ax.SubProperty(sub, sup) | ax.SubDataProperty(sub, sup):
            return f"{name(sub)} SubPropertyOf {name(sup)}"
        case ax.SubChain(chain, sup):
            return f"{' o '.join(map(name, chain))} SubPropertyOf {name(sup)}"
        case ax.EquivalentProperties(operands) | ax.EquivalentDataProperties(operands):
            return " EquivalentTo ".join(map(name, operands))
        case ax.DisjointProperties(operands) | ax.DisjointDataProperties(operands):
            return f"{_listed(map(name, operands))} are disjoint"
        case ax.InverseProperties(first, second):
            return f"{name(first)} InverseOf {name(second)}"
        case ax.PropertyAssertion(role, subject, object) | ax.DataAssertion(role, subject, object):
            return f"{name(subject)} {name(role)} {name(object)}"
        case ax.NegativePropertyAssertion(role, subject, object) | ax.NegativeDataAssertion(
            role, subject, object
        ):
            return f"not {name(subject)} {name(role)} {name(object)}"
    words = _CHARACTERS.get(type(node))
    return f"{name(node.property)} {words}" if words and hasattr(node, "property") else ""


def _show_expression(node: object) -> str:
    match node:
        case ax.Class(iri):
            return name(iri)
        case ax.And(operands):
            return " and ".join(map(_inner, operands))
        case ax.Or(operands):
            return " or ".join(map(_inner, operands))
        case ax.Not(operand):
            return f"not {_inner(operand)}"
        case ax.OneOf(individuals):
            return f"{{{', '.join(map(name, individuals))}}}"
        case ax.Some(role, filler) | ax.DataSome(role, filler):
            return f"{name(role)} some {_inner(filler)}"
        case ax.Only(role, filler) | ax.DataOnly(role, filler):
            return f"{name(role)} only {_inner(filler)}"
        case ax.Value(role, value) | ax.DataValue(role, value):
            return f"{name(role)} value {name(value)}"
        case ax.HasSelf(role):
            return f"{name(role)} Self"
        case ax.Min(count, role, filler) | ax.DataMin(count, role, filler):
            return f"{name(role)} min {count} {_inner(filler)}"
        case ax.Max(count, role, filler) | ax.DataMax(count, role, filler):
            return f"{name(role)} max {count} {_inner(filler)}"
        case ax.Exactly(count, role, filler) | ax.DataExactly(count, role, filler):
            return f"{name(role)} exactly {count} {_inner(filler)}"
    return ""


def _show_range(node: object) -> str:
    match node:
        case ax.Datatype(iri):
            return name(iri)
        case ax.DataAnd(operands):
            return " and ".join(map(_inner, operands))
        case ax.DataOr(operands):
            return " or ".join(map(_inner, operands))
        case ax.DataNot(operand):
            return f"not {_inner(operand)}"
        case ax.DataOneOf(literals):
            return f"{{{', '.join(map(name, literals))}}}"
        case ax.Restricted(datatype, facets):
            return f"{name(datatype)}[{', '.join(f'{name(f)} {name(v)}' for f, v in facets)}]"
    return ""


def _inner(node: object) -> str:
    text = show(node)
    return f"({text})" if " " in text and not text.startswith("{") else text


def _all_named(operands: tuple[ax.ClassExpression, ...]) -> bool:
    return all(isinstance(operand, ax.Class) for operand in operands)


def _a(node: object) -> str:
    text = show(node)
    if not isinstance(node, ax.Class):
        return f"in ({text})" if " " in text else text
    return f"{'an' if text[:1].lower() in 'aeiou' else 'a'} {text}"


def _listed(words: Iterable[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def show_triple(triple: tuple[Term, Term, Term], *, typed: bool = False) -> str:
    """A triple in words; `typed`: literals with their datatypes."""
    s, p, o = triple
    verb = name(p)
    value = typed_literal(o) if typed and o.startswith('"') else name(o)
    return f"{name(s)} {'is a' if verb == 'type' else verb} {value}"


def typed_literal(term: Term) -> str:
    """A literal with its datatype, which is a reason of its own: OWL keeps decimals and doubles apart.

    >>> typed_literal('"0.0"^^<http://www.w3.org/2001/XMLSchema#double>'), typed_literal('"on"')
    ('"0.0" (xsd:double)', '"on" (xsd:string)')
    """
    if not term.endswith(('"', ">")):  # a language
        return term
    text, _, datatype = term.rpartition('"')
    return f'{text}" ({_datatype(datatype[2:]) or "xsd:string"})'


def _datatype(term: Term) -> str:
    """A datatype with its usual prefix, or the last part of its name."""
    short = prefixed(term)
    return name(short) if short.startswith("<") else short
