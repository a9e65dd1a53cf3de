"""Compare random groups with oxigraph and rdflib.

`PYTHONPATH=tests python tests/algebra/compare_groups.py oxigraph 0 100000` takes 100,000 seeds. It prints the
seed and the text of each difference, and how many cases had an answer.
"""

from __future__ import annotations

import sys
from collections import Counter

from other_engines import Bag, bag, by_oxigraph, by_rdflib
from random_groups import Choices, Groups, apart, dataset, seeded
from sparql_text import select_text

from obep.algebra.select_node import evaluate
from obep.algebra.translate import translate
from obep.query import ast
from obep.query.walk import walk

FOR_RDFLIB = ("bgp", "bgp", "optional", "union", "filter", "exists", "graph", "window", "group")
"""rdflib 7.6 lets bindings into MINUS, VALUES and sub-selects, repeats pairs of `p?`, and drops a BIND that
errs: these are compared with oxigraph alone."""


def with_oxigraph(c: Choices) -> tuple[str, Bag, Bag]:
    """The text of a random SELECT, its answer here, and that of oxigraph."""
    data, groups = dataset(c), Groups(c)
    select = groups.select(2) if c.chance(20) else ast.Select((), groups.group(2))
    if any(isinstance(node, ast.Exists) for node in walk(select)):
        select = apart(select)
    text, query = select_text(select, data.atoms), translate(select)
    return text, bag(query.columns, evaluate(query, data)), by_oxigraph(text, data, query.columns)


def with_rdflib(c: Choices) -> tuple[str, Bag, Bag]:
    """The same with rdflib, on literals of any form. It forgets solutions that bind nothing."""
    data = dataset(c, unusual=True)
    select = apart(ast.Select((), Groups(c, FOR_RDFLIB, rdflib=True).group(2)), filters=True)
    text, query = select_text(select, data.atoms), translate(select)
    if not query.columns:
        return text, Counter(), Counter()
    found = bag(query.columns, evaluate(query, data)), by_rdflib(text, data, query.columns)
    for answer in found:
        answer.pop(frozenset(), None)
    return text, *found


def main(engine: str, first: int, last: int) -> int:
    compare = with_oxigraph if engine == "oxigraph" else with_rdflib
    answered = different = 0
    for seed in range(first, last):
        text, mine, theirs = compare(seeded(seed))
        answered += bool(mine)
        if mine != theirs:
            different += 1
            print(f"seed {seed}\n{text}\nhere only: {mine - theirs}\nthere only: {theirs - mine}\n")
    print(f"{last - first} cases, {answered} with an answer, {different} differences")
    return different


if __name__ == "__main__":
    sys.exit(bool(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
