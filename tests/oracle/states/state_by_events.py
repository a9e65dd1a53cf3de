"""States by events: FROM … TO …, and OVER … WITHIN … (the first two rows of the table of STATES 2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from obep.model import Assertion, Term
from obep.query import ast
from oracle.guard_semantics import Condition, Row, alias_of, merged, parts, variables
from oracle.pattern_semantics import leaves_of
from oracle.semantics import Candidate
from oracle.states.state_aggregates import GroupOfRows, OverRow
from oracle.states.state_numbers import SparqlError, evaluate, term_of, truth
from oracle.states.state_patterns import Run, candidates
from oracle.states.state_timelines import Holding, Timeline
from oracle.states.state_world import Key

# --- FROM … TO … ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class On:
    """A key that is switched on: b of its episode, the solutions of the p that began it, the last p, and b or
    the last instant at which LIMIT switched it off and a p on again."""

    b: int
    began: frozenset[Row]
    explanation: frozenset[Assertion]
    last: int
    counted: int


def event_state(state: ast.EventState, run: Run) -> Timeline:
    """Instant by instant, in the order that the text gives."""
    names = tuple(v.name for v in state.parameters)
    starting, ending, between = _split(state)
    named = variables(state.guard or ())
    ps = candidates(run, state.name, state.start, state.parameters, starting, named)
    qs = candidates(run, state.name, state.end, state.parameters, ending, named)
    timeout = state.timeout.micros if state.timeout else None
    limit = state.limit.micros if state.limit else None
    moments = {m.done for m in (*ps, *qs)}
    moments |= {p.done + d for p in ps for d in (timeout, limit) if d is not None}
    on: dict[Key, On] = {}
    changes: list[tuple[int, Holding]] = []
    expired: set[tuple[Key, int]] = set()
    began_with: dict[tuple[Key, int], frozenset[Assertion]] = {}
    for t in sorted(moments):
        before = dict(on)
        arriving = [p for p in ps if p.done == t]
        _switch_on(on, [p for p in arriving if p.start < t], names, t, before)
        at_limit: list[Key] = []
        for key, was in list(on.items()):
            ended = any(_joins(key, was, q, names, between) for q in qs if q.done == t)
            timed_out = timeout is not None and t - was.last >= timeout
            limited = limit is not None and t - was.counted == limit
            if limited:
                at_limit.append(key)
            if ended or timed_out or limited:
                del on[key]
                if timed_out and not ended:
                    expired.add((key, t))
        _switch_on(on, [p for p in arriving if p.start == t], names, t, before)
        on |= {key: replace(on[key], counted=t) for key in at_limit if key in on}
        for key, now in on.items():
            began_with.setdefault((key, now.b), now.explanation)
        changes.append((t, {key: _others(now.began, names) for key, now in on.items()}))
    return Timeline(
        state.name.iri,
        names,
        changes,
        run=run.world.run,
        end=run.world.end,
        expired=lambda key, _, now: (key, now) in expired,
        began_with=lambda key, b: began_with.get((key, b), frozenset()),
    )


def _split(state: ast.EventState) -> tuple[ast.Guard | None, ast.Guard | None, list[Condition]]:
    """The guard of P, that of Q, and the FILTERs over variables of both, which are decided at q."""
    if state.guard is None:
        return None, None, []

    def of(pattern: ast.Pattern) -> tuple[ast.Guard, list[ast.Filter]]:
        aliases = {alias_of(leaf) for leaf in leaves_of(pattern)}
        blocks = tuple(b for b in state.guard.blocks if not b.aliases or aliases & set(b.aliases))  # type: ignore[union-attr]
        bound = variables(pattern).union(*(variables(b.triples) for b in blocks))
        own = []
        for wanted in state.guard.filters:  # type: ignore[union-attr]
            condition = Condition.of(wanted.condition)
            if condition.variables <= bound and condition.aliases <= aliases:
                own.append(wanted)
        return ast.Guard(blocks, tuple(own)), own

    starting, in_p = of(state.start)
    ending, in_q = of(state.end)
    rest = [f for f in state.guard.filters if f not in in_p and f not in in_q]
    return starting, ending, [Condition.of(f.condition) for f in rest]


def _switch_on(
    on: dict[Key, On], ps: list[Candidate], names: tuple[str, ...], t: int, before: dict[Key, On]
) -> None:
    fresh: dict[Key, tuple[set[Row], set[Assertion]]] = {}
    for p in ps:
        for row in p.solutions:
            known = dict(row)
            key = tuple(known[name] for name in names)
            rows, explanation = fresh.setdefault(key, (set(), set()))
            rows.add(row)
            explanation |= p.explanation
    for key, (rows, explanation) in fresh.items():
        was = on.get(key) or before.get(key)
        if was is None:
            on[key] = On(t, frozenset(rows), frozenset(explanation), t, t)
        elif was.b == t:  # others began it at this instant, too
            on[key] = On(t, was.began | rows, was.explanation | explanation, t, t)
        else:
            on[key] = On(was.b, was.began, was.explanation, t, was.counted)


def _joins(key: Key, was: On, q: Candidate, names: tuple[str, ...], between: list[Condition]) -> bool:
    """Whether a solution of q agrees with one of the p that began it, and the FILTERs over both are true."""
    for mine in was.began:
        for theirs in q.solutions:
            both = merged(mine, theirs)
            if both is not None and all(
                c.holds(both, {}, (0, 0)) for c in between if c.asked(both, c.aliases)
            ):
                return True
    return False


def _others(rows: frozenset[Row], names: tuple[str, ...]) -> frozenset[Row]:
    return frozenset(frozenset((k, v) for k, v in row if k not in names) for row in rows)


# --- OVER … WITHIN … --------------------------------------------------------------------------------------

FOREVER = 10**18


class Over:
    """One OVER state: its rows are found once, everything else anew at every moment."""

    def __init__(self, state: ast.OverState, run: Run) -> None:
        self.state, self.run, self.d = state, run, state.within.micros
        self.names = tuple(v.name for v in state.parameters)
        self.by = tuple(v.name for v in state.group_by) or self.names
        self.rows = list(self._rows())
        self.groups = {self._key(row) for row in self.rows} | set(self._known())
        asked = [*state.aggregates, *([state.having] if state.having else [])]
        self.timed = any(
            (isinstance(n, ast.Aggregate) and n.function in ("TIMEAVG", "HELD"))
            or (isinstance(n, ast.Call) and n.function == "NOW")
            for n in parts(tuple(asked))
        )

    def _rows(self) -> Iterator[OverRow]:
        over = self.state.over
        if isinstance(over, ast.StateUse):
            line = self.run.lines[over.state.iri]
            for episode in line.episodes:
                x = FOREVER if episode.x is None else episode.x
                key = frozenset(zip((v.name for v in over.parameters), episode.key, strict=False))
                yield OverRow(episode.b, x, (episode.key,), key, episode.b, x + self.d)
            return
        seen: dict[tuple[object, ...], OverRow] = {}
        state = self.state
        named = variables((state.group_by, state.aggregates, state.having or ()))
        for m in candidates(self.run, state.name, over, state.parameters, state.guard, named):
            individuals = tuple(sorted(b.occurrence.individual for b in m.sigma if not b.context))
            for row in m.solutions:
                made = OverRow(m.start, m.end, individuals, row, m.done, m.end + self.d)
                seen.setdefault((m.start, m.end, individuals, row), made)
        yield from seen.values()

    def _key(self, row: OverRow) -> Key:
        known = dict(row.solution)
        return tuple(known[name] for name in self.by)

    def _known(self) -> list[Key]:
        """Groups that are there without rows."""
        if self.state.each is not None:
            return [self._each_key(e.key) for e in self.run.lines[self.state.each.state.iri].episodes]
        return [()] if not self.by else []

    def _each_key(self, key: Key) -> Key:
        place = dict(zip((v.name for v in self.state.each.parameters), key, strict=False))  # type: ignore[union-attr]
        return tuple(place[name] for name in self.by)

    def rows_at(self, key: Key, t: int, forgive: int | None = None) -> tuple[OverRow, ...]:
        """rows(t) of a group; with `forgive` none has left since that instant."""
        oldest = t if forgive is None else forgive
        return tuple(r for r in self.rows if self._key(r) == key and r.done <= t and r.leaves > oldest)

    def exists(self, key: Key, t: int, rows: tuple[OverRow, ...]) -> bool:
        """Whether there is a group."""
        if self.state.each is not None:
            line = self.run.lines[self.state.each.state.iri]
            return any(self._each_key(e.key) == key for e in line.covering(t, self.d))
        always = not self.by and bool(self.run.world.items) and t >= self.run.world.first + self.d
        return bool(rows) or (always and bool(self.state.aggregates or self.state.having))

    def full(self, key: Key, t: int) -> bool:
        """The group has had a row without a break since t - d or before."""
        mine = [r for r in self.rows if self._key(r) == key and r.leaves > r.done]
        instants = {t - self.d, *(at for r in mine for at in (r.done, r.leaves) if t - self.d <= at <= t)}
        return all(any(r.done <= at < r.leaves for r in mine) for at in instants)

    def answer(self, key: Key, t: int, forgive: int | None = None) -> Row | None:
        """The bindings of a group for which it holds at t."""
        rows = self.rows_at(key, t, forgive)
        if not self.exists(key, t, rows):
            return None
        full = self.full(key, t) or (forgive is not None and self.full(key, forgive))
        group = GroupOfRows(rows, self._computed_at(key, t), full, self._held(key, t))
        env: dict[str, Term] = dict(zip(self.by, key, strict=True))
        for wanted in self.state.aggregates:
            try:
                env[wanted.variable.name] = term_of(evaluate(wanted.expression, env, group.aggregate))  # type: ignore[arg-type]
            except SparqlError:
                continue
        if self.state.having is not None:
            try:
                if not truth(evaluate(self.state.having, env, group.aggregate)):
                    return None
            except SparqlError:
                return None
        elif not self.state.aggregates and not rows:
            return None
        return frozenset((k, v) for k, v in env.items() if k not in self.names)

    def _computed_at(self, key: Key, t: int) -> int:
        """What depends on t is computed when a row of the group comes or leaves, and at multiples of STEP."""
        if not self.timed or self.state.step:
            return t
        own = [at for r in self.rows if self._key(r) == key for at in (r.done, r.leaves)]
        return max((at for at in own if at <= t), default=t)

    def _held(self, key: Key, t: int) -> int:
        """The time in (t - d, t] for which the state of OVER STATE held."""
        if not isinstance(self.state.over, ast.StateUse):
            return 0
        t = self._computed_at(key, t)
        mine = [r for r in self.rows if self._key(r) == key]
        return sum(max(0, min(r.end, t) - max(r.start, t - self.d)) for r in mine)

    def moments(self) -> list[int]:
        """When it may change."""
        world = self.run.world
        if self.state.step:
            step = self.state.step.micros
            return list(range(world.run // step * step, world.end + 1, step))
        found = {at for r in self.rows for at in (r.done, r.leaves, r.done + self.d)}
        if not self.by:
            found.add(world.first + self.d)
        if self.state.each is not None:
            found |= self.run.lines[self.state.each.state.iri].moments(self.d)
        return sorted(t for t in found if world.run <= t <= world.end)

    def holding(self, t: int) -> Holding:
        found: dict[Key, frozenset[Row]] = {}
        for group in self.groups:
            row = self.answer(group, t)
            if row is not None:
                key = self._parameters(group)
                found[key] = found.get(key, frozenset()) | {row}
        return found

    def _parameters(self, group: Key) -> Key:
        known = dict(zip(self.by, group, strict=True))
        return tuple(known[name] for name in self.names)

    def expired(self, key: Key, before: int, now: int) -> bool:
        """It would hold still if no row had left since it last did."""
        mine = [group for group in self.groups if self._parameters(group) == key]
        return any(self.answer(group, now, before) is not None for group in mine)


def over_state(state: ast.OverState, run: Run) -> Timeline:
    """OVER, recomputed from the last d at every moment."""
    over = Over(state, run)
    return Timeline(
        state.name.iri,
        over.names,
        [(t, over.holding(t)) for t in over.moments()],
        run=run.world.run,
        end=run.world.end,
        expired=over.expired,
    )
