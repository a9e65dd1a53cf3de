"""Random small models with shapes and rules, as Turtle; each shape and rule has an order of its own."""

from __future__ import annotations

import re

from hypothesis import strategies as st

HEAD = """@prefix : <http://example.org/m#> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
<http://example.org/m> sh:declare [ sh:prefix "" ; sh:namespace "http://example.org/m#"^^xsd:anyURI ] .
:C2 rdfs:subClassOf :C1 . :C1 rdfs:subClassOf :C0 .
"""
classes = st.sampled_from([":C0", ":C1", ":C2", ":D"])
nodes = st.sampled_from([":a", ":b", ":c", ":d", ":e"])
roles = st.sampled_from([":p", ":q", ":r"])
values = st.sampled_from(["1", "2", "3", '"x"', '"yy"', "2.5", "true"])
texts = st.sampled_from(['"x"@en', '"y"@en', '"x"@de', '"yy"@en-GB', '"x"'])
counts = st.integers(0, 2)

simple_paths = st.one_of(roles, st.sampled_from([":v", ":w"]), roles.map(lambda p: f"[ sh:inversePath {p} ]"))
paths = st.one_of(
    simple_paths,
    st.tuples(simple_paths, simple_paths).map(lambda two: f"( {two[0]} {two[1]} )"),
    st.tuples(roles, roles).map(lambda two: f"[ sh:alternativePath ( {two[0]} {two[1]} ) ]"),
    st.tuples(st.sampled_from(["zeroOrMorePath", "oneOrMorePath", "zeroOrOnePath"]), roles).map(
        lambda one: f"[ sh:{one[0]} {one[1]} ]"
    ),
)
triples = st.one_of(
    st.tuples(nodes, st.just("a"), classes),
    st.tuples(nodes, roles, nodes),
    st.tuples(nodes, st.sampled_from([":v", ":w"]), st.one_of(values, texts)),
).map(lambda t: f"{t[0]} {t[1]} {t[2]} .")

value_constraints = st.one_of(
    classes.map(lambda c: f"sh:class {c}"),
    st.sampled_from(["IRI", "Literal", "BlankNode", "IRIOrLiteral"]).map(lambda k: f"sh:nodeKind sh:{k}"),
    st.sampled_from(["integer", "string", "decimal", "boolean"]).map(lambda d: f"sh:datatype xsd:{d}"),
    st.tuples(
        st.sampled_from(["minInclusive", "minExclusive", "maxInclusive", "maxExclusive"]),
        st.sampled_from(["1", "2", "2.5"]),
    ).map(lambda t: f"sh:{t[0]} {t[1]}"),
    st.lists(st.one_of(nodes, values), min_size=1, max_size=3).map(
        lambda some: f"sh:in ( {' '.join(some)} )"
    ),
    st.sampled_from(["^x", "y+", "a$", "[bc]$"]).map(lambda p: f'sh:pattern "{p}"'),
    st.tuples(st.sampled_from(["minLength", "maxLength"]), st.integers(1, 3)).map(
        lambda t: f"sh:{t[0]} {t[1]}"
    ),
    st.one_of(nodes, values).map(lambda v: f"sh:hasValue {v}"),
    st.lists(st.sampled_from(['"en"', '"de"', '"en-GB"']), min_size=1, max_size=2, unique=True).map(
        lambda some: f"sh:languageIn ( {' '.join(some)} )"
    ),
)
property_constraints = st.one_of(
    value_constraints,
    counts.map(lambda n: f"sh:minCount {n}"),
    counts.map(lambda n: f"sh:maxCount {n}"),
    roles.map(lambda p: f"sh:equals {p}"),
    roles.map(lambda p: f"sh:disjoint {p}"),
    st.just("sh:uniqueLang true"),
)


deactivated = st.sampled_from(["", "", "", "", " ; sh:deactivated true"])
literal_pairs = st.tuples(
    st.sampled_from([":v", ":w"]),
    st.sampled_from(["lessThan", "lessThanOrEquals"]),
    st.sampled_from([":v", ":w"]),
).map(lambda t: f"sh:property [ sh:path {t[0]} ; sh:{t[1]} {t[2]} ]")
"""Of literals only: pyshacl puts IRIs before them, where SHACL says that what cannot be compared is wrong."""


def _deeper(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Parts of a shape that hold other shapes."""
    shape = inner.map(lambda parts: f"[ {parts} ]")
    several = st.lists(shape, min_size=1, max_size=2).map(" ".join)
    qualified = st.tuples(
        paths, shape, st.sampled_from(["qualifiedMinCount", "qualifiedMaxCount"]), st.integers(0, 2)
    ).map(lambda t: f"sh:property [ sh:path {t[0]} ; sh:qualifiedValueShape {t[1]} ; sh:{t[2]} {t[3]} ]")
    return st.one_of(
        shape.map(lambda s: f"sh:not {s}"),
        shape.map(lambda s: f"sh:node {s}"),
        st.tuples(st.sampled_from(["and", "or", "xone"]), several).map(lambda t: f"sh:{t[0]} ( {t[1]} )"),
        st.tuples(paths, property_constraints).map(lambda t: f"sh:property [ sh:path {t[0]} ; {t[1]} ]"),
        qualified,
    )


constraints = st.recursive(
    st.one_of(
        value_constraints,
        literal_pairs,
        st.tuples(paths, property_constraints, deactivated).map(
            lambda t: f"sh:property [ sh:path {t[0]} ; {t[1]}{t[2]} ]"
        ),
        st.lists(roles, max_size=2, unique=True).map(
            lambda some: f"sh:closed true ; sh:ignoredProperties ( {' '.join(['rdf:type', ':v', *some])} )"
        ),
    ),
    _deeper,
    max_leaves=4,
)
ONLY_ONCE = re.compile(r"sh:(datatype|nodeKind|in|pattern|languageIn|closed|(min|max)\w+) ")
"""The constraints of which a shape has at most one."""
several_constraints = st.lists(
    constraints, min_size=1, max_size=3, unique_by=lambda one: (ONLY_ONCE.match(one) or [one])[0]
)
targets = st.one_of(
    classes.map(lambda c: f"sh:targetClass {c}"),
    nodes.map(lambda n: f"sh:targetNode {n}"),
    roles.map(lambda p: f"sh:targetSubjectsOf {p}"),
    roles.map(lambda p: f"sh:targetObjectsOf {p}"),
    roles.map(
        lambda p: (
            f"sh:target [ a sh:SPARQLTarget ; sh:prefixes <http://example.org/m> ; "
            f'sh:select "SELECT ?this WHERE {{ ?this {p} ?x . ?x {p} ?y }}" ]'
        )
    ),
)
expressions = st.recursive(
    st.one_of(st.just("sh:this"), nodes, paths.map(lambda p: f"[ sh:path {p} ]")),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["union", "intersection"]), inner, inner).map(
            lambda t: f"[ sh:{t[0]} ( {t[1]} {t[2]} ) ]"
        ),
    ),
    max_leaves=3,
)
GROUPS = (
    "CONSTRUCT { $this %p ?x } WHERE { $this %q/%r ?x }",
    "CONSTRUCT { $this a %c } WHERE { $this %p ?x . ?x %q $this }",
    "CONSTRUCT { ?x %p $this } WHERE { $this ^%q ?x FILTER (?x != $this) }",
    "CONSTRUCT { $this %p ?x } WHERE { { $this %q ?x } UNION { ?x %r $this } }",
    "CONSTRUCT { $this %p %n } WHERE { $this :v ?v FILTER (isNumeric(?v) && ?v > 1) }",
    "CONSTRUCT { $this %p ?x } WHERE { $this %q+ ?x . FILTER NOT EXISTS { $this %r ?y } }",
    "CONSTRUCT { $this a ?d } WHERE { $this a/:means ?d . FILTER NOT EXISTS { $this a ?d } }",
    "CONSTRUCT { $this %p ?y } WHERE { $this %q ?x . OPTIONAL { ?x %r ?z } BIND(COALESCE(?z, $this) AS ?y) }",
    "CONSTRUCT { $this %p ?x } WHERE { ?x %q $this . ?x a %c }",
    "CONSTRUCT { $this :v ?n } WHERE { BIND(STRLEN(STR($this)) AS ?n) FILTER EXISTS { $this %p ?x } }",
    "CONSTRUCT WHERE { $this %p ?x }",
    "CONSTRUCT { $this %p ?x } WHERE { ?x %q ?y . VALUES ?y { %n :b } $this %r ?y }",
)


@st.composite
def sparql_rules(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from(GROUPS))
    for place, names in (("%p", roles), ("%q", roles), ("%r", roles), ("%c", classes), ("%n", nodes)):
        while place in text:
            text = text.replace(place, draw(names), 1)
    return f'a sh:SPARQLRule ; sh:prefixes <http://example.org/m> ; sh:construct "{text}"'


@st.composite
def triple_rules(draw: st.DrawFn) -> str:
    if draw(st.booleans()):
        return f"a sh:TripleRule ; sh:subject sh:this ; sh:predicate rdf:type ; sh:object {draw(classes)}"
    subject, object_ = draw(expressions), draw(expressions)
    return f"a sh:TripleRule ; sh:subject {subject} ; sh:predicate {draw(roles)} ; sh:object {object_}"


@st.composite
def models(draw: st.DrawFn) -> str:
    """A model with rules."""
    lines = [HEAD, ":C1 :means :D ."]
    lines += draw(st.lists(triples, min_size=5, max_size=14))
    for number in range(draw(st.integers(1, 3))):
        name = f":S{number}"
        parts = [f"a sh:NodeShape ; sh:order {number} ; {draw(targets)}"]
        for order in range(draw(st.integers(1, 2))):
            rule = draw(st.one_of(triple_rules(), sparql_rules()))
            conditions = draw(st.lists(constraints, max_size=2))
            said = "".join(f" ; sh:condition [ a sh:NodeShape ; {one} ]" for one in conditions)
            off = " ; sh:deactivated true" if draw(st.integers(0, 9)) == 0 else ""
            parts.append(f"sh:rule [ {rule} ; sh:order {order}{said}{off} ]")
        lines.append(f"{name} {' ; '.join(parts)} .")
    return "\n".join(lines)


@st.composite
def validations(draw: st.DrawFn) -> str:
    """A model with constraints."""
    lines = [HEAD, *draw(st.lists(triples, min_size=5, max_size=14))]
    for number in range(draw(st.integers(1, 2))):
        parts = draw(several_constraints)
        lines.append(f":S{number} a sh:NodeShape ; {draw(targets)} ; {' ; '.join(parts)} .")
    return "\n".join(lines)


VARIABLES = ("$this", "?x", "?y", "?z")
_DECLARED = "".join(f"{name} a owl:Class . " for name in (":C0", ":C1", ":D", ":Hit")) + "".join(
    f"{name} a owl:{kind}Property . "
    for name, kind in ((":p", "Object"), (":q", "Object"), (":r", "Object"), (":v", "Datatype"))
)


@st.composite
def clauses(draw: st.DrawFn) -> str:
    """A CONSTRUCT whose body hangs together, in any form: a tree, a cycle, a property of a node to itself."""
    asked = draw(st.lists(roles, min_size=1, max_size=4))
    known = [VARIABLES[0]]
    body = []
    for role in asked:
        near, far = draw(st.sampled_from(known)), draw(st.sampled_from((*VARIABLES, *known, ":a")))
        body.append(f"{far} {role} {near}" if far != ":a" and draw(st.booleans()) else f"{near} {role} {far}")
        known += [far] if far.startswith(("?", "$")) and far not in known else []
    conditions = st.tuples(st.sampled_from(known), st.sampled_from(["a :C0", "a :D", ":v ?n"])).map(" ".join)
    some = draw(st.lists(conditions, max_size=2, unique=True))
    body += [one.replace("?n", f"?n{place}") for place, one in enumerate(some)]
    limit = " FILTER (?n0 > 1)" if some and ":v" in some[0] and draw(st.booleans()) else ""
    ends = st.sampled_from(known)
    head = draw(
        st.one_of(
            st.just("$this a :Hit"),
            st.just("$this a :Hit"),
            ends.map(lambda x: f"{x} a :D"),
            st.tuples(ends, roles, st.one_of(ends, nodes)).map(" ".join),
        )
    )
    return f"CONSTRUCT {{ {head} }} WHERE {{ {' . '.join(body)}{limit} }}"


@st.composite
def split_models(draw: st.DrawFn) -> tuple[str, str, str]:
    """Rules that are clauses, a static graph and an item."""
    rules = [
        f"sh:rule [ a sh:SPARQLRule ; sh:prefixes <http://example.org/m> ; sh:construct '{one}' ]"
        for one in draw(st.lists(clauses(), min_size=1, max_size=3))
    ]
    rules.append(
        "sh:rule [ a sh:TripleRule ; sh:subject sh:this ; sh:predicate rdf:type ; sh:object :Hit ; "
        "sh:condition [ sh:class :D ; sh:property [ sh:path :p ; sh:minCount 1 ] ] ]"
    )
    head = HEAD[: HEAD.index(":C2")] + "@prefix owl: <http://www.w3.org/2002/07/owl#> . " + _DECLARED
    target = draw(st.sampled_from(["sh:targetClass :C0", "sh:targetSubjectsOf :p", "sh:targetObjectsOf :q"]))
    few = st.sampled_from([":a", ":b", ":c"])
    triple = st.one_of(
        st.tuples(few, st.just("a"), st.sampled_from([":C0", ":D"])),
        st.tuples(few, roles, few),
        st.tuples(few, roles, few),
        st.tuples(few, st.just(":v"), st.sampled_from(["1", "2"])),
    ).map(lambda t: f"{' '.join(t)} .")
    k, item = (draw(st.lists(triple, min_size=2, max_size=9, unique=True)) for _ in range(2))
    return f"{head}\n:S {target} ; {' ; '.join(rules)} .", "\n".join(k), "\n".join(item)
