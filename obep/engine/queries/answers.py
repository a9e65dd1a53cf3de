"""The answers of a query: rows or graphs, and what changes from one to the next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial

from obep.algebra.evaluation import Row
from obep.algebra.template import instantiate
from obep.model import Term, Triple, id_digest
from obep.query import ast

Records = Sequence[tuple[Term | None, ...]]
"""The rows of an answer, or its triples."""
TRUTH = {
    truth: f'"{str(truth).lower()}"^^<http://www.w3.org/2001/XMLSchema#boolean>' for truth in (True, False)
}


def less(some: Records, others: Records) -> list[tuple[Term | None, ...]]:
    """The records of one answer that another has not, as often as it has fewer of them; in their order."""
    left = Counter(others)
    found = []
    for one in some:
        if left[one]:
            left[one] -= 1
        else:
            found.append(one)
    return found


def graph(
    query: str, template: Iterable[ast.TriplePattern], columns: Sequence[str], rows: list[Row]
) -> Records:
    """The triples that a template makes of solutions, each once, in their order.

    A blank node of the template is one for each solution; its label is a hash of both.
    """
    found: dict[Triple, None] = {}
    for row in rows:
        values = {name: value for name, value in zip(columns, row, strict=True) if value is not None}
        for pattern in template:
            triple = instantiate(pattern, values, partial(_blank, query, row))
            if triple is not None:
                found[triple] = None
    return sorted(found)


def _blank(query: str, row: Row, name: str) -> Term:
    said = "\0".join([query, name, *(value or "" for value in row)])
    return f"_:b{id_digest(said.encode())}"
