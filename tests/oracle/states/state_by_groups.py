"""States by class expressions, groups and calendars, and graph events (STATES 2, DIALECTS 5 and 8)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from obep.model import RDF_TYPE, EagerOccurrence, Item, Occurrence, Term, Triple
from obep.query import ast
from oracle.guard_semantics import Row, parts, term_of
from oracle.states.state_calendar import DAYS, intervals
from oracle.states.state_groups import news_patterns, solve_group, variables_of
from oracle.states.state_patterns import SEPARATOR, Run
from oracle.states.state_timelines import Holding, Timeline
from oracle.states.state_windows import content, inside, window_items, window_moments
from oracle.states.state_world import Key, class_of

THIS = ast.Var("this")
TYPE = ast.Name("a", RDF_TYPE)


@dataclass
class Graphs:
    """What a group sees of the run at an instant."""

    run: Run
    node: ast.Group | ast.Select
    on: str | None = None
    came: dict[str, list[Item]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.windows = {
            n.window for n in parts(self.node) if isinstance(n, ast.WindowGroup) and isinstance(n.window, str)
        }
        known = self.run.world.definitions.windows
        for name in {*self.windows, *([self.on] if self.on in known else [])}:
            self.came[name] = window_items(known[name], self.run.world, self.run.pool)

    def window(self, name: str, t: int, forgive: int | None = None) -> frozenset[Triple]:
        return content(self.run.world.definitions.windows[name], self.came[name], t, forgive)

    def solutions(
        self, t: int, default: frozenset[Triple] | None = None, forgive: int | None = None
    ) -> list[Row]:
        """The answer at t, over cl(K), cl(w ∪ K), or the graph that is given; WINDOW is over New(w)."""
        world = self.run.world
        if default is None:
            own = self.window(self.on, t, forgive) if self.on else frozenset()
            default = world.closed(own | world.k(t))
        windows = {name: world.new(self.window(name, t, forgive), t) for name in self.windows}
        return solve_group(
            self.node, default, windows, lambda atom, where: self._atom(atom, where, t, forgive), t
        )

    def _atom(self, atom: ast.Atom, where: str | None, t: int, forgive: int | None) -> Iterable[Row]:
        """The rows of S(?k, …) at t, or of an event in a window ON EVENT."""
        names = [v.name for v in atom.parameters]
        where = where or self.on
        if atom.name.iri not in self.run.lines:
            return self._event_rows(atom, names, where, t, forgive)
        line = self.run.lines[atom.name.iri]
        lasting = atom.lasting.micros if atom.lasting else 0
        episodes = line.covering(t, lasting)
        if forgive is not None:
            episodes += [e for e in line.expired_since(forgive, t) if e.b + lasting <= t]
        return [row for episode in episodes for row in line.rows(episode, names, t)]

    def _event_rows(
        self, atom: ast.Atom, names: list[str], where: str | None, t: int, forgive: int | None
    ) -> Iterator[Row]:
        definitions = self.run.world.definitions
        window = definitions.windows[where or ""]
        event = definitions.events[atom.name.iri]
        pool = self.run.pool[atom.name.iri]
        items = [Item(str(number), o.detected, ()) for number, o in enumerate(pool)]
        for item in inside(window, items, t, forgive):
            o = pool[int(item.stream)]
            theirs = [] if isinstance(event, ast.LogicalEvent) else [v.name for v in event.parameters]
            rows = {tuple(b.get(n) for n in theirs) for b in o.bindings} if theirs else {(o.individual,)}
            for row in rows:
                yield frozenset((n, v) for n, v in zip(names, row, strict=False) if v is not None)

    def moments(self) -> list[int]:
        """When the answer may change; with ON the evaluation times of its window."""
        world = self.run.world
        windows = {name: world.definitions.windows[name] for name in self.came}
        changing = {at for name, w in windows.items() for at in window_moments(w, self.came[name], world.end)}
        for atom in parts(self.node):
            if isinstance(atom, ast.Atom) and atom.name.iri in self.run.lines:
                lasting = atom.lasting.micros if atom.lasting else 0
                changing |= self.run.lines[atom.name.iri].moments(lasting)
        changing |= {at for at, _ in world.static if at > world.run}
        if not self.on:
            changing.add(world.run)
            return sorted(t for t in changing if world.run <= t <= world.end)
        if windows[self.on].step:
            changing = window_moments(windows[self.on], self.came[self.on], world.end)
        first = min((item.at for item in self.came[self.on]), default=world.end + 1)
        return sorted(t for t in changing if first <= t <= world.end)


def keyed(rows: Iterable[Row], names: tuple[str, ...]) -> Holding:
    """The values of the parameters, each with the other variables; a row without a parameter counts not."""
    found: dict[Key, frozenset[Row]] = {}
    for row in rows:
        known = dict(row)
        if all(name in known for name in names):
            others = frozenset((k, v) for k, v in row if k not in names and not k.startswith("_:"))
            key = tuple(known[name] for name in names)
            found[key] = found.get(key, frozenset()) | {others}
    return found


def group_state(state: ast.GroupState | ast.ClassState, run: Run) -> Timeline:
    """The values in the answer at every moment."""
    names = tuple(v.name for v in state.parameters)
    node = state.group if isinstance(state, ast.GroupState) else class_group(state)
    graphs = Graphs(run, node, state.on)
    moments = graphs.moments() if run.world.items else []
    return Timeline(
        state.name.iri,
        names,
        [(t, keyed(graphs.solutions(t), names)) for t in moments],
        run=run.world.run,
        end=run.world.end,
        expired=lambda key, before, now: key in keyed(graphs.solutions(now, forgive=before), names),
    )


def class_group(state: ast.ClassState) -> ast.Group:
    """`?k a B`, and what the guard asks of it; ?this is ?k."""
    (parameter,) = state.parameters
    body = ast.Name("B", class_of(state.description))
    triples: tuple[ast.TriplePattern, ...] = (ast.TriplePattern(parameter, TYPE, body),)
    filters: tuple[ast.Filter, ...] = ()
    if state.guard is not None:
        triples += tuple(_this(t, parameter) for t in state.guard.own)
        filters = state.guard.filters
    return ast.Group((ast.Bgp(triples), *filters))


def _this(pattern: ast.TriplePattern, parameter: ast.Var) -> ast.TriplePattern:
    places = (pattern.subject, pattern.predicate, pattern.object)
    return ast.TriplePattern(*(parameter if place == THIS else place for place in places))  # type: ignore[arg-type]


# --- calendars --------------------------------------------------------------------------------------------


def daily_state(state: ast.DailyState, run: Run) -> Timeline:
    """[FROM, TO) of every day, for each solution of the guard over K."""
    world = run.world
    names = tuple(v.name for v in state.parameters)
    rows: list[Row] = [frozenset()]
    if state.guard is not None:
        group = ast.Group((ast.Bgp(state.guard.own), *state.guard.filters))
        rows = solve_group(group, world.closed(world.k(world.run)), {}, lambda atom, where: (), world.run)
    spans: list[tuple[int, int, Row]] = []
    for row in rows if world.items else ():
        known = dict(row)
        start, end = (_minute(time, known) for time in (state.start, state.end))
        days, zone = _days(state.days, known), _text(state.zone or "UTC", known)
        found = intervals(start, end, days, zone, world.run, world.end)
        spans += [(b, x, row) for b, x in found]
    edges = {at for b, x, _ in spans for at in (b, x)}
    changes = [(t, keyed([row for b, x, row in spans if b <= t < x], names)) for t in sorted(edges)]
    return Timeline(state.name.iri, names, changes, run=world.run, end=world.end)


def _text(value: str | ast.Var, known: dict[str, Term]) -> str:
    if isinstance(value, str):
        return value
    term = known[value.name]
    return term[1 : term.rindex('"')]


def _minute(value: int | ast.Var, known: dict[str, Term]) -> int:
    if isinstance(value, int):
        return value
    hours, minutes, *_ = _text(value, known).split(":")
    return int(hours) * 60 + int(minutes)


def _days(value: tuple[str, ...] | ast.Var, known: dict[str, Term]) -> frozenset[str]:
    if not isinstance(value, ast.Var):
        return frozenset(value)
    found: set[str] = set()
    for piece in _text(value, known).split(","):
        first, _, last = piece.strip().partition("-")
        begin, end = DAYS.index(first), DAYS.index(last or first)
        found |= {DAYS[(begin + n) % 7] for n in range((end - begin) % 7 + 1)}
    return frozenset(found)


# --- graph events -----------------------------------------------------------------------------------------


def graph_occurrences(event: ast.GraphEvent, run: Run) -> list[Occurrence]:
    """D38, D39: for each item and value of the parameters; on a window, when a value comes to be there."""
    names = tuple(v.name for v in event.parameters)
    if event.on in run.world.definitions.windows:
        graphs = Graphs(run, event.group, event.on)
        known: set[Key] = set()
        made: list[Occurrence] = []
        for t in graphs.moments():
            answer = keyed(_guarded(event, graphs.solutions(t)), names)
            made += [_occurrence(event, key, rows, t) for key, rows in answer.items() if key not in known]
            known = set(answer)
        return made
    graphs = Graphs(run, event.group)
    found: dict[tuple[Key, int], frozenset[Row]] = {}
    for item in run.world.items:
        if event.on is None or item.stream == event.on:
            news = [row for row in _guarded(event, _item_answer(graphs, item)) if _is_news(graphs, item, row)]
            for key, rows in keyed(news, names).items():
                found[key, item.at] = found.get((key, item.at), frozenset()) | rows
    return [_occurrence(event, key, rows, at) for (key, at), rows in found.items()]


def _item_answer(graphs: Graphs, item: Item) -> list[Row]:
    world = graphs.run.world
    return graphs.solutions(item.at, world.closed(frozenset(item.triples) | world.k(item.at)))


def _is_news(graphs: Graphs, item: Item, row: Row) -> bool:
    """D38: a triple pattern of the group is matched by a triple of New(A_k)."""
    world, values = graphs.run.world, dict(row)
    asked = list(news_patterns(graphs.node))
    if not asked:
        return row not in graphs.solutions(item.at, world.closed(world.k(item.at)))
    new = world.new(frozenset(item.triples), item.at)
    for pattern in asked:
        if isinstance(pattern, ast.PathPattern):
            raise NotImplementedError("the oracle has no news of paths")
        places = (pattern.subject, pattern.predicate, pattern.object)
        if tuple(_filled(place, values) for place in places) in new:
            return True
    return False


def _filled(place: ast.Var | ast.Name | ast.Literal, values: dict[str, Term]) -> Term:
    return values.get(place.name, "") if isinstance(place, ast.Var) else term_of(place)


def _guarded(event: ast.GraphEvent, rows: list[Row]) -> list[Row]:
    if event.guard is not None:
        raise NotImplementedError("the oracle has no IF of graph events")
    return rows


def _occurrence(event: ast.GraphEvent, key: Key, rows: frozenset[Row], at: int) -> Occurrence:
    names = tuple(v.name for v in event.parameters)
    told = (event.name.iri, "urn:graph", f"{SEPARATOR.join(key)} {at}")
    own = frozenset(zip(names, key, strict=True))
    bindings = tuple(dict(sorted(own | row)) for row in sorted(rows, key=sorted))
    return EagerOccurrence(event.name.iri, " ".join(told), ((told, at),), at, at, at, at, bindings=bindings)


def parameters_of(event: ast.GraphEvent) -> tuple[ast.Var, ...]:
    """As written, or all variables of the group in order."""
    return event.parameters or tuple(ast.Var(name) for name in variables_of(event.group))
