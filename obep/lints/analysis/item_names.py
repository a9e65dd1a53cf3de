"""The names that the triples of items use, and those that a query can look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from obep.lints.stream_stats import NAME, StreamStats
from obep.model import RDF_TYPE, Term, Triple

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle

Kind = Literal["class", "literal", "link"]
Use = tuple[Kind, Term]
"""A name and how a triple uses it: as a class, or as a property of a literal or of an individual."""


def use_of(triple: Triple) -> Use:
    """The name that a triple uses."""
    _, p, o = triple
    if p == RDF_TYPE:
        return "class", o
    return ("literal" if o[0] == '"' else "link"), p


@dataclass(frozen=True)
class KnownNames:
    """The names of the ontology and the query, by their use in triples."""

    by_kind: Mapping[Kind, frozenset[Term]]

    @classmethod
    def of(cls, bundle: Bundle) -> KnownNames | None:
        """None if a guard asks for every property: then any name may matter."""
        definitions = bundle.definitions
        if definitions.any_predicate:
            return None
        classes, links, literals = bundle.matters
        return cls(
            {
                "class": frozenset((*classes, *definitions.guard_classes)),
                "literal": frozenset((*literals, *definitions.guard_roles)),
                "link": frozenset((*links, *definitions.guard_roles)),
            }
        )

    def __contains__(self, use: Use) -> bool:
        return use[1] in self.by_kind[use[0]]

    @property
    def classes(self) -> frozenset[Term]:
        return self.by_kind["class"]

    @property
    def properties(self) -> frozenset[Term]:
        return self.by_kind["literal"] | self.by_kind["link"]


def names_in(stats: StreamStats, stream: str) -> Iterator[tuple[Use, int]]:
    """The names that observed items of a stream use, each with how many items use it."""
    for fact, count in stats.facts.items():
        if fact[:2] == (NAME, stream):
            kind: Kind = fact[2]  # type: ignore[assignment]
            yield (kind, fact[3]), count


def names_by_stream(stats: StreamStats) -> dict[str, Counter[Term]]:
    """By stream, the names that its observed items use, however they use them."""
    found: dict[str, Counter[Term]] = {}
    for fact, count in stats.facts.items():
        if fact[0] == NAME:
            found.setdefault(fact[1], Counter())[fact[3]] += count
    return found
