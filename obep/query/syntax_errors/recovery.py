"""All syntax errors of a text that do not follow from each other.

After an error the parser starts again at the next event, RETURN or clause of the prologue; the text before it
is blanked out, so that every place stays where it is.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

from obep.errors import Diagnostic, ObepError
from obep.query.parse.file_scope import Scope
from obep.query.parse.lalr import Stuck
from obep.query.syntax_errors.error_context import Situation
from obep.query.syntax_errors.mistakes import explain

MOST = 20
"""More errors than that are not reported at once."""

_NAME = r"(?><[^<>\s]*>|[\w:][\w:.-]*)"  # as a whole: the alias `was` is no name `w` before AS
_HEADS = re.compile(
    r'"""(?:[^"\\]|\\[\s\S]|"(?!""))*"""'
    r"|'''(?:[^'\\]|\\[\s\S]|'(?!''))*'''"
    r'|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\''
    r"|<[^\s<>\"{}|^`\\]*>|#[^\n]*"
    r"|(?P<open>\{)|(?P<close>\})"
    r"|(?P<event>\b(?:NAMED\s+)?EVENT\s+" + _NAME + r"\s*(?:\([^(){}]*\)\s*)?(?:ON\s*<[^<>\s]*>\s*)?"
    r"(?:\{\s*)?(?:AS|MATCH|SUBCLASSOF)\b)"
    r"|(?P<other>^[ \t]*(?:RETURN|(?:NAMED\s+)?EVENT\s++(?!" + _NAME + r"\s*[,{])(?!\*))(?![\w:]))"
    r"|(?P<prologue>^[ \t]*(?:BASE|PREFIX|VOCAB|TBOX|FROM|INCLUDE)(?![\w:]))",
    re.IGNORECASE | re.MULTILINE,
)


class Head(NamedTuple):
    """Where a declaration or a clause of the prologue seems to begin."""

    start: int
    prologue: bool


def heads(text: str) -> list[Head]:
    """Every place where the parser could start again.

    In braces, where EVENT begins a block and any word may be a name, that is only an EVENT with AS or MATCH.
    """
    found = []
    depth = 0
    for match in _HEADS.finditer(text):
        kind = match.lastgroup
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth = max(0, depth - 1)
        elif kind == "event" or (kind is not None and not depth):
            depth = match[0].count("{")  # of the older form, EVENT :H { MATCH … }
            start = match.start() + len(match[0]) - len(match[0].lstrip())
            found.append(Head(start, kind == "prologue"))
    return found


def syntax_errors(scope: Scope, error: Stuck) -> list[Diagnostic]:
    """The errors of a text that does not parse, in the order of the text."""
    from obep.query.parse.parser import run

    places = heads(scope.text)
    starts = [place.start for place in places]
    text, current = scope.text, scope
    found: list[Diagnostic] = []
    noted = list(scope.diagnostics)
    prologue_is_broken = False
    while True:
        situation = Situation.of(current, error)
        found.append(explain(situation))
        prologue_is_broken |= current.declaration is None or situation.in_prologue_words
        blanked = _skip(text, current, situation.start, places, starts)
        if blanked is None or len(found) == MOST:
            break
        text = blanked
        current = Scope(text, scope.name, shown=scope.text)
        try:
            run(current, text)
        except Stuck as another:
            error = another
            noted += current.diagnostics
            continue
        except ObepError as deep:
            found.extend(deep.diagnostics)
        noted += current.diagnostics
        break
    # A prefix may be unknown only because the line that declares it could not be read.
    noted = [one for one in noted if not (prologue_is_broken and one.code == "OBEP007")]
    return _once([*found, *noted])


def _skip(text: str, scope: Scope, error: int, places: list[Head], starts: list[int]) -> str | None:
    """The text without what has been read and what is wrong; none if nothing is left."""
    if scope.declaration is None:  # keep the rest of the prologue
        at = bisect_right(starts, error)
        begin = starts[at - 1] if at else 0
        if at and starts[at - 1] == error:  # the next clause came too early
            begin, at = (starts[at - 2] if at > 1 else 0), at - 1
    else:
        at = bisect_right(starts, scope.declaration)
        begin = next((place.start for place in places if not place.prologue), scope.declaration)
        while at < len(places) and places[at].prologue:  # it stands too late, which has been said
            at += 1
    if at >= len(places):
        return None
    end = starts[at]
    if end <= begin:
        return None
    return text[:begin] + re.sub(r"[^\n]", " ", text[begin:end]) + text[end:]


def _once(diagnostics: list[Diagnostic]) -> list[Diagnostic]:
    """Each once, by place: what stands in the prologue was read again after every error."""
    seen: set[object] = set()
    kept = []
    for one in sorted(diagnostics, key=lambda d: d.span.start if d.span else -1):
        key = one.message if one.code == "OBEP007" else (one.code, one.span)
        if key not in seen:
            seen.add(key)
            kept.append(one)
    return kept
