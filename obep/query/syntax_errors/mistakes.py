"""Explain a syntax error by its most likely cause.

A situation is compared, in this order, with brackets that are still open, with what OBEP refuses of SPARQL,
with misspelt words, and with the examples of `grammar/mistakes.toml`; what nothing explains is answered by
what could stand there.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache

from obep.errors import Diagnostic
from obep.query.syntax_errors.error_context import Situation, situation_of
from obep.query.syntax_errors.expected_words import expected
from obep.query.syntax_errors.keyword_errors import SLIPS_OF_WORDS
from obep.query.syntax_errors.punctuation_errors import SLIPS_OF_SIGNS
from obep.query.syntax_errors.refused_sparql import refused
from obep.resources import resource

ALIKE = 0.5
"""The part of the expected terminals that must agree with an example."""


def explain(situation: Situation) -> Diagnostic:
    """The most likely meaning of a syntax error."""
    for explanation in EXPLANATIONS:
        found = explanation(situation)
        if found is not None:
            return found
    return situation.diagnostic(
        "OBEP001",
        f"{situation.word} cannot stand here" if situation.word else "the query ends too early",
        f"Here could stand {expected(situation.accepts)}.",
        f"remove {situation.word}" if situation.word else "go on",
    )


@dataclass(frozen=True)
class Mistake:
    """A mistake of `grammar/mistakes.toml`."""

    code: str
    message: str
    reason: str
    remedy: str
    at: str
    examples: tuple[str, ...]


@dataclass(frozen=True)
class Example:
    """Where an example of a mistake goes wrong."""

    places: frozenset[str]
    kind: str
    group: str
    after: str
    mistake: Mistake


def mistakes() -> list[Mistake]:
    """All mistakes that are known by example."""
    table = tomllib.loads(resource("grammar/mistakes.toml"))
    return [
        Mistake(
            one["code"],
            one["message"],
            one.get("reason", ""),
            one.get("remedy", ""),
            one.get("at", "word"),
            tuple(one["examples"]),
        )
        for one in table["mistake"]
    ]


@cache
def _examples() -> list[Example]:
    found = []
    for mistake in mistakes():
        for text in mistake.examples:
            situation = situation_of(text)
            if situation is not None:
                place = (situation.places, situation.kind, situation.group, situation.after)
                found.append(Example(*place, mistake))
    return found


EACH_ITS_OWN = ("clause", "prologue")
"""The words of these sorts are no stand-ins for each other."""


def _known_mistake(situation: Situation) -> Diagnostic | None:
    """The mistake of the example that is most like this: the same word or sort of word, in a like place."""
    best: tuple[float, Mistake] | None = None
    for example in _examples():
        if example.group != situation.group:
            continue
        if example.kind != situation.kind and example.group in EACH_ITS_OWN:
            continue
        union = len(example.places | situation.places)
        alike = len(example.places & situation.places) / union if union else 1.0
        if alike < ALIKE:
            continue
        rank = 2 * (example.kind == situation.kind) + alike + 0.5 * (example.after == situation.after)
        if best is None or rank > best[0]:
            best = (rank, example.mistake)
    if best is None:
        return None
    mistake = best[1]
    filled = {
        "word": situation.word,
        "upper": situation.word.upper(),
        "lower": situation.word.lower(),
        "previous": situation.operand,
        "chunk": situation.chunk,
        "expected": expected(situation.accepts),
    }
    return situation.diagnostic(
        mistake.code,
        mistake.message.format_map(filled),
        mistake.reason.format_map(filled),
        mistake.remedy.format_map(filled),
        situation.previous_span if _points_back(mistake, situation) else None,
    )


def _points_back(mistake: Mistake, situation: Situation) -> bool:
    """Whether the caret belongs to the word before: always, or when what is missing ends a line."""
    if mistake.at == "line":
        return situation.span.line > situation.previous_span.line
    return mistake.at == "previous"


EXPLANATIONS = (*SLIPS_OF_SIGNS, refused, *SLIPS_OF_WORDS, _known_mistake)
"""Tried in this order; the first that returns a diagnostic wins."""
