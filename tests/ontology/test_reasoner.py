"""HermiT in process: every kind of axiom crosses the door and means there what it means here."""

from __future__ import annotations

import pytest
from owl import c, facet, lit, ontology, t, triples, xsd

from obep.errors import ObepError
from obep.ontology.hermit.reasoner import INCONSISTENT, Hierarchy, Reasoner, shared_reasoner
from obep.ontology.owl import axioms as ax
from obep.ontology.owl.axioms import Axiom, Inverse, SubClassOf

pytestmark = pytest.mark.java

A, B, C, D, H, E = (c(name) for name in "ABCDHE")
r, s, u, d, e = (t(name) for name in "rsude")
INT = ax.Datatype(xsd("integer"))

# T, the ABox, what is entailed of it (class assertions by name) and what is not
CASES: dict[str, tuple[tuple[Axiom, ...], str, str, str]] = {
    "a subclass": ((SubClassOf(A, H),), "x a A. y a B.", "x", "y"),
    "an equivalence": ((ax.EquivalentClasses((A, H)),), "x a A.", "x", "y"),
    "a disjoint union, the last one left": (
        (ax.DisjointUnion(t("A"), (B, H)), ax.DisjointClasses((B, C))),
        "x a A. x a C. y a A.",
        "x",
        "y",
    ),
    "and, or": (
        (SubClassOf(ax.And((A, ax.Or((B, C)))), H),),
        "x a A. x a C. y a A. z a B.",
        "x",
        "y z",
    ),
    "case analysis": (
        (SubClassOf(A, ax.Or((B, C))), SubClassOf(B, H), SubClassOf(C, H)),
        "x a A. y a D.",
        "x",
        "y",
    ),
    "not": ((SubClassOf(ax.Not(A), H), ax.DisjointClasses((A, B))), "x a B. y a A. z a C.", "x", "y z"),
    "some": ((SubClassOf(ax.Some(r, A), H),), "x r y. y a A. z r x.", "x", "y z"),
    "some, of an inverse": ((SubClassOf(ax.Some(Inverse(r), A), H),), "x r y. x a A.", "y", "x"),
    "only, on the right": ((SubClassOf(A, ax.Only(r, H)),), "x r y. x a A. z r x.", "y", "x"),
    "only, on the left": (
        (SubClassOf(ax.Only(r, A), H), ax.Functional(r)),
        "x r y. y a A. z r w.",
        "x",
        "z",
    ),
    "value": ((SubClassOf(ax.Value(r, t("a")), H),), "x r a. y r b.", "x", "y"),
    "one of": ((SubClassOf(ax.OneOf((t("x"), t("y"))), H),), "z a A.", "x y", "z"),
    "self": ((SubClassOf(ax.HasSelf(r), H),), "x r x. y r x.", "x", "y"),
    "min": (
        (SubClassOf(ax.Min(2, r, A), H),),
        "x r y. x r z. y owl:differentFrom z. y a A. z a A. w r y. w r z. w r v. v a A. w r x.",
        "x w",
        "y",
    ),
    "min without different names": ((SubClassOf(ax.Min(2, r, ax.TOP), H),), "x r y. x r z.", "", "x"),
    "max": ((SubClassOf(ax.Max(1, r, ax.TOP), H), ax.Functional(r)), "x a A.", "x", ""),
    "max, on the right, makes equal": (
        (SubClassOf(A, ax.Max(1, r, ax.TOP)),),
        "x a A. x r y. x r z. y a H.",
        "y z",
        "x",
    ),
    "exactly": (
        (SubClassOf(A, ax.Exactly(1, r, B)), SubClassOf(ax.Some(r, B), H)),
        "x a A. y a B.",
        "x",
        "y",
    ),
    "a subproperty": (
        (ax.SubProperty(r, s), SubClassOf(ax.Some(s, ax.TOP), H)),
        "x r y. z u y.",
        "x",
        "y z",
    ),
    "a chain": (
        (ax.SubChain((r, Inverse(s)), u), SubClassOf(ax.Value(u, t("z")), H)),
        "x r y. z s y. w r v.",
        "x",
        "y w",
    ),
    "equivalent properties": (
        (ax.EquivalentProperties((r, s)), SubClassOf(ax.Some(s, ax.TOP), H)),
        "x r y.",
        "x",
        "y",
    ),
    "inverse properties": (
        (ax.InverseProperties(r, s), SubClassOf(ax.Some(s, ax.TOP), H)),
        "x r y.",
        "y",
        "x",
    ),
    "a domain": ((ax.Domain(r, H),), "x r y.", "x", "y"),
    "a range": ((ax.Range(r, H),), "x r y.", "y", "x"),
    "functional": ((ax.Functional(r), ax.Domain(s, H)), "x r y. x r z. y s w.", "y z", "x"),
    "inverse functional": ((ax.InverseFunctional(r), ax.Domain(s, H)), "x r z. y r z. y s w.", "x y", "z"),
    "reflexive": ((ax.Reflexive(r), SubClassOf(ax.Some(r, A), H)), "x a A. y a B.", "x", "y"),
    "symmetric": ((ax.Symmetric(r), SubClassOf(ax.Value(r, t("x")), H)), "x r y.", "y", "x"),
    "transitive": ((ax.Transitive(r), SubClassOf(ax.Value(r, t("z")), H)), "x r y. y r z.", "x y", "z"),
    "a data property below another": (
        (ax.SubDataProperty(d, e), SubClassOf(ax.DataValue(e, lit(5)), H)),
        "x d 5. y d 6.",
        "x",
        "y",
    ),
    "equivalent data properties": (
        (ax.EquivalentDataProperties((d, e)), SubClassOf(ax.DataSome(e, INT), H)),
        'x d 5. y d "5".',
        "x",
        "y",
    ),
    "a data domain": ((ax.DataDomain(d, H),), "x d 5. y e 5.", "x", "y"),
    "facets": (
        (SubClassOf(ax.DataSome(d, facet("integer", minExclusive=lit(5), maxInclusive=lit(9))), H),),
        "x d 9. y d 5. z d 10.",
        "x",
        "y z",
    ),
    "data ranges": (
        (
            SubClassOf(
                ax.DataSome(
                    d, ax.DataAnd((INT, ax.DataNot(ax.DataOr((ax.DataOneOf((lit(1),)), facet("byte"))))))
                ),
                H,
            ),
        ),
        'x d 1000. y d 1. z d 7. w d "text".',
        "x",
        "y z w",
    ),
    "data only": (
        (SubClassOf(ax.DataOnly(d, facet("integer", minInclusive=lit(0))), H), ax.FunctionalData(d)),
        "x d 5. y d -5.",
        "x",
        "y",
    ),
    "data counting": (
        (SubClassOf(ax.DataMin(2, d, INT), H), SubClassOf(ax.DataExactly(1, e, INT), ax.DataMax(0, d, INT))),
        "x d 5. x d 6. y d 5.",
        "x",
        "y",
    ),
    "a named datatype": (
        (
            ax.DatatypeDefinition(t("Age"), facet("integer", minInclusive=lit(0))),
            SubClassOf(ax.DataSome(d, ax.Datatype(t("Age"))), H),
        ),
        "x d 5. y d -5.",
        "x",
        "y",
    ),
    "a key": (
        (ax.HasKey(A, (), (d,)), ax.Domain(s, H)),
        "x a A. y a A. z a B. x d 5. y d 5. z d 5. y s w. _:b a A. _:b d 5.",
        "x y",
        "z _:b",
    ),
    "the same": ((SubClassOf(A, H),), "x a A. x owl:sameAs y. z a B.", "x y", "z"),
    "the universal role": (
        (SubClassOf(ax.Some(ax.TOP_OBJECT_PROPERTY, A), H),),
        "x a A. y a B.",
        "x y",
        "",
    ),
    "an inverse and an existential": (
        (SubClassOf(A, ax.Some(r, B)), SubClassOf(ax.Some(Inverse(r), A), C), SubClassOf(ax.Some(r, C), H)),
        "x a A. y a B.",
        "x",
        "y",
    ),
    "T's own assertions": (
        (ax.PropertyAssertion(r, t("x"), t("y")), ax.ClassAssertion(A, t("y")), SubClassOf(ax.Some(r, A), H)),
        "z a B.",
        "x",
        "y z",
    ),
    "T's negative assertions": (
        (
            ax.NegativePropertyAssertion(r, t("x"), t("y")),
            ax.NegativeDataAssertion(d, t("x"), lit(5)),
            SubClassOf(ax.Not(ax.Value(r, t("y"))), H),
        ),
        "z r y.",
        "x",
        "z",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_every_kind_of_axiom_means_the_same_to_hermit(case: str) -> None:
    axioms, abox, yes, no = CASES[case]
    T = ontology(*axioms, SubClassOf(H, ax.TOP), data="d e", classes="A B C D H", roles="r s u")
    facts = [a for triple in triples(abox) if (a := T.assertion(triple))]
    assert len(facts) == len(triples(abox))
    names = [*yes.split(), *no.split()]
    goals = [ax.ClassAssertion(H, n if n.startswith("_:") else t(n)) for n in names]
    expected = [True] * len(yes.split()) + [False] * len(no.split())
    assert shared_reasoner().entails(T, facts, goals) == expected
    assert [shared_reasoner().entails_one(T, facts, goal) for goal in goals] == expected


CLASHES: dict[str, tuple[tuple[Axiom, ...], str]] = {
    "disjoint classes": ((ax.DisjointClasses((A, B)),), "x a A. x a B."),
    "a class disjoint with itself": ((ax.DisjointClasses((A, A, B)),), "x a A."),
    "disjoint properties": ((ax.DisjointProperties((r, s)),), "x r y. x s y."),
    "a property disjoint with itself": ((ax.DisjointProperties((r, r)),), "x r y."),
    "disjoint data properties": ((ax.DisjointDataProperties((d, e)),), "x d 5. x e 5."),
    "a data property disjoint with itself": ((ax.DisjointDataProperties((d, d)),), "x d 5."),
    "a disjoint union of one class twice": ((ax.DisjointUnion(t("A"), (B, B)),), "x a A."),
    "irreflexive": ((ax.Irreflexive(r),), "x r x."),
    "asymmetric": ((ax.Asymmetric(r),), "x r y. y r x."),
    "a data range": ((ax.DataPropertyRange(d, INT),), 'x d "text".'),
    "a functional data property": ((ax.FunctionalData(d),), "x d 5. x d 6."),
    "different and the same": ((), "x owl:sameAs y. x owl:differentFrom y."),
    "different from itself": ((), "x owl:differentFrom x."),
    "functional and different": ((ax.Functional(r),), "x r y. x r z. y owl:differentFrom z."),
    "nothing": ((), "x a owl:Nothing."),
    "what T denies": ((ax.NegativePropertyAssertion(r, t("x"), t("y")),), "x r y."),
    "what T denies of a transitive property": (
        (ax.Transitive(r), ax.NegativePropertyAssertion(r, t("x"), t("z"))),
        "x r y. y r z.",
    ),
    "what T denies of a value": (
        (ax.NegativeDataAssertion(d, t("x"), lit("5.0", "decimal")),),
        "x d 5.",
    ),
}


@pytest.mark.parametrize("case", CLASHES)
def test_a_clash_is_seen_and_is_gone_with_any_triple_of_it(case: str) -> None:
    axioms, abox = CLASHES[case]
    T = ontology(*axioms, data="d e", classes="A B", roles="r s")
    facts = [a for triple in triples(abox) if (a := T.assertion(triple))]
    reasoner = shared_reasoner()
    assert not reasoner.consistent(T, facts)
    assert reasoner.entails(T, facts, [ax.ClassAssertion(A, t("x"))]) is INCONSISTENT
    for i in range(len(facts)):
        assert reasoner.consistent(T, facts[:i] + facts[i + 1 :])


def test_a_functional_property_with_equal_values_of_different_types_is_no_clash() -> None:
    T = ontology(ax.FunctionalData(d), data="d")
    same = [ax.DataAssertion(d, t("x"), lit(value, kind)) for value, kind in
            (("5", "integer"), ("+05", "byte"), ("5.0", "decimal"))]  # fmt: skip
    assert shared_reasoner().consistent(T, same)
    assert not shared_reasoner().consistent(T, [*same, ax.DataAssertion(d, t("x"), lit("5", "double"))])


LITERALS = {
    ("2026-01-01T10:00:00Z", "dateTime"): ("dateTime", "2026-01-01T11:00:00+01:00"),
    ("2026-01-01T10:00:00", "dateTime"): ("dateTime", "2026-01-01T10:00:00.000000Z"),
    ("2026-01-01", "date"): ("date", "2026-01-01Z"),
    ("10:00:00", "time"): ("time", "10:00:00Z"),
    ("1", "boolean"): ("boolean", "true"),
    ("1.50", "float"): ("float", "15e-1"),
    ("INF", "double"): ("double", "+INF"),
    ("0aFf", "hexBinary"): ("hexBinary", "0AFF"),
}


@pytest.mark.parametrize("one", LITERALS)
def test_literals_mean_what_they_mean_to_the_rules(one: tuple[str, str]) -> None:
    kind, other = LITERALS[one]
    T = ontology(
        SubClassOf(ax.DataValue(d, lit(other, kind)), H),
        SubClassOf(ax.DataSome(d, ax.Datatype(xsd(kind))), A),
        SubClassOf(ax.DataSome(d, ax.Datatype(xsd("integer"))), B),
        SubClassOf(ax.DataSome(d, ax.Datatype(xsd("string"))), C),
        data="d",
    )
    fact = ax.DataAssertion(d, t("x"), lit(*one))
    goals = [ax.ClassAssertion(k, t("x")) for k in (H, A, B, C)]
    assert shared_reasoner().entails(T, [fact], goals) == [True, True, False, False]


@pytest.mark.parametrize("datatype", ["double", "float", "decimal", "integer", "string", "boolean", "date"])
def test_a_datatype_holds_its_own_values_and_no_others(datatype: str) -> None:
    """HermiT alone thinks that every literal is a double, and a float."""
    T = ontology(SubClassOf(ax.DataSome(d, ax.Datatype(xsd(datatype))), H), data="d")
    values = {"integer": "3", "decimal": "2.5", "double": "NaN", "float": "1", "string": "x"}
    values |= {"boolean": "true", "date": "2026-01-01", "dateTime": "2026-01-01T00:00:00Z"}
    facts = [ax.DataAssertion(d, t(kind), lit(value, kind)) for kind, value in values.items()]
    answers = shared_reasoner().entails(T, facts, [ax.ClassAssertion(H, t(kind)) for kind in values])
    expected = {datatype, "integer"} if datatype == "decimal" else {datatype}
    assert answers == [kind in expected for kind in values]


def test_date_times_are_ordered_to_the_microsecond() -> None:
    limit = lit("2026-01-01T10:00:00.000001Z", "dateTime")
    T = ontology(SubClassOf(ax.DataSome(d, facet("dateTime", minExclusive=limit)), H), data="d")
    facts = [
        ax.DataAssertion(d, t("x"), lit("2026-01-01T10:00:00.000002", "dateTime")),
        ax.DataAssertion(d, t("y"), limit),
        ax.DataAssertion(d, t("z"), lit("2027-01-01", "date")),
    ]
    goals = [ax.ClassAssertion(H, t(n)) for n in "xyz"]
    assert shared_reasoner().entails(T, facts, goals) == [True, False, False]


@pytest.mark.parametrize(
    ("literal", "holding"),
    [
        (lit("five"), "Literal"),
        ('"2026"^^<http://www.w3.org/2001/XMLSchema#gYear>', "Literal Year"),
        ('"hot"@en', "Literal Lang Plain"),
        ('"hot"@x-lab', "Literal Lang Plain"),
        ('"hot"@sr-Latn-RS', "Literal Lang Plain"),
        ('"a\\u0001b"', "Literal Plain String"),
        ('"hot"', "Literal Plain String"),
    ],
)
def test_unknown_and_ill_typed_literals_are_values_of_their_own(literal: str, holding: str) -> None:
    ranges = {
        "Literal": ax.ANY_LITERAL,
        "Year": ax.Datatype(xsd("gYear")),
        "Lang": ax.Datatype(f"<{ax.RDF}langString>"),
        "Plain": ax.Datatype(f"<{ax.RDF}PlainLiteral>"),
        "String": ax.Datatype(xsd("string")),
        "Int": INT,
        "Real": ax.Datatype(f"<{ax.OWL}real>"),
    }
    T = ontology(*(SubClassOf(ax.DataSome(d, range), c(name)) for name, range in ranges.items()), data="d")
    goals = [ax.ClassAssertion(c(name), t("x")) for name in ranges]
    answers = shared_reasoner().entails(T, [ax.DataAssertion(d, t("x"), literal)], goals)
    assert answers == [name in holding.split() for name in ranges]


def test_hermits_bug_with_an_implied_symmetry_is_worked_around() -> None:
    r1, r2, r3 = t("r1"), t("r2"), t("r3")
    T = ontology(
        ax.Transitive(r2),
        ax.SubProperty(r2, r3),
        ax.InverseProperties(r1, r3),
        ax.Symmetric(r1),
        SubClassOf(ax.Value(r3, t("a0")), H),
    )
    facts = [ax.PropertyAssertion(r2, t("a0"), t("a3")), ax.PropertyAssertion(r2, t("a3"), t("a1"))]
    assert shared_reasoner().entails_one(T, facts, ax.ClassAssertion(H, t("a1")))


def test_other_questions_than_class_membership() -> None:
    T = ontology(ax.Functional(r), ax.Transitive(s), SubClassOf(A, ax.Not(B)), data="d", classes="A B")
    facts = [T.assertion(x) for x in triples("x r y. x r z. x s y. y s w. x d 5. x a A. y a B.")]
    reasoner = shared_reasoner()
    x, y, z, w = (t(n) for n in "xyzw")
    asked = {
        ax.SameIndividual((y, z)): True,
        ax.SameIndividual((x, y)): False,
        ax.DifferentIndividuals((x, y)): True,
        ax.PropertyAssertion(s, x, w): True,
        ax.PropertyAssertion(s, w, x): False,
        ax.DataAssertion(d, x, lit("5.0", "decimal")): True,
        ax.NegativePropertyAssertion(r, x, x): True,
        ax.NegativeDataAssertion(d, y, lit(5)): False,
        ax.ClassAssertion(ax.Not(B), x): True,
        ax.ClassAssertion(ax.Some(r, B), x): True,
        ax.ClassAssertion(ax.TOP, t("nobody")): True,
        ax.ClassAssertion(A, x): True,
    }
    answers = reasoner.entails(T, [f for f in facts if f], list(asked))
    assert answers == list(asked.values())


def test_questions_leave_nothing_behind() -> None:
    T = ontology(SubClassOf(ax.Some(r, A), H))
    reasoner = shared_reasoner()
    facts = [ax.PropertyAssertion(r, t("x"), t("y")), ax.ClassAssertion(A, t("y"))]
    goal = ax.ClassAssertion(H, t("x"))
    assert [reasoner.entails_one(T, facts[:n], goal) for n in (2, 1, 0, 2, 0)] == [
        True,
        False,
        False,
        True,
        False,
    ]


def test_the_hierarchy_of_the_named_classes() -> None:
    T = ontology(
        SubClassOf(A, ax.Or((B, C))),
        SubClassOf(B, D),
        SubClassOf(C, D),
        ax.EquivalentClasses((H, ax.Some(r, A))),
        ax.EquivalentClasses((E, ax.Min(1, r, A))),
        ax.EquivalentClasses((c("No"), ax.And((A, ax.Not(D))))),
    )
    hierarchy = shared_reasoner().classify(T)
    assert isinstance(hierarchy, Hierarchy)
    assert hierarchy.unsatisfiable == (t("No"),)
    assert (t("E"), t("H")) in hierarchy.groups
    assert hierarchy.parents[t("A")] == (t("D"),)
    pairs = set(hierarchy.subsumptions())
    assert {(t("A"), t("D")), (t("E"), t("H")), (t("H"), t("E")), (t("No"), ax.NOTHING)} <= pairs
    assert (t("D"), t("A")) not in pairs


def test_an_ontology_without_a_model_has_no_hierarchy() -> None:
    T = ontology(ax.ClassAssertion(A, t("x")), SubClassOf(A, ax.BOTTOM))
    assert shared_reasoner().classify(T) is INCONSISTENT


def test_an_assertion_of_a_class_without_instances_is_inconsistent() -> None:
    T = ontology(SubClassOf(A, ax.Not(A)), SubClassOf(B, C))
    reasoner = shared_reasoner()
    goals = [ax.ClassAssertion(one, t(name)) for one in (B, C) for name in "xy"]
    assert reasoner.entails(T, [ax.ClassAssertion(B, t("x"))], goals) == [True, False, True, False]
    assert reasoner.entails(T, [ax.ClassAssertion(A, t("x"))], goals) is INCONSISTENT


def test_what_is_outside_owl_2_dl_is_an_error_that_says_so() -> None:
    T = ontology(ax.Transitive(r), SubClassOf(A, ax.Max(1, r, B)))
    with pytest.raises(ObepError) as caught:
        shared_reasoner().consistent(T)
    assert caught.value.code == "OBEP342"
    assert shared_reasoner().consistent(ontology(SubClassOf(A, B)))


def test_a_question_that_takes_too_long_is_given_up() -> None:
    """A pigeonhole problem: ten pigeons, nine holes; every hole for every pigeon is tried."""
    pigeons = [t(f"p{i}") for i in range(10)]
    T = ontology(
        SubClassOf(A, ax.Or(tuple(c(f"Hole{i}") for i in range(9)))),
        *(SubClassOf(ax.Some(r, c(f"Hole{i}")), ax.Not(c(f"Hole{i}"))) for i in range(9)),
    )
    facts = [ax.ClassAssertion(A, p) for p in pigeons]
    facts += [ax.PropertyAssertion(r, p, q) for p in pigeons for q in pigeons if p < q]
    with pytest.raises(ObepError) as caught:
        Reasoner(timeout=0.3).consistent(T, facts)
    assert caught.value.code == "OBEP343"
