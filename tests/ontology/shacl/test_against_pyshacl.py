"""Rules add what pyshacl adds (advanced, iterate_rules, until it adds nothing), triple for triple; validation
gives the same answer and the same results.

OBEP_SHACL_CASES is how many models are drawn of each kind. `shacl_trials.py` draws them by seeds.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, given, settings
from pyshacl_judge import rules_by_obep, rules_by_pyshacl, validated_by_obep, validated_by_pyshacl
from random_shapes import HEAD, models, validations

from obep.model import Triple
from obep.ontology.owl.load import _parse

CASES = int(os.environ.get("OBEP_SHACL_CASES", "60"))
NS = "http://example.org/m#"
some = settings(max_examples=CASES, deadline=None, suppress_health_check=list(HealthCheck))


def triples(text: str) -> list[Triple]:
    return _parse(text.encode(), "turtle")


@pytest.mark.slow
@some
@given(models())
def test_rules_add_what_pyshacl_adds(text: str) -> None:
    model = triples(text)
    assert rules_by_obep(model) == rules_by_pyshacl(model)


@pytest.mark.slow
@some
@given(validations())
def test_validation_gives_the_answer_and_the_results_of_pyshacl(text: str) -> None:
    model = triples(text)
    assert validated_by_obep(model) == validated_by_pyshacl(model)


# --- where pyshacl is wrong


def test_a_text_is_not_greater_than_a_number_in_the_sparql_of_a_rule() -> None:
    """SPARQL 1.1, 17.3: `>` of a string and a number is a type error, and the FILTER drops the row.

    rdflib orders any two literals, so pyshacl adds a triple.
    """
    model = triples(
        f"""{HEAD} :e :v "x" .
        :S sh:targetNode :e ; sh:rule [ a sh:SPARQLRule ; sh:prefixes <http://example.org/m> ;
          sh:construct "CONSTRUCT {{ $this :r :b }} WHERE {{ $this :v ?v FILTER (?v > 1) }}" ] ."""
    )
    assert rules_by_obep(model) == set()
    assert rules_by_pyshacl(model) == {(f"<{NS}e>", f"<{NS}r>", f"<{NS}b>")}
