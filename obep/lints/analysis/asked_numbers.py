"""The properties of a stream's items of which numbers are asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from obep.algebra.aggregates.accumulator import number_of
from obep.lints.analysis.number_and_text import aggregated_properties, numeric_properties
from obep.lints.stream_context import label
from obep.lints.stream_stats import StreamStats
from obep.model import Item, Term, Triple
from obep.ontology.bundle.stream_readers import Listening
from obep.ontology.rules.findable_numbers import Asked

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle


@dataclass(frozen=True)
class AskedNumbers:
    """The conditions on numbers of the events that read a stream."""

    here: Listening
    numeric: frozenset[Term]
    """The properties whose values must be numbers by the definitions of the query."""
    asked: Mapping[Term, Asked]
    """The properties of which the ontology or the query asks numbers."""
    aggregated: frozenset[Term] = frozenset()
    """The properties whose values a state by rows computes with: one that is no number spoils the figure."""
    only_beside: frozenset[Term] = frozenset()
    """Those of them of which an individual has to have a number, or it makes no row."""

    @classmethod
    def of(cls, bundle: Bundle, here: Listening) -> AskedNumbers | None:
        """None if no event asks for numbers."""
        numeric, asked = frozenset(numeric_properties(here.events)), bundle.asked_numbers(here)
        found = set(aggregated_properties(bundle.linked.states.values(), bundle.linked.events))
        computed = frozenset(p for p, _ in found)
        beside = computed - {p for p, needs_number in found if not needs_number}
        return cls(here, numeric, asked, computed, beside) if numeric or asked or computed else None

    def __contains__(self, property: Term) -> bool:
        return property in self.numeric or property in self.asked

    def number_as_text(self, property: Term, literal: Term) -> bool:
        """Whether a literal is text that looks like a number, where nothing takes text."""
        no_text = property in self.numeric or property in self.aggregated
        no_text = no_text or (property in self.asked and not self.asked[property].text)
        if not no_text or literal[-1] != '"':
            return False
        try:
            float(literal[1:-1])
        except ValueError:
            return False
        return True

    def spoils(self, triple: Triple, item: Item) -> bool:
        """Whether an aggregate has no value because of a triple whose value is no number."""
        s, p, o = triple
        if p not in self.aggregated or number_of(o) is not None:
            return False
        return p not in self.only_beside or any(
            (s, p) == one[:2] and number_of(one[2]) is not None for one in item.triples
        )


def values_of(stats: StreamStats, stream: str, property: Term, count: int, total: int) -> str:
    """So many values of a property, as the subject of a sentence."""
    which = "the" if count == total else f"{count:,} of {total:,}"
    return f"{label(stream)}{which} values of {property.strip('<>')}{stats.where(stream)}"
