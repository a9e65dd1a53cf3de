"""What an item says and what it adds to K, for queries over timed triples (D14).

In: the triples of an item. Out: those of them that queries ask for, and what follows from them with K. It is
found once for all items that differ in their own names and in literals that no rule looks at (see `shapes`).
"""

from __future__ import annotations

from collections.abc import Sequence

from obep.abstraction.matcher import Matcher
from obep.abstraction.shapes import Memory
from obep.abstraction.windows.window_closure import WindowClosure
from obep.algebra.timed.shaped_triples import ItemShape, ShapedTriples
from obep.algebra.timed.triple_occurrences import WantedTriples
from obep.formats.input_limits import Refused
from obep.model import RDF_TYPE, Term, Triple
from obep.ontology.closure.changing_store import ChangingStore

REMEMBERED = 10_000
"""Shapes that are remembered."""
_LITERAL = 1 << 40
"""Added to the number of a literal, for its place in a key."""


class ItemNews:
    """Closes the triples of items."""

    def __init__(self, matcher: Matcher, asked: WantedTriples) -> None:
        """`asked`: the constants of all triple patterns."""
        self._asked = asked
        self._said: dict[Triple, None] = {}
        self._closure = WindowClosure(matcher, self._said)
        bundle = matcher.bundle
        program, store = bundle.lower_asserted, bundle.lower.store
        self._ids = store.ids
        self._fixed = {term for wanted in asked.all for term in wanted if term is not None}
        self._memory: Memory[ItemShape] | None = Memory(REMEMBERED)
        names_asked = all(p is not None and (p != RDF_TYPE or o is not None) for _, p, o in asked.all)
        if not (names_asked and self._closure.kept) or isinstance(store, ChangingStore):
            self._memory = None  # a class or property may be in a solution, or the answer changes with K
        properties = {p for _, p, _ in asked.all if p is not None}
        self._classes: dict[Term, Term | int] = {**program.alike()}
        self._classes |= {o: o for _, p, o in asked.all if p == RDF_TYPE and o is not None}
        self._roles = properties | {p for p, edges in program.roles.items() if edges}
        self._data = dict.fromkeys(properties, True)
        """Whether a literal counts as a name: no rule looks at it."""
        apart = self._closure.apart_data
        self._data |= {p: p in apart for p, edges in program.data.items() if edges}

    def of(self, triples: Sequence[Triple], lead: int) -> ShapedTriples | list[Triple]:
        """The triples that are stated and asked for, and those that they add to K."""
        memory = self._memory
        if memory is None:
            return self.closed([*dict.fromkeys(triples)])
        key, own = self._shape(triples)
        shape = memory.young.get(key) or memory.get(key)
        if shape is None:
            shape = ItemShape(self.closed([*dict.fromkeys(triples)]), own)
            memory.put(key, shape)
        return ShapedTriples(shape, own, lead)

    def _shape(self, triples: Sequence[Triple]) -> tuple[tuple[object, ...], dict[Term, int]]:
        """A key that items of other names have, too; and the numbers of this item's names and literals."""
        key: list[object] = []
        own: dict[Term, int] = {}
        as_is: list[Term] = []
        ids, fixed, classes, roles, data = self._ids, self._fixed, self._classes, self._roles, self._data
        for s, p, o in triples:
            if p == RDF_TYPE:
                code: object = classes.get(o)
                if code is None:
                    continue
            elif o[0] == '"':
                as_name = data.get(p)
                if as_name is None:
                    continue
                if not as_name or o in fixed or o in ids:
                    code = o
                    as_is.append(o)
                else:
                    n = own.get(o)
                    if n is None:
                        n = own[o] = len(own)
                    code = n + _LITERAL
            elif p not in roles:
                continue
            elif o in ids or o in fixed:
                code = o
            else:
                n = own.get(o)
                if n is None:
                    n = own[o] = len(own)
                code = n if o[0] == "<" else ~n
            if s in ids or s in fixed:
                key += (s, p, code)
            else:
                n = own.get(s)
                if n is None:
                    n = own[s] = len(own)
                key += (n if s[0] == "<" else ~n, p, code)
        if as_is and not own.keys().isdisjoint(as_is):  # a solution could not tell them apart
            key += [(o, own[o]) for o in as_is if o in own]
        return tuple(key), own

    def closed(self, triples: list[Triple]) -> list[Triple]:
        """The same without a look at what is remembered."""
        closure, said, asked = self._closure, self._said, self._asked
        found, of_k = closure.change((), triples)
        said.update(dict.fromkeys(triples))
        if closure.kept:  # it leaves out names that neither T nor the file has
            written = (one for one in said if one in asked)
            new = [*dict.fromkeys((*written, *(triple for triple, _ in (*found, *of_k))))]
        else:
            new = [*dict.fromkeys((*said, *(one for some in asked.all for one in closure.match_new(*some))))]
        consistent = closure.consistent
        closure.change(triples, ())
        said.clear()
        if not consistent:
            raise Refused("OBEP649", f"{' '.join(triples[0])} contradicts the ontology")
        return new
