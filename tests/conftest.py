"""What holds for all tests: random examples are new on every run here, and the same on every run of CI.

A property that fails by chance is worth finding at a desk, where somebody can shrink it and keep the case; it
must not decide whether an unrelated change lands. `make check` draws fewer examples than `make test`;
`OBEP_EXAMPLES` and `OBEP_SEED` make the search deeper.
"""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from obep.secrets import forget

settings.register_profile("desk", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("desk"), derandomize=True, print_blob=True)
settings.register_profile("check", settings.get_profile("desk"), max_examples=25)
settings.load_profile("ci" if os.environ.get("CI") else "desk")


def pytest_sessionstart() -> None:
    gc.disable()


def pytest_collection_finish() -> None:
    """Collected tests stay until the end, so the garbage collector need not look at them."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What tests remember on disk is forgotten with them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OBEP_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


# Hooks, not fixtures: pytest sets up a fixture anew for each of thousands of tests.
def pytest_runtest_setup() -> None:
    """What was there before a test stays out of its collections; a run in an earlier test unfroze it."""
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown() -> Iterator[None]:
    """What one test takes from the environment, another may say."""
    try:
        yield
    finally:
        forget()


# A shell ignores SIGINT for what it runs in the background, and children inherit that; tests send them one.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
