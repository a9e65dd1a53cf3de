"""OVER = recomputing from nothing at every instant; a snapshot at any moment changes nothing."""

from __future__ import annotations

import os
from random import Random

import msgspec
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from over_definition import HELD, SPECS, Answer, Arrival, Episodes, Spec, World, compared

from obep.algebra.over.over_expressions import MAX_BECAUSE, GroupKey, OverExpressions, OverRow
from obep.algebra.over.over_rows import OverRows
from obep.algebra.over.over_snapshot import restore, to_plain
from obep.algebra.over.row_groups import GroupChange, RowGroup
from obep.guards.guard_terms import literal
from obep.guards.typed_values import term_of_value
from obep.query.ast import Call, Var

EXAMPLES = int(os.environ.get("OBEP_EXAMPLES", "150"))
END = 26
KEYS: tuple[GroupKey, ...] = (("<a>",), ("<b>",), (None,))


def window(spec: Spec, within: int, step: int | None) -> OverRows:
    expressions = OverExpressions(("k",), ("v",), spec.aggregates, spec.having, within)
    return OverRows(expressions, within, step)


def holding(groups: dict[GroupKey, Answer]) -> dict[GroupKey, Answer]:
    return {key: answer for key, answer in groups.items() if answer[0]}


class Folded:
    """What the changes that are reported make of the groups, instant by instant."""

    def __init__(self) -> None:
        self.groups: dict[GroupKey, Answer] = {}
        self.history: list[dict[GroupKey, Answer]] = []
        self.at = -1

    def take(self, changes: list[GroupChange], until: int) -> None:
        for change in changes:
            assert change.at > self.at
            self.fill(change.at)
            if change.holds:
                self.groups[change.group] = change.holds, change.values
            else:
                self.groups.pop(change.group, None)
        self.fill(until + 1)
        self.at = until

    def fill(self, until: int) -> None:
        while len(self.history) < until:
            self.history.append(dict(self.groups))


def again(known: OverRows) -> OverRows:
    """The window that a snapshot gives back, by way of bytes."""
    plain = msgspec.msgpack.decode(msgspec.msgpack.encode(to_plain(known)))
    other = OverRows(known.expressions, known.within, known.step)
    restore(other, plain)
    return other


terms = st.integers(0, 3).map(term_of_value) | st.sampled_from([None, literal("hot")])


@st.composite
def worlds(draw: st.DrawFn) -> World:
    spec = draw(st.sampled_from(SPECS))
    keys = draw(st.sampled_from([KEYS, KEYS[:1]]))
    world = World(spec, draw(st.integers(1, 8)), draw(st.sampled_from([None, None, 1, 3, 5])))
    values = draw(st.sampled_from([st.integers(0, 3).map(term_of_value), terms]))
    late = draw(st.sampled_from([0, 0, 3, 9]))
    silence = draw(st.sampled_from([(END, END), (5, 14), (8, 20)]))  # in which groups come to be empty
    for place in range(draw(st.integers(0, 14))):
        done = draw(st.integers(0, END - 2).filter(lambda at: not silence[0] <= at < silence[1]))
        end = draw(st.integers(max(0, done - late), done))
        identity = f"row {draw(st.integers(0, place))}"
        world.rows.append(Arrival(draw(st.sampled_from(keys)), end, done, identity, (draw(values),)))
    if len({(row.group, row.end, row.identity) for row in world.rows}) < len(world.rows):
        # Two explanations of one row: the same terms.
        first: dict[object, Arrival] = {}
        for row in world.rows:
            first.setdefault((row.group, row.end, row.identity), row)
        world.rows = [row._replace(terms=first[row.group, row.end, row.identity].terms) for row in world.rows]
    world.rows.sort(key=lambda row: row.done)
    if not spec.of_time and draw(st.booleans()):
        for key in KEYS:
            begin = draw(st.integers(-5, END))
            end = draw(st.none() | st.integers(max(begin, 0) + 1, END + 2))
            world.each.append((key, begin, end))
    return world


@pytest.mark.slow
@given(worlds(), st.integers(0, 2**32))
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_over_is_what_recomputing_from_nothing_at_every_instant_gives(world: World, seed: int) -> None:
    random = Random(seed)
    known, folded = window(world.spec, world.within, world.step), Folded()
    for instant in range(END):
        feed(known, world, instant)
        if random.random() < 0.2:
            known = again(known)
        if random.random() < 0.6 or instant == END - 1:
            folded.take(known.advance(instant), instant)
        if random.random() < 0.2:
            known = again(known)
    wanted = [holding(world.at(instant)) for instant in range(END)]
    event(f"holds at times: {any(wanted)}")
    event(f"step: {world.step is not None}, for each: {bool(world.each)}")
    for instant in range(END):
        assert folded.history[instant] == wanted[instant], instant


def feed(known: OverRows, world: World, instant: int) -> None:
    for key, begin, end in world.each:
        if max(begin, 0) == instant:
            known.stand(key, begin, instant)
        if end == instant:
            known.fall(key, instant)
    for row in world.rows:
        if row.done == instant:
            known.add(row.row, row.done)


@st.composite
def episodes(draw: st.DrawFn) -> Episodes:
    found: list[tuple[GroupKey, int, int | None]] = []
    for key in KEYS:
        for _ in range(draw(st.integers(0, 2))):  # so many values of the state in one group
            at = draw(st.integers(0, 8))
            while at < END:
                end = at + draw(st.integers(1, 8))
                found.append((key, at, end if end < END else None))
                at = end + draw(st.integers(1, 8))
    return Episodes(draw(st.integers(1, 9)), draw(st.sampled_from([None, 1, 2, 5])), found)


@given(episodes(), st.integers(0, 2**32))
@settings(max_examples=EXAMPLES // 2, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_held_is_the_time_for_which_a_state_held_in_the_window(known_episodes: Episodes, seed: int) -> None:
    random = Random(seed)
    known, folded = window(HELD, known_episodes.within, known_episodes.step), Folded()
    rows = [
        Arrival(key, begin, begin, f"{place}", (None,)).row
        for place, (key, begin, _) in enumerate(known_episodes.all)
    ]
    for instant in range(END):
        for row, (_, begin, end) in zip(rows, known_episodes.all, strict=True):
            if begin == instant:
                known.begin(row)
            if end == instant:
                known.cease(row, instant)
        if random.random() < 0.2:
            known = again(known)
        if random.random() < 0.6 or instant == END - 1:
            folded.take(known.advance(instant), instant)
    for instant in range(END):
        assert folded.history[instant] == holding(known_episodes.at(instant)), instant


def row_of(key: str, end: int, value: int, identity: str = "") -> OverRow:
    return Arrival((key,), end, end, identity or f"{end}", (term_of_value(value),)).row


def put(known: OverRows, row: OverRow, source: object = None) -> None:
    """A row that is known at its end."""
    known.add(row, row.end, source)


def test_a_state_that_ends_because_rows_left_has_expired() -> None:
    known = window(SPECS[0], 10, None)
    for end in (1, 2, 3):
        put(known, row_of("<a>", end, 0))
    [begun] = known.advance(5)
    assert (begun.at, begun.holds, begun.rows, begun.expired) == (3, True, 3, False)
    [ended] = known.advance(11)
    assert (ended.at, ended.holds, ended.rows, ended.expired) == (11, False, 2, True)


def test_full_begins_anew_after_a_break_though_the_group_stays() -> None:
    known = window(SPECS[2], 4, None)  # MAX = MIN, and FULL()
    known.stand(("<a>",), -10, 0)
    for end in (0, 3, 20, 23):
        put(known, row_of("<a>", end, 1))
    assert [(change.at, change.holds) for change in known.advance(30)] == [
        (4, True),
        (7, False),
        (24, True),
        (27, False),
    ]


def test_a_group_that_comes_after_a_silence_is_not_looked_at_before() -> None:
    known = window(SPECS[3], 4, 2)  # TIMEAVG > 1
    for end in (1, 21):
        put(known, row_of("<a>", end, 3))
    found = [(change.at, change.holds) for change in known.advance(40)]
    assert found == [(2, True), (6, False), (22, True), (26, False)]
    other = window(SPECS[3], 4, 2)
    put(other, row_of("<a>", 1, 3))
    other.advance(1)
    assert again(other).next_moment() == 2


def test_the_next_moment_is_known() -> None:
    known = window(SPECS[0], 10, None)
    assert known.next_moment() is None
    put(known, row_of("<a>", 3, 0))
    assert known.next_moment() == 3
    known.advance(3)
    assert known.next_moment() == 13
    stepped = window(SPECS[0], 10, 4)
    put(stepped, row_of("<a>", 3, 0))
    assert stepped.next_moment() == 4
    stepped.advance(4)
    assert stepped.next_moment() == 16


def test_the_sources_of_the_last_rows_of_a_group_are_kept() -> None:
    known = window(SPECS[0], 1_000, None)
    for end in range(1, 451):
        put(known, row_of("<a>", end, 0), f"source {end}")
    known.advance(450)
    assert known.sources_of(("<a>",)) == [f"source {end}" for end in range(351, 451)]
    assert sum(source is not None for _, source in known.groups["<a>",].rows) <= MAX_BECAUSE
    known.advance(1_448)  # the rows up to 448 have left
    assert known.sources_of(("<a>",)) == ["source 449", "source 450"]
    assert known.groups["<a>",].size == 2
    assert known.sources_of(("<z>",)) == []


@pytest.mark.slow
@given(worlds(), st.integers(0, 2**32))
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_snapshot_changes_no_report(world: World, seed: int) -> None:
    """Also not whether what ended has expired, which depends on the rows that have left."""
    random = Random(seed)
    plain, kept = (window(world.spec, world.within, world.step) for _ in range(2))
    for instant in range(END):
        feed(plain, world, instant)
        feed(kept, world, instant)
        if random.random() < 0.3:
            kept = again(kept)
        if random.random() < 0.6:
            assert kept.advance(instant) == plain.advance(instant)
        if random.random() < 0.3:
            kept = again(kept)


def test_having_may_ask_for_the_time() -> None:
    spec = Spec((), compared(Call("NOW", ()), ">", Var("v")), lambda rows, now, full: (False, ()))
    early = literal("1970-01-01T00:00:00.000004Z", "<http://www.w3.org/2001/XMLSchema#dateTime>")
    expressions = OverExpressions(("v",), (), spec.aggregates, spec.having, 10)
    known = OverRows(expressions, 10, step=2)
    put(known, Arrival((early,), 1, 1, "r", ()).row)
    assert [(change.at, change.holds) for change in known.advance(12)] == [(6, True), (12, False)]


def test_a_group_is_forgotten_when_its_last_row_has_left() -> None:
    known = window(SPECS[6], 10, None)
    for end in range(100):
        put(known, row_of(f"<{end}>", end, 1))
    known.advance(99)
    assert len(known.groups) == 10
    known.advance(200)
    assert not known.groups and not list(known.ahead) and not list(known.leaving)


@pytest.mark.parametrize("within", [1_001, 100_000])
def test_a_row_touches_its_group_alone(within: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The work of an instant is what came and what left, whatever the window and the groups hold."""
    known = window(SPECS[0], within, None)
    looks: list[int] = []
    look = RowGroup.look
    monkeypatch.setattr(RowGroup, "look", lambda *given: looks.append(0) or look(*given))
    for end in range(3_000):
        put(known, row_of(f"<{end % 500}>", end, 1))
    known.advance(2_999)
    assert len(looks) == 3_000 + max(0, 3_000 - within)
