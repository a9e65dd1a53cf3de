"""individuals that are not in the static graph

What it does: Finds individuals in items that are not in the static graph, although a definition or a guard
asks for facts about them that only the static graph has. They are objects of a property (`inPen some (Pen and
…)`), or subjects (`Probe and oxygen some …`). It is reported if nearly all of them are missing, and one of
these holds:

- most names are almost those of known individuals, or the same in another namespace;
- the static graph has no name of their namespace;
- three or more names follow another pattern (`5` instead of `bay-5`).

Why: No event about them is ever found. Facts that items of a window, or occurrences with a CONSTRUCT, can
state are not expected in the static graph. The first 500 items of a stream are checked, with static graphs of
up to a million triples.

Example:

    template = ":{id} :inPen :{pen} ."          # gives :penA; the static graph has :PenA

Fix:

    :penA a :Pen ; :area 5 .                    # in the static graph, or mend the mapping
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Set
from typing import TYPE_CHECKING

import msgspec

from obep.lints.analysis.followed_properties import (
    Along,
    Beside,
    asked_along,
    asked_beside,
    defined,
)
from obep.lints.analysis.item_names import names_by_stream
from obep.lints.analysis.known_individuals import MOST_KNOWN, Known
from obep.lints.analysis.static_names import constructed
from obep.lints.stream_context import Finding, RunContext, label
from obep.lints.stream_stats import StreamStats
from obep.model import RDF_TYPE, Item, Term
from obep.ontology.bundle.cache import content_hash
from obep.ontology.bundle.following_names import following
from obep.ontology.bundle.stream_readers import Listening

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle

CODE = "OBEP580"
NAME = "unknown-individual"
SEVERITY = "warning"

NEARLY_ALL = 0.9
"""The share of unknown individuals from which on they are reported."""
FEWEST = 2
"""Items that must have the property."""
DESCRIBED = "_described"
"""The ending of a fact's kind where the item describes the individual, or the individual has no name.

The facts are `object` (a property along which more is asked, and an individual that the item does not
describe) and `subject` (a property beside which more is asked, and the individual that has it). With
`DESCRIBED` they have no individual.
"""


class Expected(msgspec.Struct, frozen=True):
    """The conditions on the individuals of a stream's items that K may satisfy."""

    along: dict[Term, Along]
    beside: dict[Term, list[Beside]]
    defined: frozenset[Term]
    """The classes of which nothing more is asked where they are asserted."""
    made: frozenset[Term]
    """The names that occurrences may assert, in which the events of the next stratum are found."""

    @classmethod
    def of(cls, bundle: Bundle, here: Listening) -> Expected | None:
        """None if nothing is asked of individuals that the static graph may say."""
        if not 0 < bundle.k.facts.length <= MOST_KNOWN:
            return None
        name = content_hash((CODE, here.goals, here.blocks))
        found = bundle.answered(name, cls, lambda: cls._asked(bundle, here))
        return found if found.along or found.beside else None

    @classmethod
    def _asked(cls, bundle: Bundle, here: Listening) -> Expected:
        names = frozenset(constructed(bundle))
        made = frozenset(following(bundle, names)) if names else names
        along = {
            property: one
            for property, one in asked_along(bundle, here).items()
            if made.isdisjoint((property, *one.names, *one.ends))
        }
        beside = {name: list(others) for name, others in asked_beside(bundle, here).items()}
        return cls(along, beside, frozenset(defined(bundle)), made)

    def ends(self, kind: str, property: Term) -> frozenset[Term]:
        """The purposes of a property; if others serve the same purpose, one of them is enough."""
        return self.along[property].ends if kind == "object" else frozenset((property,))

    def described(self, item: Item, links: Set[tuple[Term, Term]]) -> Set[tuple[Term, Term]]:
        """The individuals that an item describes further, as a subject or an object of another property."""
        more = {s for s, _, _ in item.triples} if links else set()
        ways = {(p, o) for _, p, o in item.triples} if links else set()
        often = Counter(o for _, o in ways)
        return {(p, o) for p, o in links if o[0] != "<" or o in more or often[o] > 1}


def watch(bundle: Bundle, here: Listening) -> Expected | None:
    if bundle.linked.models:  # a name that K does not have at the start may come with a change
        return None
    return Expected.of(bundle, here)


def observe(watched: Expected, item: Item, stats: StreamStats) -> None:
    asserted = any(p == RDF_TYPE and o in watched.defined for _, p, o in item.triples)
    links = {(p, o) for _, p, o in item.triples if p in watched.along and o[0] != '"'}
    described = links if asserted else links & watched.described(item, links)
    enough = {end for p, _ in described for end in watched.along[p].ends}
    for p, o in links:
        bare = enough.isdisjoint(watched.along[p].ends)
        fact = ("object", p, o) if bare else (f"object{DESCRIBED}", p)
        stats.facts[CODE, item.stream, *fact] += 1
    for s, p in {(s, p) for s, p, _ in item.triples if p in watched.beside}:
        bare = s[0] == "<" and not asserted
        fact = ("subject", p, s) if bare else (f"subject{DESCRIBED}", p)
        stats.facts[CODE, item.stream, *fact] += 1


def findings(stats: StreamStats, run: RunContext) -> Iterator[Finding]:
    mine = {fact[1:]: count for fact, count in stats.facts.items() if fact[0] == CODE}
    met: dict[tuple[str, str, Term], Counter[Term]] = {}
    for (stream, kind, property, *individual), count in mine.items():
        if individual:
            met.setdefault((stream, kind, property), Counter())[individual[0]] += count
    if not met:
        return
    bundle, names = run.query.bundle, names_by_stream(stats)
    known = Known(bundle, {one for found in met.values() for one in found})
    seen = [key for key, found in met.items() if any(one in known for one in found)]
    seen += [(key[0], key[1].removesuffix(DESCRIBED), key[2]) for key in mine if key[1].endswith(DESCRIBED)]
    served = {(kind, end) for stream, kind, one in seen for end in run.watched(stream).ends(kind, one)}
    said: set[tuple[str, str]] = set()
    for (stream, kind, property), found in sorted(met.items()):
        unknown = Counter({one: count for one, count in found.items() if one not in known})
        every = found.total() + mine.get((stream, kind + DESCRIBED, property), 0)
        if names[stream][property] < FEWEST or unknown.total() < NEARLY_ALL * every:
            continue
        here = run.watched(stream)
        asked = (
            here.along[property].names
            if kind == "object"
            else _lacking(bundle, names[stream], here, property)
        )
        alone = served.isdisjoint((kind, end) for end in here.ends(kind, property))
        hint = known.hint(unknown, asked, alone=alone) if asked else ""
        if hint and (stream, hint) not in said:
            said.add((stream, hint))
            which = "the" if unknown.total() == every else f"{unknown.total():,} of {every:,}"
            where, name = stats.where(stream), property.strip("<>")
            if kind == "object":
                who = f"{which} values of {name}{where} are not in the static graph"
            else:
                who = f"{which} individuals with {name}{where} are not in the static graph"
            asks = f"{who}, and the query asks for facts about them: {hint}"
            yield Finding(stream, f"{label(stream)}{asks}", about=property)


def _lacking(bundle: Bundle, names: Collection[Term], here: Expected, property: Term) -> frozenset[Term]:
    """The names asked beside a property that no item of a stream uses, where K uses them all.

    Where items use what leads to the individual, too, it is another one that they speak of.
    """
    facts = bundle.k.facts
    items = following(bundle, set(names)) | here.made
    known = following(bundle, {*facts.classes, *facts.properties})
    sets = [names - items for reached, names in here.beside[property] if reached.isdisjoint(items)]
    return frozenset(name for names in sets if names <= known for name in names)
