"""Durations with a slip: negative ones, other units, two numbers for one duration."""

from __future__ import annotations

import re

from obep.errors import Diagnostic
from obep.query.parse.other_durations import other_duration
from obep.query.parse.parse_table import load_table
from obep.query.syntax_errors.error_context import Situation
from obep.query.syntax_errors.expected_words import WORDS, keywords


def negative_duration(situation: Situation) -> Diagnostic | None:
    """`WITHIN -5 s`, `FOR -5 s`: FOR is a keyword only before a duration."""
    text, start = situation.scope.text, situation.start
    if word := re.compile(r"(?i)FOR\s+(?=-)").match(text, start):
        start = word.end()
    found = re.compile(r"-\s*([0-9][0-9.]*\s*[^\W\d]*)").match(text, start)
    after = word is not None or re.search(r"(?i)\bFOR\s+\Z", text[:start]) is not None  # RETURN S FOR -5 s
    expected = after or ("DURATION" in situation.accepts and "SIGN" not in situation.accepts)
    if found is None or not expected:
        return None
    meant = other_duration(text, found.start(1))
    return situation.diagnostic(
        "OBEP013",
        "a duration is positive",
        "A duration is a length of time and has no direction.",
        meant.remedy if meant is not None else found[1],
        situation.span_of(
            start, text[start : found.start(1)] + meant.text if meant is not None else found[0]
        ),
    )


def misspelt_duration(situation: Situation) -> Diagnostic | None:
    """`WITHIN 15min30`, `WITHIN 1 h 30 min`, `FOR 2 weeks`."""
    for start in _starts(situation):
        found = other_duration(situation.scope.text, start)
        if found is not None and start + len(found.text) > situation.start:
            span = situation.span_of(start, found.text)
            return situation.diagnostic("OBEP013", found.message, found.reason, found.remedy, span)
    return _no_unit(situation)


def _no_unit(situation: Situation) -> Diagnostic | None:
    """`WITHIN 5 foo`."""
    if situation.kind != "number" or "DURATION" not in situation.accepts:
        return None
    unit = re.compile(r"[ \t]*([^\W\d]\w*)").match(
        situation.scope.text, situation.start + len(situation.word)
    )
    terminals = load_table(situation.scope.language).terminals
    known = {word for terminal in terminals for one in keywords(terminal) for word in one.split()}
    if unit is None or unit[1].upper() in WORDS or unit[1].upper() in known:
        return None
    return situation.diagnostic(
        "OBEP013",
        f"{unit[1]} is not a unit of time",
        "The units are us, ms, s, min, h and d.",
        f"{situation.word} min",
        situation.span_of(situation.start, situation.word + unit[0]),
    )


_DURATION_BEFORE = re.compile(r"[0-9][0-9.]*[ \t]*[a-z]+[ \t]*(?:[,;&+]|and\b)[ \t]*\Z", re.IGNORECASE)


def _starts(situation: Situation) -> list[int]:
    """Where the duration may have begun: here, or before its first number, which alone would be one."""
    last, opened = situation.scope.last, situation.scope.open
    if situation.word == "," and opened and opened[-1].value == "[":
        return []  # of a window: RANGE and STEP
    if "DURATION" in situation.accepts:
        return [situation.start] if "SIGN" not in situation.accepts or situation.kind == "digits" else []
    if last is not None and last.type == "DURATION":
        return [last.span.start]
    before = situation.scope.text[max(0, situation.start - 40) : situation.start]
    found = _DURATION_BEFORE.search(before) if situation.kind in ("duration", "number", "digits") else None
    return [situation.start - len(before) + found.start()] if found is not None else []
