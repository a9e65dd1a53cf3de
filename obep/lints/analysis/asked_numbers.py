"""The properties of a stream's items of which numbers are asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from obep.lints.analysis.number_and_text import numeric_properties
from obep.lints.stream_stats import StreamStats
from obep.model import Term
from obep.ontology.bundle.stream_readers import Listening
from obep.ontology.rules.findable_numbers import Asked

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle


@dataclass(frozen=True)
class AskedNumbers:
    """What the events that read a stream ask of its numbers."""

    here: Listening
    numeric: frozenset[Term]
    """The properties whose values the definitions of the query want to be numbers."""
    asked: Mapping[Term, Asked]
    """The properties of which the ontology or the query asks numbers."""

    @classmethod
    def of(cls, bundle: Bundle, here: Listening) -> AskedNumbers | None:
        """None if no event asks for numbers."""
        numeric, asked = frozenset(numeric_properties(here.events)), bundle.asked_numbers(here)
        return cls(here, numeric, asked) if numeric or asked else None

    def __contains__(self, property: Term) -> bool:
        return property in self.numeric or property in self.asked

    def number_as_text(self, property: Term, literal: Term) -> bool:
        """Whether a literal is text that looks like a number, where nothing takes text."""
        no_text = property in self.numeric or (property in self.asked and not self.asked[property].text)
        if not no_text or literal[-1] != '"':
            return False
        try:
            float(literal[1:-1])
        except ValueError:
            return False
        return True


def values_of(stats: StreamStats, stream: str, property: Term, count: int, total: int) -> str:
    """So many values of a property, as the subject of a sentence."""
    which = "the" if count == total else f"{count:,} of {total:,}"
    return f"{stream}: {which} values of {property.strip('<>')}{stats.where(stream)}"
