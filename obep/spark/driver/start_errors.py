"""What keeps Spark from starting: a master that there is not, or a Java that ends before it answers.

Comes in: what the user gave. Goes out: an error that names it, with Java's own first word about it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

from obep.errors import ObepError, fail

CODE = "OBEP587"
_THREADS = r"(?:\*|[1-9]\d*)"
_MASTERS = re.compile(
    rf"local|local\[\s*{_THREADS}\s*(?:,\s*\d+\s*)?\]|local-cluster\[\s*\d+\s*,\s*\d+\s*,\s*\d+\s*\]"
    r"|spark://[^/\s]+:\d+(?:,[^/\s]+:\d+)*|yarn|k8s://\S+"
)
FORMS = "local, local[4], local[*], local[4,2], local-cluster[2,1,1024], spark://host:7077, yarn, k8s://https://host:443"
_NOISE = re.compile(
    r"WARNING: |Using Spark's default|Setting default log level|To adjust logging|:: |\s|$"
    r"|[\d/]+ [\d:]+ (?:INFO|WARN|DEBUG) "
)
"""How lines of Java begin that say nothing about an end."""
_THROWN = re.compile(
    r"(?:Exception in thread \"[^\"]*\" |: |Caused by: )?(?:[\w$]+\.)+(\w+(?:Exception|Error)): (.+)"
)
_LOGGED = re.compile(r"[\d/]+ [\d:]+ ERROR (\w+): (.+)")
LONGEST = 300


def require_master(master: str, place: str = "master") -> None:
    """Refuse what is no master of Spark, before Java is asked; `place` is where the user has given it.

    >>> require_master("local[*]")
    """
    if _MASTERS.fullmatch(master):
        return
    reason = f"There are: {FORMS}"
    if master.startswith("sc://"):
        reason = (
            "obep run starts Spark itself. A program of your own can give detect a session of Spark Connect."
        )
    near = get_close_matches(master, [form.strip() for form in FORMS.split(", ")], 1)
    raise fail(
        CODE,
        f"{place}: {master!r} is no master of Spark",
        reason=reason,
        remedy=near[0] if near else "local[*]",
    )


def not_started(error: Exception, log: Path | None, master: str, given: Iterable[str]) -> ObepError:
    """The error of a Spark that ended while it was started, in Java's words; values may be secret."""
    words = _first_word(str(error).splitlines())
    if log is not None and not words:
        try:
            words = _first_word(log.read_text("utf-8", "replace").splitlines())
        except OSError:
            words = ""
    settings = ", ".join(sorted(given))
    return fail(
        CODE,
        f"Spark does not start on {master}: {words or str(error).strip().splitlines()[0]}",
        reason=f"These settings were given: {settings}" if settings else "",
        remedy="" if settings else "obep doctor   (says which Java is found)",
    )


def _first_word(lines: list[str]) -> str:
    """What Java says first about its end: something thrown, logged as an error, or said plainly.

    >>> _first_word(["WARNING: Using incubator modules", "Invalid maximum heap size: -Xmxabc", "Error: So"])
    'Invalid maximum heap size: -Xmxabc'
    >>> _first_word(['Exception in thread "main" org.apache.spark.SparkException: no such master'])
    'no such master'
    >>> _first_word(["[JAVA_GATEWAY_EXITED] Java gateway process exited before sending its port number."])
    ''
    """
    for line in lines:
        if found := _THROWN.match(line) or _LOGGED.match(line):
            return found[2].strip()[:LONGEST]
        if not _NOISE.match(line) and not line.startswith(("[", "An error occurred")):
            return line.strip()[:LONGEST]
    return ""
