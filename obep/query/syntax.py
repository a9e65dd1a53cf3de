"""Syntax errors that teach."""

from __future__ import annotations

from typing import Any

from obep.errors import Diagnostic, Span
from obep.query.scope import Scope


def syntax_errors(scope: Scope, error: Any) -> list[Diagnostic]:
    """What is wrong with a text that does not parse."""
    token = getattr(error, "token", None)
    if token is not None and token.type != "$END":
        span = Span(
            token.start_pos, token.end_pos, token.line, token.column, token.end_line, token.end_column
        )
        message = f"{token.value} cannot stand here"
    elif token is not None:
        lines = scope.text.split("\n")
        span = Span(
            len(scope.text), len(scope.text), len(lines), len(lines[-1]) + 1, len(lines), len(lines[-1]) + 1
        )
        message = "the query ends too early"
    else:
        span = Span(
            error.pos_in_stream,
            error.pos_in_stream + 1,
            error.line,
            error.column,
            error.line,
            error.column + 1,
        )
        message = f"the character {scope.text[error.pos_in_stream]!r} cannot stand here"
    expected = ", ".join(sorted(error.interactive_parser.accepts())) if error.interactive_parser else ""
    return [scope.diagnostic("OBEP001", message, span, reason=f"Here could stand: {expected}.")]
