"""`STATE S(?k) OVER E WITHIN d … AGGREGATE … HAVING`: a state by the rows of the last while (STATES §2)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any

from obep.algebra.over.lone_rows import LoneRow, take_lone_rows
from obep.algebra.over.over_expressions import MAX_BECAUSE, GroupKey, OverExpressions, OverRow, Values
from obep.algebra.over.over_rows import OverRows
from obep.algebra.over.over_snapshot import restore, to_plain
from obep.algebra.over.row_groups import GroupChange
from obep.engine.event_run import Undivided
from obep.engine.states.episodes import Bindings, Episode, Key, ReadEpisode, sorted_because
from obep.engine.states.rows_in_turn import Entries, RowsInTurn, rows_in_turn
from obep.engine.states.state_run import StateRun
from obep.model import Assertion, Item, Occurrence, Term
from obep.operators.candidates import ROWS, Candidate, Emit, Take
from obep.operators.state_values import Pack, Unpack, assertions_in, plain_assertions
from obep.operators.tree import Tree
from obep.plan.nodes import Read
from obep.plan.plan import EventPlan
from obep.plan.state_plan import StatePlan
from obep.query import ast
from obep.why_not.state_history import Spell


class RowPattern(Undivided):
    """The pattern of the rows. It runs inside of its state, which makes no occurrences of its candidates."""

    def __init__(self, plan: EventPlan, states: Mapping[Term, StateRun]) -> None:
        assert plan.root is not None
        tree = Tree(plan.root, states=states)
        super().__init__(plan, tree, tree)
        self.calm = not (tree.waits or self._intake.gathers)
        self.wants_items = tree.wants_items
        self.found = tree.found

    @property
    def inlets(self) -> list[tuple[str, Emit]]:
        return self._tree.inlets

    def close(self, at: int, items: Sequence[Item]) -> Sequence[Occurrence]:
        self._intake.close()
        self._tree.items(items)
        self._tree.close(at)
        return ()


class OverState(StateRun):
    """Rows come and leave; groups whose HAVING is true hold."""

    def __init__(
        self,
        plan: StatePlan,
        states: Mapping[Term, StateRun],
        pattern: EventPlan | None = None,
        max_because: int = MAX_BECAUSE,
    ) -> None:
        """`pattern` gives the rows, unless they are the episodes of a state. An explanation has the last
        `max_because` of them."""
        super().__init__(plan)
        definition = plan.definition
        assert isinstance(definition, ast.OverState)
        over = definition.over
        if isinstance(over, ast.StateUse):
            self._variables = tuple(one.name for one in over.parameters)
            states[over.state.iri].episodes.listeners.append(self._episode)
        else:
            self._variables = tuple(sorted(plan.row_variables))
        grouped = definition.group_by or definition.parameters
        self._group_by = tuple(one.name for one in grouped)
        self._key_places = [self._group_by.index(name) for name in plan.parameters]
        within = definition.within.micros
        expressions = OverExpressions(
            self._group_by,
            self._variables,
            definition.aggregates,
            definition.having,
            within,
            in_order=not isinstance(over, ast.StateUse),
            max_because=max_because,
        )
        step = definition.step.micros if definition.step is not None else None
        self._window = OverRows(expressions, within, step)
        self._names = tuple(one.variable.name for one in definition.aggregates)
        self._others = [(name, at) for at, name in enumerate(self._group_by) if name not in plan.parameters]
        places = {name: place for place, name in enumerate(self._variables)}
        self._group_of = _picker([places.get(name) for name in self._group_by])
        self._may_be_lazy = expressions.may_be_lazy and plan.history == 0
        self._may_be_lazy = self._may_be_lazy and sorted(self._group_by) == sorted(plan.parameters)
        """Whether nothing needs the values of a key that holds on before they are read."""
        if self._may_be_lazy:
            self.episodes.make = self._read_episode
        self._pattern = None if pattern is None else RowPattern(pattern, states)
        self._candidates: list[Candidate] = []
        self._recent: deque[Candidate] | None = None
        self._terms: Callable[[Values], Values] = tuple
        """The solution of a row, of a solution of the pattern."""
        self._held: list[int] = []
        """The parts of a candidate that are no contexts."""
        self._alone = self._calm = False
        """Whether there is one part only; whether its pattern has no deadlines."""
        if self._pattern is not None and pattern is not None and pattern.root is not None:
            self.wants_items = self._pattern.wants_items
            self.longest = max(self.longest or 0, self._pattern.longest or 0) or None
            self._candidates = self._pattern.found
            seen = dict(pattern.visible)
            more = sorted(seen.keys() - places.keys())
            self._terms = _picker([seen.get(name) for name in (*self._variables, *more)])
            self._held = [at for at, alias in enumerate(pattern.root.aliases) if not alias.context]
            self._alone = self._held == [0] and len(pattern.root.aliases) == 1
            self._calm = not self._pattern.timed
            root = pattern.root
            if type(root) is Read and not (root.held or root.free or self.wants_items or step):
                self._ask = root.ask
                self.rows_alone = self._rows_alone
        self._holding: dict[Key, dict[GroupKey, dict[str, Term]]] = {}
        computed = definition.aggregates or definition.having is not None
        self._always = bool(computed) and not plan.parameters and not grouped and definition.each is None
        if definition.each is not None:
            expressions.each = True
            given = tuple(one.name for one in definition.each.parameters)
            self._each_places = [given.index(name) for name in self._group_by if name in given]
            self._each_of = states[definition.each.state.iri].episodes
            self._each_of.listeners.append(self._each)
        self._since: dict[GroupKey, dict[Key, int]] | None = None
        """FOR EACH: since when each key of a group holds; `None` where that is to be looked up."""

    @property
    def inlets(self) -> list[tuple[str, Emit]]:
        return self._pattern.inlets if self._pattern else []

    @property
    def fed_as(self) -> Term:
        return self.state.part("rows")

    def routes(self) -> Iterator[tuple[Term, Take]]:
        if self._pattern:
            yield from self._pattern.routes()

    def take(self, candidate: Candidate) -> None:
        """A candidate of its pattern has come."""
        self._candidates.append(candidate)

    def start(self, at: int) -> None:
        if self._always:
            self._window.stand((), at, at - 1)

    def _each(self, episode: Episode, at: int) -> None:
        """FOR EACH: an episode of its state begins or ends."""
        if self._since is None:
            self._since = {}
            for one in self._each_of.open.values():
                self._since.setdefault(self._each_group(one), {})[one.key] = one.begun
        group = self._each_group(episode)
        keys = self._since.setdefault(group, {})
        if episode.ended is None:
            keys[episode.key] = episode.begun
        else:
            keys.pop(episode.key, None)
        if not keys:
            del self._since[group]
        before, now = self._window.each.get(group), min(keys.values(), default=None)
        if before == now:
            return
        if before is not None:
            self._window.fall(group, at)
        if now is not None:
            self._window.stand(group, now, at)

    def _each_group(self, episode: Episode) -> GroupKey:
        return tuple([episode.key[place] for place in self._each_places])

    def _episode(self, episode: Episode, at: int) -> None:
        """OVER STATE: an episode begins or ends."""
        values = dict(zip(self._variables, episode.key, strict=False))
        row = self._row(
            tuple([values.get(name) for name in self._variables]), episode.begun, episode.begun, ""
        )
        if episode.ended is None:
            self._window.begin(row, episode.explanation)
        else:
            self._window.cease(row, at)

    def _row(self, terms: Values, start: int, end: int, individuals: str) -> OverRow:
        return OverRow(end, _ordered(terms), start, individuals, terms, self._group_of(terms))

    def reach(self, at: int) -> None:
        super().reach(at)
        if self._pattern and self._pattern.timed:
            self._pattern.reach(at)

    def close(self, at: int, items: Sequence[Item]) -> Sequence[Occurrence]:
        if self._pattern and not self._pattern.calm:
            self._pattern.close(at, items)
        return super().close(at, items)

    def next_deadline(self) -> int | None:
        if self._calm and not self.episodes.due:
            return self._window.next_moment()
        return super().next_deadline()

    def prune(self, at: int) -> None:
        super().prune(at)
        if self._pattern:
            self._pattern.prune(at)

    def decide(self, at: int) -> None:
        self._choose_laziness()
        for candidate in self._candidates:
            self._add_rows(candidate)
        if self._recent is not None:
            self._recent.extend(self._candidates)
        self._candidates.clear()
        changes = self._window.advance(at)
        if not changes:
            return
        touched: dict[Key, list[GroupChange]] = {}
        """For each key its groups that held no more."""
        for change in changes:
            key = tuple([change.group[place] or "" for place in self._key_places])
            groups = self._holding.setdefault(key, {})
            ended = touched.setdefault(key, [])
            if change.holds:
                groups[change.group] = self._bindings(change.group, change.values)
            elif groups.pop(change.group, None) is not None:
                ended.append(change)
                if self._may_be_lazy and (episode := self.episodes.open.get(key)) is not None:
                    last = self._bindings(change.group, change.values)
                    episode.bindings = (last,) if last else ()
        for key, ended in touched.items():
            self._settle(key, ended, at)

    def _rows_alone(self, entries: Entries, place: int, last: int) -> RowsInTurn:
        return rows_in_turn(entries, place, last, self._ask, self._terms, self._group_of, self._take_in_turn)

    def _take_in_turn(self, rows: list[LoneRow], place: int, until: int) -> tuple[int, int | None]:
        self._choose_laziness()
        due = self.episodes.due
        return take_lone_rows(self._window, rows, place, min(until, due[0][0]) if due else until)

    def _add_rows(self, candidate: Candidate) -> None:
        """One row for each start, end, individuals and solution (STATES 2)."""
        start, end, done, _, parts, solutions = candidate
        if self._alone and (part := parts[0]) is not None:
            individuals, because = part.individual, part.explanation
        else:
            held = [part for place in self._held if (part := parts[place]) is not None]
            individuals = " ".join(sorted([part.individual for part in held]))
            because = sum([part.explanation for part in held], ())
        for solution in solutions:
            terms = self._terms(solution)
            group = self._group_of(terms)
            if None not in group or None not in [group[place] for place in self._key_places]:
                self._window.put(end, _ordered(terms), start, individuals, terms, group, done, because)

    def _bindings(self, group: GroupKey, values: Values) -> dict[str, Term]:
        found = {name: term for name, at in self._others if (term := group[at]) is not None}
        named = zip(self._names, values, strict=True)
        return found | {name: value for name, value in named if value is not None}

    def _choose_laziness(self) -> None:
        """Compute the values of what holds on at each change only if something follows them."""
        lazy = self._may_be_lazy and not (self.watchers or self.episodes.changed_keys)
        expressions = self._window.expressions
        if lazy != expressions.lazy:
            expressions.lazy = lazy
            self._read_all()

    def _read_episode(
        self, key: Key, begun: int, bindings: Bindings, explanation: tuple[Assertion, ...]
    ) -> Episode:
        episode = ReadEpisode(key, begun, bindings, explanation)
        episode.read = self._read
        return episode

    def _read(self, key: Key) -> Bindings | None:
        """The bindings of a key that holds on with values that were not computed."""
        groups = self._holding.get(key, {})
        for name in groups:
            group = self._window.groups.get(name)
            if group is not None and group.unread:
                found = groups[name] = self._bindings(name, group.read() or ())
                return (found,) if found else ()
        return None

    def _read_all(self) -> None:
        for episode in self.episodes.open.values():
            _ = episode.bindings

    def _settle(self, key: Key, ended: list[GroupChange], at: int) -> None:
        groups = self._holding[key]
        bindings: Bindings = tuple(groups[group] for group in sorted(groups, key=str) if groups[group])
        if groups and key not in self.episodes.open:
            self.episodes.begin(key, at, bindings, self._because(groups))
        elif groups:
            self.episodes.change(key, at, bindings)
        elif key in self.episodes.open:
            why = self._because({change.group: {} for change in ended})
            expired = any(change.expired for change in ended)
            self.episodes.end(key, at, why, "expired" if expired else "changed")
        if not groups:
            del self._holding[key]

    def _because(self, groups: Mapping[GroupKey, object]) -> tuple[Assertion, ...]:
        """The explanations of the last rows, at most so many."""
        sources = [source for group in groups for source in self._window.sources_of(group)]
        most = self._window.expressions.max_because
        return sorted_because({one for source in sources[-most:] for one in source})

    # --- for why-not

    def follow(self, callback: Callable[[Term, Spell], None], most: int | None) -> None:
        super().follow(callback, most)
        self._recent = deque(maxlen=most)

    @property
    def recent(self) -> Iterable[Candidate]:
        """The latest rows, as candidates of its pattern."""
        return self._recent or ()

    def like(self, definition: ast.OverState, states: Mapping[Term, StateRun]) -> OverState:
        """A state with other aggregates over the same rows, which nothing has come to yet."""
        other = OverState(replace(self.state, definition=definition, moments={}, alerts=()), states)
        other._terms, other._held, other._alone = self._terms, self._held, self._alone
        return other

    def rows_of(self, candidate: Candidate) -> list[dict[str, Term]]:
        """The solutions of a candidate of its pattern, by the names of its variables."""
        solutions = map(self._terms, candidate[ROWS])
        return [
            {name: term for name, term in zip(self._variables, one, strict=False) if term is not None}
            for one in solutions
        ]

    def figures(self) -> Iterator[tuple[Key, list[tuple[dict[str, Term], int]]]]:
        """What holds: for each key the figures of its groups, each with the number of its rows."""
        self._read_all()
        for key, groups in self._holding.items():
            yield key, [(found, self._window.rows_in(group)) for group, found in groups.items()]

    def next_change(self) -> int | None:
        moment = self._window.next_moment()
        due = self._pattern.next_deadline() if self._pattern and self._pattern.timed else None
        return moment if due is None else due if moment is None else min(due, moment)

    def pending(self) -> int:
        return super().pending() + (self._pattern.pending() if self._pattern else 0)

    def size(self) -> int:
        rows = self._pattern.size() if self._pattern else 0
        return super().size() + rows + sum(group.size for group in self._window.groups.values())

    def dump_own(self, pack: Pack) -> Any:
        self._read_all()
        holding = [
            [key, [[group, list(row.items())] for group, row in groups.items()]]
            for key, groups in self._holding.items()
        ]
        return [
            list(to_plain(self._window, plain_assertions).items()),
            self._pattern.dump(pack) if self._pattern else None,
            holding,
        ]

    def load_own(self, data: Any, unpack: Unpack) -> None:
        window, pattern, holding = data
        self._since = None
        expressions, within, step = self._window.expressions, self._window.within, self._window.step
        self._window = OverRows(expressions, within, step)
        restore(self._window, dict(window), assertions_in)
        if self._pattern:
            self._pattern.load(pattern, unpack)
        self._holding = {
            tuple(key): {tuple(group): dict(row) for group, row in groups} for key, groups in holding
        }


def _ordered(terms: Values) -> tuple[Term, ...]:
    """A solution without what is unbound, which orders the rows with one end."""
    if None not in terms:
        return terms  # type: ignore[return-value]  # all are bound
    bound = {place: term for place, term in enumerate(terms) if term is not None}
    return (*bound.values(), f"\0{[*bound]}")


def _picker(places: Sequence[int | None]) -> Callable[[Values], Values]:
    """What takes the values at some places of a row; nothing is known at the place `None`."""
    if None in places:
        return lambda row: tuple([None if place is None else row[place] for place in places])
    if list(places) == [0]:
        return lambda row: row[:1]
    if len(places) < 2:
        return lambda row: tuple([row[place] for place in places if place is not None])
    return itemgetter(*[place for place in places if place is not None])
