# ruff: noqa: E741  (l and r are the names that SPEC uses)
"""The oracle: SPEC §4–§6 transcribed as directly as Python allows, to test the engine against. Slow.

`detect` is a pure function over finished data: the composite events, the logical occurrences, the items (only
NOT reads them) and the end of the stream. It shares no code with `obep.operators`.

How to read it. `Evaluation.at(E, δ)` is the set of candidates of E with done = δ, `Evaluation.live(E, δ)` is
live(E, δ) of the table; both below a `Scope`:

- `after`: `E WITHIN d` at δ is E over what has since > δ-d, so windows are evaluated by evaluating again;
- `decide`: false below FIRST and LAST, where a candidate keeps the solutions of its leaves apart (D9);
- `spent`: whether consumed occurrences count (they do as n, and as what lies between in NEXT).

Readings chosen where the text leaves room. Each is the one closest to the letter; the lead decides.

 O1  "joins" (an n with l, an r' with l in NEXT) and "fits" (OPTIONAL, policies): the mappings agree *and* the
     FILTERs that only both together can decide are true *and* no occurrence is shared (D11).
 O2  A FILTER acts on a solution as soon as all its variables have values in that solution and all aliases
     that it names are there ("where its variables are bound"), not at a statically chosen operator.
 O3  A FILTER with getDURATION() and the like without an argument is decided at the top of the pattern.
 O4  Below FIRST or LAST a negation, NEXT or OPTIONAL works on the ⋈ of the solutions of all aliases of its
     positive operands, with those FILTERs only that need both operands; what has no solution there is dropped
     there. N itself is evaluated as if it stood alone (its own joins and filters are decided inside it).
 O5  naive: "before any guard" makes `L SEQ R` the same as `(LAST L) SEQ (LAST R)`, nothing decided below.
 O6  chronological/recent: a pair (l, r) is a candidate when it is done, iff l is then among the first/last of
     all l of live(L, δ) that are before r and fit; an l that was there earlier can so keep a later l away.
     Below FIRST or LAST all that are before r fit it (but for OPTIONAL, which is always decided).
 O7  OPTIONAL under a policy: r stays alone iff no unconsumed l fits it, chosen or not.
 O8  Consumed occurrences are no contexts of later candidates either ("take no part").
 O9  What lies between in NEXT is evaluated with nothing consumed at all, policies' choices included.
 O10 Inside a WITHIN an inner choice at δ' is made with what was consumed before δ'.
 O11 Several candidates that are the same occurrence (D1) at one instant: bindings of all; `since` the least
     of all; the parts of one of them (`Found.variants` has all); the leaves of all are consumed.
 O12 TIMES: a variable in the event's own parameters or in CONSTRUCT also "occurs outside"; one that is
     otherwise only in FILTERs does not. Time functions of an alias in E also hold for each copy. Two TIMES
     in one FILTER: all combinations. The i-th copy's aliases and own variables are `a#i` and `v#i` here;
     `E TIMES 1` is E.
 O13 NOT binds no alias: it adds to A and to since, it is never consumed and shares nothing.
 O14 An occurrence with a missing parameter (other branch of an OR) leaves the variable of its leaf unbound;
     with a partition variable unbound it takes part in no partition.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from obep.model import Assertion, EagerOccurrence, Item, Occurrence, Part, Term
from obep.query import ast
from oracle.guard_semantics import NOTHING, Condition, Row, joined, merged, parts, solve_on_explanation
from oracle.leaf_windows import frame_of, seen_at
from oracle.pattern_semantics import (
    Context,
    Leaf,
    Next,
    Not,
    NotFollowedBy,
    Optional,
    Or,
    Pair,
    Reading,
    Tree,
    View,
    Within,
    Without,
    leaves_of,
)

Solve = Callable[[ast.CompositeEvent, ast.Leaf, Occurrence], frozenset[Row]]
EVER = -(10**18)
MOST_CANDIDATES = 8_000
"""So many in one partition of one event are more than anyone wants to wait for."""


class TooLarge(Exception):
    """A case that the oracle does not finish in reasonable time."""


class Found(NamedTuple):
    """A reported occurrence, and all the (alias, occurrence, context) sets that make the same one (O11)."""

    occurrence: Occurrence
    variants: frozenset[frozenset[tuple[str, Occurrence, bool]]]


def detect(
    events: Iterable[ast.CompositeEvent],
    occurrences: Iterable[Occurrence],
    items: Iterable[Item] = (),
    end: int | None = None,
    solve: Solve = solve_on_explanation,
) -> list[Found]:
    """What the composite events report when the stream has been closed at `end` (default: its last instant).

    `solve` gives the solutions of a leaf for an occurrence of a logical event.
    """
    known = {event.name.iri: event for event in events}
    pool: dict[tuple[object, ...], Occurrence] = {}
    for occurrence in occurrences:
        pool.setdefault(occurrence.key, occurrence)
    items = tuple(items)
    instants = {item.at for item in items}.union(*((o.end, o.detected) for o in pool.values()))
    end = max(instants, default=0) if end is None else end
    found: list[Found] = []
    for group in _lower_first(known):
        if _named_by(group[0], known) & {event.name.iri for event in group}:
            new = _by_instants(group, known, pool, items, end, solve)
        else:
            new = Detection(group[0], known, list(pool.values()), items, end, solve).run()
        found += new
        for hit in new:
            pool[hit.occurrence.key] = hit.occurrence
    return found


def _by_instants(
    group: Sequence[ast.CompositeEvent],
    known: Mapping[Term, ast.CompositeEvent],
    pool: dict[tuple[object, ...], Occurrence],
    items: Sequence[Item],
    end: int,
    solve: Solve,
) -> list[Found]:
    """D40: at each instant the events of a cycle, each with its own occurrences that were detected before.

    With those of the others at that instant, too, until there are no more.
    """
    pool, now, found = dict(pool), EVER, []

    def detection(event: ast.CompositeEvent, until: int) -> Detection:
        mine = event.name.iri
        there = [o for o in pool.values() if o.event != mine or o.detected < until]
        return Detection(event, known, there, items, until, solve)

    while instants := {at for e in group for at in detection(e, end).instants if at > now}:
        now = min(instants)
        before = -1
        new: dict[tuple[object, ...], Found] = {}
        while len(new) > before:
            before = len(new)
            for event in group:
                for hit in detection(event, now).run():
                    if hit.occurrence.detected == now:
                        same = pool.setdefault(hit.occurrence.key, hit.occurrence)
                        new[same.key] = hit._replace(occurrence=same)
        found += new.values()
    return found


def _named_by(event: ast.CompositeEvent, events: Mapping[Term, ast.CompositeEvent]) -> set[Term]:
    """The events that one is made of, directly or not."""
    named: set[Term] = set()
    waiting = [event]
    while waiting:
        for leaf in leaves_of(waiting.pop().pattern):
            if leaf.event.iri in events and leaf.event.iri not in named:
                named.add(leaf.event.iri)
                waiting.append(events[leaf.event.iri])
    return named


def _lower_first(events: Mapping[Term, ast.CompositeEvent]) -> Iterator[list[ast.CompositeEvent]]:
    """Strata: an event after those that its pattern names; those that name each other come together."""
    named = {iri: _named_by(event, events) for iri, event in events.items()}
    waiting = dict(events)
    while waiting:
        for iri in waiting:
            group = [one for one in waiting if one == iri or (one in named[iri] and iri in named[one])]
            if not (named[iri] & waiting.keys()) - set(group):
                break
        yield [waiting.pop(one) for one in group]


# --- candidates -------------------------------------------------------------------------------------------


class Bound(NamedTuple):
    """What an alias is bound to in a candidate (a pair of σ)."""

    leaf: int
    alias: str
    occurrence: Occurrence
    context: bool = False


@dataclass(frozen=True)
class Candidate:
    """m = (A, start, end, σ) with done(m), since(m), and its solutions.

    Where guards are decided there is one table of solutions; below FIRST and LAST there is one for each leaf,
    or for each operator there that has decided something.
    """

    explanation: frozenset[Assertion]
    start: int
    end: int
    done: int
    since: int
    sigma: tuple[Bound, ...]
    tables: tuple[frozenset[Row], ...]

    @property
    def solutions(self) -> frozenset[Row]:
        return joined(self.tables) if len(self.tables) != 1 else self.tables[0]

    @property
    def times(self) -> dict[str, tuple[int, int]]:
        return {b.alias: (b.occurrence.start, b.occurrence.end) for b in self.sigma}


def before(x: Candidate, y: Candidate) -> bool:
    return x.end < y.start


RELATIONS: dict[str, Callable[[Candidate, Candidate], bool]] = {
    "SEQ": before,
    "AND": lambda l, r: l.start == r.start and l.end == r.end,
    "JOIN": lambda l, r: True,
    "BEFORE": before,
    "MEETS": lambda l, r: l.start < l.end == r.start < r.end,
    "OVERLAPS": lambda l, r: l.start < r.start < l.end < r.end,
    "STARTS": lambda l, r: l.start == r.start and l.end < r.end,
    "FINISHES": lambda l, r: l.end == r.end and l.start > r.start,
    "DURING": lambda l, r: r.start <= l.start and l.end <= r.end,
}  # fmt: skip
for _inverse, _of in {
    "AFTER": "BEFORE", "METBY": "MEETS", "OVERLAPPEDBY": "OVERLAPS",
    "STARTEDBY": "STARTS", "FINISHEDBY": "FINISHES", "CONTAINS": "DURING",
}.items():  # fmt: skip
    RELATIONS[_inverse] = lambda l, r, of=RELATIONS[_of]: of(r, l)  # type: ignore[misc]


def apart(x: Candidate, y: Candidate) -> bool:
    """D11: no occurrence is bound in both."""
    return not {id(b.occurrence) for b in x.sigma} & {id(b.occurrence) for b in y.sigma}


def none_before(candidates: Sequence[Candidate]) -> list[Candidate]:
    """As FIRST chooses."""
    return [m for m in candidates if not any(before(other, m) for other in candidates)]


def none_after(candidates: Sequence[Candidate]) -> list[Candidate]:
    """As LAST chooses."""
    return [m for m in candidates if not any(before(m, other) for other in candidates)]


# --- evaluation -------------------------------------------------------------------------------------------


class Scope(NamedTuple):
    after: int = EVER
    decide: bool = True
    spent: bool = False


class Evaluation:
    """One event's pattern over finished data, for one partition value."""

    def __init__(
        self,
        tree: Tree,
        conditions: Sequence[Condition],
        readings: Mapping[int, Sequence[tuple[Occurrence, frozenset[Row]]]],
        items: Sequence[Item],
        instants: Sequence[int],
    ) -> None:
        self.tree = tree
        self.conditions = [c for c in conditions if not c.whole]
        self.whole = [c for c in conditions if c.whole]
        self.readings = readings
        self.items = items
        self.instants = instants
        self.consumed: dict[int, int] = {}
        """The instant at which an occurrence (by its id()) was consumed."""
        self._made = 0
        self._at: dict[tuple[int, int, Scope], list[Candidate]] = {}
        self._live: dict[tuple[int, int, Scope], list[Candidate]] = {}

    def found_at(self, now: int) -> list[Candidate]:
        """The candidates of the whole pattern that are decided now and pass the guard."""
        found = []
        for m in self.at(self.tree, now, Scope()):
            whole = (m.start, m.end)
            rows = frozenset(
                row
                for row in m.solutions
                if all(c.holds(row, m.times, whole) for c in self.whole if c.asked(row, m.times))
            )
            if rows:
                found.append(replace(m, tables=(rows,)))
        return found

    def at(self, node: Tree, now: int, scope: Scope) -> list[Candidate]:
        """The candidates of `node` with done = now."""
        key = (id(node), now, scope)
        if key not in self._at:
            self._at[key] = list(self._new(node, now, scope))
            self._made += len(self._at[key])
            if self._made > MOST_CANDIDATES:
                raise TooLarge
        return self._at[key]

    def live(self, node: Tree, now: int, scope: Scope) -> list[Candidate]:
        """live(E, δ), without what is consumed unless the scope says that it counts."""
        key = (id(node), now, scope)
        if key not in self._live:
            self._live[key] = self._views(node, now, scope)
        return self._live[key]

    def _views(self, node: Tree, now: int, scope: Scope) -> list[Candidate]:
        match node:
            case Or(left, right):
                return [*self.live(left, now, scope), *self.live(right, now, scope)]
            case View(first, operand):
                below = self.live(operand, now, scope._replace(decide=False))
                chosen = none_before(below) if first else none_after(below)
                return self._settled(chosen) if scope.decide else chosen
        past = [instant for instant in self.instants if scope.after < instant <= now]
        everything = [m for instant in past for m in self.at(node, instant, scope)]
        if isinstance(node, Leaf) and node.syntax.window is not None:  # D35
            frame = frame_of(node.syntax.window)
            everything = [m for m in everything if frame.holds(m.sigma[0].occurrence.detected, now)]
        return everything if scope.spent else [m for m in everything if self._unspent(m, now)]

    def _unspent(self, m: Candidate, now: int) -> bool:
        return not any(self.consumed.get(id(b.occurrence), now) < now for b in m.sigma)

    def _new(self, node: Tree, now: int, scope: Scope) -> Iterable[Candidate]:
        match node:
            case Leaf():
                return self._leaf(node, now, scope)
            case Pair():
                return self._pairs(node, now, scope)
            case Optional(pairs):
                return [*self.at(pairs, now, scope), *self._alone(node, now, scope)]
            case Context():
                return self._contexts(node, now, scope)
            case Next():
                return self._nexts(node, now, scope)
            case Or(left, right):
                return [*self.at(left, now, scope), *self.at(right, now, scope)]
            case View():
                return [m for m in self.live(node, now, scope) if m.done == now]
            case Not():
                return self._not(node, now, scope)
            case Without():
                return self._without(node, now, scope)
            case NotFollowedBy():
                return self._not_followed_by(node, now, scope)
            case Within(operand, within):
                return self.at(operand, now, scope._replace(after=max(scope.after, now - within)))
        raise NotImplementedError(f"only the oracle of states has {type(node).__name__}")

    # the rows of the table

    def _leaf(self, node: Leaf, now: int, scope: Scope) -> Iterable[Candidate]:
        for o, rows in self.readings[node.number]:
            if seen_at(node.syntax.window, o) == now and o.since > scope.after:
                bound = (Bound(node.number, node.alias, o),)
                m = Candidate(frozenset(o.explanation), o.start, o.end, now, o.since, bound, (rows,))
                yield from self._settled([m]) if scope.decide else [m]

    def _not(self, node: Not, now: int, scope: Scope) -> Iterable[Candidate]:
        explained: set[Assertion] = set()
        for e in self.live(node.operand, now, scope._replace(decide=True, spent=True)):
            if e.start == now:
                explained |= e.explanation
        for item in self.items:
            if item.at == now and item.at > scope.after:
                rest = frozenset((triple, now) for triple in item.triples) - explained
                if rest:
                    yield Candidate(rest, now, now, now, now, (), (frozenset([NOTHING]),))

    def _couples(
        self, node: Pair | Context | Next, now: int, scope: Scope, relation: str
    ) -> Iterator[tuple[Candidate, Candidate]]:
        """(l, r) of the live ones that stand so in time and are complete now."""
        lefts, rights = self.live(node.left, now, scope), self.live(node.right, now, scope)
        for l in lefts:
            for r in rights:
                if max(l.done, r.done) == now and RELATIONS[relation](l, r) and apart(l, r):
                    yield l, r

    def _pairs(self, node: Pair, now: int, scope: Scope) -> Iterable[Candidate]:
        decide = scope.decide or node.always
        for l, r in self._couples(node, now, scope, node.relation):
            both = self._both(l, r, decide)
            if both is not None and self._chosen(node, l, r, now, scope):
                yield both

    def _chosen(self, node: Pair, l: Candidate, r: Candidate, now: int, scope: Scope) -> bool:
        """Whether the event's policy pairs r with l at this instant."""
        if node.policy == "unrestricted":
            return True
        fitting = [
            other
            for other in self.live(node.left, now, scope)
            if RELATIONS[node.relation](other, r)
            and apart(other, r)
            and self._both(other, r, scope.decide or node.always) is not None
        ]
        choose = none_before if node.policy == "chronological" else none_after
        return any(l is other for other in choose(fitting))

    def _alone(self, node: Optional, now: int, scope: Scope) -> Iterable[Candidate]:
        """r without any l that fits it, solution by solution."""
        fits = RELATIONS[node.pairs.relation]
        for r in self.at(node.right, now, scope):
            rivals = [l for l in self.live(node.left, now, scope) if fits(l, r) and apart(l, r)]
            yield from self._unblocked(r, rivals)

    def _contexts(self, node: Context, now: int, scope: Scope) -> Iterable[Candidate]:
        for l, r in self._couples(node, now, scope, node.relation):
            both = self._both(l, r, scope.decide)
            if both is not None:
                seen = tuple(b._replace(context=True) for b in r.sigma)
                yield replace(both, explanation=l.explanation, start=l.start, end=l.end, sigma=l.sigma + seen)

    def _nexts(self, node: Next, now: int, scope: Scope) -> Iterable[Candidate]:
        counting = scope._replace(spent=True)
        rights, lefts = self.live(node.right, now, counting), self.live(node.left, now, counting)
        for l, r in self._couples(node, now, scope, "SEQ"):
            later = [m for m in rights if before(l, m) and before(m, r) and apart(l, m)]
            nearer = [m for m in lefts if before(l, m) and before(m, r) and apart(m, r)]
            rows = frozenset(
                row
                for a in l.solutions
                if not self._met(a, l, later)
                for b in r.solutions
                if (row := self._meet(a, l, b, r)) is not None and not self._met(b, r, nearer)
            )
            if rows:
                yield replace(_united(l, r), tables=(rows,))

    def _without(self, node: Without, now: int, scope: Scope) -> Iterable[Candidate]:
        blockers = self.live(node.right, now, scope._replace(decide=True, spent=True))
        for l in self.at(node.left, now, scope):
            inside = [n for n in blockers if l.start < n.start and n.end < l.end and apart(l, n)]
            yield from self._unblocked(l, inside)

    def _not_followed_by(self, node: NotFollowedBy, now: int, scope: Scope) -> Iterable[Candidate]:
        for l in self.live(node.left, now, scope):
            deadline = l.end + node.within
            if max(deadline, l.done) == now:
                blockers = self.live(node.right, now, scope._replace(decide=True, spent=True))
                after = [n for n in blockers if l.end < n.start and n.end < deadline and apart(l, n)]
                for m in self._unblocked(l, after):
                    yield replace(m, end=deadline, done=now)

    # guards

    def _unblocked(self, m: Candidate, blockers: Sequence[Candidate]) -> Iterable[Candidate]:
        """m with the solutions that join with none of the blockers, if there are any."""
        rows = frozenset(row for row in m.solutions if not self._met(row, m, blockers))
        if rows:
            yield replace(m, tables=(rows,))

    def _met(self, row: Row, m: Candidate, others: Sequence[Candidate]) -> bool:
        """Whether a solution of m joins with one of the others."""
        return any(
            self._meet(row, m, theirs, other) is not None for other in others for theirs in other.solutions
        )

    def _meet(self, a: Row, l: Candidate, b: Row, r: Candidate) -> Row | None:
        """The two solutions as one, if they agree and the filters that need both are true (O1)."""
        row = merged(a, b)
        if row is None:
            return None
        times = l.times | r.times
        for c in self.conditions:
            together = c.asked(row, times) and not c.asked(a, l.times) and not c.asked(b, r.times)
            if together and not c.holds(row, times, (0, 0)):
                return None
        return row

    def _both(self, l: Candidate, r: Candidate, decide: bool) -> Candidate | None:
        """l ⋈ r; nothing where guards are decided and no solution is left."""
        if not decide:
            return _united(l, r)
        rows = {self._meet(a, l, b, r) for a in l.solutions for b in r.solutions} - {None}
        return replace(_united(l, r), tables=(frozenset(rows),)) if rows else None  # type: ignore[arg-type]

    def _settled(self, candidates: Iterable[Candidate]) -> list[Candidate]:
        """The same with all guards decided that can be: at a leaf, and directly above FIRST and LAST."""
        settled = []
        for m in candidates:
            rows = frozenset(
                row
                for row in m.solutions
                if all(c.holds(row, m.times, (0, 0)) for c in self.conditions if c.asked(row, m.times))
            )
            if rows:
                settled.append(replace(m, tables=(rows,)))
        return settled


def _united(l: Candidate, r: Candidate) -> Candidate:
    return Candidate(
        l.explanation | r.explanation,
        min(l.start, r.start),
        max(l.end, r.end),
        max(l.done, r.done),
        min(l.since, r.since),
        l.sigma + r.sigma,
        l.tables + r.tables,
    )


class Detection:
    """One composite event over the whole stream: its partitions, its instants in order, what it reports."""

    def __init__(
        self,
        event: ast.CompositeEvent,
        events: Mapping[Term, ast.CompositeEvent],
        occurrences: Sequence[Occurrence],
        items: Sequence[Item],
        end: int,
        solve: Solve,
    ) -> None:
        self.event, self.items = event, items
        self.events, self.occurrences, self.solve = events, occurrences, solve
        self.reading = self._reading()
        self.by = tuple(v.name for v in event.partition_by)
        self.readings: dict[int, list[tuple[Occurrence, frozenset[Row]]]] = {}
        for leaf in self.reading.leaves:
            self.readings[leaf.number] = [
                (o, frozenset(frozenset((leaf.own_names.get(k, k), v) for k, v in row) for row in found))
                for o, found in self._read(leaf)
            ]
        self.instants = self._instants(end)

    def _reading(self) -> Reading:
        return Reading(self.event)

    def _read(self, leaf: Leaf) -> list[tuple[Occurrence, frozenset[Row]]]:
        """The occurrences of a leaf, each with its solutions."""
        below = self.events.get(leaf.event)
        return [
            (
                o,
                by_position(leaf, below, o)
                if below and below.parameters
                else self.solve(self.event, leaf.syntax, o),
            )
            for o in self.occurrences
            if o.event == leaf.event
        ]

    def _instants(self, end: int) -> list[int]:
        """Whenever something may be decided."""
        instants = {item.at for item in self.items}.union(*((o.end, o.detected) for o in self.occurrences))
        for leaf in self.reading.leaves:
            seen = (seen_at(leaf.syntax.window, o) for o, _ in self.readings[leaf.number])
            instants |= {at for at in seen if at is not None}
        bounds = {node.within.micros for node in _absences(self.event.pattern)}
        for _ in _absences(self.event.pattern):  # an absence in the left operand of an absence adds up
            instants |= {instant + bound for instant in instants for bound in bounds}
        return sorted(instant for instant in instants if instant <= end)

    def run(self) -> list[Found]:
        return [found for value in self.values() for found in self._partition(value)]

    def values(self) -> list[tuple[Term, ...]]:
        """The values of the partition variables; one empty tuple without PARTITION BY."""
        values = set()
        for readings in self.readings.values():
            for _, rows in readings:
                known = (dict(row) for row in rows)
                values |= {
                    tuple(row[name] for name in self.by) for row in known if row.keys() >= set(self.by)
                }
        return sorted(values) if self.by else [()]

    def evaluation(self, value: tuple[Term, ...]) -> Evaluation:
        """The pattern over what belongs to one partition value."""
        wanted = frozenset(zip(self.by, value, strict=True))
        readings = {
            number: [
                (o, kept if wanted else rows)
                for o, rows in found
                if (kept := frozenset(row for row in rows if wanted <= row)) or not wanted
            ]
            for number, found in self.readings.items()
        }
        return Evaluation(self.reading.tree, self.reading.conditions, readings, self.items, self.instants)

    def _partition(self, value: tuple[Term, ...]) -> Iterator[Found]:
        evaluation = self.evaluation(value)
        reported: set[tuple[object, ...]] = set()
        for now in self.instants:
            same: dict[tuple[object, ...], list[Candidate]] = defaultdict(list)
            for m in evaluation.found_at(now):
                same[self._occurrence([m], value).key].append(m)
            for key, candidates in same.items():
                if key not in reported:
                    reported.add(key)
                    yield Found(
                        self._occurrence(candidates, value),
                        frozenset(
                            frozenset((b.alias, b.occurrence, b.context) for b in m.sigma) for m in candidates
                        ),
                    )
                    if self.event.policy in ("chronological", "recent"):
                        for bound in (b for m in candidates for b in m.sigma if not b.context):
                            evaluation.consumed.setdefault(id(bound.occurrence), now)

    def _occurrence(self, candidates: Sequence[Candidate], value: tuple[Term, ...]) -> Occurrence:
        def order(m: Candidate) -> tuple[object, ...]:
            return (m.since, [(b.leaf, b.occurrence.start, b.occurrence.individual) for b in m.sigma])

        m = min(candidates, key=order)
        bindings = frozenset(row for candidate in candidates for row in candidate.solutions)
        occurrence = EagerOccurrence(
            self.event.name.iri,
            "",
            tuple(sorted(m.explanation, key=lambda a: (a[0], a[1] is not None, a[1] or 0))),
            m.start,
            m.end,
            m.done,
            m.since,
            parts=tuple(
                Part(b.alias, b.occurrence, b.context) for b in sorted(m.sigma, key=lambda b: b.leaf)
            ),
            bindings=tuple(dict(sorted(row)) for row in sorted(bindings, key=sorted)),
            partition=value,
        )
        occurrence.individual = f"<{occurrence.id}>"
        return occurrence


def _absences(pattern: object) -> list[ast.NotFollowedBy]:
    return [node for node in parts(pattern) if isinstance(node, ast.NotFollowedBy)]


def by_position(
    leaf: Leaf, below: ast.CompositeEvent | ast.GraphEvent, occurrence: Occurrence
) -> frozenset[Row]:
    """The values of a composite's parameters, under the names that the leaf gives them."""
    rows: set[Row] = set()
    for binding in occurrence.bindings:
        row: Row | None = NOTHING
        for ours, theirs in zip(leaf.syntax.parameters, below.parameters, strict=False):
            if row is not None and theirs.name in binding:
                row = merged(row, frozenset([(ours.name, binding[theirs.name])]))
        if row is not None:
            rows.add(row)
    return frozenset(rows)
