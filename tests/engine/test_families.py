"""Events that differ in one thing run as one, filters over constants are indexed, and nobody can tell."""

from __future__ import annotations

import os
from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import obep
from obep.abstraction import answer_templates
from obep.abstraction.matcher import Matched, Matcher
from obep.engine.segment import Segment
from obep.engine.shared_pattern import Kin
from obep.guards.constant_index import Index, comparisons
from obep.guards.filter_closures import compile_condition
from obep.guards.typed_values import parse_term
from obep.model import Item
from obep.output.json_writer import to_line
from obep.plan import event_families
from obep.query.ast import CompositeEvent
from obep.query.parse.parser import parse

EXAMPLES = int(os.environ.get("OBEP_EXAMPLES", "40"))
E, XSD = "http://e/#", "http://www.w3.org/2001/XMLSchema#"
LOGICAL = f"PREFIX : <{E}>\nFROM STREAM <s>\n" + "".join(f"EVENT {name} AS Class{name}\n" for name in "ABCDF")
NEVER = 1 << 30
NUMBERS = ("0", "1", "2", "2.0", "2.5", "3", "-1")
TERMS = (
    *(f'"{n}"^^<{XSD}integer>' for n in (0, 1, 2, 3, -1, 10**30)),
    *(f'"{n}"^^<{XSD}decimal>' for n in ("2.0", "2.5", "0.1")),
    *(f'"{n}"^^<{XSD}double>' for n in ("2.0", "0.1", "NaN", "INF", "-0.0")),
    *(f'"{n}"^^<{XSD}float>' for n in ("2.0", "0.1", "NaN")),
    '"red"', '"blue"', '"red"@en', f'"true"^^<{XSD}boolean>', f'"x"^^<{XSD}integer>', f'"2"^^<{E}odd>',
    f"<{E}a>", f'"2026-01-01T00:00:00Z"^^<{XSD}dateTime>',
)  # fmt: skip
CONSTANTS = (*NUMBERS, '"red"', ":a", "2e0")
SIGNS = ("=", "!=", "<", ">", "<=", ">=")
SHAPES = (
    "A(?k) SEQ B(?k) WITHIN 5 s IF {{ EVENT B {{ ?k :v ?x . FILTER(?x {sign} {constant}) }} }}",
    "A(?k) SEQ B(?k) WITHIN 5 s IF {{ EVENT A {{ ?k :v ?x . FILTER({constant} {sign} ?x) }} }}",
    "A AS a SEQ A AS b WITHIN 5 s IF {{ EVENT b {{ ?this :v ?x . "
    "FILTER(?x {sign} {constant} && ?x != 7) }} }}",
    "A(?k) JOIN B(?k) JOIN {third}(?k) WITHIN 4 s",
    "(A(?k) SEQ B(?k) WITHIN 3 s) SEQ {third}(?k) WITHIN 5 s",
    "A(?k) SEQ B(?k) WITHIN 5 s IF {{ EVENT A {{ ?k :v ?x . }} EVENT B {{ ?k :v ?y . }} "
    "FILTER(?y - ?x {sign} {constant}) }}",
    "A(?k) SEQ B WITHIN 5 s IF {{ EVENT A {{ ?k :v ?x . }} EVENT B {{ ?this :v ?y . }} "
    "FILTER(?y {sign} {constant} && ?x < ?y) }}",
    "A AND {third} IF {{ EVENT A {{ ?this :v ?x . FILTER(?x {sign} {constant}) }} }}",
    "B DURING (A(?k) SEQ {third}(?k) WITHIN 4 s) WITHIN 6 s",
)


def rules(random: Random) -> str:
    """Events of a few shapes in a random order, most of them alike but for a constant or an event."""
    shapes = random.sample(SHAPES, 2)
    return "".join(
        f"EVENT E{number} MATCH "
        + random.choice(shapes).format(
            sign=random.choice(SIGNS), constant=random.choice(CONSTANTS), third=random.choice("CDF")
        )
        + "\n"
        for number in range(random.randint(8, 14))
    )


def stream(random: Random) -> list[Item]:
    """Items with several values and several of an instant."""
    items, at = [], 0
    for _ in range(30):
        at += random.choice((0, 0, 1, 1, 2))
        who = f"<{E}k{random.randrange(3)}>"
        kinds = random.sample("ABCDF", random.choice((1, 1, 2)))
        types = [
            (who, f"<{'http://www.w3.org/1999/02/22-rdf-syntax-ns#'}type>", f"<{E}Class{k}>") for k in kinds
        ]
        values = [(who, f"<{E}v>", term) for term in random.sample(TERMS, random.choice((1, 1, 2, 3)))]
        items.append(Item("s", at * 1_000_000, (*types, *values)))
    return items


def found(text: str, items: list[Item], cut: int | None = None) -> tuple[list[str], int]:
    """All that is reported, in its order; and how many families run."""
    query = obep.load(text=text, java=False)
    engine = query.engine()
    hits = engine.push_items(items[:cut])
    if cut is not None:
        data, engine = engine.snapshot(), query.engine()
        engine.restore(data)
        hits += engine.push_items(items[cut:])
    hits += engine.close()
    return [to_line(hit) for hit in hits], sum(isinstance(run, Kin) for run in engine.running.runtime._runs)


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    yield monkeypatch


@pytest.mark.slow
def test_families_report_what_their_events_report_alone_in_the_same_order(plain: pytest.MonkeyPatch):
    kin = answered = 0
    for seed in range(EXAMPLES):
        random = Random(seed)
        text, items = LOGICAL + rules(random) + "RETURN ALL", stream(random)
        together, some = found(text, items)
        with plain.context() as alone:
            alone.setattr(event_families, "WORTH_IT", NEVER)
            alone.setattr(answer_templates, "WORTH_AN_INDEX", NEVER)
            expected, none = found(text, items)
        assert not none
        assert together == expected, (seed, text)
        assert found(text, items, random.randrange(len(items)))[0] == expected, (seed, text)
        kin += some > 0
        answered += any("#E" in line for line in together)
    assert kin >= EXAMPLES // 2 and answered >= EXAMPLES // 2


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.sampled_from(SIGNS), st.sampled_from(CONSTANTS), st.booleans()), max_size=12),
    st.sampled_from(TERMS),
)
@example([("=", "2e0", False), (">", "2", True)], f'"2.0"^^<{XSD}float>')
def test_an_index_leaves_out_only_what_does_not_hold(compared: list[tuple[str, str, bool]], term: str):
    texts = [f"{c} {sign} ?x" if turned else f"?x {sign} {c}" for sign, c, turned in compared]
    guard = "".join(f"FILTER({text}) " for text in texts)
    (event,) = (
        one
        for one in parse(f"{LOGICAL}EVENT E MATCH A SEQ B IF {{ {guard} }}").events
        if isinstance(one, CompositeEvent)
    )
    assert event.guard is not None
    conditions = [one.condition for one in event.guard.filters]
    entries = []
    for number, condition in enumerate(conditions):
        entries += [(number, operator, constant) for _, operator, constant in comparisons(condition)]
    indexed = {number for number, _, _ in entries}
    try:
        value = parse_term(term)
    except Exception:
        return
    may = set(Index(entries).may_hold(value))
    for number in indexed - may:
        assert not compile_condition(conditions[number], {"x": 0}, {"": 0})((term,), ((0, 0),)), texts[number]


def test_events_that_differ_in_a_constant_an_event_or_a_condition_run_as_one():
    for shape in (SHAPES[0], SHAPES[4], SHAPES[5]):
        thirds = iter("CDFCDF")
        events = [shape.format(sign=">", constant=n, third=next(thirds)) for n in range(4)]
        text = "".join(f"EVENT E{n} MATCH {event}\n" for n, event in enumerate(events))
        assert found(LOGICAL + text + "RETURN ALL", [])[1] == 1, shape


def test_what_chooses_denies_is_partitioned_or_consumes_runs_alone():
    guard = "IF {{ EVENT B {{ ?k :v ?x . FILTER(?x > {0}) }} }}"
    for pattern in (
        "(LAST A(?k)) SEQ B(?k) WITHIN 5 s " + guard,
        "A(?k) NEXT B(?k) WITHIN 5 s " + guard,
        "B(?k) NOT FOLLOWED BY A(?k) WITHIN 5 s " + guard,
        "A(?k) SEQ B(?k) WITHIN 5 s PARTITION BY ?k " + guard,
        "A(?k) SEQ B(?k) WITHIN 5 s POLICY recent " + guard,
    ):
        text = "".join(f"EVENT E{n} MATCH {pattern.format(n)}\n" for n in range(6))
        assert found(LOGICAL + text + "RETURN ALL", [])[1] == 0, pattern


def test_a_state_goes_on_where_the_events_stand_in_another_order():
    families = [
        "".join(
            f"EVENT {name}{n} MATCH {first}(?k) SEQ {second}(?k) WITHIN 9 s "
            f"IF {{ EVENT {second} {{ ?k :v ?x . FILTER(?x > {n}) }} }}\n"
            for n in range(4)
        )
        for name, first, second in (("E", "A", "B"), ("G", "C", "D"))
    ]
    shared = [
        f"EVENT {name}{n} MATCH ({first} AND F) SEQ {last} WITHIN 9 s\n"
        for name, first in (("P", "A"), ("Q", "C"))
        for n, last in enumerate("BD")
    ]
    parts = [*families, *shared]
    alike = " OR ".join([f"{name}{n}" for name in "EG" for n in range(4)] + ["P0", "P1", "Q0", "Q1"])
    last = f"EVENT X MATCH {alike}\nRETURN ALL"
    before, after = (
        obep.load(text=LOGICAL + "".join(some) + last, java=False) for some in (parts, parts[::-1])
    )
    first = [item for item in stream(Random(3)) if item.at < 12_000_000]
    rest = [item for item in stream(Random(3)) if item.at >= 12_000_000]
    begun = segment(before)
    assert sum(isinstance(run, Kin) for run in begun._runtime._runs) == 2
    pushed(begun, before, first)
    data, same, other = begun.dump(), segment(before), segment(after)
    same.load(data)
    other.load(data)
    expected = pushed(same, before, rest)
    assert expected and pushed(other, after, rest) == expected


def segment(query: obep.Query) -> Segment:
    names = {ask.number: repr((ask.event, ask.variables, ask.triples, ask.filters)) for ask in query.asks.all}
    return Segment(query.plan, None, None, names)


def pushed(into: Segment, query: obep.Query, items: list[Item]) -> list[str]:
    """What comes out, as lines in a fixed order."""
    matcher, hits = Matcher(query.bundle, query.asks.all), []
    for item in items:
        matched = matcher.match(item)
        assert isinstance(matched, Matched)
        hits += into._runtime.push(item.at, matched.occurrences, (item,))
    return sorted(map(to_line, hits))
