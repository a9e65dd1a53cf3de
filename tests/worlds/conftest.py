"""The judges of one run of the tests: one Java machine for all of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from worlds.judges import MISSING, Judges, jars


@pytest.fixture(scope="session")
def judges() -> Iterator[Judges]:
    if not jars():
        pytest.skip(MISSING)
    with Judges() as judges:
        yield judges
