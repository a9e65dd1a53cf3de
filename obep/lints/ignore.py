"""Leave out the warnings that are switched off, and report the switches that have no effect.

A warning is switched off by `# obep: ignore OBEP211` on its line or on the line before, by
`obep check --ignore OBEP211`, or by `[lints] ignore = ["OBEP211"]` in obep.toml.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from obep.codes import CODES
from obep.errors import Diagnostic, Span
from obep.query.ast import QueryFile
from obep.query.diagnostics import warn
from obep.query.link import Linked

CODE = "OBEP260"
"""An ignore without effect."""
_MARK = re.compile(r"#\s*obep:\s*ignore\b(.*)", re.IGNORECASE)
_CODES = re.compile(r"[^\s,]+")


class Mark(NamedTuple):
    """A comment that switches a code off."""

    code: str
    file: QueryFile
    span: Span

    def covers(self, one: Diagnostic) -> bool:
        """Whether a finding has this code and begins on the line of the comment or on the next one."""
        if one.code != self.code or one.span is None or one.file != self.file.name:
            return False
        return one.span.line in (self.span.line, self.span.line + 1)


def without_ignored(
    found: list[Diagnostic], linked: Linked, ignore: Collection[str] = ()
) -> list[Diagnostic]:
    """Leave out ignored warnings; errors stay. Add a warning for each ignore that has no effect."""
    marks = list(_marks(linked))
    if not marks and not ignore:
        return found
    used: set[Mark] = set()
    kept: list[Diagnostic] = []
    for one in found:
        covering = [mark for mark in marks if mark.covers(one)]
        if one.severity == "error" or not (covering or one.code in ignore):
            kept.append(one)
        else:
            used.update(covering)
    errors = {one.code for one in kept if one.severity == "error"}
    unused = (mark for mark in marks if mark not in used)
    kept += [warn(CODE, mark.file, mark.span, *_reason(mark.code, errors)) for mark in unused]
    return [*kept, *(_idle(code, errors) for code in sorted(set(ignore)) if code not in CODES)]


def without_effect(ignore: Collection[str], found: Collection[Diagnostic]) -> list[Diagnostic]:
    """Warn of the known codes of `--ignore` that are among no warnings that a check has found without it."""
    warned = {one.code for one in found if one.severity != "error"}
    errors = {one.code for one in found if one.severity == "error"}
    return [_idle(code, errors) for code in sorted(set(ignore)) if code in CODES and code not in warned]


def _idle(code: str, errors: Collection[str]) -> Diagnostic:
    message, reason, remedy = _reason(code, errors)
    return Diagnostic(CODE, message, reason=reason, remedy=remedy, severity="warning")


def _marks(linked: Linked) -> Iterator[Mark]:
    for file in linked.files:
        for comment in file.comments:
            if match := _MARK.match(comment.text):
                codes = _CODES.findall(match[1]) or [""]
                yield from (Mark(code, file, comment.span) for code in codes)


def _reason(code: str, errors: Collection[str]) -> tuple[str, str, str]:
    """Message, reason and remedy."""
    if not code:
        return "this ignore names no code", "", "# obep: ignore OBEP211"
    if code not in CODES:
        return f"there is no rule {code}", "", "obep rule   lists the rules"
    if code in errors:
        return f"{code} is an error", "Only warnings can be ignored.", f"remove ignore {code}"
    return f"{code} finds nothing here", "The ignore has no effect.", f"remove ignore {code}"
