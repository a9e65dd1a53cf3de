"""Many random models with SHACL shapes against pyshacl: what rules add, and what validation reports.

`python tests/ontology/shacl/shacl_trials.py rules|validation SEED LOTS` draws lots of 100 models, each lot
from a seed of its own, and prints the counts. Of a lot with a difference, the first is made small by leaving
triples out, and printed; the same seed draws it again.

Compared when this was written, without a difference: 3,500 models with rules (seeds 100 to 134) and 2,000
with constraints (seeds 100 to 119).
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy
from pyshacl_judge import rules_by_obep, rules_by_pyshacl, validated_by_obep, validated_by_pyshacl
from random_shapes import models, validations

from obep.model import Triple
from obep.ontology.owl.load import _parse

LOT = 100
DIFFER = "the answers differ"
Answer = Callable[[list[Triple]], object]
WAYS: dict[str, tuple[SearchStrategy[str], Answer, Answer]] = {
    "rules": (models(), rules_by_obep, rules_by_pyshacl),
    "validation": (validations(), validated_by_obep, validated_by_pyshacl),
}


def lot(texts: SearchStrategy[str], number: int) -> list[str]:
    """The models of a seed."""
    found: list[str] = []

    @seed(number)
    @settings(
        max_examples=LOT,
        phases=(Phase.generate,),
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(texts)
    def draw(text: str) -> None:
        found.append(text)

    draw()
    return found


def difference(triples: list[Triple], ours: Answer, theirs: Answer) -> str:
    """How obep and pyshacl differ."""
    try:
        expected = theirs(triples)
    except Exception as crash:
        return f"{type(crash).__name__}: pyshacl refuses it"
    try:
        return "" if ours(triples) == expected else DIFFER
    except Exception as crash:
        return f"{type(crash).__name__}: obep refuses it"


def shrunk(triples: list[Triple], fails: Callable[[list[Triple]], bool]) -> list[Triple]:
    """A model that still fails, of which no triple can be left out."""
    size = len(triples)
    while size:
        for first in range(len(triples) - size, -1, -size):
            smaller = triples[:first] + triples[first + size :]
            if fails(smaller):
                triples = smaller
        size //= 2
    return triples


def show(way: str, model: list[Triple]) -> None:
    """Prints a model that differs, made small."""
    _, ours, theirs = WAYS[way]
    how = difference(model, ours, theirs)
    small = shrunk(model, lambda smaller: difference(smaller, ours, theirs) == how)
    print("\n".join(f"{' '.join(triple)} ." for triple in small))
    print(how, f"\npyshacl: {theirs(small)}\nobep: {ours(small)}" if how == DIFFER else "", flush=True)


def main(way: str, first: int, lots: int) -> int:
    """Runs so many lots from a seed on."""
    texts, ours, theirs = WAYS[way]
    compared = wrong = 0
    for number in range(first, first + lots):
        drawn = [_parse(text.encode(), "turtle") for text in lot(texts, number)]
        found = [model for model in drawn if difference(model, ours, theirs)]
        compared += len(drawn)
        wrong += len(found)
        print(f"seed {number}: {len(found)} of {len(drawn)} differ", flush=True)
        if found:
            show(way, found[0])
    print(f"{way}: {compared} models of the seeds {first} to {first + lots - 1}, {wrong} differ")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
