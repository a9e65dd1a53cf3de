"""Whatever the bytes are, only an ObepError leaves, within bounds: a fixed sample of `make fuzz`."""

from __future__ import annotations

import pytest
from fuzz_runner import defect_of, fuzz, input_of, shrunk
from fuzz_targets import Target, targets

CASES = 60
"""Of each target; `make fuzz CASES=…` runs as many as there is time for."""


@pytest.mark.slow
@pytest.mark.parametrize("name", targets())
def test_a_fixed_sample_of_damaged_input_raises_only_what_it_may(name: str) -> None:
    found = [
        f"{one.defect.text}\npython tests/fuzz --target {name} --seed 7 --case {one.case}\n{one.data!r}"
        for one in fuzz(name, targets()[name], 7, range(CASES), seconds=60)
    ]
    assert not found, "\n".join(found)


def test_a_case_depends_on_its_target_seed_and_number_only() -> None:
    target = targets()["query"]
    assert input_of("query", target, 3, 5) == input_of("query", target, 3, 5)
    assert len({input_of("query", target, seed, case) for seed in (1, 2) for case in range(5)}) > 5


def test_the_fuzzer_finds_each_kind_of_defect() -> None:
    def spin(data: bytes) -> None:
        while b"!" in data:
            pass

    def wrong(data: bytes) -> None:
        if b"a" in data and b"z" in data:
            raise KeyError(data)

    assert defect_of(Target(lambda rng: b"", wrong), b"none") is None
    found = defect_of(Target(lambda rng: b"", wrong), b"az")
    assert found is not None and found.place.startswith("KeyError in ")
    slow = defect_of(Target(lambda rng: b"", spin), b"!", seconds=0.2)
    assert slow is not None and slow.place == "TooLong in somewhere"


def test_shrinking_keeps_what_matters() -> None:
    assert shrunk(b"some a and more z then", lambda data: b"a" in data and b"z" in data) == b"az"
