"""Terms of a guard as N-Triples strings, written exactly as the formats write those of the data."""

from __future__ import annotations

import re

from obep.model import Term
from obep.query.ast import Literal, Name

XSD = "http://www.w3.org/2001/XMLSchema#"
XSD_STRING = f"<{XSD}string>"

_ESCAPED = re.compile(r'["\\\x00-\x1f\x7f]')
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
_ESCAPE = re.compile(r'\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([tbnrf"\'\\]))')
_LONG = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}


def quote(lexical: str) -> str:
    """A lexical form between quotes, with the escapes of canonical N-Triples.

    >>> quote('5" pipe')
    '"5\\\\" pipe"'
    """
    return f'"{_ESCAPED.sub(_escape, lexical)}"'


def unquote(quoted: str) -> str:
    """The lexical form of what stands between the quotes of a term."""
    return _ESCAPE.sub(_unescape, quoted) if "\\" in quoted else quoted


def literal(lexical: str, datatype: Term = XSD_STRING, language: str = "") -> Term:
    """The term of a literal; language tags are lower case, and a plain string shows no datatype.

    >>> literal("5", "<http://www.w3.org/2001/XMLSchema#integer>")
    '"5"^^<http://www.w3.org/2001/XMLSchema#integer>'
    """
    if language:
        return f"{quote(lexical)}@{language.lower()}"
    if datatype == XSD_STRING:
        return quote(lexical)
    return f"{quote(lexical)}^^{datatype}"


def term_of(node: Name | Literal) -> Term:
    """The term that a name or a literal of a guard stands for."""
    if isinstance(node, Name):
        return node.iri
    return literal(node.lexical, XSD_STRING if node.datatype is None else node.datatype.iri, node.language)


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    return _SHORT.get(character) or f"\\u{ord(character):04X}"


def _unescape(match: re.Match[str]) -> str:
    digits = match[1] or match[2]
    return chr(int(digits, 16)) if digits else _LONG[match[3]]
