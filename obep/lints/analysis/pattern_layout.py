"""A composite event laid out: which alias stands where in the pattern, and which variables it binds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from obep.errors import Span
from obep.lints.analysis.bound_variables import in_scope
from obep.lints.analysis.event_order import Definitions
from obep.lints.analysis.pattern_durations import Measures
from obep.query.ast import (
    Block,
    CompositeEvent,
    Filter,
    Guard,
    Leaf,
    Not,
    NotFollowedBy,
    Optional,
    Pattern,
    QueryFile,
    TimeFunction,
    Times,
    TriplePattern,
    Var,
    While,
    Without,
)
from obep.query.pattern_walk import operands, optional_head
from obep.query.walk import alias_of, walk


@dataclass(slots=True)
class Sides:
    """The leaves left and right of an operator, by number: left is [first, middle), right [middle, last)."""

    node: Without | NotFollowedBy | Optional
    first: int
    middle: int = 0
    last: int = 0

    def holds(self, number: int) -> bool:
        return self.first <= number < self.last

    def on_the_left(self, number: int) -> bool:
        return self.first <= number < self.middle


@dataclass(frozen=True, slots=True)
class Place:
    """A leaf, and what it stands under."""

    number: int
    leaf: Leaf
    alias: str
    denied: Sides | None
    """The innermost WITHOUT or NOT FOLLOWED BY that has it on its right."""
    under_not: Not | None
    optional: Sides | None
    """The OPTIONAL(L) SEQ R that has it in its L, outside every negation."""
    repeated: bool
    """It stands in a TIMES."""

    @property
    def positive(self) -> bool:
        """It takes part in what is reported: no negation holds it."""
        return self.denied is None and self.under_not is None


@dataclass(frozen=True, slots=True)
class Condition:
    """A filter of the guard, and what it needs."""

    filter: Filter
    variables: tuple[Var, ...]
    times: tuple[TimeFunction, ...]
    """Its getSTARTTIME, getENDTIME and getDURATION."""

    @classmethod
    def of(cls, condition: Filter) -> Condition:
        parts = list(walk(condition))
        return cls(
            condition,
            tuple(part for part in parts if isinstance(part, Var)),
            tuple(part for part in parts if isinstance(part, TimeFunction)),
        )


@dataclass(frozen=True, slots=True)
class Scope:
    """A composite event, its leaves in order, and who binds what."""

    event: CompositeEvent
    file: QueryFile
    places: tuple[Place, ...]
    aliases: dict[str, list[Place]]
    binders: dict[str, dict[int, Span]]
    """Variable → the numbers of the leaves that bind it, and where. Those under NOT bind nothing."""
    reported: dict[str, None]
    """The variables that have a value in what is reported, in their order."""
    conditions: tuple[Condition, ...]
    """All filters of the guard; those inside blocks first."""
    loose: frozenset[str]
    """Variables that may be bound elsewhere: by a state, or in a block whose alias is not there (an error of
    its own, so no further one follows)."""
    measures: Measures

    @property
    def definitions(self) -> Definitions:
        return self.measures.definitions

    @property
    def blocks(self) -> tuple[Block, ...]:
        return self.event.guard.blocks if self.event.guard else ()

    def read_by(self, block: Block) -> list[Place]:
        """The leaves that a block is given to."""
        if not block.aliases:
            return list(self.places)
        return [place for alias in block.aliases for place in self.aliases.get(alias, ())]

    def bound(self, variable: str) -> bool:
        """Something that takes part in what is reported binds it."""
        return variable in self.reported or variable in self.loose


def lay_out(event: CompositeEvent, file: QueryFile, measures: Measures) -> Scope:
    """Number the leaves of a pattern and find out what each of them binds."""
    places = tuple(_Walk().places_of(event.pattern))
    aliases: dict[str, list[Place]] = {}
    binders: dict[str, dict[int, Span]] = {}
    for place in places:
        aliases.setdefault(place.alias, []).append(place)
        if not place.under_not:
            for variable in place.leaf.parameters:
                binders.setdefault(variable.name, {}).setdefault(place.number, variable.span)
    conditions = conditions_of(event.guard)
    loose = _loose(event, aliases, measures.definitions)
    scope = Scope(event, file, places, aliases, binders, {}, conditions, loose, measures)
    for block in scope.blocks:
        readers = [place for place in scope.read_by(block) if not place.under_not]
        for variable in variables_of(block.triples):
            for place in readers:
                binders.setdefault(variable.name, {}).setdefault(place.number, variable.span)
    binders.pop("this", None)
    for name, numbers in binders.items():
        if any(places[number].positive for number in numbers):
            scope.reported[name] = None
    return scope


def _loose(
    event: CompositeEvent, aliases: dict[str, list[Place]], definitions: Definitions
) -> frozenset[str]:
    brought = frozenset(_brought(event, definitions))
    if event.guard is None:
        return brought
    lost = [b for b in event.guard.blocks if any(alias not in aliases for alias in b.aliases)]
    own = variables_of(event.guard.own)  # refused in a composite: an error of its own too
    return frozenset(v.name for b in lost for v in variables_of(b.triples)) | {v.name for v in own} | brought


def _brought(event: CompositeEvent, definitions: Definitions) -> Iterator[str]:
    """The variables that states bring along: the bindings of a state join by name."""
    for node in walk(event.pattern):
        if isinstance(node, While):
            yield from (variable.name for variable in node.state.parameters)
            yield from in_scope(node.state.state.iri, definitions)
        elif isinstance(node, Leaf):
            yield from in_scope(node.event.iri, definitions)


def variables_of(triples: Iterable[TriplePattern]) -> Iterator[Var]:
    """The variables of triple patterns, as often as they stand there; blank nodes are left out."""
    for triple in triples:
        for term in (triple.subject, triple.predicate, triple.object):
            if isinstance(term, Var) and not term.name.startswith("_:"):
                yield term


def conditions_of(guard: Guard | None) -> tuple[Condition, ...]:
    """All filters of a guard, also those in blocks."""
    if guard is None:
        return ()
    inner = (condition for block in guard.blocks for condition in block.filters)
    return tuple(Condition.of(condition) for condition in (*inner, *guard.filters))


@dataclass(slots=True)
class _Walk:
    """The state of one walk over a pattern."""

    found: list[Place] = field(default_factory=list)

    def places_of(self, pattern: Pattern) -> list[Place]:
        self._visit(pattern, None, None, None, False)
        return self.found

    def _visit(
        self,
        node: Pattern,
        denied: Sides | None,
        under_not: Not | None,
        optional: Sides | None,
        repeated: bool,
    ) -> None:
        if isinstance(node, Leaf):
            place = Place(len(self.found), node, alias_of(node), denied, under_not, optional, repeated)
            self.found.append(place)
        elif isinstance(node, Without | NotFollowedBy):
            sides = Sides(node, len(self.found))
            self._visit(node.left, denied, under_not, optional, repeated)
            sides.middle = len(self.found)
            self._visit(node.right, sides, under_not, None, repeated)
            sides.last = len(self.found)
        elif head := optional_head(node):
            sides = Sides(head, len(self.found))
            _, *rest = operands(node)
            self._visit(head.operand, denied, under_not, None if denied else sides, repeated)
            sides.middle = len(self.found)
            for number, operand in enumerate(rest):
                self._visit(operand, denied, under_not, optional, repeated)
                if number == 0:
                    sides.last = len(self.found)
        else:
            under_not = node if isinstance(node, Not) else under_not
            for operand in operands(node):
                self._visit(operand, denied, under_not, optional, repeated or isinstance(node, Times))
