"""Refuse parts of SPARQL that a guard does not have, by name (SPEC §5)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from obep.errors import Diagnostic, Span

if TYPE_CHECKING:
    from obep.query.syntax_errors.error_context import Situation

CODE = "OBEP431"
REFUSED: dict[str, tuple[str, str]] = {
    "EXISTS": (
        "A guard reads the graph of one item. The pattern says that something did not happen.",
        "A WITHOUT B, or A NOT FOLLOWED BY B WITHIN 5 min, in MATCH",
    ),
    "OPTIONAL": (
        "A solution binds all variables of its block.",
        "two events, one with the triple and one without, joined by OR in MATCH",
    ),
    "UNION": ("A block is one graph pattern.", "two events joined by OR in MATCH"),
    "BIND": ("A guard names no new values.", "write the expression where the variable is used"),
    "VALUES": ("A guard lists no data.", "FILTER(?x IN (:a, :b))"),
    "GRAPH": ("An item is one graph. The EVENT block names its event.", "EVENT alias { … }"),
    "SERVICE": ("obep sends no requests while matching.", "FROM GRAPH <file.ttl>"),
    "SELECT": ("A guard has no queries inside it.", "define an EVENT for the sub-select"),
    "MINUS": ("A block is one graph pattern.", "FILTER(?x != ?y), or WITHOUT in MATCH"),
}
_TITLE = {"SELECT": "a sub-select"}
IN_GUARD = {"FILTER", "A", "GUARD_WORD", "CONDITION_WORD", "COMPARE", "SEMICOLON"}


def refused(situation: Situation) -> Diagnostic | None:
    """The error for a part of SPARQL in a guard, if there is one here."""
    if not any(token.type == "LBRACE" for token in situation.scope.open):
        return None
    word = situation.word.upper()
    rest = situation.scope.text[situation.start : situation.start + 20_000]
    if word == "EXISTS" or (word == "NOT" and re.match(r"(?i)not\s+exists\b", rest)):
        return _refuse(situation, "EXISTS")
    if situation.accepts.isdisjoint(IN_GUARD):
        return None
    if word == "{":
        if re.match(r"(?i)\{\s*select\b", rest):
            word = "SELECT"
        elif at := _union_follows(rest):
            return _refuse(situation, "UNION", situation.span_of(situation.start + at, "UNION"))
        else:
            return situation.diagnostic(
                CODE,
                "a group { } cannot stand in a guard",
                "A block is one graph pattern, without inner groups.",
                "write its triples without the inner braces",
            )
    return _refuse(situation, word) if word in REFUSED else _path_or_list(situation)


def _refuse(situation: Situation, word: str, span: Span | None = None) -> Diagnostic:
    reason, remedy = REFUSED[word]
    message = f"{_TITLE.get(word, word)} cannot stand in a guard"
    return situation.diagnostic(CODE, message, reason, remedy, span)


def _path_or_list(situation: Situation) -> Diagnostic | None:
    """A property path after or instead of a predicate, or a list in parentheses instead of a term."""
    accepts, word = situation.accepts, situation.word
    last = situation.scope.last
    if word == "(" and last is not None and last.type == "GUARD_WORD" and last.span.end == situation.start:
        return None  # Room(?x) is another mistake
    at_verb = "A" in accepts
    after_verb = "GUARD_WORD" in accepts and not at_verb and "FILTER" not in accepts and "LSQB" in accepts
    before = at_verb and word in ("^", "(", "!", "^^")
    if before or (after_verb and word in ("/", "|", "*", "+", "?", "||")):
        return situation.diagnostic(
            CODE,
            "property paths cannot stand in a guard",
            "A triple has one property; chains and inverses come from the ontology.",
            "a variable for each step: ?x :p ?y . ?y :q ?z",
        )
    if word == "(" and "GUARD_WORD" in accepts:
        return situation.diagnostic(
            CODE,
            "lists in ( ) cannot stand in a guard",
            "A triple has one object.",
            "the triples of the list: ?x :p ?list . ?list rdf:first ?y",
        )
    return None


def _union_follows(rest: str) -> int | None:
    """Where UNION stands after the group that begins here."""
    depth = 0
    for at, character in enumerate(rest):
        depth += (character == "{") - (character == "}")
        if depth == 0:
            found = re.compile(r"\}\s*(union)\b", re.IGNORECASE).match(rest, at)
            return found.start(1) if found else None
    return None
