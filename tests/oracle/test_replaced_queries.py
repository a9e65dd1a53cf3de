"""A query is replaced while it runs: what it keeps, and what begins."""

from __future__ import annotations

import pytest

from oracle.replacing_trials import trials


@pytest.mark.slow
def test_each_event_is_reported_as_by_a_run_that_began_with_it() -> None:
    met, failures = trials(1, 20)
    assert failures == []
    assert met["trials"] == 20 and met["replacements"] > 50 and met["kept"] > 300 and met["hits"] > 300, met
