"""Slips of the pen, which need no example: misspelt words, words of other languages, keywords as names."""

from __future__ import annotations

import re

from obep.errors import Diagnostic, ObepError, Span
from obep.query.nearest_name import nearest
from obep.query.parse.file_scope import Scope
from obep.query.parse.lalr import NAMES, Token
from obep.query.parse.parse_table import load_table
from obep.query.parse.reserved import RESERVED_EVENT
from obep.query.parse.spelling import span_between
from obep.query.syntax_errors.duration_errors import misspelt_duration, negative_duration
from obep.query.syntax_errors.error_context import Situation, situation_of
from obep.query.syntax_errors.expected_words import WORDS, keywords

# --- misspelt keywords ----------------------------------------------------------------------------------


def _misspelt(situation: Situation) -> Diagnostic | None:
    if situation.kind != "name" and situation.group not in ("sql", "target"):
        return None
    meant = SYNONYMS.get(situation.word.upper())
    if meant is not None and any(meant in keywords(terminal) for terminal in situation.accepts):
        return situation.diagnostic(
            "OBEP002",
            f"{situation.word}: did you mean {meant}?",
            f"{situation.word} means nothing here.",
            meant,
        )
    return _did_you_mean(situation, situation.word, situation.accepts, situation.span)


SYNONYMS = {
    "IMPORT": "INCLUDE",
    "ONTOLOGY": "VOCAB",
    "DEFINE": "EVENT",
    "EMIT": "RETURN",
    "OUTPUT": "RETURN",
    "WHEN": "IF",
    "SLIDE": "STEP",
    "UNTIL": "TO",
    "EQUIVALENTTO": "AS",
    "PATTERN": "MATCH",
}
"""Words of other languages for ours."""


def _misspelt_before(situation: Situation) -> Diagnostic | None:
    """The word before may be a misspelt keyword that was taken for a name (`FITLER (…)`, `NOT Room`)."""
    last = situation.scope.last
    if last is not None and last.type == "CLASS_WORD" and WORDS.get(last.value.lower()) == "manchester":
        return situation.diagnostic(
            "OBEP079",
            f"{last.value} in a class expression is written in lower case",
            "Class expressions are in the Manchester syntax, whose words are lower case.",
            last.value.lower(),
            span_between(last),
        )
    return _keyword_for_name(situation)


def misspelt(situation: Situation) -> Diagnostic | None:
    """A keyword with a slip, here or taken for a name just before; in any language."""
    here = _did_you_mean(situation, situation.word, situation.accepts, situation.span)
    return here or _keyword_for_name(situation)


def _keyword_for_name(situation: Situation) -> Diagnostic | None:
    last = situation.scope.last
    if last is None or not last.type.endswith(NAMES) or last.value.upper() in WORDS or ":" in last.value:
        return None
    accepts = _accepts_before(situation.scope, last)
    return _did_you_mean(situation, last.value, accepts, span_between(last))


def _accepts_before(scope: Scope, token: Token) -> frozenset[str]:
    from obep.query.build import reading
    from obep.query.parse.parser import machine

    kept = reading.scope
    reading.scope = Scope(scope.text, "", language=scope.language)
    try:
        return machine(scope.language).could_follow(scope.text, token.span.start)
    finally:
        reading.scope = kept


def _did_you_mean(situation: Situation, word: str, accepts: frozenset[str], span: Span) -> Diagnostic | None:
    words = [keyword for terminal in sorted(accepts) for keyword in keywords(terminal)]
    known = word in load_table(situation.scope.language).terminals and word in keywords(word)
    close = None if known else nearest(word, words)
    if close is None or not _would_help(situation, word, close, span.start):
        return None
    return situation.diagnostic(
        "OBEP002", f"{word}: did you mean {close}?", f"{word} means nothing here.", close, span
    )


def _would_help(situation: Situation, word: str, close: str, start: int) -> bool:
    """Whether the parser gets further with the keyword; a short word or the name of an event is no slip."""
    text = situation.scope.text
    if len(word) < 4 and sorted(word.upper()) != sorted(close.upper()):
        return False
    if re.search(rf"(?i)\bEVENT\s+:?{re.escape(word)}\b", text):
        return False
    try:
        again = situation_of(text[:start] + close + text[start + len(word) :], situation.scope.language)
    except ObepError:
        return False
    return again is None or again.start > situation.start + len(close) - len(word)


# --- words that almost fit ------------------------------------------------------------------------------


_LENGTH = re.compile(r"\s*\(?\s*([0-9.]+\s*(?:us|ms|s|sec|m|min|h|d)\b)", re.IGNORECASE)


def _bound(situation: Situation) -> Diagnostic | None:
    """`A IN 5 min`, `A FOR 5 min`."""
    if "WITHIN" not in situation.accepts or situation.group not in ("name", "in"):
        return None
    end = situation.start + len(situation.word)
    length = _LENGTH.match(situation.scope.text, end)
    if length is None:
        return None
    if near := _did_you_mean(situation, situation.word, situation.accepts, situation.span):
        return near
    if "TIMEOUT" in situation.accepts:
        return situation.diagnostic(
            "OBEP013",
            f"after TO a bound is written TIMEOUT or LIMIT, not {situation.word}",
            "TIMEOUT ends a state so long after its last FROM, LIMIT so long after its first one.",
            f"TIMEOUT {length[1]}   or LIMIT {length[1]}",
        )
    return situation.diagnostic(
        "OBEP013",
        f"a bound in time is written WITHIN, not {situation.word}",
        "A pattern WITHIN d is one whose parts lie less than d apart.",
        f"WITHIN {length[1]}",
    )


def _half_a_keyword(situation: Situation) -> Diagnostic | None:
    """`REPEATED 5 s`, `GROUP ?m`: the rest of the keyword is missing."""
    word, text = situation.word.upper(), situation.scope.text
    words = sorted(keyword for terminal in situation.accepts for keyword in keywords(terminal))
    whole = next((one for one in words if word and one.startswith(f"{word} ")), None)
    if whole is None or situation.group != "name":
        return None
    before, after = text[: situation.start] + whole, text[situation.start + len(word) :]
    again = situation_of(before + after, situation.scope.language)
    if again is not None and not (before + after)[len(before) : again.start].strip():
        return None
    return situation.diagnostic(
        "OBEP002", f"{word} goes on with {whole[len(word) + 1 :]}", f"{word} alone means nothing here.", whole
    )


def _two_words(situation: Situation) -> Diagnostic | None:
    """`EVENT My Event AS …`."""
    if "MATCH" not in situation.accepts or situation.after != "EVENT_WORD":
        return None
    end = situation.start + len(situation.word)
    if not situation.word[:1].isalpha() or situation.word.upper() in ("DEFINED", "IS"):
        return None
    if not re.compile(r"\s+(?:AS|MATCH)\b", re.I).match(situation.scope.text, end):
        return None
    return situation.diagnostic(
        "OBEP052",
        "a name is one word",
        f"{situation.previous} {situation.word} are two.",
        f"EVENT {situation.previous}{situation.word[:1].upper()}{situation.word[1:]}",
    )


def _quantifier(situation: Situation) -> Diagnostic | None:
    """`exists p Room`, as in logic."""
    meant = {"exists": "some", "forall": "only"}.get(situation.previous.lower())
    if meant is None or situation.after != "CLASS_WORD" or situation.kind != "name":
        return None
    end = situation.start + len(situation.word)
    following = re.compile(r"[.\s]*([\w:]+|\()").match(situation.scope.text, end)
    return situation.diagnostic(
        "OBEP079",
        f"{situation.previous} is written {meant}, after the property",
        "Class expressions are in the Manchester syntax: armedWith some Sensor, armedWith only Sensor.",
        f"{situation.word} {meant} {following[1] if following else '…'}",
        situation.previous_span,
    )


def _event_of_that_name(situation: Situation) -> Diagnostic | None:
    """`MATCH First SEQ …`: an event with the name of a unary operator."""
    unary = situation.after in ("FIRST", "LAST", "NOT", "EVERY", "OPTIONAL")
    if not unary or not situation.previous.istitle() or situation.group not in ("operator", "clause", "end"):
        return None
    return situation.diagnostic(
        "OBEP052",
        f"{situation.previous} means something in patterns, so it needs a colon as a name",
        f"Without the colon an event is missing after {situation.previous.upper()}.",
        f":{situation.previous}",
        situation.previous_span,
    )


def _event_called_like_a_keyword(situation: Situation) -> Diagnostic | None:
    """`EVENT Return AS …`: the name is there, and is a keyword."""
    operator = WORDS.get(situation.word.upper()) in ("operator", "unary")  # of which a mistake speaks
    if situation.after not in ("EVENT", "STATE") or operator or situation.word.lower() not in RESERVED_EVENT:
        return None
    end = situation.start + len(situation.word)
    if not re.compile(r"\s*(\(\s*\?|(as|match|subclassof|from|over|daily)\b)", re.IGNORECASE).match(
        situation.scope.text, end
    ):
        return None
    what = "a state" if situation.after == "STATE" else "an event"
    return situation.diagnostic(
        "OBEP052",
        f"{situation.word} is a keyword, so it needs a colon as a name",
        f"With the prefix : it can be the name of {what}, there and wherever it is meant.",
        f":{situation.word}",
    )


def _unknown_operator(situation: Situation) -> Diagnostic | None:
    """`A THEN B`."""
    if situation.kind != "name" or "SEQ" not in situation.accepts or ":" in situation.word:
        return None
    end = situation.start + len(situation.word)
    following = re.compile(r"[ \t]+([^\W\d][\w-]*|:\w+|\()").match(situation.scope.text, end)
    if following is None or WORDS.get(following[1].upper()) not in (None, "unary"):
        return None
    return situation.diagnostic(
        "OBEP066",
        f"events in a pattern are not joined by {situation.word}",
        "SEQ is one after the other, AND at the same time, JOIN at any times, OR either.",
        f"{situation.operand} SEQ {following[1]}",
    )


def _class_of_that_name(situation: Situation) -> Diagnostic | None:
    """`AS Event and …`: a class with the name of a keyword."""
    if situation.group not in ("declaration", "clause") or "CLASS_WORD" not in situation.accepts:
        return None
    end = situation.start + len(situation.word)
    following = re.compile(r"\s*(\w+|\S|\Z)").match(situation.scope.text, end)
    if following is None or (following[1] not in ")}.," and WORDS.get(following[1]) != "manchester"):
        return None
    return _needs_a_colon(
        situation, "EVENT, NAMED, RETURN and MATCH begin something new, also after a class expression."
    )


def _needs_a_colon(situation: Situation, reason: str) -> Diagnostic:
    return situation.diagnostic(
        "OBEP052",
        f"{situation.word} is a keyword here, so it needs a colon as a name",
        reason,
        f":{situation.word}",
    )


def _property_of_that_name(situation: Situation) -> Diagnostic | None:
    """`AS (value some number)`: a property with the name of a word of Manchester syntax."""
    if situation.group != "manchester" or "CLASS_WORD" not in situation.accepts:
        return None
    end = situation.start + len(situation.word)
    if not re.compile(r"\s+(some|only|value|min|max|exactly)\b").match(situation.scope.text, end):
        return None
    return _needs_a_colon(
        situation, "some, only, value, min, max and exactly stand between a property and its filler."
    )


def _not_followed_by(situation: Situation) -> Diagnostic | None:
    """`A NOT FOLOWED BY B`, `A NOT FOLLOWED B`."""
    if situation.kind != "NOT" or "NOT_FOLLOWED_BY" not in situation.accepts:
        return None
    found = re.compile(r"\s+([^\W\d]\w*)(\s+by\b)?", re.IGNORECASE).match(
        situation.scope.text, situation.start + len(situation.word)
    )
    if found is None or (found[1].upper() != "FOLLOWED" and nearest(found[1], ["FOLLOWED"]) is None):
        return None
    return situation.diagnostic(
        "OBEP002",
        f"NOT {found[1]}{found[2] or ''}: did you mean NOT FOLLOWED BY?",
        "NOT FOLLOWED BY excludes an event after another.",
        f"{situation.operand} NOT FOLLOWED BY …",
        situation.span_of(situation.start, situation.scope.text[situation.start : found.end()]),
    )


SLIPS_OF_WORDS = (
    _not_followed_by,
    negative_duration,
    misspelt_duration,
    _half_a_keyword,
    _bound,
    _two_words,
    _class_of_that_name,
    _property_of_that_name,
    _event_of_that_name,
    _event_called_like_a_keyword,
    _quantifier,
    _misspelt,
    _misspelt_before,
    _unknown_operator,
)
"""Called in this order; the first result that is not None is used."""
