"""What a run says about items that nothing can look at: a slip in a mapping, mostly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

from obep.engine.query import Query
from obep.model import RDF_TYPE, Item, Term, Triple
from obep.ontology.axioms import XSD
from obep.query import ast
from obep.query.names import walk
from obep.query.nearest import nearest

LOOKED_AT = 2_000
"""Items from the beginning of a run: a mapping that is wrong is wrong from the first one on."""
NUMBERS = frozenset(f"<{XSD}{name}>" for name in ("integer", "decimal", "double", "float", "int", "long"))

Kind = Literal["class", "literal", "link"]
Use = tuple[Kind, Term]
"""A name and how a triple uses it: as a class, or as a property of a literal or of an individual."""


class Strangers:
    """Looks at the first items of a run."""

    def __init__(self, query: Query) -> None:
        definitions = query.bundle.definitions
        classes, links, literals = query.bundle.matters
        self._known: dict[Kind, frozenset[Term]] = {
            "class": frozenset((*classes, *definitions.guard_classes)),
            "literal": frozenset((*literals, *definitions.guard_roles)),
            "link": frozenset((*links, *definitions.guard_roles)),
        }
        self._any = definitions.any_predicate
        self._numeric = frozenset(_numeric(query))
        self._left = LOOKED_AT
        self._items: Counter[str] = Counter()
        self._strange: Counter[str] = Counter()
        self._uses: dict[str, Counter[Use]] = {}
        self._values: Counter[tuple[str, Term]] = Counter()
        self._texts: Counter[tuple[str, Term]] = Counter()

    def look(self, items: Sequence[Item]) -> None:
        """Counts what is strange about some items, while the run is young."""
        if not self._left:
            return
        items = items[: self._left]
        self._left -= len(items)
        for item in items:
            self._items[item.stream] += 1
            uses = [_use(triple) for triple in item.triples]
            if uses and not self._any and not any(name in self._known[kind] for kind, name in uses):
                self._strange[item.stream] += 1
                self._uses.setdefault(item.stream, Counter()).update(uses)
            for _, p, o in item.triples:
                if p in self._numeric and o[0] == '"':
                    self._values[item.stream, p] += 1
                    self._texts[item.stream, p] += _is_number_as_text(o)

    def findings(self) -> Iterator[tuple[str, str]]:
        """Codes and messages, for the streams that hold nothing (or little) but what is strange."""
        for stream, strange in self._strange.items():
            items = self._items[stream]
            [(use, _)] = self._uses[stream].most_common(1)
            hint = self._hint(use)
            if strange == items or (2 * strange > items and hint):
                first = "" if self._left else "first "
                which = f"all {first}{items:,}" if strange == items else f"{strange:,} of {first}{items:,}"
                yield (
                    "OBEP564",
                    f"{stream}: {which} items say only what neither the ontology nor the query knows, "
                    f"mostly {use[1].strip('<>')}{hint}",
                )
        for (stream, p), texts in self._texts.items():
            if texts and texts == self._values[stream, p]:
                yield (
                    "OBEP565",
                    f"{stream}: the values of {p.strip('<>')} are text, and the query asks for numbers   "
                    "({field:double} in the mapping makes them numbers)",
                )

    def _hint(self, use: Use) -> str:
        kind, name = use
        if kind == "literal" and name in self._known["link"]:
            return ", which needs an individual and has a literal   ({field:iri} or :{field} in a mapping)"
        if kind == "link" and name in self._known["literal"]:
            return ", which needs a literal and has an individual"
        known = self._known["class"] if kind == "class" else self._known["literal"] | self._known["link"]
        near = nearest(name, known)
        return f"; is it {near.strip('<>')}?" if near else ""


def _use(triple: Triple) -> Use:
    _, p, o = triple
    if p == RDF_TYPE:
        return "class", o
    return ("literal" if o[0] == '"' else "link"), p


def _numeric(query: Query) -> Iterator[Term]:
    """The properties whose values the definitions want to be numbers."""
    for event in query.linked.events.values():
        if not isinstance(event, ast.LogicalEvent):
            continue
        for node in walk(event.description):
            if not isinstance(node, ast.Some | ast.Only | ast.Cardinality):
                continue
            filler, p = node.filler, node.property
            type = filler.datatype if isinstance(filler, ast.Restriction) else None
            if isinstance(filler, ast.ClassName):
                type = filler.name
            if isinstance(p, ast.Name) and type and (type.text == "number" or type.iri in NUMBERS):
                yield p.iri


def _is_number_as_text(literal: Term) -> bool:
    if literal[-1] != '"':
        return False
    try:
        float(literal[1:-1])
    except ValueError:
        return False
    return True
