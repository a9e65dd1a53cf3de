"""A refusal in a worker is found again in what Spark says: no JVM is needed."""

from __future__ import annotations

from obep.errors import ObepError, fail
from obep.spark import reason

SAID = str(
    fail(
        "OBEP558", "changed", reason="What changed: " + "its definition " * 12, remedy="go on,\nor begin anew"
    )
)
FAILED = f"""[STREAM_FAILED] Query [id = 6a08, runId = b3c7] terminated with exception: [PYTHON_EXCEPTION] \
An exception was thrown from the Python worker: Traceback (most recent call last):
  File "/lib/obep/spark/identity.py", line 106, in refuse_changed
    raise fail("OBEP558", "changed")
obep.errors.ObepError: {SAID}
 SQLSTATE: 38000
=== Streaming Query ===
Identifier: [id = 6a08, runId = b3c7]
"""


def test_a_program_gets_the_refusal_out_of_the_error_of_a_stream() -> None:
    found = reason(RuntimeError(FAILED))
    assert isinstance(found, ObepError) and found.code == "OBEP558"
    assert str(found) == SAID
    [diagnostic] = found.diagnostics
    assert diagnostic.remedy == "go on,\nor begin anew"


def test_our_own_errors_are_their_own_reason_and_those_of_others_have_none() -> None:
    own = fail("OBEP652", "no column")
    assert reason(own) is own
    assert reason(RuntimeError("[STREAM_FAILED] no space left on device")) is None
