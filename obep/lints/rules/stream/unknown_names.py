"""What a run says about items that nothing can look at: a slip in a mapping, mostly.

What is `seen` in some items can be told by one process and added up by another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

from obep.engine.query import Query
from obep.lints.analysis.number_and_text import numeric_properties
from obep.lints.rules.stream.unknown_individual import Expected, unknown_individuals
from obep.lints.rules.stream.value_spelling import Awaited, unmet_values
from obep.model import RDF_TYPE, Item, Term, Triple, local_name
from obep.ontology.bundle.compile import Bundle
from obep.ontology.bundle.stream_readers import Listening, listening
from obep.ontology.owl.literals import NUMBERS, parts, space_of, value
from obep.ontology.owl.verbalise import prefixed
from obep.ontology.rules.findable_numbers import Asked
from obep.query.ast import Name
from obep.query.diagnostics import listed
from obep.query.nearest_name import misspelt, nearest
from obep.query.walk import walk

LOOKED_AT = 2_000
"""Items from the beginning of a run: a mapping that is wrong is wrong from the first one on."""
MANY = 0.1
"""Of the items of a stream: fewer may be a slip of one sender, or a word that nobody waits for."""

FEW = 10
"""Events that are looked at one by one, whatever their definitions name."""

Kind = Literal["class", "literal", "link"]
Use = tuple[Kind, Term]
"""A name and how a triple uses it: as a class, or as a property of a literal or of an individual."""
Seen = Counter[tuple[str, ...]]
"""How often: `item` or `strange` with a stream, `use` (in strange items) or `name` (once in an item) with a
stream and a use, `value` or `text` (which is a number) with a stream and a property, `number` (of a datatype
that nobody asks for) or `typed` (whoever asks) with a stream, a property and the datatype; and what
`Expected` and `Awaited` count."""


class Strangers:
    """Looks at the first items of a run."""

    def __init__(self, query: Query, said: Container[tuple[str, Term]] = ()) -> None:
        """`said` are names, each with its stream, of which somebody has spoken already."""
        self.said = said
        definitions = query.bundle.definitions
        classes, links, literals = query.bundle.matters
        self._known: dict[Kind, frozenset[Term]] = {
            "class": frozenset((*classes, *definitions.guard_classes)),
            "literal": frozenset((*literals, *definitions.guard_roles)),
            "link": frozenset((*links, *definitions.guard_roles)),
        }
        self._any = definitions.any_predicate
        self._query = query
        self._listeners: dict[str, _Listeners] = {}
        self._alike: dict[Listening, _Listeners] = {}
        self._left = LOOKED_AT
        self._all = True
        self._seen: Seen = Counter()

    def look(self, items: Sequence[Item]) -> None:
        """Counts what is strange about some items, while the run is young."""
        if self._left:
            self.add(self.seen(items[: self._left]), len(items))

    def seen(self, items: Iterable[Item]) -> Seen:
        """What can be counted about some items."""
        found: Seen = Counter()
        for item in items:
            found["item", item.stream] += 1
            uses = [_use(triple) for triple in item.triples]
            if uses and not self._any and not any(name in self._known[kind] for kind, name in uses):
                found["strange", item.stream] += 1
                found.update(("use", item.stream, *use) for use in uses)
            found.update(("name", item.stream, *use) for use in set(uses))
            here = self.listeners(item.stream)
            for _, p, o in item.triples:
                if o[0] == '"' and (p in here.numeric or p in here.asked):
                    found["value", item.stream, p] += 1
                    if p in here.asked and value(o).space in NUMBERS:
                        found["typed", item.stream, p, parts(o)[1]] += 1
                    if here.wants_no_text(p) and _is_number_as_text(o):
                        found["text", item.stream, p] += 1
                    elif p in here.asked and here.asked[p].misses(o):
                        found["number", item.stream, p, parts(o)[1]] += 1
            here.expected.count(item, found)
            here.awaited.count(item, found)
        return found

    def listeners(self, stream: str) -> _Listeners:
        """What is looked for in the items of a stream."""
        if stream not in self._listeners:
            here = listening(self._query.linked, self._query.bundle.definitions, stream)
            if here not in self._alike:
                self._alike[here] = _Listeners.of(self._query.bundle, here)
            self._listeners[stream] = self._alike[here]
        return self._listeners[stream]

    def add(self, seen: Seen, of: int) -> None:
        """What was seen in the first ones of so many items, while the run is young."""
        if not self._left:
            return
        looked_at = sum(count for (kind, *_), count in seen.items() if kind == "item")
        self._left = max(0, self._left - looked_at)
        self._all &= looked_at == of and self._left > 0
        self._seen.update(seen)

    def findings(self) -> Iterator[tuple[str, str]]:
        """Codes and messages: streams of nothing (or little) but what is strange; slips; wrong numbers."""
        unmet = unknown_individuals(
            self._query.bundle, self._seen, lambda stream: self.listeners(stream).expected, complete=self._all
        )
        yield from (("OBEP580", message) for message in unmet)
        written = unmet_values(self._seen, lambda stream: self.listeners(stream).awaited, complete=self._all)
        yield from (("OBEP582", message) for message in written)
        unknown = dict(self._unknown_streams())
        yield from (("OBEP564", message) for message in unknown.values())
        yield from (("OBEP567", message) for stream, message in self._slips() if stream not in unknown)
        for (kind, stream, *names), count in self._seen.items():
            values = self._values(stream, names[0], count) if kind in ("text", "number") else ""
            if kind == "text" and 2 * count > self._seen["value", stream, *names]:
                who = "query" if names[0] in self.listeners(stream).numeric else "ontology"
                yield (
                    "OBEP565",
                    f"{values} are text, and the {who} asks for numbers   ({{field:double}} in the mapping "
                    "makes them numbers)",
                )
            elif kind == "number":
                asked = self.listeners(stream).asked[names[0]]
                yield (
                    "OBEP569",
                    f"{values} are {prefixed(names[1])}, and the ontology or the query asks for "
                    f"{listed(list(map(prefixed, asked.datatypes)), 'or')}   "
                    f"({{field:{asked.field_type}}} in the mapping, or `number` in the query)",
                )
        yield from (("OBEP569", message) for message in self._of_single_events())

    def _of_single_events(self) -> Iterator[str]:
        """Messages about numbers that one event takes, and that another one, which asks for some, misses."""
        typed: dict[tuple[Term, str], set[Term]] = {}
        for kind, stream, *names in self._seen:
            if kind == "typed":
                typed.setdefault((names[0], stream), set()).add(names[1])
        deaf: dict[tuple[Term, Term], str] = {}
        hears: set[tuple[Term, Term]] = set()
        asks: dict[tuple[Term, Term], Asked] = {}
        for (property, stream), datatypes in sorted(typed.items()):
            numbers = sum(self._seen["typed", stream, property, one] for one in datatypes)
            mixed = numbers < self._seen["value", stream, property]  # there is text as well
            said = any(self._seen["number", stream, property, one] for one in datatypes)
            for event, asked in self._askers(stream, property):
                key = (event, property)
                asks[key] = asked
                if mixed or said or not asked.spaces.isdisjoint(map(space_of, datatypes)):
                    hears.add(key)
                else:
                    deaf.setdefault(key, stream)
        for (event, property), stream in deaf.items():
            if (event, property) not in hears:
                asked = asks[event, property]
                values = self._values(stream, property, self._seen["value", stream, property])
                are = listed(list(map(prefixed, sorted(typed[property, stream]))))
                yield (
                    f"{values} are {are}, which others take, and {local_name(event)} asks for "
                    f"{listed(list(map(prefixed, asked.datatypes)), 'or')}   "
                    f"({{field:{asked.field_type}}} in the mapping, or `number` in the query)"
                )

    def _askers(self, stream: str, property: Term) -> Iterator[tuple[Term, Asked]]:
        """The events that ask numbers of a property, each with what it takes; of many, those that name it."""
        bundle = self._query.bundle
        here = listening(self._query.linked, bundle.definitions, stream)
        few = len(here.events) <= FEW
        for event in here.events:
            names = (node.iri for node in walk(event.description) if isinstance(node, Name))
            if few or any(bundle.implies(property, name) for name in names):
                alone = replace(here, events=(event,), goals=(event.name.iri,), classes=frozenset())
                asked = bundle.asked_numbers(alone)
                if property in asked:
                    yield event.name.iri, asked[property]

    def _values(self, stream: str, property: Term, count: int) -> str:
        """So many values of a property, as the subject of a sentence."""
        where = "" if self._all else f" in the first {self._seen['item', stream]:,} items"
        values = self._seen["value", stream, property]
        which = "the" if count == values else f"{count:,} of {values:,}"
        return f"{stream}: {which} values of {property.strip('<>')}{where}"

    def _unknown_streams(self) -> Iterator[tuple[str, str]]:
        """Streams that hold nothing (or little) but what is strange, each with its message."""
        for (kind, stream, *_), strange in self._seen.items():
            if kind != "strange":
                continue
            items = self._seen["item", stream]
            use = self._commonest(stream)
            hint = self._hint(use)
            if strange == items or (2 * strange > items and hint):
                first = "" if self._all else "first "
                which = f"all {first}{items:,}" if strange == items else f"{strange:,} of {first}{items:,}"
                yield (
                    stream,
                    f"{stream}: {which} items say only what neither the ontology nor the query knows, "
                    f"mostly {use[1].strip('<>')}{hint}",
                )

    def _slips(self) -> Iterator[tuple[str, str]]:
        """Streams and messages about unknown names that stand where one is missing which the query needs."""
        if self._any:
            return
        classes, properties = self._known["class"], self._known["literal"] | self._known["link"]
        heard = {(key[1], key[-1]) for key in self._seen if key[0] == "name"}
        for (kind, stream, *use), count in sorted(self._seen.items()):
            items = self._seen["item", stream]
            if kind != "name" or use[1] in classes | properties or count < 2 or count < items * MANY:
                continue
            sought = self.listeners(stream).sought
            near = misspelt(use[1], sought & (classes if use[0] == "class" else properties))
            if near and (stream, use[1]) not in self.said and (stream, near) not in heard:
                first = "" if self._all else "first "
                yield (
                    stream,
                    f"{stream}: {count:,} of {first}{items:,} items use {use[1].strip('<>')}, which neither "
                    f"the ontology nor the query knows, and none uses {near.strip('<>')}; is it that?",
                )

    def _commonest(self, stream: str) -> Use:
        """What the strange items of a stream say most often."""
        uses = {key: n for key, n in self._seen.items() if key[:2] == ("use", stream)}
        _, _, kind, name = max(uses, key=lambda key: uses[key])
        return cast(Kind, kind), name

    def _hint(self, use: Use) -> str:
        kind, name = use
        if kind == "literal" and name in self._known["link"]:
            return ", which needs an individual and has a literal   ({field:iri} or :{field} in a mapping)"
        if kind == "link" and name in self._known["literal"]:
            return ", which needs a literal and has an individual"
        known = self._known["class"] if kind == "class" else self._known["literal"] | self._known["link"]
        near = nearest(name, known)
        return f"; is it {near.strip('<>')}?" if near else ""


@dataclass(frozen=True)
class _Listeners:
    """What the events that read a stream look for in its items."""

    sought: frozenset[Term]
    numeric: frozenset[Term]
    """The properties whose values the definitions of the query want to be numbers."""
    asked: Mapping[Term, Asked]
    """The properties that the ontology or the query ask for numbers."""
    expected: Expected
    awaited: Awaited

    @classmethod
    def of(cls, bundle: Bundle, here: Listening) -> _Listeners:
        numeric = frozenset(numeric_properties(here.events))
        return cls(
            bundle.sought(here),
            numeric,
            bundle.asked_numbers(here),
            Expected.of(bundle, here),
            Awaited.of(bundle, here),
        )

    def wants_no_text(self, property: Term) -> bool:
        """Whether nobody takes the values of a property that are text."""
        return property in self.numeric or (property in self.asked and not self.asked[property].text)


def _use(triple: Triple) -> Use:
    _, p, o = triple
    if p == RDF_TYPE:
        return "class", o
    return ("literal" if o[0] == '"' else "link"), p


def _is_number_as_text(literal: Term) -> bool:
    if literal[-1] != '"':
        return False
    try:
        float(literal[1:-1])
    except ValueError:
        return False
    return True
