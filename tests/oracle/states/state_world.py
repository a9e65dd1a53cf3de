"""What is given: the definitions of a query, its items, K(t), and T as a hierarchy of named classes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache

from obep.model import RDF_TYPE, Item, Term, Triple
from obep.query import ast
from oracle.guard_semantics import parts

SUBCLASS = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"
Event = ast.LogicalEvent | ast.CompositeEvent | ast.GraphEvent
Key = tuple[Term, ...]
"""Values of the parameters of a state."""


@dataclass(frozen=True)
class Definitions:
    """Events, states, windows and RETURNs by their names, whatever file they stand in."""

    events: dict[Term, Event]
    states: dict[Term, ast.State]
    windows: dict[str, ast.Window]
    returns: tuple[ast.Return, ...] = ()

    @classmethod
    def of(cls, query: object) -> Definitions:
        """Those of a linked query, or of one file."""
        files: Sequence[ast.QueryFile] = getattr(query, "files", None) or (query,)  # type: ignore[assignment]
        events = {event.name.iri: event for file in files for event in file.events}
        linked = getattr(query, "events", None)
        if isinstance(linked, dict):  # link names the groups that stand in a MATCH
            events |= linked
        states = {state.name.iri: state for file in files for state in file.states}
        windows = {window.name: window for file in files for window in file.windows}
        return cls(_unnested(events), states, windows, files[-1].returns)

    def needs(self, name: Term) -> set[Term]:
        """The events and states that a definition names, itself or through a window ON EVENT."""
        node = self.events.get(name) or self.states[name]
        named: set[Term] = set()
        windows = {getattr(node, "on", None)}
        for part in parts(node):
            match part:
                case ast.Leaf(event):
                    named.add(event.iri)
                    windows.add(part.window)
                case ast.StateUse(state):
                    named.add(state.iri)
                case ast.Atom(atom):
                    named.add(atom.iri)
                case ast.WindowGroup(window):
                    windows.add(window if isinstance(window, str) else None)
        for window in windows & set(self.windows):  # type: ignore[operator]
            over = self.windows[window].event  # type: ignore[index]
            named |= {over.iri} if over else set()
        return named & (set(self.events) | set(self.states))

    def lower_first(self) -> list[Term]:
        """Strata (D41): whatever a definition needs comes before it."""
        order: list[Term] = []

        def visit(name: Term, below: tuple[Term, ...]) -> None:
            if name in below:
                raise ValueError(f"a cycle: {below}")
            if name not in order:
                for other in sorted(self.needs(name)):
                    visit(other, (*below, name))
                order.append(name)

        for name in (*self.events, *self.states):
            visit(name, ())
        return order


def _unnested(events: dict[Term, Event]) -> dict[Term, Event]:
    """With each group in a MATCH as a graph event of its own, where `link` has not done so."""
    made: dict[Term, Event] = {}
    for name, event in events.items():
        groups = [part for part in parts(event) if isinstance(part, ast.GroupLeaf)]
        for number, leaf in enumerate(groups):
            inner = ast.Name(f"group{number}", f"{name[:-1]}#group{number}>")
            variables = tuple(dict.fromkeys(v for v in parts(leaf.group) if isinstance(v, ast.Var)))
            named = tuple(v for v in variables if not v.name.startswith("_:"))
            made[inner.iri] = ast.GraphEvent(inner, leaf.group, named)
            event = _replaced(event, leaf, ast.Leaf(inner, named, leaf.alias))
        made[name] = event
    return made


def _replaced(node, old, new):  # type: ignore[no-untyped-def]
    """The same tree with one node in place of another."""
    if node is old:
        return new
    if isinstance(node, tuple):
        return tuple(_replaced(member, old, new) for member in node)
    if isinstance(node, ast.Node):
        fields = {f: getattr(node, f) for f in node.__dataclass_fields__}
        return type(node)(**{f: _replaced(value, old, new) for f, value in fields.items()})
    return node


@dataclass
class World:
    """The items of a finished run, K as it changes, and what T entails of named classes."""

    definitions: Definitions
    items: tuple[Item, ...]
    static: tuple[tuple[int, frozenset[Triple]], ...]
    """K from an instant on; the first is from the beginning."""
    schema: frozenset[Triple] = frozenset()
    end: int = 0
    supers: dict[Term, frozenset[Term]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        direct: dict[Term, set[Term]] = {}
        for low, _, high in (t for t in self.schema if t[1] == SUBCLASS):
            direct.setdefault(low, set()).add(high)
        for event in self.definitions.events.values():
            if isinstance(event, ast.LogicalEvent):  # H EquivalentTo B
                body = class_of(event.description)
                direct.setdefault(event.name.iri, set()).add(body)
                direct.setdefault(body, set()).add(event.name.iri)

        def above(name: Term, seen: frozenset[Term]) -> frozenset[Term]:
            for high in direct.get(name, ()):
                if high not in seen:
                    seen = above(high, seen | {high})
            return seen

        self.supers = {name: above(name, frozenset([name])) for name in direct}
        self.closed = cache(self._closed)  # type: ignore[method-assign]

    @property
    def first(self) -> int:
        """The instant of the first item of the run, of all streams."""
        return min((item.at for item in self.items), default=0)

    @property
    def run(self) -> int:
        """From here on states of K hold (STATES 2)."""
        return self.first - 1

    def k(self, t: int) -> frozenset[Triple]:
        """K(t)."""
        return [triples for since, triples in self.static if since <= t][-1]

    def closed(self, triples: frozenset[Triple]) -> frozenset[Triple]:
        """cl: with the classes above those asserted (T has nothing else here)."""
        return self._closed(triples)

    def _closed(self, triples: frozenset[Triple]) -> frozenset[Triple]:
        more = {
            (s, p, high) for s, p, o in triples if p == RDF_TYPE for high in self.supers.get(o, frozenset())
        }
        return triples | more

    def new(self, triples: frozenset[Triple], t: int) -> frozenset[Triple]:
        """New(X) = X ∪ (cl(X ∪ K) ∖ cl(K)) (D14)."""
        return triples | (self.closed(triples | self.k(t)) - self.closed(self.k(t)))

    def of_class(self, name: Term, low: Term) -> bool:
        """Whether T says that `low` is below the class."""
        return name == low or name in self.supers.get(low, frozenset())


def class_of(description: ast.Description) -> Term:
    """The oracle knows named classes only."""
    if isinstance(description, ast.ClassName):
        return description.name.iri
    raise NotImplementedError(f"the oracle has no {type(description).__name__}")


def world_of(
    query: object,
    items: Iterable[Item],
    static: Iterable[Triple] = (),
    *,
    end: int | None = None,
    schema: Iterable[Triple] = (),
    changes: Iterable[tuple[int, Iterable[Triple]]] = (),
) -> World:
    """A finished run of a linked query, or of a file, over items and K.

    `schema` is T (rdfs:subClassOf); `changes` gives K anew from an instant on.
    """
    known = tuple(sorted(items, key=lambda item: item.at))
    ks = [
        (-(10**18), frozenset(static)),
        *((at, frozenset(k)) for at, k in sorted(changes, key=lambda c: c[0])),
    ]
    last = max((item.at for item in known), default=0)
    return World(Definitions.of(query), known, tuple(ks), frozenset(schema), last if end is None else end)
