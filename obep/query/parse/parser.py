"""The parser: a text comes in, a QueryFile goes out, or an ObepError with all that is wrong with its syntax.

It never reads a file that the text names (`link` does), and never asks what a name means (`check` does).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import cast

from obep.errors import Diagnostic, ObepError, Span, fail
from obep.query.ast import Language, QueryFile
from obep.query.build import RULES, reading
from obep.query.languages import language_of, written_in
from obep.query.parse.file_scope import Scope
from obep.query.parse.lalr import Machine, Stuck, Token
from obep.query.parse.parse_table import load_table
from obep.query.print.comments import with_comments
from obep.query.walk import too_deep

NESTING = 100
"""Parentheses, and operators inside operators, may lie this deep."""
LARGEST = 1 << 26
"""Bytes that a query file may have."""


def parse(text: str, name: str = "<query>", language: Language = "obep") -> QueryFile:
    """Read a query.

    >>> parse("EVENT Hot AS Room").events[0].name.iri
    '<http://example.org/obep#Hot>'
    """
    scope = Scope(text, name, language=language)
    try:
        file = run(scope, text)
    except Stuck as error:
        raise ObepError(*_syntax_errors(scope, error)) from None
    deep = too_deep(file, NESTING)
    if deep is not None:
        scope.diagnostics.append(nested_too_deeply(scope, deep))
    if scope.diagnostics:
        raise ObepError(*in_order(scope.diagnostics))
    return with_comments(file)


FOREIGN = ("csparql", "rsepql", "sparkwave")
"""Languages whose words OBEP has not: a text that says them is no OBEP."""


def _syntax_errors(scope: Scope, error: Stuck) -> list[Diagnostic]:
    if scope.language == "obep" and written_in(scope.text) not in FOREIGN:
        from obep.query.syntax_errors.recovery import syntax_errors
    else:
        from obep.query.syntax_errors.language_syntax import syntax_errors
    return syntax_errors(scope, error)


def parse_bytes(data: bytes, name: str = "<query>", language: Language | None = None) -> QueryFile:
    """Read a query that should be UTF-8, in a language, or in that of its name or text."""
    try:
        text = data.decode("utf-8-sig")
        return parse(text, name, language or language_of(name, text))
    except UnicodeDecodeError as problem:
        before = data[: problem.start].decode("utf-8-sig")
        begin, line = before.rfind("\n") + 1, before.count("\n") + 1
        column = len(before) - begin + 1
        span = Span(len(before), len(before) + 1, line, column, line, column + 1)
        raise ObepError(
            Scope(data.decode("utf-8-sig", "replace"), name).diagnostic(
                "OBEP006",
                f"not UTF-8: the byte {data[problem.start]:#04x} in line {line}",
                span,
                reason="A query file is text in UTF-8.",
                remedy="save it as UTF-8 in your editor, or: iconv -f latin1 -t utf-8",
            )
        ) from None


def read_query(path: Path | str, language: Language | None = None) -> QueryFile:
    """Read a query from a file. The file's name is the path as given."""
    try:
        with Path(path).open("rb") as file:  # it may be a pipe, but not one without end
            if len(data := file.read(LARGEST + 1)) > LARGEST:
                raise ValueError(f"it has more than {LARGEST} bytes")
    except IsADirectoryError:
        raise fail(
            "OBEP031",
            "this is a folder, not a query file",
            file=str(path),
            remedy=f"{Path(path) / 'query.obep'}",
        ) from None
    except (OSError, ValueError) as problem:
        raise fail(
            "OBEP031",
            f"the file cannot be read: {getattr(problem, 'strerror', None) or problem}",
            file=str(path),
            reason="A query is read from the path that you give, relative to where you are.",
            remedy="check the path: ls " + str(Path(str(path).replace("\0", "")).parent),
        ) from None
    return parse_bytes(data, str(path), language)


def run(scope: Scope, text: str) -> QueryFile:
    """Parse a text in a scope; raises Stuck at the first syntax error."""
    before = getattr(reading, "scope", None)
    reading.scope = scope
    try:
        return cast(QueryFile, machine(scope.language).run(text, _watching(scope)))
    finally:
        if before is not None:
            reading.scope = before


@cache
def machine(language: Language = "obep") -> Machine:
    """The parser of a language, made when first needed and shared by all threads."""
    return Machine(load_table(language), RULES)


def _watching(scope: Scope) -> Callable[[Token], None]:
    """Watches the words go by: nothing deep is ever built, and an error can name what is still open."""
    depth, previous = 0, ""

    def taken(token: Token) -> None:
        nonlocal depth, previous
        kind = token.type
        if kind in OPENING:
            scope.open.append(token)
            depth += kind not in BRACES
            if depth > NESTING:
                raise ObepError(nested_too_deeply(scope, token.span))
        elif kind in CLOSING and scope.open:
            depth -= scope.open.pop().type not in BRACES
        elif kind in DECLARING and not scope.open and previous not in GOES_ON:
            scope.declaration = token.span.start
        scope.last, previous = token, kind

    return taken


OPENING = ("LPAR", "LSQB", "LBRACE", "GROUP_BRACE")
BRACES = ("LBRACE", "GROUP_BRACE")
CLOSING = ("RPAR", "RSQB", "RBRACE")
DECLARING = ("EVENT", "NAMED", "STATE", "RETURN", "REGISTER")
GOES_ON = ("NAMED", "RETURN", "FROM", "AS", "IF", "ON_SOURCE", "OVER")
"""After these, EVENT, NAMED or STATE does not begin a declaration."""


def nested_too_deeply(scope: Scope, span: Span) -> Diagnostic:
    """Make the error for brackets or operators that are nested too deeply."""
    return scope.diagnostic(
        "OBEP005",
        f"nested more than {NESTING} levels deep",
        span,
        reason="Deep nesting is hard to read, and each level needs memory.",
        remedy="define an EVENT for an inner part and use its name",
    )


def in_order(diagnostics: list[Diagnostic]) -> list[Diagnostic]:
    """By their place in the text."""
    return sorted(diagnostics, key=lambda d: d.span.start if d.span else -1)
