"""Facts that hold until they expire (001_*): what the items of a window, beside K, entail.

A derivation lasts as long as the first of its premises to go, a fact as long as the derivation that lasts
longest. So nothing is derived again when items leave: facts whose time is over are dropped, and a fact that
comes to last longer is passed on to what follows from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from typing import Any, Generic, TypeVar

from obep.model import RDF_TYPE, Term, Triple
from obep.ontology.closure.backwards import Fact
from obep.ontology.closure.facts import Node
from obep.ontology.closure.saturate import Closure
from obep.ontology.closure.store import Store
from obep.ontology.owl.axioms import SAME_AS
from obep.ontology.rules.program import BOTTOM, Edges, Heads, Program

NEVER = 1 << 62
V = TypeVar("V")


class _Expirations(Generic[V]):
    """Values by the time when each expires; many of them expire at once."""

    def __init__(self) -> None:
        self._by_time: dict[int, list[V]] = {}
        self._times: list[int] = []

    def put(self, until: int, value: V) -> None:
        some = self._by_time.get(until)
        if some is None:
            self._by_time[until] = [value]
            heappush(self._times, until)
        else:
            some.append(value)

    def take(self, measure: int) -> Iterator[V]:
        """Those that expire by then. Values may be put meanwhile that expire later."""
        times = self._times
        while times and times[0] <= measure:
            yield from self._by_time.pop(heappop(times))


class Lasting(Closure):
    """A closure that items join and leave. A node is a list with one number: when its fact expires.

    What K says is not written down here. Individuals whose last triple has gone give their numbers back.
    """

    __slots__ = (
        "_come",
        "_due",
        "_free",
        "_held",
        "_leaving",
        "_uses",
        "contradictions",
        "edges_of",
        "ids",
        "numbers",
        "triples",
        "types_of",
    )
    linear = False
    """An edge may be given for a shorter time than a path lasts that gives it, too."""

    def __init__(self, program: Program, store: Store) -> None:
        super().__init__(program, store, [], keep=True)
        self.ids: dict[Term, int] = {}
        """The numbers of the individuals that K does not have."""
        self._uses: dict[int, int] = {}
        self._free: list[int] = []
        self._held: dict[Triple, Node] = {}
        self._due = _Expirations[tuple[Any, ...]]()
        """Each fact, with its node, when it was thought to expire; it may last longer by now."""
        self._leaving = _Expirations[Triple]()
        """The same for triples."""
        self._come: list[Fact] = []
        """The facts that were derived since the last `add`, or by it."""
        self.contradictions = 0
        """The number of individuals with a contradiction."""
        self.numbers: dict[Triple, int] = {}
        self.triples: list[Triple] = []
        """The triples by their numbers; those that have gone may still stand there."""
        self.types_of: dict[int, dict[int, None]] = {}
        """Individual -> the numbers of the triples that say its classes."""
        self.edges_of: dict[tuple[int, int], dict[int, None]] = {}

    # --- items come

    def add(self, triples: Iterable[tuple[Triple, int]]) -> list[Fact]:
        """Triples with their expirations, and all that follows from them; the facts that were not there."""
        self._come = []
        for triple, until in triples:
            self._assert(triple, until)
        self.run()
        found, self._come = self._come, []
        return found

    def _assert(self, triple: Triple, until: int) -> None:
        s, p, o = triple
        program = self.program
        typed = p == RDF_TYPE
        heads: Heads | None = program.classes.get(o) if typed else None
        edges: Edges | None = None if typed else (program.data if o[0] == '"' else program.roles).get(p)
        if not heads and not edges:
            return
        known = self._held.get(triple)
        if known is None:
            known = self._held[triple] = [until]
            x, y = self._use(s), -1 if typed else self._use(o)
            self._number(triple, x, y)
        elif known[0] < until:
            known[0] = until
        else:
            return
        if until < NEVER:
            self._leaving.put(until, triple)
        self._derive(triple)

    def _derive(self, triple: Triple) -> None:
        """Derive the facts of a triple in the window."""
        s, p, o = triple
        program, node = self.program, self._held[triple]
        if p == RDF_TYPE:
            self.add_types(self._of(s), program.classes[o], node)
            return
        if p == SAME_AS:
            self.equality = True
        edges = (program.data if o[0] == '"' else program.roles)[p]
        self.add_edges(edges, self._of(s), self._of(o), node)

    def _of(self, term: Term) -> int:
        known = self.store.ids.get(term)
        return self.ids[term] if known is None else known

    def _use(self, term: Term) -> int:
        known = self.store.ids.get(term)
        if known is not None:
            return known
        x = self.ids.get(term)
        if x is None:
            if self._free:
                x = self._free.pop()
                self.own[x - self.store.size] = term
            else:
                x = self.store.size + len(self.own)
                self.own.append(term)
            self.ids[term] = x
        self._uses[x] = self._uses.get(x, 0) + 1
        return x

    def _number(self, triple: Triple, x: int, y: int) -> None:
        number = self.numbers[triple] = len(self.triples)
        self.triples.append(triple)
        if y < 0:
            self.types_of.setdefault(x, {})[number] = None
        else:
            self.edges_of.setdefault((x, y), {})[number] = None

    def add_types(self, x: int, heads: Heads, derivation: Any) -> None:
        """Concepts of one individual, by one derivation."""
        until = _until(derivation)
        stored = self._types[x] if x < self._size else ()
        for c in heads:
            if c in stored:
                continue
            known = self.types.setdefault(x, {})
            node = known.get(c)
            if node is None:
                node = known[c] = [until]
                fact = c, x, node
                self._due.put(until, fact)
                self._come.append((c, x))
                self.contradictions += c == BOTTOM
                self._agenda.append(fact)
            elif node[0] < until:
                node[0] = until
                self._agenda.append((c, x, node))

    def add_edges(self, edges: Edges, x: int, y: int, derivation: Any) -> None:
        """Edges between two individuals, by one derivation."""
        until = _until(derivation)
        width = len(self._stored)
        for relation, backwards in edges:
            a, b = (y, x) if backwards else (x, y)
            if a < self._size and b < self._size and self.store.has_edge(relation, a, b):
                continue
            found = self.forwards.setdefault(a * width + relation, {})
            node = found.get(b)
            if node is None:
                node = found[b] = [until]
                self.backwards.setdefault(b * width + relation, {})[a] = node
                fact = relation, a, b, node
                self._due.put(until, fact)
                self._come.append((relation, a, b))
                self._agenda.append(fact)
            elif node[0] < until:
                node[0] = until
                self._agenda.append((relation, a, b, node))

    # --- items leave

    def drop(self, measure: int) -> list[Fact]:
        """The facts whose time is over are gone, and the triples. Terms that have gone keep their numbers
        until the next `add`."""
        gone: list[Fact] = []
        for fact in self._due.take(measure):
            until = fact[-1][0]
            if until > measure:
                self._due.put(until, fact)
                continue
            known = fact[:-1]
            gone.append(known)
            if len(known) == 2:
                self._drop_type(*known)
            else:
                self._drop_edge(*known)
        for triple in self._leaving.take(measure):
            node = self._held.get(triple)
            if node is not None and node[0] <= measure:
                self._drop_triple(triple)
        self._forget_numbers()
        return gone

    def _drop_type(self, c: int, x: int) -> None:
        known = self.types[x]
        del known[c]
        if not known:
            del self.types[x]
        self.contradictions -= c == BOTTOM

    def _drop_edge(self, relation: int, a: int, b: int) -> None:
        width = len(self._stored)
        for table, key, end in (
            (self.forwards, a * width + relation, b),
            (self.backwards, b * width + relation, a),
        ):
            found = table[key]
            del found[end]
            if not found:
                del table[key]

    def _drop_triple(self, triple: Triple) -> None:
        s, p, o = triple
        del self._held[triple]
        number = self.numbers.pop(triple)
        x, y = self._of(s), -1 if p == RDF_TYPE else self._of(o)
        table: Any = self.types_of if y < 0 else self.edges_of
        key = x if y < 0 else (x, y)
        del table[key][number]
        if not table[key]:
            del table[key]
        for end, term in ((x, s), (y, o)):
            if end >= self._size:
                self._uses[end] -= 1
                if not self._uses[end]:
                    del self._uses[end], self.ids[term]
                    self._free.append(end)

    def _forget_numbers(self) -> None:
        """Where most of the numbers have gone, begin anew with those that are there."""
        if len(self.triples) <= 2 * len(self.numbers) + 1000:
            return
        kept = [*self.numbers]
        self.triples, self.numbers = [], {}
        self.types_of, self.edges_of = {}, {}
        for triple in kept:
            s, p, o = triple
            self._number(triple, self._of(s), -1 if p == RDF_TYPE else self._of(o))

    def size(self) -> int:
        """The number of stored facts."""
        return sum(map(len, self.types.values())) + sum(map(len, self.forwards.values())) + len(self._held)


def _until(derivation: Any) -> int:
    """A node, or several premises: nodes, and facts of K, which never expire."""
    if type(derivation) is list:
        until: int = derivation[0]
        return until
    until = NEVER
    for premise in derivation:
        if type(premise) is list and premise[0] < until:
            until = premise[0]
    return until
