"""The few names and literals that all random worlds share, so that things meet."""

from __future__ import annotations

from typing import Any, TypeAlias

Node: TypeAlias = tuple[Any, ...]
"""A node of OWL's functional syntax: its head, then its arguments (nodes, names, numbers)."""
Expression: TypeAlias = str | Node
"""A name, or a node."""

NS = "http://e/"
PREFIXES = {
    "": NS,
    "owl": "http://www.w3.org/2002/07/owl#",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}

CLASSES = tuple(f":C{i}" for i in range(5))
SIMPLE = (":s0", ":s1", ":s2")
"""Roles that may be counted: no chain and no transitive role lies below them."""
MIDDLE = (":r0", ":r1")
HIGH = (":r2",)
"""Roles of higher rank: chains lead from lower ranks to higher ones, which keeps the role box regular."""
ROLES = (*SIMPLE, *MIDDLE, *HIGH)
DATA = (":d0", ":d1")
DATATYPE = ":D"
ANNOTATION = ":note"
ISLANDS = ((":a0", ":a1", ":a2"), (":b0", ":b1"))
"""Individuals of K, in components that K does not join."""
KNOWN = tuple(name for island in ISLANDS for name in island)
FRESH = (":n0", ":n1", ":n2")
EVENTS = (":H0", ":H1", ":H2")

THING, NOTHING = "owl:Thing", "owl:Nothing"
TOP, BOTTOM = "owl:topObjectProperty", "owl:bottomObjectProperty"
TOP_DATA, BOTTOM_DATA = "owl:topDataProperty", "owl:bottomDataProperty"


def literal(text: str, datatype: str = "xsd:integer") -> Node:
    return ("Literal", text, datatype)


INTEGERS = tuple(literal(str(i)) for i in range(4))
DECIMALS = (literal("1.5", "xsd:decimal"), literal("2.0", "xsd:decimal"))
DOUBLES = (literal("1.5", "xsd:double"), literal("2", "xsd:double"))
FLOATS = (literal("1.5", "xsd:float"), literal("2", "xsd:float"))
STRINGS = tuple(literal(text, "xsd:string") for text in ("", "a", "ab", "red"))
BOOLEANS = (literal("true", "xsd:boolean"), literal("false", "xsd:boolean"))
DATES = (
    literal("2026-01-01T00:00:00Z", "xsd:dateTime"),
    literal("2026-01-02T00:00:00Z", "xsd:dateTime"),
)
LITERALS = (*INTEGERS, *DECIMALS, *DOUBLES, *FLOATS, *STRINGS, *BOOLEANS, *DATES)
DATATYPES = (
    "xsd:integer", "xsd:decimal", "xsd:string", "xsd:boolean", "xsd:double", "xsd:float", "xsd:dateTime",
    "xsd:nonNegativeInteger", "xsd:positiveInteger", "xsd:byte", "rdfs:Literal",
)  # fmt: skip
NUMERIC = {
    "xsd:integer": INTEGERS,
    "xsd:decimal": (*INTEGERS, *DECIMALS),
    "xsd:double": DOUBLES,
    "xsd:float": FLOATS,
    "xsd:dateTime": DATES,
}
"""Datatypes that have an order, with literals to bound them by."""
