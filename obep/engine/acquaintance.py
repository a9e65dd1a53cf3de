"""Whom the static graph knows, and whom it probably means, of the individuals that items name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from obep.model import RDF_TYPE, Term
from obep.ontology.static_names import COMPARED, individuals_of, unknown_to
from obep.query.nearest import misspelt, split

if TYPE_CHECKING:
    from obep.ontology.compile import Bundle

MOST_KNOWN = 1_000_000
"""Triples of a static graph that is looked through for individuals."""
EXAMPLES = 10
"""Unknown individuals that are looked for, the commonest."""


class Known:
    """The individuals of T and K, as far as somebody asks."""

    def __init__(self, bundle: Bundle, asked: Iterable[Term]) -> None:
        self._bundle = bundle
        self._unknown = unknown_to(bundle.k, set(asked) - bundle.t.individuals)

    def __contains__(self, individual: Term) -> bool:
        return individual not in self._unknown

    def hint(self, unknown: Counter[Term], asked: Iterable[Term], *, alone: bool) -> str:
        """An unknown one and the known one that was probably meant; nothing where they may be right.

        `asked` are the classes and properties that must be said of them. That most of them are misspelt,
        or all of a namespace that K never uses, is no chance. Else K may list the few that matter. `alone`:
        no others, here or in another stream, are known or told of, for which the query may well be meant.
        """
        facts, words = self._bundle.k.facts, self._bundle.saying(asked)
        if words.isdisjoint((*facts.classes, *facts.properties)):
            return ""
        some = sorted(unknown, key=lambda one: (-unknown[one], one))[:EXAMPLES]
        meant = {one: other for one in some if (other := self._meant(one))}
        if 2 * len(meant) >= len(some):
            one, other = next(iter(meant.items()))
            return f"is {one.strip('<>')} {other.strip('<>')}?"
        if not alone or any(split(one)[0] in self._namespaces for one in unknown):
            return ""
        other = min(s for s, p, o in self._bundle.k.once() if (o if p == RDF_TYPE else p) in words)
        if other[0] != "<":
            return ""
        return f"it knows {other.strip('<>')}, but none of the namespace of {some[0].strip('<>')}"

    def _meant(self, individual: Term) -> Term | None:
        namespace, local = split(individual)
        same = self._by_name.get(local.lower(), ())
        here = [one for one in same if split(one)[0] == namespace]
        if here:
            return min(here)
        if namespace not in self._namespaces:
            return min((one for one in same if any(map(str.isalpha, local))), default=None)
        return misspelt(individual, self._all) if len(self._all) <= COMPARED else None

    @cached_property
    def _all(self) -> frozenset[Term]:
        return individuals_of(self._bundle.k)

    @cached_property
    def _namespaces(self) -> frozenset[str]:
        return frozenset(split(one)[0] for one in self._all)

    @cached_property
    def _by_name(self) -> Mapping[str, list[Term]]:
        found: dict[str, list[Term]] = {}
        for one in self._all:
            found.setdefault(split(one)[1].lower(), []).append(one)
        return found
