"""Patterns over states (STATES 3): the leaves BEGIN, END, S and S FOR d; WHILE, UNLESS and REPEATED.

All other operators are those of `oracle.semantics`. An occurrence of a state's leaf has for its explanation
the one thing that makes it the same as another (D43): kind, S, k, start, end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from obep.model import RDF_TYPE, EagerOccurrence, Occurrence, Term, Triple
from obep.query import ast
from oracle.guard_semantics import (
    Condition,
    Row,
    alias_of,
    blocks_of,
    decided_in_block,
    merged,
    parts,
    solve_on_explanation,
    variables,
)
from oracle.pattern_semantics import Beside, Leaf, Reading, Repeated, Tree
from oracle.semantics import Candidate, Detection, Evaluation, Scope, by_position
from oracle.states.state_timelines import Episode, Timeline
from oracle.states.state_windows import matches
from oracle.states.state_world import World, class_of

ALL_BINDINGS_JOIN = False
"""The other reading of S14 (see `state_semantics`): the bindings of a state's leaf join by name, mentioned or
not. Then FOR d is no longer BEGIN NOT FOLLOWED BY END where a binding changes."""
SEPARATOR = "\x1f"
STATE = "urn:state:"
"""How the pseudo-assertions of states' leaves begin."""


@dataclass
class Run:
    """What is known of a run so far: lower strata are finished, for all instants."""

    world: World
    pool: dict[Term, list[Occurrence]] = field(default_factory=dict)
    lines: dict[Term, Timeline] = field(default_factory=dict)
    marks: dict[tuple[object, ...], Occurrence] = field(default_factory=dict)
    """The occurrences of states' leaves: the same one is one object, whatever leaf reads it (D11)."""

    def mark(self, kind: str, state: Term, episode: Episode, start: int, end: int) -> Occurrence:
        """The occurrence of a state's leaf."""
        key = (kind, state, episode.key, start, end)
        if key not in self.marks:
            triple = (f"{STATE}{kind}", state, f"{SEPARATOR.join(episode.key)} {start} {end}")
            individual = " ".join(triple)
            self.marks[key] = EagerOccurrence(state, individual, ((triple, end),), start, end, end, start)
        return self.marks[key]


def candidates(
    run: Run,
    name: ast.Name,
    pattern: ast.Pattern,
    parameters: tuple[ast.Var, ...],
    guard: ast.Guard | None,
    mentioned: frozenset[str] = frozenset(),
) -> list[Candidate]:
    """cand(E) with the solutions that pass the guard, at all instants of the run.

    `mentioned` are variables that the definition names elsewhere (AGGREGATE, HAVING, GROUP BY).
    """
    detection = StateDetection(ast.CompositeEvent(name, pattern, parameters, guard=guard), run, mentioned)
    evaluation = detection.evaluation(())
    return [m for now in detection.instants for m in evaluation.found_at(now)]


class StateEvaluation(Evaluation):
    """The operators of SPEC §4 and those of STATES 3."""

    lines: Mapping[Term, Timeline]
    mentioned: frozenset[str] | None

    def _new(self, node: Tree, now: int, scope: Scope) -> Iterable[Candidate]:
        match node:
            case Beside():
                return self._beside(node, now, scope)
            case Repeated():
                return self._repeated(node, now, scope)
        return super()._new(node, now, scope)

    def _beside(self, node: Beside, now: int, scope: Scope) -> Iterator[Candidate]:
        """WHILE: a solution stays for each k that joins; UNLESS: it stays if no k does at e.end.

        Bindings join in WHILE, whose S is context; UNLESS asks for k alone.
        """
        line = self.lines[node.state]
        for e in self.at(node.left, now, scope):
            holding = [p for p in line.episodes if p.covers(e.end) and (node.unless or p.b <= e.start)]
            contexts = [
                frozenset((node.own_names.get(name, name), term) for name, term in row)
                for episode in holding
                for row in line.rows(
                    episode, node.parameters, e.end, frozenset() if node.unless else self.mentioned
                )
            ]
            rows: set[Row] = set()
            for row in e.solutions:
                fitting = {both for c in contexts if (both := self._with_context(row, e, c)) is not None}
                rows |= ({row} if not fitting else set()) if node.unless else fitting
            if rows:
                yield replace(e, tables=(frozenset(rows),))

    def _with_context(self, row: Row, e: Candidate, context: Row) -> Row | None:
        both = merged(row, context)
        if both is None:
            return None
        for condition in self.conditions:
            fresh = condition.asked(both, e.times) and not condition.asked(row, e.times)
            if fresh and not condition.holds(both, e.times, (0, 0)):
                return None
        return both

    def _repeated(self, node: Repeated, now: int, scope: Scope) -> Iterator[Candidate]:
        """[e.start, e.end + n·d] for n = 1, 2, … as long as no u joins."""
        for instant in self.instants:
            if not scope.after < instant <= now:
                continue
            for e in self.at(node.operand, instant, scope):
                if not scope.spent and not self._unspent(e, now):
                    continue
                rows, n = e.solutions, 1
                while rows and e.end + n * node.every <= now and n <= (node.at_most or n):
                    due = e.end + n * node.every
                    rows = self._not_until(node, rows, e, due, scope)
                    if rows and max(due, e.done) == now:
                        yield replace(e, end=due, done=now, tables=(rows,))
                    n += 1

    def _not_until(
        self, node: Repeated, rows: frozenset[Row], e: Candidate, due: int, scope: Scope
    ) -> frozenset[Row]:
        if node.until is None:
            return rows
        known = self.live(node.until, max(due, e.done), scope._replace(decide=True, spent=True))
        ending = [u for u in known if e.end <= u.end < due]
        return frozenset(row for row in rows if not self._met(row, e, ending))


class StateDetection(Detection):
    """A composite event whose leaves may be states, graph events and logical events read off their items."""

    def __init__(self, event: ast.CompositeEvent, run: Run, mentioned: frozenset[str] = frozenset()) -> None:
        self.states = run
        self.mentioned = None if ALL_BINDINGS_JOIN else mentioned | variables(event)
        world = run.world
        composites = {
            name: e for name, e in world.definitions.events.items() if isinstance(e, ast.CompositeEvent)
        }
        occurrences = [o for found in run.pool.values() for o in found]
        super().__init__(event, composites, occurrences, world.items, world.end, self._solve)

    def _reading(self) -> Reading:
        names = {
            state: frozenset(
                name
                for _, holding in line.changes
                for rows in holding.values()
                for row in rows
                for name, _ in row
                if self.mentioned is None or name in self.mentioned
            )
            for state, line in self.states.lines.items()
        }
        return Reading(self.event, names)

    def _read(self, leaf: Leaf) -> list[tuple[Occurrence, frozenset[Row]]]:
        if leaf.event in self.states.lines:
            return [*self._state_leaf(leaf)]
        below = self.states.world.definitions.events.get(leaf.event)
        if isinstance(below, ast.GraphEvent):
            return [(o, by_position(leaf, below, o)) for o in self.states.pool[leaf.event]]
        return super()._read(leaf)

    def _instants(self, end: int) -> list[int]:
        marks = [o for readings in self.readings.values() for o, _ in readings]
        instants = {item.at for item in self.items}
        instants |= {at for o in (*self.occurrences, *marks) for at in (o.end, o.detected)}
        bounds = {
            bound.micros
            for node in parts(self.event.pattern)
            if isinstance(node, ast.NotFollowedBy | ast.Repeated)
            and (bound := node.within if isinstance(node, ast.NotFollowedBy) else node.every)
        }
        fresh = set(instants)
        while fresh:
            fresh = {t + bound for t in fresh for bound in bounds if t + bound <= end} - instants
            instants |= fresh
        return sorted(t for t in instants if t <= end)

    def evaluation(self, value: tuple[Term, ...]) -> Evaluation:
        plain = super().evaluation(value)
        made = StateEvaluation(
            plain.tree, [*plain.conditions, *plain.whole], plain.readings, plain.items, plain.instants
        )
        made.lines, made.mentioned = self.states.lines, self.mentioned
        return made

    # leaves

    def _state_leaf(self, leaf: Leaf) -> Iterator[tuple[Occurrence, frozenset[Row]]]:
        line, end = self.states.lines[leaf.event], self.states.world.end
        names = [v.name for v in leaf.syntax.parameters]
        for kind, episode, start, at in leaf_intervals(line, leaf.syntax, end):
            mark = self.states.mark(kind, leaf.event, episode, start, at)
            rows = line.rows(episode, names, at, self.mentioned)
            graph = self.states.world.k(at) | {triple for triple, _ in episode.began_with}
            closed = self.states.world.closed(frozenset(graph))
            found = frozenset(
                more for row in rows for more in self._blocks(leaf.syntax, mark, row, closed, closed)
            )
            yield mark, found

    def _solve(self, event: ast.CompositeEvent, leaf: ast.Leaf, o: Occurrence) -> frozenset[Row]:
        """D7: the vocabulary of the definition on the explanation, all else on the item and K."""
        definition = self.states.world.definitions.events[leaf.event.iri]
        if not isinstance(definition, ast.LogicalEvent):
            return solve_on_explanation(event, leaf, o)
        world = self.states.world
        explained = world.closed(frozenset(triple for triple, _ in o.explanation))
        start: Row = frozenset((v.name, o.individual) for v in leaf.parameters)
        return frozenset(
            row
            for item in o.items
            for row in self._blocks(
                leaf,
                o,
                start,
                explained,
                world.closed(frozenset(item.triples) | world.k(o.start)),
                definition,  # type: ignore[union-attr]
            )
        )

    def _blocks(
        self,
        leaf: ast.Leaf,
        o: Occurrence,
        start: Row,
        explained: frozenset[Triple],
        wide: frozenset[Triple],
        definition: ast.LogicalEvent | None = None,
    ) -> Iterator[Row]:
        """The solutions of an alias's blocks that go with what its parameters say."""
        rows: list[dict[str, Term]] = [dict(start) | {"this": o.individual}]
        alias = alias_of(leaf)
        for block in blocks_of(self.event.guard, alias):
            for pattern in block.triples:
                narrow = definition is not None and self._in_vocabulary(pattern, definition)
                found = matches([pattern], explained if narrow else wide)
                rows = [
                    row | more
                    for row in rows
                    for more in found
                    if all(row.get(name, term) == term for name, term in more.items())
                ]
            for wanted in block.filters:
                if decided_in_block(self.event, leaf, wanted):
                    condition, times = Condition.of(wanted.condition), {alias: (o.start, o.end)}
                    rows = [row for row in rows if condition.holds(frozenset(row.items()), times, (0, 0))]
        for row in rows:
            yield frozenset((k, v) for k, v in row.items() if k != "this" and not k.startswith("_:"))

    def _in_vocabulary(self, pattern: ast.TriplePattern, definition: ast.LogicalEvent) -> bool:
        if not isinstance(pattern.predicate, ast.Name) or pattern.predicate.iri != RDF_TYPE:
            return False
        if not isinstance(pattern.object, ast.Name):
            return False
        body, world = class_of(definition.description), self.states.world
        return world.of_class(body, pattern.object.iri) or world.of_class(pattern.object.iri, body)


def leaf_intervals(line: Timeline, leaf: ast.Leaf, end: int) -> Iterator[tuple[str, Episode, int, int]]:
    """(kind, episode, start, end = done) of each candidate of a state's leaf (the table of STATES 3)."""
    lasting = leaf.lasting.micros if leaf.lasting else None
    for episode in line.episodes:
        b, x = episode.b, episode.x
        match leaf.moment, lasting:
            case "begin", _:
                found = ("begin", episode, b, b) if b >= line.run else None
            case "end", _:
                long_enough = x is not None and x - b >= (lasting or 0)
                found = ("end", episode, x, x) if x is not None and long_enough else None
            case "episode", None:
                found = ("episode", episode, b, x) if x is not None else None
            case _:
                due = b + (lasting or 0)
                found = ("for", episode, b, due) if x is None or x >= due else None
        if found is not None and line.run <= found[3] <= end:
            yield found
