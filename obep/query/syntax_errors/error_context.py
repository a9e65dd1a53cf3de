"""A place where the parser could not go on: what could stand there, and what stands there instead."""

from __future__ import annotations

import re
from dataclasses import dataclass

from obep.errors import Diagnostic, Span
from obep.query.ast import Language
from obep.query.parse.file_scope import Scope
from obep.query.parse.lalr import Stuck
from obep.query.parse.spelling import span_between
from obep.query.syntax_errors.expected_words import WORDS

_WORD = re.compile(
    r'(?P<string>"""[\s\S]*?"""|\'\'\'[\s\S]*?\'\'\'|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\')'
    r'|(?P<iri><[^\x00-\x20<>"{}|^`\\]*>)'
    r"|(?P<var>[?$]\w+)"
    r"|(?P<duration>[0-9]+(?:\.[0-9]+)?\s*(?i:us|ms|s|sec|m|min|h|d)\b)"
    r"|(?P<number>[+-]?(?:[0-9]*\.)?[0-9]+(?:[eE][+-]?[0-9]+)?(?!\w))"
    r"|(?P<digits>[0-9]\w*)"
    r"|(?P<name>(?:[\w.-]*:[\w.:%-]*\w|[^\W\d](?:\w|-(?!>))*))"
    r"|(?P<sign>->|\^\^|\|\||&&|!=|<=|>=|=>|==|<>|:=|@\w+|\w+|\S)"
)
NEUTRAL = frozenset((
    "RPAR", "RBRACE", "RSQB", "DOT", "COMMA", "$END", "EVENT", "NAMED", "STATE", "RETURN", "IF", "CONSTRUCT",
    "PARTITION_BY", "POLICY", "ON", "EVENT_BLOCK",
))  # fmt: skip
"""Whether these could stand here too depends on what lies around a place, not on the place."""


@dataclass(frozen=True)
class Situation:
    """A place where the parser could not go on."""

    scope: Scope
    accepts: frozenset[str]
    """The terminals that could stand here."""
    start: int
    word: str
    """The word at this place; empty at the end of the text."""
    kind: str
    """The kind of the word: `name`, `var`, `end`, …, or the word itself if it is a keyword or a sign."""
    group: str
    """The kind of the word, where all operators, all clauses, … are one kind."""

    @classmethod
    def of(cls, scope: Scope, error: Stuck) -> Situation:
        """The place where the machine got stuck."""
        start, accepts = error.start, error.accepts
        match = _WORD.match(scope.text, start) if start < len(scope.text) else None
        if match is None:
            return cls(scope, accepts, start, scope.text[start : start + 1], "end", "end")
        word = match[0]
        if match.lastgroup != "name":
            last = scope.last
            compares = last is not None and last.type == "COMPARE" and last.span.end == start
            if last and compares and word[0] in "=<>!":  # one sign of another language, such as ==
                start, word = last.span.start, last.value + word
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
        return self.span_of(self.start, self.word)

    def span_of(self, start: int, word: str) -> Span:
        """The place of a word of the text."""
        line = self.scope.text.count("\n", 0, start) + 1
        column = start - self.scope.text.rfind("\n", 0, start)
        width = max(1, len(word.split("\n")[0]))
        return Span(start, start + width, line, column, line, column + width)

    @property
    def previous(self) -> str:
        """The word before, as it is written."""
        return " ".join(self.scope.last.value.split()) if self.scope.last is not None else ""

    @property
    def operand(self) -> str:
        """The word before; of a closing parenthesis all that stands in it, and the name before it."""
        last = self.scope.last
        if last is None or last.type != "RPAR":
            return self.previous
        depth, text = 0, self.scope.text
        for start in range(last.span.start, max(-1, last.span.start - 60), -1):
            depth += (text[start] == ")") - (text[start] == "(")
            if depth == 0:
                name = re.search(r"[\w:.-]*\Z", text[max(0, start - 60) : start])
                return " ".join(f"{name[0] if name else ''}{text[start : last.span.end]}".split())
        return "(…)"

    @property
    def rest_of_line(self) -> str:
        """The text from here to the end of the line, if it is short."""
        return self.scope.text[self.start : self.start + 60].split("\n")[0].rstrip()

    @property
    def chunk(self) -> str:
        """The text from here to the next space, without quotes."""
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
        """The terminals that are possible here, independent of the context."""
        return self.accepts - NEUTRAL or self.accepts

    def diagnostic(
        self, code: str, message: str, reason: str, remedy: str, span: Span | None = None
    ) -> Diagnostic:
        """Make a diagnostic; the caret is at the word unless another span is given."""
        return self.scope.diagnostic(code, message, span or self.span, reason=reason, remedy=remedy)


def situation_of(text: str, language: Language = "obep") -> Situation | None:
    """Where a text goes wrong; none if it is right."""
    from obep.query.parse.parser import run

    scope = Scope(text, "", language=language)
    try:
        run(scope, text)
    except Stuck as error:
        return Situation.of(scope, error)
    return None
