"""CONSTRUCT: the triples that an occurrence adds (SPEC §8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b

from obep.guards.mentions import HIDDEN, THIS
from obep.guards.terms import term_of
from obep.model import Term, Triple
from obep.query.ast import TriplePattern, Var


def construct(
    template: tuple[TriplePattern, ...], this: Term, bindings: Sequence[Mapping[str, Term]]
) -> tuple[Triple, ...]:
    """The template for each binding, without triples that have an unbound variable or a literal subject.

    A blank node of the template is a new one for each binding, with the same label in every run.
    """
    if not template:
        return ()
    found: dict[Triple, None] = {}
    for number, binding in enumerate(bindings or ({},)):
        mark = blake2b(f"{this}\0{number}".encode(), digest_size=8).hexdigest()

        def value(part: object, binding: Mapping[str, Term] = binding, mark: str = mark) -> Term | None:
            if not isinstance(part, Var):
                return term_of(part)  # type: ignore[arg-type]
            if part.name == THIS:
                return this
            if part.name.startswith(HIDDEN):
                return f"_:c{mark}{part.name.removeprefix(HIDDEN)}"
            return binding.get(part.name)

        for pattern in template:
            s, p, o = value(pattern.subject), value(pattern.predicate), value(pattern.object)
            if s and p and o and not s.startswith('"') and p.startswith("<"):
                found[s, p, o] = None
    return tuple(found)
