"""Short ways to write axioms in tests."""

from __future__ import annotations

from obep.model import RDF_TYPE, Term, Triple
from obep.ontology.owl import axioms as ax
from obep.ontology.owl.axiom_set import Axioms

NS = "http://example.org/t#"


def t(name: str) -> Term:
    """`<http://example.org/t#name>`."""
    return f"<{NS}{name}>"


def c(name: str) -> ax.Class:
    return ax.Class(t(name))


def lit(lexical: object, datatype: str = "integer") -> Term:
    return f'"{lexical}"' if datatype == "string" else f'"{lexical}"^^<{ax.XSD}{datatype}>'


def facet(datatype: str, **facets: Term) -> ax.Restricted:
    return ax.Restricted(xsd(datatype), tuple((xsd(name), value) for name, value in facets.items()))


def xsd(name: str) -> Term:
    return f"<{ax.XSD}{name}>"


def triples(text: str) -> tuple[Triple, ...]:
    """`a r b. a a C. a d 5.` — `a` in the middle is rdf:type; a number or a quoted word is a literal.

    >>> triples("x a A. x d 5.")[1][2]
    '"5"^^<http://www.w3.org/2001/XMLSchema#integer>'
    """
    found = []
    for part in text.replace("\n", " ").split(". "):
        words = part.strip().rstrip(".").split()
        if not words:
            continue
        s, p, o = words
        found.append((_term(s), RDF_TYPE if p == "a" else _term(p), _term(o)))
    return tuple(found)


def _term(word: str) -> Term:
    if word.lstrip("-").isdigit():
        return lit(word)
    if word.startswith(('"', "_:")):
        return word
    if word.startswith("owl:"):
        return f"<{ax.OWL}{word[4:]}>"
    return t(word)


def ontology(*axioms: ax.Axiom, data: str = "", classes: str = "", roles: str = "") -> Axioms:
    """T from axioms; its names are found in them by where they stand. `data` lists the data properties."""
    found_classes, found_roles, found_data = set(map(t, classes.split())), set(map(t, roles.split())), set()
    found_data |= set(map(t, data.split()))

    def visit(node: object) -> None:
        if isinstance(node, tuple):
            for part in node:
                visit(part)
            return
        match node:
            case ax.Class(iri) if not iri.startswith(f"<{ax.OWL}"):
                found_classes.add(iri)
            case ax.DisjointUnion(name):
                found_classes.add(name)
        kind = type(node).__name__
        for name in getattr(node, "__struct_fields__", ()):
            value = getattr(node, name)
            is_role = name in ("property", "first", "second", "chain", "object_properties")
            is_role |= kind in ("SubProperty", "SubChain", "EquivalentProperties", "DisjointProperties")
            if (is_role or kind == "Inverse") and "Data" not in kind:
                for role in value if isinstance(value, tuple) else (value,):
                    found_roles.add(role.property if isinstance(role, ax.Inverse) else role)
            elif (name == "property" and "Data" in kind) or kind in (
                "SubDataProperty", "EquivalentDataProperties", "DisjointDataProperties",
            ):  # fmt: skip
                found_data.update(value if isinstance(value, tuple) else (value,))
            elif name == "data_properties":
                found_data.update(value)
            visit(value)

    visit(axioms)
    return Axioms(
        axioms,
        frozenset(found_classes),
        frozenset(r for r in found_roles if not r.startswith(f"<{ax.OWL}")),
        frozenset(found_data),
    )
