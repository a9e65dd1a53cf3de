"""Our own words in what Spark says: a refusal in a worker comes back inside thousands of characters.

Comes in: any exception of a stream or an action. Goes out: the `ObepError` that a worker raised, if any.
"""

from __future__ import annotations

import re

from obep.errors import Diagnostic, ObepError
from obep.spark.connectors.heartbeat import other_sources

_OURS = re.compile(
    r"(OBEP\d{3})  (.*?)(?=\n\s*\n|\n\s+at |\nJVM stacktrace|\s+SQLSTATE: |\n=== |\Z)", re.DOTALL
)
_TRY = "  Try:  "


def our_words(text: str) -> str:
    """What obep said, of all that Spark says; nothing, if it is not there."""
    found = _OURS.search(text)
    return found[0].rstrip() if found else ""


def reason(error: BaseException) -> ObepError | None:
    """What obep said in a worker, as the error that it was there; nothing, if it is an error of Spark's own.

    >>> str(reason(RuntimeError("[STREAM_FAILED] OBEP558  changed\\n  Why.\\n  Try:  go\\n\\n at x")))
    'OBEP558  changed\\n  Why.\\n  Try:  go'
    """
    if isinstance(error, ObepError):
        return error
    found = _OURS.search(str(error))
    if found is None:
        return other_sources(str(error))
    message, *lines = found[2].rstrip().splitlines()
    at = next((number for number, line in enumerate(lines) if line.startswith(_TRY)), len(lines))
    remedy = [line[len(_TRY) :] for line in lines[at:]]
    why = " ".join(line.strip() for line in lines[:at])
    return ObepError(Diagnostic(found[1], message, reason=why, remedy="\n".join(remedy)))
