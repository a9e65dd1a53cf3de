"""States as the plan runs them: hidden events for their patterns, and one event for each moment that is used.

`STATE S(?k) FROM P TO Q` becomes the hidden composites `S#from` and `S#to`; `STATE S OVER E …` the hidden
composite `S#rows`. A leaf `BEGIN S(?k)` becomes a leaf of the event `S#begin`, whose occurrences the state
itself reports. So patterns, guards and policies know events only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from obep.model import RDF_TYPE, Term
from obep.query import ast
from obep.query.free_variables import HIDDEN, THIS, rename_variable, timed, variables
from obep.query.group_walk import group_variables, parameters_of
from obep.query.pattern_walk import operands, patterns, with_operands
from obep.query.rebuild import rebuilt
from obep.query.state_parts import GRAPH, part_of
from obep.query.walk import alias_of, leaves, walk, windows_of

if TYPE_CHECKING:
    from obep.query.link import Linked


NOWHERE = "urn:obep:state"
"""The stream of the classes of states: no item is in it."""


ITEM = ast.Leaf(ast.Name("item", "<urn:obep:item>"))
"""The leaf in which graph events are found."""


class Moment(NamedTuple):
    """A moment of a state: an episode begins, ends, or has lasted for a time."""

    state: Term
    kind: ast.Moment
    lasting: int | None


def moment_of(leaf: ast.Leaf) -> Term:
    """The event that a leaf of a state reads."""
    return part_of(leaf.event.iri, leaf.moment, leaf.lasting.micros if leaf.lasting else None)


def expand(linked: Linked) -> Linked:
    """The query with hidden events for its states and MATCHes; itself, if it has none."""
    from obep.query.matched_queries import with_matches

    linked = _with_each_window(with_matches(linked))
    graphs = any(isinstance(event, ast.GraphEvent) for event in linked.events.values())
    return _Expansion(linked).expanded() if (linked.states or graphs) and not linked.expanded else linked


def _with_each_window(linked: Linked) -> Linked:
    """`WINDOW ?w { … }` of a state or a graph event is the union over all windows, each with its name."""

    def change(node: ast.Node) -> ast.Node | None:
        if not isinstance(node, ast.WindowGroup) or not isinstance(node.window, ast.Var):
            return None
        groups = []
        for window in linked.windows:
            name = ast.Values((node.window,), ((ast.Name(f"<{window.name}>", f"<{window.name}>"),),))
            groups.append(ast.Group((replace(node, window=window.name), name)))
        return ast.GroupUnion(tuple(groups))

    def with_all(definition: Any) -> Any:
        asked = isinstance(definition, ast.GroupState | ast.GraphEvent) and any(
            isinstance(node, ast.WindowGroup) and isinstance(node.window, ast.Var)
            for node in walk(definition.group)
        )
        return rebuilt(definition, change) if asked else definition

    states = {iri: with_all(state) for iri, state in linked.states.items()}
    events = {iri: with_all(event) for iri, event in linked.events.items()}
    return replace(linked, states=states, events=events)


class _Expansion:
    def __init__(self, linked: Linked) -> None:
        self._linked = linked
        self._events: dict[str, ast.Event] = {}
        self._moments: dict[str, Moment] = {}
        self._graphs: dict[str, ast.GraphEvent] = {}
        self._needs: dict[str, set[str]] = {}
        self._states: dict[str, ast.State] = {}
        for iri, state in linked.states.items():
            self._states[iri] = self._as_group(state) if isinstance(state, ast.ClassState) else state
        self._extra: dict[str, tuple[str, ...]] = {}

    def expanded(self) -> Linked:
        linked = self._linked
        hidden = {*self._events}
        for iri, event in linked.events.items():
            if isinstance(event, ast.GraphEvent):
                look = self._on_window if event.on in linked.window_names else self._on_items
                self._events[iri] = look(_whole(event))
        for iri, state in self._states.items():
            own = {event.name.iri: event for event in self._hidden(state)}
            self._events.update(own)
            hidden |= own.keys()
            self._needs.setdefault(iri, set()).update((*own, *_states_of(state, linked)))
        for iri, event in linked.events.items():
            self._events[iri] = self._rewritten(self._events.get(iri, event))
        for iri, moment in self._moments.items():
            self._events[iri] = self._reporting(iri, moment)
        return replace(
            linked,
            events=self._events,
            hidden=frozenset((*linked.hidden, *hidden, *self._moments, *self._graphs)),
            on_items={**linked.on_items, **self._graphs},
            expanded=True,
            moments=self._moments,
            needs=self._needs,
            states=self._states,
        )

    def _on_window(self, event: ast.GraphEvent) -> ast.CompositeEvent:
        """A graph event on a window is the beginning of a state (STATES 2)."""
        parameters = event.parameters
        name = ast.Name(f"{event.name.text}#state", part_of(event.name.iri, "state"), span=event.name.span)
        self._states[name.iri] = ast.GroupState(name, parameters, event.group, event.on, span=event.span)
        leaf = ast.Leaf(name, self._with_others(event), alias=event.name.text, moment="begin")
        return ast.CompositeEvent(
            event.name, leaf, parameters, construct=event.construct, named=event.named, span=event.span
        )

    def _on_items(self, event: ast.GraphEvent) -> ast.CompositeEvent:
        """A graph event on items reads what is found in them."""
        name = ast.Name(f"{event.name.text}#graph", part_of(event.name.iri, GRAPH), span=event.name.span)
        self._graphs[name.iri] = event
        self._needs[name.iri] = _states_of(event, self._linked)
        every = self._with_others(event)
        leaf = ast.Leaf(name, every, alias=event.name.text)
        self._events[name.iri] = ast.CompositeEvent(name, ITEM, every, span=event.span)
        return ast.CompositeEvent(
            event.name, leaf, event.parameters, construct=event.construct, named=event.named, span=event.span
        )

    def _as_group(self, state: ast.ClassState) -> ast.GroupState:
        """`AS (B)` is `{ ?k a S#class }`, where S#class is defined by B."""
        (this,) = state.parameters
        name = ast.Name(f"{state.name.text}#class", part_of(state.name.iri, "class"), span=state.name.span)
        self._events[name.iri] = ast.LogicalEvent(name, state.description, on=NOWHERE, span=state.span)
        typed = ast.TriplePattern(this, ast.Name("a", RDF_TYPE), ast.ClassName(name).name)
        asked = [rename_variable(one, THIS, this.name) for one in _as_elements(state.guard)]
        group = ast.Group((ast.Bgp((typed,)), *asked))
        return ast.GroupState(state.name, state.parameters, group, state.on, span=state.span)

    def _reporting(self, iri: Term, moment: Moment) -> ast.CompositeEvent:
        """The event of a moment: its one leaf is the state, its parameters are all variables of that."""
        state = self._states[moment.state]
        declared = (*state.parameters, *(ast.Var(one) for one in self._others(moment.state)))
        name = ast.Name(f"{state.name.text}#{moment.kind}", iri, span=state.name.span)
        return ast.CompositeEvent(name, ast.Leaf(state.name, declared), declared, span=state.span)

    def _hidden(self, state: ast.State) -> Iterator[ast.CompositeEvent]:
        match state:
            case ast.EventState():
                guards = split_guard(state)
                yield self._composite(state, "from", state.start, guards.start)
                yield self._composite(state, "to", state.end, guards.end)
            case ast.OverState(over=pattern) if not isinstance(pattern, ast.StateUse):
                yield self._composite(state, "rows", pattern, state.guard)

    def _composite(
        self, state: ast.State, part: str, pattern: ast.Pattern, guard: ast.Guard | None
    ) -> ast.CompositeEvent:
        name = ast.Name(f"{state.name.text}#{part}", part_of(state.name.iri, part), span=state.name.span)
        event = ast.CompositeEvent(name, pattern, guard=guard, span=state.span)
        rewritten = self._rewritten(event, mentioned_by_state(state))
        assert isinstance(rewritten, ast.CompositeEvent)
        return rewritten

    def _rewritten(self, event: ast.Event, mentioned: frozenset[str] = frozenset()) -> ast.Event:
        """The event with leaves of moments in place of those of states.

        Other variables of these are in scope where the event, or the state it is a part of, mentions them.
        """
        if not isinstance(event, ast.CompositeEvent):
            return event
        wanted = mentioned | _mentioned(event)
        used = {
            node.state.state.iri
            for node in patterns(event.pattern)
            if isinstance(node, ast.While | ast.Unless)
        }
        if used:
            self._needs.setdefault(event.name.iri, set()).update(used)
        uses = count(1)

        def change(pattern: ast.Pattern) -> ast.Pattern:
            if isinstance(pattern, ast.Leaf):
                return pattern if pattern.moment == "event" else self._moment(pattern, wanted, next(uses))
            changed = with_operands(pattern, [change(one) for one in operands(pattern)])
            if isinstance(changed, ast.While):
                return replace(changed, state=self._use(changed.state, wanted, next(uses)))
            return changed

        return replace(event, pattern=change(event.pattern))

    def _with_others(self, event: ast.GraphEvent) -> tuple[ast.Var, ...]:
        """The parameters of a graph event, and then its other variables: `bindings` show them all (D39)."""
        atoms = [node.name.iri for node in walk(event.group) if isinstance(node, ast.Atom)]
        others = [name for iri in atoms if iri in self._states for name in self._others(iri)]
        names = (*(one.name for one in event.parameters), *group_variables(event.group), *others)
        return tuple(ast.Var(name) for name in dict.fromkeys(names))

    def _others(self, state: Term) -> tuple[str, ...]:
        if state not in self._extra:
            self._extra[state] = extra_variables(self._states[state], self._states)
        return self._extra[state]

    def _moment(self, leaf: ast.Leaf, wanted: frozenset[str], number: int) -> ast.Leaf:
        iri = moment_of(leaf)
        name = ast.Name(f"{leaf.event.text}#{leaf.moment}", iri, span=leaf.event.span)
        lasting = leaf.lasting.micros if leaf.lasting else None
        self._moments[iri] = Moment(leaf.event.iri, leaf.moment, lasting)
        scoped = self._scoped(leaf.event.iri, leaf.parameters, wanted, number)
        return ast.Leaf(
            name, leaf.parameters, alias_of(leaf), scoped=scoped, span=leaf.span, bracketed=leaf.bracketed
        )

    def _use(self, use: ast.StateUse, wanted: frozenset[str], number: int) -> ast.StateUse:
        return replace(use, scoped=self._scoped(use.state.iri, use.parameters, wanted, number))

    def _scoped(
        self, state: Term, parameters: tuple[ast.Var, ...], wanted: frozenset[str], number: int
    ) -> tuple[ast.Var, ...]:
        """The variables of a state that a leaf does not name: those that are wanted by their names.

        Others, and a parameter that the leaf leaves out, have hidden names, by their place.
        The number of the use is part of these, so that they join with no other use of the state.
        """
        declared = self._states[state].parameters
        missing = [ast.Var(f"{HIDDEN}{one.name}({number})") for one in declared[len(parameters) :]]
        taken = {one.name for one in parameters}
        more = [
            ast.Var(one if one in wanted and one not in taken else f"{HIDDEN}{one}({number})")
            for one in self._others(state)
        ]
        while more and more[-1].name.startswith(HIDDEN):
            more.pop()
        return (*missing, *more) if more or parameters else ()


def looks_around(event: ast.GraphEvent) -> bool:
    """Whether a graph event asks for states or windows beside its item."""
    return any(isinstance(node, ast.Atom | ast.WindowGroup) for node in walk(event.group))


def _whole(event: ast.GraphEvent) -> ast.GraphEvent:
    """The event with its guard as a part of the group, and all variables as parameters if it names none."""
    if event.guard is not None:
        event = replace(event, group=ast.Group((event.group, *_as_elements(event.guard))), guard=None)
    return replace(event, parameters=tuple(map(ast.Var, parameters_of(event))))


def _as_elements(guard: ast.Guard | None) -> tuple[ast.Bgp | ast.Filter, ...]:
    """The conditions of a guard as elements of a group."""
    if guard is None:
        return ()
    triples = (*guard.own, *(triple for block in guard.blocks for triple in block.triples))
    filters = (*guard.filters, *(one for block in guard.blocks for one in block.filters))
    return (ast.Bgp(triples), *filters) if triples else filters


@dataclass(frozen=True, slots=True)
class SplitGuard:
    """The guard of `FROM P TO Q`: what P decides, what Q decides, and what both decide at q."""

    start: ast.Guard | None
    end: ast.Guard | None
    both: tuple[ast.Filter, ...]


def split_guard(state: ast.EventState) -> SplitGuard:
    """Give the blocks and filters of a state's guard to the pattern that has their aliases and variables."""
    if state.guard is None:
        return SplitGuard(None, None, ())
    sides = (state.start, state.end)
    aliases = [frozenset(map(alias_of, leaves(side))) for side in sides]
    blocks: list[list[ast.Block]] = [[], []]
    for block in state.guard.blocks:
        for number in (0, 1):
            mine = tuple(alias for alias in block.aliases if alias in aliases[number])
            if mine or not block.aliases:
                blocks[number].append(replace(block, aliases=mine))
    bound = [_bound(sides[number], blocks[number]) for number in (0, 1)]
    filters: list[list[ast.Filter]] = [[], []]
    both: list[ast.Filter] = []
    for one in state.guard.filters:
        names = {name for name in variables(one) if name in bound[0] | bound[1]}
        times = {alias for alias in timed(one) if alias is not None}
        takers = [number for number in (0, 1) if names <= bound[number] and times <= aliases[number]]
        if names or times:
            for number in takers:
                filters[number].append(one)
        if not takers or not (names or times):
            both.append(one)
    start, end = (
        ast.Guard(tuple(blocks[n]), tuple(filters[n])) if blocks[n] or filters[n] else None for n in (0, 1)
    )
    return SplitGuard(start, end, tuple(both))


def _bound(pattern: ast.Pattern, blocks: list[ast.Block]) -> frozenset[str]:
    given = {one.name for leaf in leaves(pattern) for one in leaf.parameters}
    return frozenset(given | {name for block in blocks for name in variables(*block.triples)})


def extra_variables(state: ast.State, states: Mapping[Term, ast.State]) -> tuple[str, ...]:
    """The variables of a state that are not parameters: its `bindings` show them, too."""
    own = {one.name for one in state.parameters}
    match state:
        case ast.EventState():
            names = pattern_variables(state.start, state.guard, states, mentioned_by_state(state))
        case ast.OverState():
            grouped = state.group_by or state.parameters
            names = (*(one.name for one in grouped), *(one.variable.name for one in state.aggregates))
        case ast.GroupState():
            names = group_variables(state.group)
            atoms = [node.name.iri for node in walk(state.group) if isinstance(node, ast.Atom)]
            below = [states[iri] for iri in atoms if iri in states and states[iri] is not state]
            names += tuple(name for one in below for name in extra_variables(one, states))
        case ast.ClassState() | ast.DailyState():
            names = variables(state.guard) if state.guard is not None else ()
    shown = (name for name in names if name not in own and name != THIS and not name.startswith(HIDDEN))
    return tuple(dict.fromkeys(shown))


def pattern_variables(
    pattern: ast.Pattern,
    guard: ast.Guard | None,
    states: Mapping[Term, ast.State],
    wanted: frozenset[str],
) -> tuple[str, ...]:
    """The variables that the leaves of a pattern, the states in it, and a guard's blocks about them bind."""
    found: list[str] = []
    for node in patterns(pattern):
        use = node.state if isinstance(node, ast.While) else node
        if isinstance(use, ast.Leaf | ast.StateUse):
            found += [one.name for one in use.parameters]
            state = states.get(use.event.iri if isinstance(use, ast.Leaf) else use.state.iri)
            if state is not None and wanted:
                found += [name for name in extra_variables(state, states) if name in wanted]
        elif isinstance(use, ast.GroupLeaf):
            found += group_variables(use.group)
    aliases = set(map(alias_of, leaves(pattern)))
    blocks = [b for b in (guard.blocks if guard else ()) if not b.aliases or aliases & set(b.aliases)]
    found += [name for block in blocks for name in variables(*block.triples)]
    return tuple(name for name in dict.fromkeys(found) if name != THIS and not name.startswith(HIDDEN))


def _states_of(state: ast.State | ast.GraphEvent, linked: Linked) -> set[str]:
    """The states, and the events of windows, that a state or a graph event is defined by."""
    found = {node.state.iri for node in walk(state) if isinstance(node, ast.StateUse)}
    found |= {node.name.iri for node in walk(state) if isinstance(node, ast.Atom)}
    names = windows_of(state)
    return found | {one.event.iri for one in linked.windows if one.event is not None and one.name in names}


def _mentioned(event: ast.CompositeEvent) -> frozenset[str]:
    """The variables that an event uses outside of its leaves."""
    names = {one.name for one in (*event.parameters, *event.partition_by)} | set(variables(*event.construct))
    return frozenset(names | set(variables(event.guard) if event.guard is not None else ()))


def mentioned_by_state(state: ast.State) -> frozenset[str]:
    """The names that a state by events or by rows mentions."""
    parts: list[ast.Node] = [*state.parameters]
    if isinstance(state, ast.EventState | ast.OverState) and state.guard is not None:
        parts.append(state.guard)
    if isinstance(state, ast.OverState):
        parts += [*state.group_by, *state.aggregates]
        if state.having is not None:
            parts.append(state.having)
    return frozenset(variables(*parts))
