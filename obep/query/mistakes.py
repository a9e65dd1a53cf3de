"""What a syntax error most likely means, said so that the writer knows what to change.

A situation is what could stand at a place and what stands there instead. It is compared, in this order, with
brackets that are still open, with what OBEP refuses of SPARQL, with misspelt keywords, and with the examples
of `grammar/mistakes.toml`; what nothing explains is answered by what could stand there.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from typing import Any

from obep.errors import Diagnostic, Span
from obep.query.expected import KEYWORDS, WORDS, expected
from obep.query.nearest import nearest
from obep.query.refused import refused
from obep.query.scope import Scope
from obep.query.values import span_between
from obep.resources import resource

_WORD = re.compile(
    r'(?P<string>"""[\s\S]*?"""|\'\'\'[\s\S]*?\'\'\'|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\')'
    r'|(?P<iri><[^\x00-\x20<>"{}|^`\\]*>)'
    r"|(?P<var>[?$]\w+)"
    r"|(?P<duration>[0-9]+(?:\.[0-9]+)?\s*(?i:us|ms|s|sec|m|min|h|d)\b)"
    r"|(?P<number>[+-]?(?:[0-9]*\.)?[0-9]+(?:[eE][+-]?[0-9]+)?(?!\w))"
    r"|(?P<name>(?:[\w.-]*:[\w.:%-]*\w|[^\W\d](?:\w|-(?!>))*))"
    r"|(?P<sign>->|\^\^|\|\||&&|!=|<=|>=|==|<>|:=|@\w+|\w+|\S)"
)
NEUTRAL = frozenset((
    "RPAR", "RBRACE", "RSQB", "DOT", "COMMA", "$END", "EVENT", "NAMED", "RETURN", "IF", "CONSTRUCT",
    "PARTITION_BY", "POLICY", "ON", "EVENT_BLOCK",
))  # fmt: skip
"""Whether these could stand here too depends on what lies around a place, not on the place."""
ALIKE = 0.5
"""How much of what could stand here must agree with an example."""


@dataclass(frozen=True)
class Situation:
    """A place where the parser could not go on."""

    scope: Scope
    accepts: frozenset[str]
    """The terminals that could stand here."""
    start: int
    word: str
    """What stands here; empty at the end of the text."""
    kind: str
    """What sort of word that is: `name`, `var`, `end`, …, or itself where it is a keyword or a sign."""
    group: str
    """The same, but all operators, all clauses, … are one sort."""

    @classmethod
    def of(cls, scope: Scope, error: Any) -> Situation:
        """The place of an error of lark's."""
        token = getattr(error, "token", None)
        start = error.pos_in_stream if token is None else token.start_pos
        if token is not None and token.type == "$END":
            start = len(scope.text)
        accepts = could_stand(error.interactive_parser.parser_state)
        match = _WORD.match(scope.text, start) if start < len(scope.text) else None
        if match is None:
            return cls(scope, accepts, start, scope.text[start : start + 1], "end", "end")
        word = match[0]
        if match.lastgroup != "name":
            last = scope.last
            follows = last is not None and last.type == "COMPARE" and last.end_pos == start
            if follows and word[0] in "=<>!":  # one sign of another language, such as ==
                start, word = last.start_pos, last.value + word
            sort = word if match.lastgroup == "sign" else str(match.lastgroup)
            return cls(scope, accepts, start, word, sort, sort)
        in_class = not accepts.isdisjoint(("CLASS_AND", "CLASS_NOT", "SOME"))
        plain = word if in_class and word.islower() else word.upper()
        group = WORDS.get(plain, "name")
        return cls(scope, accepts, start, word, plain if plain in WORDS else "name", group)

    @property
    def span(self) -> Span:
        """The place of the word; of the last one before the end of the text."""
        if not self.word and self.scope.last is not None:
            return self.previous_span
        line = self.scope.text.count("\n", 0, self.start) + 1
        column = self.start - self.scope.text.rfind("\n", 0, self.start)
        width = max(1, len(self.word.split("\n")[0]))
        return Span(self.start, self.start + width, line, column, line, column + width)

    @property
    def previous(self) -> str:
        """The word before, as it is written."""
        return " ".join(self.scope.last.value.split()) if self.scope.last is not None else ""

    @property
    def chunk(self) -> str:
        """All that stands here up to the next space, without quotes."""
        found = re.compile(r"\S*").match(self.scope.text, self.start)
        return found[0].strip("\"'<>") if found else ""

    @property
    def after(self) -> str:
        """The terminal of the word before."""
        return self.scope.last.type if self.scope.last is not None else ""

    @property
    def previous_span(self) -> Span:
        """Its place."""
        return span_between(self.scope.last) if self.scope.last is not None else self.span

    @property
    def in_prologue_words(self) -> bool:
        """Whether a clause of the prologue stands where it cannot."""
        return WORDS.get(self.word.upper()) == "prologue"

    @property
    def places(self) -> frozenset[str]:
        """What could stand here whatever lies around."""
        return self.accepts - NEUTRAL or self.accepts

    def diagnostic(
        self, code: str, message: str, reason: str, remedy: str, span: Span | None = None
    ) -> Diagnostic:
        """What is said here; the caret is on the word unless another span is given."""
        return self.scope.diagnostic(code, message, span or self.span, reason=reason, remedy=remedy)


def could_stand(state: Any) -> frozenset[str]:
    """The terminals that the parser would take next: what its `accepts()` says, ten times faster."""
    from lark.parsers.lalr_analysis import Shift

    states = state.parse_conf.states
    found = set()
    for terminal, (action, argument) in states[state.position].items():
        if not terminal.isupper():
            continue
        stack: list[Any] | None = None
        while action is not Shift:
            stack = list(state.state_stack) if stack is None else stack
            if argument.expansion:
                del stack[-len(argument.expansion) :]
            stack.append(states[stack[-1]][argument.origin.name][1])
            if stack[-1] == state.parse_conf.end_state:
                break
            if terminal not in states[stack[-1]]:
                break
            action, argument = states[stack[-1]][terminal]
        if action is Shift or (stack and stack[-1] == state.parse_conf.end_state):
            found.add(terminal)
    return frozenset(found)


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
        "",
    )


# --- characters that begin nothing ----------------------------------------------------------------------


def _character(situation: Situation) -> Diagnostic | None:
    word = situation.word
    if word[:1] in ("“", "”", "„", "‘", "’", "«", "»"):
        return situation.diagnostic(
            "OBEP036",
            f"{word[:1]} is a quotation mark of a text processor",
            "A string stands in straight quotes.",
            "use \" or '",
        )
    if word in ('"', "'"):
        return situation.diagnostic(
            "OBEP037",
            "this string is not closed",
            "A string ends on its line, unless it stands in three quotes.",
            f"… {word}",
        )
    if re.match(r"<[A-Za-z/#]", situation.scope.text[situation.start : situation.start + 2]) and word == "<":
        return situation.diagnostic(
            "OBEP038",
            "this IRI is not closed",
            "Between < and > there are no spaces, quotes or braces.",
            "<http://example.org/…>",
        )
    return None


# --- brackets -------------------------------------------------------------------------------------------

_CLOSING = {"(": ")", "[": "]", "{": "}"}


def _open_bracket(situation: Situation) -> Diagnostic | None:
    """A bracket that is open where the text ends or something new begins, or that another one closes."""
    opened = situation.scope.open
    word = situation.word.upper()
    if word in ")]}" and word:
        if not opened:
            return situation.diagnostic(
                "OBEP004", f"{word} closes nothing", "No bracket is open here.", f"remove the {word}"
            )
        bracket = opened[-1]
        if _CLOSING[bracket.value] == word:
            return None
        return _still_open(situation, bracket, f"but {word} comes first")
    if not opened:
        return None
    if not word:
        return _still_open(situation, opened[-1], "where the query ends")
    if word == "EVENT" and situation.previous.upper() in ("AND", "OR", "SEQ"):
        return None  # blocks that somebody joined
    begins = WORDS.get(word) == "prologue" or word in ("RETURN", "NAMED")
    goes_on = word in ("IF", "CONSTRUCT", "POLICY", "PARTITION", "MATCH") and opened[-1].type == "LPAR"
    if begins or goes_on or (word == "EVENT" and "EVENT" not in situation.accepts):
        return _still_open(situation, opened[-1], f"where {situation.word} begins something new")
    return None


def _still_open(situation: Situation, bracket: Any, where: str) -> Diagnostic:
    span = span_between(bracket)
    ends = "the query ends too early: " if not situation.word else ""
    closing = _CLOSING[bracket.value]
    return situation.diagnostic(
        "OBEP003",
        f"{ends}the {bracket.value} of line {span.line} is still open",
        f"It is not closed {where}." if situation.word else "Nothing closes it.",
        f"add the missing {closing}",
        span,
    )


# --- misspelt keywords ----------------------------------------------------------------------------------


def _misspelt(situation: Situation) -> Diagnostic | None:
    if situation.kind != "name":
        return None
    return _did_you_mean(situation, situation.word, situation.accepts, situation.span)


def _misspelt_before(situation: Situation) -> Diagnostic | None:
    """The word before may be a misspelt keyword that was taken for a name (`FITLER (…)`, `NOT Room`)."""
    last = situation.scope.last
    if last is not None and last.type == "CLASS_WORD" and WORDS.get(last.value.lower()) == "manchester":
        return situation.diagnostic(
            "OBEP077",
            f"{last.value} in a class expression is written in lower case",
            "Class expressions are in the Manchester syntax, whose words are lower case.",
            last.value.lower(),
            span_between(last),
        )
    if last is None or not last.type.endswith("_WORD") or last.value.upper() in WORDS or ":" in last.value:
        return None
    accepts = _accepts_before(situation.scope.text, last)
    return _did_you_mean(situation, last.value, accepts, span_between(last))


def _accepts_before(text: str, token: Any) -> frozenset[str]:
    from obep.query.building import reading
    from obep.query.parser import grammar

    kept = reading.scope
    reading.scope = Scope(text, "")
    try:
        parser = grammar().parse_interactive(text[: token.start_pos])
        parser.exhaust_lexer()
        return could_stand(parser.parser_state)
    finally:
        reading.scope = kept


def _did_you_mean(situation: Situation, word: str, accepts: frozenset[str], span: Span) -> Diagnostic | None:
    words = [keyword for terminal in sorted(accepts) for keyword in KEYWORDS.get(terminal, ())]
    close = nearest(word, words)
    if close is None or len(word) < 3:
        return None
    return situation.diagnostic(
        "OBEP002", f"{word}: did you mean {close}?", f"{word} means nothing here.", close, span
    )


# --- words that almost fit ------------------------------------------------------------------------------


def _unit(situation: Situation) -> Diagnostic | None:
    """`WITHIN 5 minuts`."""
    if situation.kind != "number" or "DURATION" not in situation.accepts:
        return None
    unit = re.compile(r"[ \t]*([^\W\d]\w*)").match(
        situation.scope.text, situation.start + len(situation.word)
    )
    keywords = {word for words in KEYWORDS.values() for word in words}
    if unit is None or unit[1].upper() in WORDS or unit[1].upper() in keywords:
        return None
    close = nearest(unit[1], ("ms", "sec", "seconds", "min", "minutes", "hours", "days")) or "min"
    return situation.diagnostic(
        "OBEP069",
        f"{unit[1]} is no unit of time",
        "The units are ms, s, min, h and d.",
        f"{situation.word} {close}",
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
        f"{situation.previous} SEQ {following[1]}",
    )


def _class_of_that_name(situation: Situation) -> Diagnostic | None:
    """`AS Event and …`: a class with the name of a keyword."""
    if situation.group not in ("declaration", "clause") or "CLASS_WORD" not in situation.accepts:
        return None
    end = situation.start + len(situation.word)
    following = re.compile(r"\s*(\w+|\S|\Z)").match(situation.scope.text, end)
    if following is None or (following[1] not in ")}.," and WORDS.get(following[1]) != "manchester"):
        return None
    return situation.diagnostic(
        "OBEP052",
        f"{situation.word} is a keyword here, so it needs a colon as a name",
        "EVENT, NAMED, RETURN and MATCH begin something new, also after a class expression.",
        f":{situation.word}",
    )


# --- the examples ---------------------------------------------------------------------------------------


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


def situation_of(text: str) -> Situation | None:
    """Where a text goes wrong; none if it is right."""
    from lark.exceptions import UnexpectedInput

    from obep.query.parser import run

    scope = Scope(text, "")
    try:
        run(scope, text)
    except UnexpectedInput as error:
        return Situation.of(scope, error)
    return None


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


def _known_mistake(situation: Situation) -> Diagnostic | None:
    """The mistake of the example that is most like this: the same word or sort of word, in a like place."""
    best: tuple[float, Mistake] | None = None
    for example in _examples():
        if example.group != situation.group:
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
        "previous": situation.previous,
        "chunk": situation.chunk,
        "expected": expected(situation.accepts),
    }
    return situation.diagnostic(
        mistake.code,
        mistake.message.format_map(filled),
        mistake.reason.format_map(filled),
        mistake.remedy.format_map(filled),
        situation.previous_span if mistake.at == "previous" else None,
    )


EXPLANATIONS = (
    _character,
    _open_bracket,
    refused,
    _unit,
    _class_of_that_name,
    _misspelt,
    _misspelt_before,
    _unknown_operator,
    _known_mistake,
)
"""Asked in this order; the first that knows an answer gives it."""
