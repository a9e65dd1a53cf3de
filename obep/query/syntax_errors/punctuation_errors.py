"""Signs: characters that begin nothing, quotes and brackets that are not closed, or of nothing."""

from __future__ import annotations

import re
from typing import Any

from obep.errors import Diagnostic
from obep.query.parse.spelling import span_between
from obep.query.syntax_errors.error_context import Situation
from obep.query.syntax_errors.expected_words import WORDS, expected

# --- characters that begin nothing ----------------------------------------------------------------------


def _character(situation: Situation) -> Diagnostic | None:
    word = situation.word
    line = situation.rest_of_line
    if re.match(r"/[*/]|--", line):
        return situation.diagnostic(
            "OBEP040", "a comment begins with #", "It ends with its line.", f"# {line.strip('/*- ')}"
        )
    if word[:1] in ("“", "”", "„", "‘", "’", "«", "»"):
        return situation.diagnostic(
            "OBEP036",
            f"{word[:1]} is a quotation mark of a text processor",
            "A string is written in straight quotes.",
            "use \" or '",
        )
    if word in WRITTEN:
        return situation.diagnostic(
            "OBEP001",
            f"{word} cannot stand here; it is written {WRITTEN[word]}",
            f"Here could stand {expected(situation.accepts)}.",
            WRITTEN[word],
        )
    before = _UNIT_BEFORE.search(situation.scope.text, max(0, situation.start - 80), situation.start)
    if before and (rest := re.match(r"(?!°[\s\],])[/%°µ²³·][^\s\],\"]*", line)):
        unit = f'"{before[1]}{rest[0]}"'
        reason = "A unit that is no name, such as °C, % or m/s, is written as a text."
        return situation.diagnostic("OBEP001", f"the unit {unit} needs its quotes", reason, unit)
    if word in ('"', "'"):
        return situation.diagnostic(
            "OBEP003",
            "this string is not closed",
            "A string ends on its line. A longer one has three quotes.",
            f"{word}{situation.chunk}{word}" if " " not in line else f"{word}{situation.chunk} …{word}",
        )
    if word == "<" and re.match(r"<[A-Za-z/#]", line):
        return situation.diagnostic(
            "OBEP003",
            "this IRI is not closed",
            "Between < and > there are no spaces, quotes or braces.",
            f"<{situation.chunk}>",
        )
    return None


_UNIT_BEFORE = re.compile(r'\[(?:[^\[\]"]*,)?\s*[<>]=?\s*[-+]?[\d.]+(?:[eE][-+]?\d+)?\s*(\w*)\Z')
"""A facet up to its unit, or up to the first sign in it that no name has. The text is searched to a place."""

WRITTEN = {
    "≥": ">=", "≤": "<=", "≠": "!=", "→": "->", "⇒": "->", "∧": "and, or && in a condition",
    "∨": "or, or || in a condition", "¬": "not, or ! in a condition", "⊓": "and", "⊔": "or",
    "∃": "p some C", "∀": "p only C", "⊤": "Thing", "⊥": "Nothing", "–": "-", "—": "-",
}  # fmt: skip
"""Signs of logic and of text processors in the letters of a keyboard."""


# --- brackets -------------------------------------------------------------------------------------------

_CLOSING = {"(": ")", "[": "]", "{": "}"}


def _open_bracket(situation: Situation) -> Diagnostic | None:
    """A bracket that is open where the text ends or something new begins, or that another one closes."""
    opened = situation.scope.open
    word = situation.word.upper()
    if word in ")]}" and word:
        if not opened:
            return situation.diagnostic(
                "OBEP003", f"{word} closes nothing", "No bracket is open here.", f"remove the {word}"
            )
        bracket = opened[-1]
        if _CLOSING[bracket.value] == word:
            return None
        return _still_open(situation, bracket, f"{word} comes first.")
    if not opened:
        return None
    if not word:
        return _still_open(situation, opened[-1], "Nothing closes it.")
    if word == "EVENT" and situation.previous.upper() in ("AND", "OR", "SEQ"):
        return None  # blocks that were joined
    begins = WORDS.get(word) == "prologue" or word in ("RETURN", "NAMED")
    goes_on = word in ("IF", "CONSTRUCT", "POLICY", "PARTITION", "MATCH") and opened[-1].type == "LPAR"
    if begins or goes_on or (word == "EVENT" and "EVENT" not in situation.accepts):
        reason = f"It is not closed where {situation.word} begins something new."
        return _still_open(situation, opened[-1], reason)
    return None


def _still_open(situation: Situation, bracket: Any, reason: str) -> Diagnostic:
    span = span_between(bracket)
    ends = "the query ends too early: " if not situation.word else ""
    closing = _CLOSING[bracket.value]
    return situation.diagnostic(
        "OBEP003",
        f"{ends}the {bracket.value} of line {span.line} is still open",
        reason,
        f"add the missing {closing}",
        span,
    )


_FACETS = re.compile(r'\[\s*(?:[<>]=?|((?:min|max)?length|pattern))(?:"[^"\n]*"|[^\]"\n])*\]?', re.IGNORECASE)
_WAY = re.compile(r"(?:inverse\s+)?[\w:.-]+\s+(?:some|only|(?:min|max|exactly)\s+[0-9]+)\s*\Z")


def _facet_of_nothing(situation: Situation) -> Diagnostic | None:
    """`c some [> 50]`: the facet is there, and not what it chooses from."""
    found = _FACETS.match(situation.scope.text, situation.start)
    if found is None or "CLASS_WORD" not in situation.accepts:
        return None
    way = _WAY.search(situation.scope.text[max(0, situation.start - 200) : situation.start])
    datatype = "string" if found[1] else "number"
    return situation.diagnostic(
        "OBEP079",
        "the datatype is missing before [",
        "Facets choose values of a datatype, which stands before them; number is decimal, double or float.",
        f"{' '.join(way[0].split()) if way else 'c some'} {datatype}{found[0]}",
    )


SLIPS_OF_SIGNS = (_character, _open_bracket, _facet_of_nothing)
"""Called in this order; the first result that is not None is used."""


def brackets_and_characters(situation: Situation) -> Diagnostic | None:
    """The errors of brackets and characters, in every language."""
    return _character(situation) or _open_bracket(situation)
