"""OBEP580: individuals in items of whom the static graph should say something, and which it does not know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

from obep.lints.analysis.followed_properties import (
    Along,
    Beside,
    asked_along,
    asked_beside,
    defined,
    following,
)
from obep.lints.analysis.known_individuals import MOST_KNOWN, Known
from obep.lints.analysis.static_names import constructed
from obep.model import RDF_TYPE, Item, Term
from obep.ontology.bundle.stream_readers import Listening

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle

NEARLY_ALL = 0.9
"""Of the individuals that items name: who knows some more of them may well wait for these alone."""
TOLD = "_told"
Seen = Counter[tuple[str, ...]]
"""How often: `object` with a stream, a property along which more is asked and an individual of which the item
says no more; `subject` with a stream, a property beside which more is asked and an individual that has it;
both with `TOLD`, and without the individual, where the item says it or the individual has no name."""


@dataclass(frozen=True)
class Expected:
    """What is asked of the individuals in a stream's items, where K may say it."""

    along: Mapping[Term, Along]
    beside: Mapping[Term, Collection[Beside]]
    defined: Container[Term]
    """The classes of which nothing more is asked where they are asserted."""
    made: frozenset[Term]
    """What occurrences may say, in which the events of the next stratum are looked for."""

    @classmethod
    def of(cls, bundle: Bundle, here: Listening) -> Expected:
        if not 0 < bundle.k.facts.length <= MOST_KNOWN:
            return cls({}, {}, (), frozenset())
        names = frozenset(constructed(bundle))
        made = frozenset(following(bundle, names)) if names else names
        along = {
            property: one
            for property, one in asked_along(bundle, here).items()
            if made.isdisjoint((property, *one.names, *one.ends))
        }
        return cls(along, asked_beside(bundle, here), defined(bundle), made)

    def ends(self, kind: str, property: Term) -> frozenset[Term]:
        """What a property is looked at for; where others serve the same end, one of them may do."""
        return self.along[property].ends if kind == "object" else frozenset((property,))

    def count(self, item: Item, found: Seen) -> None:
        """Counts the individuals of whom more is asked than an item says."""
        if not (self.along or self.beside):
            return
        asserted = any(p == RDF_TYPE and o in self.defined for _, p, o in item.triples)
        links = {(p, o) for _, p, o in item.triples if p in self.along and o[0] != '"'}
        told = links if asserted else links & self._told(item, links)
        enough = {end for p, _ in told for end in self.along[p].ends}
        for p, o in links:
            bare = enough.isdisjoint(self.along[p].ends)
            found[("object", item.stream, p, o) if bare else (f"object{TOLD}", item.stream, p)] += 1
        for s, p in {(s, p) for s, p, _ in item.triples if p in self.beside}:
            bare = s[0] == "<" and not asserted
            found[("subject", item.stream, p, s) if bare else (f"subject{TOLD}", item.stream, p)] += 1

    def _told(self, item: Item, links: Set[tuple[Term, Term]]) -> Set[tuple[Term, Term]]:
        """Those of whom an item says more, as a subject or as what another property leads to."""
        more = {s for s, _, _ in item.triples} if links else set()
        ways = {(p, o) for _, p, o in item.triples} if links else set()
        often = Counter(o for _, o in ways)
        return {(p, o) for p, o in links if o[0] != "<" or o in more or often[o] > 1}


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
    heard = [key for key, found in met.items() if any(one in known for one in found)]
    heard += [(key[1], key[0].removesuffix(TOLD), key[2]) for key in seen if key[0].endswith(TOLD)]
    served = {(kind, end) for stream, kind, one in heard for end in expected(stream).ends(kind, one)}
    said: set[tuple[str, str]] = set()
    for (stream, kind, property), found in sorted(met.items()):
        unknown = Counter({one: count for one, count in found.items() if one not in known})
        every = found.total() + seen[kind + TOLD, stream, property]
        items = sum(seen["name", stream, use, property] for use in ("link", "literal"))
        if items < 2 or unknown.total() < NEARLY_ALL * every:
            continue
        here = expected(stream)
        asked = (
            here.along[property].names if kind == "object" else _lacking(bundle, seen, stream, here, property)
        )
        alone = served.isdisjoint((kind, end) for end in here.ends(kind, property))
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


def _lacking(bundle: Bundle, seen: Seen, stream: str, here: Expected, property: Term) -> frozenset[Term]:
    """The names asked beside a property that no item of a stream says, where K says them all.

    Where items say what leads to the individual, too, it is another one that they speak of.
    """
    facts = bundle.k.facts
    items = following(bundle, {key[-1] for key in seen if key[:2] == ("name", stream)}) | here.made
    known = following(bundle, {*facts.classes, *facts.properties})
    sets = [names - items for reached, names in here.beside[property] if reached.isdisjoint(items)]
    return frozenset(name for names in sets if names <= known for name in names)
