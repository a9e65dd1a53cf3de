"""The template of a CONSTRUCT: a triple for each pattern whose terms are there."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from obep.guards.guard_terms import term_of
from obep.model import Term, Triple
from obep.query import ast


def instantiate(
    pattern: ast.TriplePattern, values: Mapping[str, Term], blank: Callable[[str], Term]
) -> Triple | None:
    """The triple of a pattern, with `blank` for its blank nodes; nothing if it would be none of RDF's."""
    found: list[Term] = []
    for place, part in enumerate((pattern.subject, pattern.predicate, pattern.object)):
        if not isinstance(part, ast.Var):
            term: Term | None = term_of(part)
        elif part.name.startswith("_:"):
            term = blank(part.name)
        else:
            term = values.get(part.name)
        if term is None or (place < 2 and term.startswith('"')) or (place == 1 and not term.startswith("<")):
            return None
        found.append(term)
    return found[0], found[1], found[2]
