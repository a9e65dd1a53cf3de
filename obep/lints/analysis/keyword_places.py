"""Find in the text where the keyword of an operator stands, and what is in parentheses."""

from __future__ import annotations

import re

from obep.errors import Span
from obep.query.ast import Node, QueryFile

_SKIP = re.compile(r"(?:\s|#[^\n]*(?:\n|$))*")
_TOKEN = re.compile(r"""<[^<>\s"]*>|#[^\n]*|[()]""")


def keyword_span(file: QueryFile, after: int, before: int, keyword: str, otherwise: Span) -> Span:
    """The place of a keyword (a pattern like `NOT\\s+FOLLOWED`) between two offsets of the text."""
    for match in re.finditer(
        rf"#[^\n]*|(?<!\w)({keyword})(?!\w)|<[^<>\s]*>", file.text[after:before], re.IGNORECASE
    ):
        if match[1]:
            return span_at(file, after + match.start(), after + match.end())
    return otherwise


def span_at(file: QueryFile, start: int, end: int) -> Span:
    """The span of the text between two offsets."""
    line = file.text.count("\n", 0, start) + 1
    column = start - file.text.rfind("\n", 0, start)
    end_line = line + file.text.count("\n", start, end)
    end_column = end - file.text.rfind("\n", 0, end)
    return Span(start, end, line, column, end_line, end_column)


def parenthesised(file: QueryFile, node: Node) -> bool:
    """Whether the user put this very piece in parentheses. (The AST forgets them.)"""
    text, start = file.text, node.span.start
    end = _whole(text, start, node.span.end)
    if text[start : start + 1] == "(" and _closing(text, start, end) == end - 1:
        return True
    opening = _before(text, start)
    if opening is None or text[opening] != "(":
        return False
    after = _SKIP.match(text, end)
    closing = after.end() if after else end
    return text[closing : closing + 1] == ")" and _closing(text, opening, closing + 1) == closing


def _whole(text: str, start: int, end: int) -> int:
    """The end of a span with the parentheses that it opens. (A leaf's span ends with its last word.)"""
    tokens = [match[0] for match in _TOKEN.finditer(text, start, end)]
    for _ in range(tokens.count("(") - tokens.count(")")):
        after = _SKIP.match(text, end)
        closing = after.end() if after else end
        if text[closing : closing + 1] != ")":
            break
        end = closing + 1
    return end


def _before(text: str, start: int) -> int | None:
    """The last character before an offset that is neither space nor comment."""
    while start > 0:
        line = text.rfind("\n", 0, start) + 1
        comment = _comment(text[line:start])
        kept = (text[line:start] if comment is None else text[line : line + comment]).rstrip()
        if kept:
            return line + len(kept) - 1
        start = line - 1
    return None


def _comment(line: str) -> int | None:
    for match in _TOKEN.finditer(line):
        if match[0].startswith("#"):
            return match.start()
    return None


def _closing(text: str, opening: int, limit: int) -> int | None:
    """The offset of the parenthesis that closes the one at `opening`."""
    depth = 0
    for match in _TOKEN.finditer(text, opening, limit):
        if match[0] == "(":
            depth += 1
        elif match[0] == ")":
            depth -= 1
            if depth == 0:
                return match.start()
    return None
