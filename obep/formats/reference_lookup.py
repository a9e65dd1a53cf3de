"""Ids of records looked up in K: `?p ref:hasExternalReference/ref:hasTimeseriesId {id}`.

In: the text of a lookup, and K. Out: an index from the values of fields to the IRIs that the variables of a
template stand for. The patterns are triples whose predicates are paths (sequence, alternative, inverse).
They are evaluated once, as a query of SPARQL; where K changes, once for each combination of values that is
met between two changes that matter.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, Protocol

from pyoxigraph import Literal, NamedNode, Quad, QuerySolutions, RdfFormat, Store, parse

from obep.errors import fail
from obep.formats.input_limits import Refused
from obep.formats.record_fields import Record, as_text, look_up
from obep.formats.units import shown
from obep.model import RDF_TYPE, Term, Triple

_TOKENS = re.compile(
    r"""(?P<space>\s+)
      | (?P<variable>\?[^\W\d]\w*)
      | (?P<field>\{[^{}\n]+\})
      | (?P<iri><[^\s<>"{}|\\^`]*>)
      | (?P<text>"(?:[^"\\\n]|\\["\\])*")
      | (?P<name>[\w-]*:[\w%-]*(?:\.[\w%-]+)*)
      | (?P<type>a\b)
      | (?P<mark>[/|^().;])
      | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
EXAMPLE = "?p ref:hasExternalReference/ref:hasTimeseriesId {id}"
_REPEATED = frozenset("*+?")
_FORM = "a lookup is made of triples, ?variables, {fields} and paths (a/b, a|b, ^a)"
NAMED = 3
"""Points that a dead letter names."""

Key = tuple[str, ...]
Row = tuple[Term, ...]


class Index(Protocol):
    """An index from combinations of values to nodes."""

    def rows(self, values: Key) -> tuple[Row, ...]: ...


class FixedIndex:
    """The index of a K that stays as it is; known by a digest of its content."""

    def __init__(self, entries: Mapping[Key, tuple[Row, ...]]) -> None:
        self.entries = entries
        self._digest = blake2b(repr(sorted(entries.items())).encode(), digest_size=16).hexdigest()

    def rows(self, values: Key) -> tuple[Row, ...]:
        return self.entries.get(values, ())

    def __repr__(self) -> str:
        return f"FixedIndex({self._digest})"


class ChangingIndex:
    """The index of a K that changes: of its triples those that the lookup can meet, and what was asked."""

    def __init__(self, lookup: Lookup, k: Iterable[Triple]) -> None:
        self._lookup = lookup
        self._store = Store()
        self._terms: dict[str, dict[Term, None]] = {}
        """By its text, each term that a field may stand for; what has gone is found no more."""
        self._written: Counter[Quad] = Counter()
        """The number of times that each triple is stated: 1 and 01 are equal in a store."""
        self._found: dict[Key, tuple[Row, ...]] = {}
        self.change(k, ())

    def change(self, come: Iterable[Triple], gone: Iterable[Triple]) -> None:
        """Follow a change of K; one that the lookup cannot meet costs nothing."""
        less, more = self._quads(gone), self._quads(come)
        self._written.subtract(less)
        for quad in less:
            if self._written[quad] <= 0:
                del self._written[quad]
                self._store.remove(quad)
        self._written.update(more)
        self._store.extend(more)
        if less or more:
            self._found.clear()

    def rows(self, values: Key) -> tuple[Row, ...]:
        """The current nodes of these values."""
        found = self._found.get(values)
        if found is None:
            given = [self._terms.get(value, {}) for value in values]
            known = "".join(f"VALUES ?f{n} {{ {' '.join(terms)} }} " for n, terms in enumerate(given))
            rows = self._lookup.entries(self._store, known) if all(given) else {}
            found = rows.get(values, ())
            if found:  # what K does not know comes from records, without end
                self._found[values] = found
        return found

    def _quads(self, triples: Iterable[Triple]) -> list[Quad]:
        quads = [Quad(quad.subject, quad.predicate, _as_stored(quad)) for quad in self._lookup.quads(triples)]
        for quad in quads:
            for term in (quad.subject, quad.object):
                if isinstance(term, Literal | NamedNode):
                    self._terms.setdefault(term.value, {})[str(term)] = None
        return quads


def _as_stored(quad: Quad) -> Any:
    """The object of a quad as a store gives it back: 01 is 1 there."""
    if not isinstance(quad.object, Literal) or quad.object.language or quad.object.datatype.value == _STRING:
        return quad.object
    store = Store()
    store.add(quad)
    return next(iter(store)).object


_STRING = "http://www.w3.org/2001/XMLSchema#string"


@dataclass(frozen=True, slots=True)
class Lookup:
    """A lookup that was read; with its index it finds the subjects of records."""

    text: str
    variables: tuple[str, ...]
    """The variables that a record gets values for; the first is its subject."""
    fields: tuple[str, ...]
    query: str
    predicates: frozenset[Term]
    index: Index | None = field(default=None, compare=False)
    behind: Lookup | None = None
    """Of a path from what another lookup finds: that one."""
    shown: str = ""
    """The path, as it is written."""

    def first(self, record: Record) -> Term:
        """The IRI that a record is about."""
        return self.find(record)[0]

    def find(self, record: Record) -> Row:
        """The values of the variables; refuse a record whose id has no node in K, or several."""
        values = tuple([self._value(record, path) for path in self.fields])
        if self.index is None:
            raise fail(
                "OBEP522",
                f"the lookup {self.text} needs the static graph of a query",
                remedy="run it with a query that has FROM GRAPH",
            )
        found = self.index.rows(values)
        if len(found) == 1:
            return found[0]
        said = ", ".join(f"{path} = {shown(one)}" for path, one in zip(self.fields, values, strict=True))
        if not found and self.behind is not None:
            raise Refused(
                "OBEP830", f"{said}: {self.behind.first(record)} has no {self.shown} in the static graph"
            )
        if not found:
            raise Refused("OBEP830", f"{said}: the static graph has no {self.text}")
        names = ", ".join(" ".join(row) for row in found[:NAMED]) + (" …" if len(found) > NAMED else "")
        raise Refused("OBEP831", f"{said}: the static graph has it for {len(found)}: {names}")

    def _value(self, record: Record, path: str) -> str:
        value = look_up(record, path)
        if value is None or value == "":
            from obep.formats.time_hints import fields_there

            raise Refused("OBEP610", f"{path}: the lookup needs it; {fields_there(record)}")
        return as_text(path, value)

    def over(self, k: Iterable[Triple]) -> Lookup:
        """The lookup with an index of K."""
        store = Store()
        store.bulk_extend(self.quads(k))
        return replace(self, index=FixedIndex(self.entries(store)))

    def quads(self, k: Iterable[Triple]) -> list[Quad]:
        """The triples of K that its patterns can meet."""
        lines = (f"{s} {p} {o} .\n" for s, p, o in k if p in self.predicates)
        return [
            Quad(one.subject, one.predicate, one.object)
            for one in parse("".join(lines).encode(), RdfFormat.N_TRIPLES)
        ]

    def entries(self, store: Store, known: str = "") -> dict[Key, tuple[Row, ...]]:
        """All solutions in a store; `known` are values of the fields, as VALUES."""
        found: dict[Key, set[Row]] = {}
        solutions = store.query(self.query.replace("{", f"{{ {known}", 1))
        assert isinstance(solutions, QuerySolutions)
        for solution in solutions:
            terms = list(solution)
            names, values = terms[: len(self.variables)], terms[len(self.variables) :]
            is_named = all(isinstance(one, NamedNode) for one in names)
            if is_named and all(isinstance(one, Literal | NamedNode) for one in values):
                key = tuple([one.value for one in values])
                found.setdefault(key, set()).add(tuple(map(str, names)))
        return {key: tuple(sorted(rows)) for key, rows in found.items()}


_MOST_TERMS = 50
"""Variables, names and fields of a lookup: the store's planner takes time by the third power of a path, and
doubles it with each alternative of an alternative."""


def read_lookup(text: str, prefixes: Mapping[str, str], where: str, template: str = "") -> Lookup:
    """Reads a lookup; what is wrong with it is an error of the configuration.

    It gives the first variable, and others that stand in the `template`.
    """
    variables: dict[str, None] = {}
    fields: dict[str, None] = {}
    names: dict[str, None] = {}
    body = []
    terms = 0
    for token in _TOKENS.finditer(text):
        piece, kind = token[0], token.lastgroup
        terms += kind in ("variable", "field", "name", "iri", "type")
        if terms > _MOST_TERMS:
            reason = f"It has more than {_MOST_TERMS} variables, names and fields."
            raise fail("OBEP522", f"{where}: the lookup is too long", reason=reason, remedy=EXAMPLE)
        if kind == "other":
            repeated = piece in _REPEATED
            reason = "A path that repeats (* + ?) is not taken." if repeated else f"It is {_FORM[9:]}."
            raise fail("OBEP522", f"{where}: {piece!r} cannot stand in it", reason=reason, remedy=EXAMPLE)
        if kind == "variable":
            variables[piece] = None
            piece = f"?v_{piece[1:]}"
        elif kind == "field":
            fields[piece[1:-1].strip()] = None
            piece = f"?f{list(fields).index(piece[1:-1].strip())}"
        elif kind in ("name", "iri", "type"):
            piece = _iri(piece, prefixes, where)
            names[piece] = None
        body.append(piece)
    if not variables or not fields:
        lacking = "variable" if not variables else "{field} of the record"
        raise fail("OBEP522", f"{where}: the lookup has no {lacking}", reason=f"{_FORM}.", remedy=EXAMPLE)
    used = {f"?{name}" for name in re.findall(r"\?(\w+)", template)}
    given = [one for number, one in enumerate(variables) if number == 0 or one in used]
    chosen = [f"?v_{one[1:]}" for one in given] + [f"?f{number}" for number in range(len(fields))]
    query = f"SELECT DISTINCT {' '.join(chosen)} WHERE {{ {''.join(body)} }}"
    try:
        Store().query(query)
    except SyntaxError:
        raise fail(
            "OBEP522", f"{where}: {text!r} is not a lookup", reason=f"{_FORM}.", remedy=EXAMPLE
        ) from None
    return Lookup(text.strip(), tuple(given), tuple(fields), query, frozenset(names))


def _iri(written: str, prefixes: Mapping[str, str], where: str) -> Term:
    if written == "a":
        return RDF_TYPE
    if written.startswith("<"):
        return written
    prefix, _, local = written.partition(":")
    if prefix not in prefixes:
        raise fail(
            "OBEP522",
            f"{where}: The prefix {prefix}: has not been declared",
            remedy=f'prefixes = {{ "{prefix}" = "http://example.org/" }}   in the mapping',
        )
    return f"<{prefixes[prefix]}{local}>"
