"""A graph that SPARQL reads: the triples of an index in a store of pyoxigraph, kept up to date with it.

The store writes numbers in one way (`01` as `1`). What a query gives is put back to what the graph has: the
first writing of that value in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from obep.model import Term, Triple
from obep.ontology.owl.literals import parts
from obep.ontology.shacl.shacl_terms import RefusedQuery
from obep.ontology.shacl.sparql_text import FRESH, Query

if TYPE_CHECKING:
    from obep.ontology.shacl.triple_index import TripleIndex

_AT_ONCE = 1_000
"""Nodes that one query is asked about."""
_MADE = re.compile(rf"{re.escape(FRESH)}\d+")


class SparqlGraph:
    """The store, filled when the first query runs."""

    def __init__(self, index: TripleIndex) -> None:
        self._index = index
        self._store: Any = None
        self._written: dict[Term, Term] = {}
        """For a literal as the store gives it: as the graph has it."""
        self._seen: set[Term] = set()
        self._waiting: list[Triple] = []
        self._blank: set[Term] = set()
        self._made = 0

    def add(self, triples: Iterable[Triple]) -> None:
        """Takes triples that are new in the index."""
        if self._store is not None:
            self._waiting += triples

    def _fill(self, triples: Iterable[Triple]) -> None:
        self._store.bulk_extend(self._quads(triples))

    def _quads(self, triples: Iterable[Triple]) -> Iterator[Any]:
        import pyoxigraph as ox

        for s, p, o in triples:
            if s[0] != '"' and p[0] == "<":
                if s[0] == "_":
                    self._blank.add(s)
                if o[0] == "_":
                    self._blank.add(o)
                yield ox.Quad(_node(s), ox.NamedNode(p[1:-1]), self._object(o))

    def _object(self, term: Term) -> Any:
        import pyoxigraph as ox

        if not term.startswith('"'):
            return _node(term)
        lexical, datatype, language = parts(term)
        if language:
            return ox.Literal(lexical, language=language)
        if datatype.endswith("#string>"):
            return ox.Literal(lexical)
        found = ox.Literal(lexical, datatype=ox.NamedNode(datatype[1:-1]))
        self._remember(found, term)
        return found

    def _remember(self, literal: Any, term: Term) -> None:
        """Cache the form in which the store returns a literal."""
        import pyoxigraph as ox

        if term in self._seen:
            return
        self._seen.add(term)
        probe = ox.Store()
        probe.add(ox.Quad(ox.BlankNode("x"), ox.NamedNode("urn:x"), literal))
        stored = str(next(iter(probe)).object)
        if stored == term or stored not in self._written:
            self._written[stored] = term

    def _ready(self) -> Any:
        import pyoxigraph as ox

        if self._store is None:
            self._store = ox.Store()
            self._fill(self._index)
        elif self._waiting:
            self._fill(self._waiting)
            self._waiting = []
        return self._store

    def constructed(self, query: Query, nodes: Iterable[Term], name: str) -> list[Triple]:
        """Run a CONSTRUCT for some focus nodes; new blank nodes are named by their triples."""
        found: list[Triple] = []
        for text, this in self._texts(query, nodes):
            written = self._as_written
            triples = [
                (written(str(t.subject)), written(str(t.predicate)), written(str(t.object)))
                for t in self._run(query, text, this)
            ]
            found += self._named(triples, name)
        return found

    def selected(self, query: Query, nodes: Iterable[Term] | None = None) -> Iterator[dict[str, Term]]:
        """The rows of a SELECT, for focus nodes or as it stands."""
        texts = [(query.text.replace("\x00", ""), None)] if nodes is None else self._texts(query, nodes)
        for text, this in texts:
            rows = self._run(query, text, this)
            names = [variable.value for variable in rows.variables]
            for row in rows:
                yield {
                    name: self._as_written(str(one))
                    for name, one in zip(names, row, strict=True)
                    if one is not None
                }

    def try_out(self, query: Query) -> None:
        """Runs a query about no node."""
        self._run(query, query.about([]), None)

    def _texts(self, query: Query, nodes: Iterable[Term]) -> Iterator[tuple[str, Term | None]]:
        plain: list[Term] = []
        for node in nodes:
            if node.startswith("_"):
                yield query.about_blank(), node
            else:
                plain.append(node)
        size = _AT_ONCE if query.at_once else 1
        for first in range(0, len(plain), size):
            yield query.about(plain[first : first + size]), None

    def _run(self, query: Query, text: str, this: Term | None) -> Any:
        import pyoxigraph as ox

        def fresh() -> Any:
            self._made += 1
            return ox.Literal(f"{FRESH}{self._made}")

        def fresh_iri() -> Any:
            return ox.NamedNode(f"urn:uuid:{fresh().value}")

        functions: dict[Any, Any] = {
            ox.NamedNode(f"{FRESH}struuid"): fresh,
            ox.NamedNode(f"{FRESH}uuid"): fresh_iri,
        }
        if this is not None:
            functions[ox.NamedNode("urn:obep:this")] = lambda: _node(this)
        try:
            return self._ready().query(text, prefixes=dict(query.prefixes), custom_functions=functions)
        except (SyntaxError, ValueError, RuntimeError, OSError) as error:
            said = str(error).partition("\n")[0]
            raise RefusedQuery(f"its SPARQL cannot be read: {said}") from None

    def _as_written(self, term: Term) -> Term:
        return self._written.get(term, term) if term.startswith('"') else term

    def _named(self, triples: list[Triple], name: str) -> list[Triple]:
        """Name new nodes by their triples, so that a rule that runs again makes the same names."""
        new = {term for t in triples for term in t if self._is_new(term)}
        if not new:
            return triples
        colours = dict.fromkeys(new, "")
        for _ in range(3):
            said: dict[Term, list[str]] = {term: [] for term in new}
            for triple in triples:
                for place, term in enumerate(triple):
                    if term in said:
                        others = " ".join("*" if one == term else colours.get(one, one) for one in triple)
                        said[term].append(f"{place} {others}")
            colours = {term: _hash(f"{name} {' '.join(sorted(some))}") for term, some in said.items()}

        def own(term: Term) -> Term:
            if term not in colours:
                return term
            if term.startswith("_"):
                return f"_:r{colours[term]}"
            return _MADE.sub(f"{colours[term]}", term)

        return [(own(s), own(p), own(o)) for s, p, o in triples]

    def _is_new(self, term: Term) -> bool:
        if term.startswith("_"):
            return term not in self._blank
        return FRESH in term


def check_query(query: Query) -> None:
    """Raises what is wrong with the text of a query."""
    from obep.ontology.shacl.triple_index import TripleIndex

    SparqlGraph(TripleIndex()).try_out(query)


def _node(term: Term) -> Any:
    import pyoxigraph as ox

    if term.startswith("_"):
        return ox.BlankNode(term[2:])
    return ox.NamedNode(term[1:-1])


def _hash(text: str) -> str:
    return blake2b(text.encode(), digest_size=10).hexdigest()
