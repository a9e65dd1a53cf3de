"""CONSTRUCT: the triples that an occurrence adds (SPEC §8)."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b

from obep.guards.guard_terms import term_of
from obep.model import Occurrence, Term, Triple
from obep.query.ast import Literal, Name, TriplePattern, Var
from obep.query.free_variables import HIDDEN, THIS


def construct(template: tuple[TriplePattern, ...], occurrence: Occurrence) -> tuple[Triple, ...]:
    """The template for each binding, without triples that have an unbound variable or a literal subject.

    A blank node of the template is a new one for each occurrence and binding, with one label in every run.
    """
    if not template:
        return ()
    found: dict[Triple, None] = {}
    for number, binding in enumerate(occurrence.bindings or ({},)):

        def value(
            part: Var | Name | Literal, number: int = number, binding: Mapping[str, Term] = binding
        ) -> Term | None:
            if not isinstance(part, Var):
                return term_of(part)
            if part.name == THIS:
                return occurrence.individual
            if part.name.startswith(HIDDEN):
                mark = blake2b(f"<{occurrence.id}>\0{number}".encode(), digest_size=8).hexdigest()
                return f"_:c{mark}{part.name.removeprefix(HIDDEN)}"
            return binding.get(part.name)

        for pattern in template:
            s, p, o = value(pattern.subject), value(pattern.predicate), value(pattern.object)
            if s and p and o and not s.startswith('"') and p.startswith("<"):
                found[s, p, o] = None
    return tuple(found)
