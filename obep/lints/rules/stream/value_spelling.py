"""OBEP582: text, or true and false, that is asked of a property, and that items write in another way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from obep.model import Item, Term
from obep.ontology.bundle.stream_readers import Listening
from obep.ontology.owl.axioms import DataOneOf
from obep.ontology.owl.literals import XSD_STRING, literal, parts, value
from obep.ontology.owl.verbalise import prefixed
from obep.ontology.rules import rule_kinds as r
from obep.query import ast

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle

FEWEST = 3
"""Values of a property from which one can see how it is written."""
LONGEST = 60
"""Letters of a value that is compared: what people write in a query is no longer."""
TEXTS, BOOLEAN = ("string", "lang"), "boolean"
Seen = Counter[tuple[str, ...]]
"""How often: `given` with a stream and a property that has such values; `met` with a literal that is asked
for, too; `almost` with one that is asked for, and what is there; `textual` with what is there, where true or
false are asked for."""


@dataclass(frozen=True)
class Awaited:
    """The values that are asked for in the items of a stream."""

    values: Mapping[Term, frozenset[Term]]
    """By property; text and booleans only."""

    @classmethod
    def of(cls, bundle: Bundle, here: Listening) -> Awaited:
        found: dict[Term, set[Term]] = {}
        rules = [rule for rule in bundle.leading(here) if isinstance(rule, r.Count)]
        asked = [(rule.property, rule.range.literals) for rule in rules if isinstance(rule.range, DataOneOf)]
        asked += [
            (one.predicate.iri, (_term(one.object),))
            for block in here.blocks
            for one in block
            if isinstance(one.predicate, ast.Name) and isinstance(one.object, ast.Literal)
        ]
        static = frozenset(bundle.k.facts.properties)
        for property, literals in asked:
            words = {one for one in literals if value(one).space in (*TEXTS, BOOLEAN)}
            for name in _below(property, bundle) if words else ():
                found.setdefault(name, set()).update(words)
        return cls({name: frozenset(some) for name, some in found.items() if name not in static})

    def count(self, item: Item, found: Seen) -> None:
        """Counts the values of an item that are asked for, and those that nearly are."""
        for _, p, o in item.triples:
            asked = self.values.get(p) if o[0] == '"' else None
            if not asked:
                continue
            found["given", item.stream, p] += 1
            if any(value(one) == value(o) for one in asked):
                found["met", item.stream, p, next(one for one in asked if value(one) == value(o))] += 1
                continue
            if len(o) > LONGEST:
                continue
            for one in asked:
                if _bare(one) == _bare(o):
                    found["almost", item.stream, p, one, o] += 1
            if value(o).space in TEXTS and any(value(one).space == BOOLEAN for one in asked):
                found["textual", item.stream, p, o] += 1


def _below(property: Term, bundle: Bundle) -> Iterator[Term]:
    """A property with those from which it follows."""
    yield property
    known = bundle.definitions.axioms.data_properties if property in bundle.relations else ()
    yield from (one for one in known if one != property and bundle.implies(one, property))


def _term(node: ast.Literal) -> Term:
    return literal(node.lexical, XSD_STRING if node.datatype is None else node.datatype.iri, node.language)


def _bare(term: Term) -> str:
    """What is left of a literal without its datatype, its spaces and its capitals."""
    return "".join(parts(term)[0].split()).casefold()


def unmet_values(seen: Seen, awaited: Callable[[str], Awaited], *, complete: bool) -> Iterator[str]:
    """Messages about values that are asked for, never came, and came in another way."""
    met = {(key[2], key[3]) for key in seen if key[0] == "met"}
    for kind, stream, property in [key for key in sorted(seen) if key[0] == "given" and len(key) == 3]:
        total = seen[kind, stream, property]
        where = "" if complete else f" in the first {seen['item', stream]:,} items"
        if total < FEWEST:
            continue
        for asked in sorted(awaited(stream).values[property]):
            if (property, asked) in met:
                continue
            written = _written(seen, stream, property, asked)
            if written:
                other = max(sorted(written), key=lambda one: written[one])
                yield (
                    f"{stream}: {property.strip('<>')} never is {_shown(asked)}{where}, as the ontology or "
                    f"the query asks, but {written.total():,} of {total:,} times {_shown(other)}"
                    f"{_remedy(asked, other)}"
                )


def _written(seen: Seen, stream: str, property: Term, asked: Term) -> Counter[Term]:
    """How often what came in place of a value came."""
    almost = Counter({key[4]: n for key, n in seen.items() if key[:4] == ("almost", stream, property, asked)})
    if almost or value(asked).space != BOOLEAN:
        return almost
    texts = Counter({key[3]: n for key, n in seen.items() if key[:3] == ("textual", stream, property)})
    return texts if texts.total() == seen["given", stream, property] else Counter()


def _remedy(asked: Term, other: Term) -> str:
    if value(asked).space != BOOLEAN or value(other).space not in TEXTS:
        return "   (values differ if their case, spaces or datatypes do)"
    if _bare(other) in ("true", "false"):
        return "   ({field:boolean} in the mapping, or no quotes in the records)"
    return f"   (value {_shown(other)} in the query)"


def _shown(term: Term) -> str:
    lexical, datatype, language = parts(term)
    if value(term).space == BOOLEAN:
        return lexical
    text = f'"{lexical}"'
    if language:
        return f"{text}@{language}"
    return text if datatype == XSD_STRING else f"{text} ({prefixed(datatype)})"
