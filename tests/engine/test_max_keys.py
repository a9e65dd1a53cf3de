"""`max_keys`: how many values of PARTITION BY an event remembers; of more, the oldest are forgotten."""

from __future__ import annotations

from random import Random

import pytest

import obep
from obep.errors import ObepError

E = "http://e/#"
LAST = "EVENT H(?k) MATCH (LAST A(?k)) SEQ B(?k) PARTITION BY ?k"
QUIET = "EVENT Q(?k) MATCH (LAST A(?k)) NOT FOLLOWED BY B(?k) WITHIN 50 s PARTITION BY ?k"


def loaded(*events: str) -> obep.Query:
    logical = f"PREFIX : <{E}>\nEVENT A AS ClassA\nEVENT B AS ClassB\n"
    return obep.load(text=logical + "\n".join(events) + "\nRETURN ALL", java=False)


ONE, QUERY = loaded(LAST), loaded(LAST, QUIET)
Said = tuple[int, str, str]


def pushed(engine: obep.Engine, said: list[Said]) -> list[tuple[str, int, int, str]]:
    """What is found: event, start, end, key."""
    found = []
    for at, kind, key in said:
        found += engine.push(f"<{E}{key}> a <{E}Class{kind}> .", at=at)
    return [(hit.event, hit.start, hit.end, hit.bindings[0]["k"]) for hit in found if hit.bindings]


def random_stream(seed: int, keys: int, count: int = 60) -> list[Said]:
    random, at, found = Random(seed), 0, []
    for _ in range(count):
        at += random.choice((0, 1, 1, 2))
        found.append((at, random.choice("AAB"), f"k{random.randrange(keys)}"))
    return found


def test_the_value_whose_last_occurrence_is_oldest_is_forgotten_first():
    engine = ONE.engine(max_keys=2)
    keys = [(1, "A", "x"), (2, "A", "y"), (3, "A", "x"), (4, "A", "z")]  # then y is the oldest
    found = pushed(engine, [*keys, (5, "B", "y"), (6, "B", "x"), (7, "B", "z"), (8, "B", "y")])
    assert [(start, key) for _, start, _, key in found] == [(3_000_000, f"<{E}x>"), (4_000_000, f"<{E}z>")]
    assert engine.counters["evicted"] == 1


def test_without_a_cap_nothing_is_forgotten_and_nothing_counted():
    engine = QUERY.engine()
    pushed(engine, [(n, "A", f"k{n}") for n in range(1, 40)])
    assert "evicted" not in engine.counters
    assert len(pushed(engine, [(90, "B", "k1")])) >= 1


@pytest.mark.parametrize("seed", range(4))
def test_a_cap_that_is_never_reached_changes_nothing(seed: int):
    said = random_stream(seed, keys=6)
    plain, capped = QUERY.engine(), QUERY.engine(max_keys=6)
    assert pushed(plain, said) == pushed(capped, said)
    assert "evicted" not in capped.counters


@pytest.mark.parametrize("seed", range(4))
def test_the_number_of_values_never_passes_the_cap_and_every_answer_is_one_without_it(seed: int):
    said = random_stream(seed, keys=12)
    engine, found = QUERY.engine(max_keys=3), []
    for number, one in enumerate(said):
        found += pushed(engine, [one])
        if number + 1 == len(said) or said[number + 1][0] > one[0]:
            engine.advance(one[0] + 0.5)  # the instant is over
            assert all(run.values <= 3 for run in engine.running.runtime._runs)
    assert engine.counters["evicted"] > 0
    assert set(found) <= {*pushed(QUERY.engine(), [*said, (1000, "A", "end")])}


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_arrival_within_an_instant_does_not_choose_who_is_forgotten(seed: int):
    said = random_stream(seed, keys=12)
    shuffled = sorted(Random(seed).sample(said, len(said)), key=lambda one: one[0])
    first, second = QUERY.engine(max_keys=3), QUERY.engine(max_keys=3)
    assert sorted(pushed(first, said)) == sorted(pushed(second, shuffled))
    first.close()
    second.close()
    assert first.counters["evicted"] == second.counters["evicted"]


@pytest.mark.parametrize("cut", range(0, 60, 7))
def test_a_snapshot_anywhere_changes_neither_answers_nor_evictions(cut: int):
    said = random_stream(5, keys=12)
    whole = QUERY.engine(max_keys=3)
    expected = pushed(whole, said)
    before, after = QUERY.engine(max_keys=3), QUERY.engine(max_keys=3)
    found = pushed(before, said[:cut])
    after.restore(before.snapshot())
    assert found + pushed(after, said[cut:]) == expected
    assert after.counters.get("evicted") == whole.counters.get("evicted")


@pytest.mark.parametrize("wrong", [0, -1, True])
def test_a_cap_is_at_least_one(wrong: int):
    with pytest.raises(ObepError, match="OBEP588"):
        QUERY.engine(max_keys=wrong)


def test_an_engine_that_is_restored_knows_nothing_of_before():
    engine = ONE.engine(max_keys=1)
    begun, counted = engine.snapshot(), dict(engine.counters)
    pushed(engine, [(1, "A", "x"), (2, "A", "y"), (3, "A", "z")])
    assert engine.counters["evicted"] > 0
    engine.restore(begun)
    assert engine.counters == counted
    assert "A: never" in str(engine.why_not("H"))
    pushed(engine, [(1, "A", "x"), (2, "A", "y"), (3, "A", "z"), (4, "A", "z")])
    assert engine.counters["evicted"] == 2


ROWS = obep.load(
    text="""PREFIX : <http://e/#>
EVENT A AS ClassA
STATE Often(?k) OVER A(?k) WITHIN 60 s AGGREGATE (COUNT(*) AS ?n) HAVING (?n >= 4)
RETURN Often AS ALERTS""",
    java=False,
)


@pytest.mark.parametrize("most, seen", [(None, [1, 2, 3, 4]), (3, [2, 3, 4]), (1, [4])])
def test_the_explanation_of_rows_has_the_last_ones_only(most: int | None, seen: list[int]):
    engine = ROWS.engine(max_because=most)
    pushed(engine, [(n, "A", "x") for n in (1, 2, 3, 4)])
    [alert] = engine.advance(9)
    assert [at // 1_000_000 for _, at in alert.explanation if at is not None] == seen
    assert [row["n"] for row in alert.bindings] == ['"4"^^<http://www.w3.org/2001/XMLSchema#integer>']


@pytest.mark.parametrize("wrong", [0, -1, True, 2.5])
def test_a_cap_on_explanations_is_at_least_one(wrong: int):
    with pytest.raises(ObepError, match="OBEP588"):
        ROWS.engine(max_because=wrong)
