"""What the random worlds (tests/worlds) found, as questions to the reasoner."""

from __future__ import annotations

import pytest
from owl import c, ontology, t, xsd

from obep.ontology.hermit.reasoner import INCONSISTENT, Reasoner
from obep.ontology.owl import axioms as ax

pytestmark = pytest.mark.java
LITERAL = ax.Datatype("<http://www.w3.org/2000/01/rdf-schema#Literal>")
DEFINED = ax.DatatypeDefinition(t("D"), LITERAL)


def test_a_datatype_definition_alone_is_no_obstacle() -> None:
    T = ontology(DEFINED, ax.SubClassOf(c("A"), c("B")))
    a, b = (ax.ClassAssertion(c(name), t("x")) for name in "AB")
    assert Reasoner().entails(T, [a], [b]) == [True]


def test_a_complement_of_all_literals_has_no_value() -> None:
    none = ax.DataSome(t("d"), ax.DataNot(ax.Datatype(t("D"))))
    T = ontology(DEFINED, ax.SubClassOf(c("A"), none))
    assert not Reasoner().consistent(T, [ax.ClassAssertion(c("A"), t("x"))])


def test_a_domain_of_values_alone_is_no_model() -> None:
    integer = ax.Datatype(xsd("integer"))
    string = ax.Datatype(xsd("string"))
    T = ontology(ax.SubClassOf(ax.TOP, ax.DataSome(t("d"), integer)), ax.DataPropertyRange(t("d"), string))
    assert not Reasoner().consistent(T)
    assert Reasoner().classify(T) is INCONSISTENT
