"""In which order an instant decides its events: each after those that it is made of or may be found in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any

from obep.model import RDF_TYPE, Term, body_of
from obep.query.ast import CompositeEvent, Event, LogicalEvent, Name, Var
from obep.query.free_variables import HIDDEN
from obep.query.walk import components, depends, event_needs, layered, needs_of, reachable

if TYPE_CHECKING:
    from obep.query.link import Linked

ANYTHING = "anything"
"""The subject of a template with a variable for a class or a property."""
NONE: frozenset[Term] = frozenset()


class Below(Set[Term]):
    """The events in whose occurrences an event may be found: `shared` and `own`, but for `without`.

    Many events have most of them in common, so that each holds only in what it differs.
    """

    __slots__ = ("own", "shared", "without")

    def __init__(
        self, shared: frozenset[Term], own: Iterable[Term] = (), without: Iterable[Term] = ()
    ) -> None:
        self.shared = shared
        self.own = frozenset(own) - shared
        self.without = frozenset(one for one in without if one in shared or one in self.own)

    def __contains__(self, event: object) -> bool:
        return (event in self.shared or event in self.own) and event not in self.without

    def __iter__(self) -> Iterator[Term]:
        return (one for one in chain(self.shared, self.own) if one not in self.without)

    def __len__(self) -> int:
        return len(self.shared) + len(self.own) - len(self.without)

    @classmethod
    def _from_iterable(cls, events: Iterable[Any]) -> Set[Any]:
        return frozenset(events)


Derived = Mapping[Term, Below]


def heads(found_in: Derived) -> frozenset[Term]:
    """The events in whose occurrences others may be found."""
    left_out: dict[frozenset[Term], frozenset[Term]] = {}
    for below in found_in.values():
        left_out[below.shared] = below.without & left_out.get(below.shared, below.without)
    own = (below.own - below.without for below in found_in.values())
    return NONE.union(*(shared - without for shared, without in left_out.items()), *own)


class Needs:
    """What each event needs or may be found in, and the reverse; what many have in common is one node.

    That node leads to the members of the set that it stands for.
    """

    def __init__(self, needs: Mapping[Term, set[Term]], found_in: Derived | None = None) -> None:
        self.needs: dict[Term, set[Term]] = {}
        self.users: dict[Term, set[Term]] = {}
        self._sets: dict[frozenset[Term], Term] = {}
        for name, parts in needs.items():
            self._add(name, parts)
        for event, below in (found_in or {}).items():
            self.find(event, below, again=True)

    @property
    def sets(self) -> set[Term]:
        """The nodes that stand for sets."""
        return set(self._sets.values())

    def find(self, event: Term, below: Below, *, again: bool = False) -> None:
        """Add what an event may be found in; `again`: its set may lead back to it, as all circles may."""
        if below.without and not (again and below.without == {event}):
            self._add(event, below)
            return
        self._add(event, below.own)
        if below.shared:
            if below.shared not in self._sets:
                self._sets[below.shared] = f"set {len(self._sets)}"
                self._add(self._sets[below.shared], below.shared)
            self._add(event, {self._sets[below.shared]})

    def _add(self, name: Term, parts: Iterable[Term]) -> None:
        self.needs.setdefault(name, set()).update(parts)
        for part in parts:
            self.users.setdefault(part, set()).add(name)


def derived(linked: Linked, bundle: Any = None) -> dict[Term, Below]:
    """For each event those composite and guarded ones in whose occurrences it may be found.

    That is where its definition names them, or T leads from them, or from what they construct, to it. An
    occurrence is an item of the next stratum: nothing is found in it that it is itself made of. What looks at
    a stream or a window is found in the items of that stream alone.
    """
    by_mark: dict[Term, list[Term]] = {}
    for iri, event in linked.events.items():
        if isinstance(event, CompositeEvent) or event.guard is not None:
            for mark in {iri, *_constructed(event)}:
                by_mark.setdefault(mark, []).append(iri)
    needs = event_needs(linked, earlier=True)
    users = Needs(needs).users
    leading = _leading(linked, by_mark, bundle)

    def having(*marks: Iterable[Term]) -> frozenset[Term]:
        return NONE.union(*(by_mark.get(mark, ()) for mark in chain(*marks)))

    shared = cache(having)
    found: dict[Term, Below] = {}
    for iri, event in linked.events.items():
        if by_mark and (isinstance(event, CompositeEvent) or event.on is None):
            named = {iri, *depends(event)} if isinstance(event, LogicalEvent) else {iri}
            below = Below(shared((ANYTHING,), *leading(iri)), having(named), (iri,))
            if below:
                found[iri] = Below(below.shared, below.own, (iri, *reachable(iri, users)))
    return _ending(found, needs, linked)


def _ending(found: dict[Term, Below], needs: dict[Term, set[Term]], linked: Linked) -> dict[Term, Below]:
    """The same without what closes a circle in which each round has a new name: it would have no end.

    Strata are in an order, so one of two has to be below the other: the one that is defined first, where
    nothing else says so. Where a round brings nothing new, a circle ends by itself.
    """
    both = Needs(needs, found)
    for group in components(both.needs, lambda name: both.needs.get(name, NONE)):
        inside = set(group) - both.sets
        if len(inside) > 1 and any(_names_anew(linked.events[iri]) for iri in inside):
            members = [iri for iri in reversed(linked.events) if iri in inside]
            users = Needs({iri: needs[iri] & inside for iri in members}).users
            for iri in members:
                below, later = found.get(iri, NONE), reachable(iri, users)
                if cut := later & below:
                    found[iri] = Below(NONE, below - cut)
                for head in (inside - later) & below:
                    users.setdefault(head, set()).add(iri)
    return {iri: below for iri, below in found.items() if below}


def _names_anew(event: Event) -> bool:
    """Whether each occurrence brings a name of its own."""
    places = (place for triple in event.construct for place in (triple.subject, triple.object))
    blank = any(isinstance(place, Var) and place.name.startswith(HIDDEN) for place in places)
    return isinstance(event, CompositeEvent) or blank


def in_order(linked: Linked, found_in: Derived) -> list[list[Term]]:
    """The events and states in layers. What only T makes depend on another comes after it where it can."""
    found = Needs(needs_of(linked))
    for iri, below in found_in.items():
        if below.isdisjoint(reachable(iri, found.users)):
            found.find(iri, below)
    return layered(found.needs, found.sets)


def _constructed(event: Event) -> Iterator[Term]:
    """The classes and properties in an event's CONSTRUCT."""
    for triple in event.construct:
        name = triple.predicate
        about = triple.object if isinstance(name, Name) and name.iri == RDF_TYPE else name
        yield about.iri if isinstance(about, Name) else ANYTHING


def _leading(
    linked: Linked, marks: Iterable[Term], bundle: Any
) -> Callable[[Term], tuple[frozenset[Term], ...]]:
    """For an event the marks that a derivation of it by T may begin with; many events have the same ones."""
    marks = list(marks)
    if not marks or not hasattr(bundle, "leading_marks"):  # nothing is asked, or nothing is known of T
        return lambda iri: ()
    goals = [goal for iri in linked.events for goal in (iri, body_of(iri))]
    reached = bundle.leading_marks(marks, goals)

    def leading(iri: Term) -> tuple[frozenset[Term], ...]:
        undecided = bundle.status[iri] != "exact"  # the reasoner may find what the rules do not
        return (reached[iri], reached[body_of(iri)], *((bundle.names_in_t,) if undecided else ()))

    return leading
