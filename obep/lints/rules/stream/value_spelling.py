"""a value that items spell differently

What it does: Finds a text or a boolean of a definition or a guard (`state value "faulted"`, `?this :state
"faulted"`) that no item has, if items have it in another case, with other spaces, or with another language or
datatype: `"Faulted"`, or `"true"` for `true`. It also finds a boolean if items have only texts.

Why: They are different values, so the event is never found. A value that did not occur in any spelling is not
reported. The first 500 items of a stream are checked.

Example:

    EVENT Faulted AS (state value "faulted")          # items have "Faulted"

Fix:

    EVENT Faulted AS (state value "Faulted")
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from obep.lints.stream_context import Finding, RunContext, label
from obep.lints.stream_stats import StreamStats
from obep.model import Item, Term
from obep.ontology.bundle.stream_readers import Listening
from obep.ontology.owl.literals import XSD_STRING, literal, parts, value
from obep.ontology.owl.verbalise import prefixed
from obep.query import ast

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle

CODE = "OBEP582"
NAME = "value-spelling"
SEVERITY = "warning"

FEWEST = 3
"""Values of a property from which one can see how it is written."""
LONGEST = 60
"""Letters of a value that is compared: what people write in a query is no longer."""
TEXTS, BOOLEAN = ("string", "lang"), "boolean"
Values = dict[tuple[str, ...], int]
"""How often, by property: `given` of any value; `met` with a literal that is asked for; `almost` with one
that is asked for, and what is there; `textual` with what is there, where true or false are asked for."""


@dataclass(frozen=True)
class Awaited:
    """The values that are asked for in the items of a stream."""

    values: Mapping[Term, frozenset[Term]]
    """By property; text and booleans only."""

    @classmethod
    def of(cls, bundle: Bundle, here: Listening) -> Awaited | None:
        """None if no such value is asked for."""
        found: dict[Term, set[Term]] = {}
        asked = [*bundle.asked_literals(here)]
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
        values = {name: frozenset(some) for name, some in found.items() if name not in static}
        return cls(values) if values else None


def watch(bundle: Bundle, here: Listening) -> Awaited | None:
    return Awaited.of(bundle, here)


def observe(watched: Awaited, item: Item, stats: StreamStats) -> None:
    for _, p, o in item.triples:
        asked = watched.values.get(p) if o[0] == '"' else None
        if not asked:
            continue
        place = (CODE, item.stream, p)
        stats.facts[*place, "given"] += 1
        same = [one for one in asked if value(one) == value(o)]
        for one in same:
            stats.facts[*place, "met", one] += 1
        if same or len(o) > LONGEST:
            continue
        for one in asked:
            if _bare(one) == _bare(o):
                stats.facts[*place, "almost", one, o] += 1
        if value(o).space in TEXTS and any(value(one).space == BOOLEAN for one in asked):
            stats.facts[*place, "textual", o] += 1


def findings(stats: StreamStats, run: RunContext) -> Iterator[Finding]:
    by_place: dict[tuple[str, Term], Values] = {}
    for (code, *rest), count in stats.facts.items():
        if code == CODE:
            by_place.setdefault((rest[0], rest[1]), {})[tuple(rest[2:])] = count
    met = {(property, key[1]) for (_, property), seen in by_place.items() for key in seen if key[0] == "met"}
    for (stream, property), seen in sorted(by_place.items()):
        total = seen["given",]
        if total < FEWEST:
            continue
        for asked in sorted(run.watched(stream).values[property]):
            written = Counter[Term]() if (property, asked) in met else _written(seen, asked)
            if written:
                other = max(sorted(written), key=lambda one: written[one])
                yield Finding(
                    stream,
                    f"{label(stream)}{property.strip('<>')} never is {_shown(asked)}{stats.where(stream)}, "
                    "as the ontology or the query asks, "
                    f"but {written.total():,} of {total:,} times {_shown(other)}"
                    f"{_remedy(asked, other)}",
                    about=property,
                )


def _below(property: Term, bundle: Bundle) -> Iterator[Term]:
    """A property with those from which it follows."""
    yield property
    known = bundle.definitions.axioms.data_properties if property in bundle.relations else ()
    yield from (one for one in known if one != property and bundle.implies(one, property))


def _term(node: ast.Literal) -> Term:
    return literal(node.lexical, XSD_STRING if node.datatype is None else node.datatype.iri, node.language)


def _bare(term: Term) -> str:
    """A literal without its datatype, its spaces and its capitals."""
    return "".join(parts(term)[0].split()).casefold()


def _written(seen: Values, asked: Term) -> Counter[Term]:
    """The number of values that came instead of a value."""
    almost = Counter({key[2]: n for key, n in seen.items() if key[:2] == ("almost", asked)})
    if almost or value(asked).space != BOOLEAN:
        return almost
    texts = Counter({key[1]: n for key, n in seen.items() if key[0] == "textual"})
    return texts if texts.total() == seen["given",] else Counter()


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
