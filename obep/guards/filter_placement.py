"""Place guards: collect each leaf's blocks, and give each FILTER to the aliases that can decide it alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from obep.model import Term, body_of
from obep.query.ast import (
    CompositeEvent,
    Event,
    Expression,
    Filter,
    First,
    GraphEvent,
    Guard,
    Last,
    Leaf,
    LogicalEvent,
    Node,
    NotFollowedBy,
    Repeated,
    Seq,
    StateUse,
    TriplePattern,
    While,
    Without,
)
from obep.query.free_variables import HIDDEN, THIS, rename_times, rename_variable, timed, variables
from obep.query.pattern_walk import patterns
from obep.query.walk import alias_of, children


@dataclass(frozen=True, slots=True)
class CrossFilter:
    """A filter that no single alias can decide. `?this` of a block is a hidden variable of its alias here."""

    condition: Expression
    variables: tuple[str, ...]
    """The variables that some alias binds, in the order of `binders`."""
    binders: tuple[frozenset[str], ...]
    """For each variable the aliases that bind it."""
    named: frozenset[str]
    """The aliases that it names: the one whose block it stands in, and those whose times it reads."""
    whole: bool
    """It reads the times of the whole candidate, so only the top can decide it."""

    @property
    def aliases(self) -> frozenset[str]:
        """All the aliases that it may concern."""
        return self.named.union(*self.binders)


def hidden_this(alias: str) -> str:
    """The name of an alias's `?this` outside of its block."""
    return f"{HIDDEN}this({alias})"


@dataclass(frozen=True, slots=True)
class Reading:
    """The blocks of one leaf, before the filters are placed."""

    alias: str
    event: Term
    leaf: Leaf | None = None
    held: bool = False
    """It stands below FIRST or LAST, where no filter of the guard is decided (SPEC D9)."""
    triples: tuple[TriplePattern, ...] = ()
    block_filters: tuple[Filter, ...] = ()
    names_this: tuple[str, ...] = ()
    parameters: tuple[tuple[str, int], ...] = ()
    declared: tuple[str, ...] = ()

    @property
    def loose(self) -> frozenset[str]:
        """The variables that a composite's occurrence may leave unbound."""
        return frozenset(name for name, _ in self.parameters) - frozenset(variables(*self.triples))

    @property
    def bound(self) -> frozenset[str]:
        """The variables that a solution has values for."""
        inside = (name for name in variables(*self.triples) if name != THIS and not name.startswith(HIDDEN))
        return frozenset((*inside, *self.names_this, *(name for name, _ in self.parameters)))


def readings_of(event: Event, events: Mapping[Term, Event]) -> list[Reading]:
    """One reading for each distinct leaf of a composite, one for a guarded logical event."""
    guard = event.guard or Guard((), ())
    if isinstance(event, LogicalEvent):
        if event.guard is None:
            return []
        blocks = (guard.own, *(block.triples for block in guard.blocks))
        triples = tuple(triple for at, block in enumerate(blocks) for triple in _own_blanks(block, at))
        inside = tuple(f for block in guard.blocks for f in block.filters)
        own = tuple(Filter(rename_times(f.condition, ""), span=f.span) for f in (*inside, *guard.filters))
        return [Reading("", body_of(event.name.iri), triples=triples, block_filters=own)]
    if isinstance(event, GraphEvent):
        return []
    readings = [_reading(leaf, held, guard, events) for leaf, held in _leaves(event)]
    return readings + [_context(node.state) for node in patterns(event.pattern) if isinstance(node, While)]


def _context(use: StateUse) -> Reading:
    """The variables that a state of WHILE binds; no filter is decided before it is joined."""
    leaf = Leaf(use.state, use.parameters, scoped=use.scoped)
    names = tuple(one.name for one in (*use.parameters, *use.scoped))
    parameters = tuple((name, at) for at, name in enumerate(names))
    return Reading(alias_of(leaf), use.state.iri, leaf, held=True, parameters=parameters, declared=names)


def _reading(leaf: Leaf, held: bool, guard: Guard, events: Mapping[Term, Event]) -> Reading:
    alias = alias_of(leaf)
    blocks = [b for b in guard.blocks if not b.aliases or alias in b.aliases]
    used = events.get(leaf.event.iri)
    declared = tuple(v.name for v in used.parameters) if isinstance(used, CompositeEvent) else ()
    names = tuple(v.name for v in (*leaf.parameters, *leaf.scoped))
    return Reading(
        alias,
        leaf.event.iri,
        leaf,
        held,
        tuple(triple for at, block in enumerate(blocks) for triple in _own_blanks(block.triples, at)),
        tuple(f for block in blocks for f in block.filters),
        () if declared else tuple(dict.fromkeys(names)),
        tuple((name, at) for at, name in enumerate(names[: len(declared)])) if declared else (),
        declared,
    )


def _own_blanks(triples: tuple[TriplePattern, ...], block: int) -> tuple[TriplePattern, ...]:
    """A blank node is local to its block, so each block after the first gets names of its own for them."""
    for name in variables(*triples) if block else ():
        if name.startswith(HIDDEN):
            triples = tuple(rename_variable(triple, name, f"{name}.{block}") for triple in triples)
    return triples


def _leaves(event: CompositeEvent) -> list[tuple[Leaf, bool]]:
    """The distinct leaves, and whether each stands below FIRST or LAST.

    A naive SEQ chooses as LAST does, before any guard (SPEC §6). Within a negation only the FIRST and LAST
    inside of it count: what belongs to it is decided there.
    """
    found: dict[Leaf, bool] = {}

    def visit(node: object, held: bool, choosing: tuple[type[Node], ...]) -> None:
        if isinstance(node, Leaf):
            found[node] = held or found.get(node, False)
        elif isinstance(node, Repeated | Without | NotFollowedBy):
            positive, negated = (
                (node.operand, node.until) if isinstance(node, Repeated) else (node.left, node.right)
            )
            visit(positive, held, choosing)
            visit(negated, False, (First, Last))
        elif isinstance(node, Node):
            for child in children(node):
                visit(child, held or isinstance(node, choosing), choosing)

    visit(event.pattern, False, (First, Last, Seq) if event.policy == "naive" else (First, Last))
    return list(found.items())


@dataclass(frozen=True, slots=True)
class Placed:
    """The filters of a guard: by the number of a reading, and those that stay."""

    own: tuple[list[Filter], ...]
    cross: tuple[CrossFilter, ...]


def place(readings: list[Reading], guard: Guard | None) -> Placed:
    """Give each filter to the lowest place that can decide it."""
    placed = Placed(tuple([] for _ in readings), ())
    cross: dict[CrossFilter, None] = {}
    for number, reading in enumerate(readings):
        for filter_ in reading.block_filters:
            needed = _known(filter_, readings) - {THIS}
            if needed <= reading.bound and timed(filter_) <= {reading.alias}:
                placed.own[number].append(_of_its_own(filter_))
            else:
                cross[_cross(filter_, readings, reading.alias)] = None
    if not readings or readings[0].leaf is None:
        return placed
    for filter_ in guard.filters if guard else ():
        if not _give_to_aliases(filter_, readings, placed):
            cross[_cross(filter_, readings, None)] = None
    return Placed(placed.own, tuple(cross))


def _give_to_aliases(filter_: Filter, readings: list[Reading], placed: Placed) -> bool:
    """Give a filter to every alias that can decide it alone; whether that decides it for good."""
    needed, times = _known(filter_, readings), timed(filter_)
    if not (needed or times):
        return False
    takers = [
        number
        for number, reading in enumerate(readings)
        if needed <= reading.bound and times <= {reading.alias} and not reading.held
    ]
    for number in takers:
        placed.own[number].append(_of_its_own(filter_))
    if times:
        return bool(takers)
    if any(needed & readings[number].loose for number in takers):
        return False  # where a parameter was left unbound, it asked nothing yet
    # With an OR the variables may come from other aliases together. But if all that bind one of them have
    # taken the filter, no candidate to which it applies gets past it.
    return any(
        all(number in takers for number, reading in enumerate(readings) if name in reading.bound)
        for name in needed
    )


def _known(filter_: Filter, readings: list[Reading]) -> set[str]:
    """The variables of a filter that some block binds; all others are unbound, as SPARQL defines it."""
    bound = {THIS}.union(*(reading.bound for reading in readings))
    return {name for name in variables(filter_) if name in bound}


def _of_its_own(filter_: Filter) -> Filter:
    return Filter(rename_times(filter_.condition, ""), span=filter_.span)


def _cross(filter_: Filter, readings: list[Reading], owner: str | None) -> CrossFilter:
    condition = filter_.condition
    names = [name for name in variables(condition) if name in _known(filter_, readings) and name != THIS]
    binders = [frozenset(r.alias for r in readings if name in r.bound) for name in names]
    if owner is not None and THIS in variables(condition):
        condition = rename_variable(condition, THIS, hidden_this(owner))
        names.append(hidden_this(owner))
        binders.append(frozenset({owner}))
    times = timed(condition)
    named = {alias for alias in times if alias is not None} | ({owner} if owner is not None else set())
    return CrossFilter(condition, tuple(names), tuple(binders), frozenset(named), None in times)
