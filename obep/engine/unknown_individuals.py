"""OBEP580: individuals in items of whom the static graph should say something, and which it does not know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Container, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from obep.engine.acquaintance import MOST_KNOWN, Known
from obep.engine.along import asked_along, asked_beside, defined, following
from obep.model import RDF_TYPE, Item, Term
from obep.ontology.listening import Listening

if TYPE_CHECKING:
    from obep.ontology.compile import Bundle

NEARLY_ALL = 0.9
"""Of the individuals that items name: who knows some more of them may well wait for these alone."""
Seen = Counter[tuple[str, ...]]
"""How often: `object` with a stream, a property along which more is asked and an individual of which the item
says no more; `subject` with a stream, a property beside which more is asked and an individual that has it;
both with `_told`, and without the individual, where the item says it or the individual has no name."""


@dataclass(frozen=True)
class Expected:
    """What is asked of the individuals in a stream's items, where K may say it."""

    along: Mapping[Term, frozenset[Term]]
    beside: Mapping[Term, Collection[frozenset[Term]]]
    defined: Container[Term]
    """The classes of which nothing more is asked where they are asserted."""

    @classmethod
    def of(cls, bundle: Bundle, here: Listening) -> Expected:
        if not 0 < bundle.k.facts.length <= MOST_KNOWN:
            return cls({}, {}, ())
        return cls(asked_along(bundle, here), asked_beside(bundle, here), defined(bundle))

    def count(self, item: Item, found: Seen) -> None:
        """Counts the individuals of whom more is asked than an item says."""
        if not (self.along or self.beside):
            return
        subjects = {s for s, _, _ in item.triples}
        asserted = any(p == RDF_TYPE and o in self.defined for _, p, o in item.triples)
        for p, o in {(p, o) for _, p, o in item.triples if p in self.along and o[0] != '"'}:
            bare = o[0] == "<" and o not in subjects and not asserted
            found[("object", item.stream, p, o) if bare else ("object_told", item.stream, p)] += 1
        for s, p in {(s, p) for s, p, _ in item.triples if p in self.beside}:
            bare = s[0] == "<" and not asserted
            found[("subject", item.stream, p, s) if bare else ("subject_told", item.stream, p)] += 1


def unknown_individuals(
    bundle: Bundle, seen: Seen, expected: Callable[[str], Expected], *, complete: bool
) -> Iterator[str]:
    """Messages about individuals of whom K should know something, and does not know them."""
    met: dict[tuple[str, str, Term], Counter[Term]] = {}
    for key, count in seen.items():
        if key[0] in ("object", "subject"):
            kind, stream, property, one = key
            met.setdefault((stream, kind, property), Counter())[one] += count
    if not met:
        return
    known = Known(bundle, {one for found in met.values() for one in found})
    elsewhere = {key[1:] for key, found in met.items() if any(one in known for one in found)}
    said: set[tuple[str, str]] = set()
    for (stream, kind, property), found in sorted(met.items()):
        unknown = Counter({one: count for one, count in found.items() if one not in known})
        every = found.total() + seen[f"{kind}_told", stream, property]
        items = sum(seen["name", stream, use, property] for use in ("link", "literal"))
        if items < 2 or unknown.total() < NEARLY_ALL * every:
            continue
        here = expected(stream)
        asked = (
            here.along[property]
            if kind == "object"
            else _lacking(bundle, seen, stream, here.beside[property])
        )
        alone = (kind, property) not in elsewhere
        hint = known.hint(unknown, asked, alone=alone) if asked else ""
        if hint and (stream, hint) not in said:
            said.add((stream, hint))
            which = "the" if unknown.total() == every else f"{unknown.total():,} of {every:,}"
            where = "" if complete else f" in the first {seen['item', stream]:,} items"
            name = property.strip("<>")
            if kind == "object":
                who = f"{which} values of {name}{where} are individuals that the static graph does not know"
            else:
                who = f"the static graph does not know {which} individuals with {name}{where}"
            yield f"{stream}: {who}, and the query asks more of them: {hint}"


def _lacking(bundle: Bundle, seen: Seen, stream: str, sets: Collection[frozenset[Term]]) -> frozenset[Term]:
    """The names of each set that no item of a stream says, where K says them all."""
    facts = bundle.k.facts
    items = following(bundle, {key[-1] for key in seen if key[:2] == ("name", stream)})
    known = following(bundle, {*facts.classes, *facts.properties})
    lacking = [names - items for names in sets]
    return frozenset(name for names in lacking if names <= known for name in names)
