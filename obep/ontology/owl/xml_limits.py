"""What an XML file may ask of a parser: entities that stay small, elements that nest within a bound.

Both are checked in one pass before a parser reads the file.
"""

from __future__ import annotations

import re
from pathlib import Path

from obep.errors import ObepError, fail

NESTING = 1000
"""Elements within each other: the parser of RDF/XML takes time that grows with the square of them."""
_ENTITY = re.compile(rb"<!ENTITY\s+(%?)\s*([^\s]+)\s+(?:\"([^\"]*)\"|'([^']*)'|(SYSTEM|PUBLIC))")
_REFERENCE = re.compile(rb"&([A-Za-z_][\w.-]*);")
_EXPANDED = 1 << 16
"""The greatest length of an expanded entity of an XML file."""
_TAG = re.compile(rb"""<(?:[^>"']++|"[^"]*+"|'[^']*+')*+>""")
_WITHOUT_TAGS = {b"<!-": b"-->", b"<![": b"]]>", b"<?": b"?>"}
"""The beginnings and ends of comments, CDATA sections and instructions, in which quotes mean nothing."""


def check_xml(data: bytes, path: Path) -> None:
    """Refuses XML with hostile entities or elements that nest too deeply."""
    _check_entities(data, path)
    if is_too_deep(data, NESTING):
        raise fail(
            "OBEP302",
            "the XML file is refused: it is nested too deeply",
            file=str(path),
            reason=f"Elements are nested more than {NESTING} deep.",
            remedy="give inner elements names of their own (rdf:nodeID), or save it as Turtle",
        )


def is_too_deep(data: bytes, most: int) -> bool:
    """Whether more than so many elements lie within each other.

    >>> is_too_deep(b"<a><b/><!-- <c> --><b>text</b></a>", 2), is_too_deep(b"<a><b><c/></b></a>", 2)
    (False, True)
    """
    depth, at = 0, data.find(b"<")
    while at >= 0:
        sign = data[at : at + 3]
        end = _WITHOUT_TAGS.get(sign) or _WITHOUT_TAGS.get(sign[:2])
        if end is not None:
            at = data.find(end, at + len(sign))
            if at < 0:
                return False  # no parser finds a tag in the rest
        elif sign[1:2] == b"!":
            at += 2  # declarations may hold comments with a quote in them: each is looked at by itself
        elif tag := _TAG.match(data, at):
            at = tag.end() - 1
            if sign[1:2] == b"/":
                depth = max(depth - 1, 0)
            elif depth >= most:
                return True
            else:
                depth += data[at - 1 : at] != b"/"
        else:
            return False
        at = data.find(b"<", at)
    return False


def _check_entities(data: bytes, path: Path) -> None:
    """Entities may abbreviate namespaces; they may not point outside, nor grow without measure."""
    entities: dict[bytes, bytes] = {}
    for parameter, name, double, single, external in _ENTITY.findall(data):
        if external or parameter:
            raise _refused(path, f"The entity {name.decode(errors='replace')} points outside the file.")
        entities[name] = double or single
    for name in entities:
        if _grown(name, entities, ()) > _EXPANDED:
            raise _refused(path, f"The entity {name.decode(errors='replace')} grows without measure.")


def _grown(name: bytes, entities: dict[bytes, bytes], within: tuple[bytes, ...]) -> int:
    if name in within:
        return _EXPANDED + 1
    length = len(entities[name])
    for inner in _REFERENCE.findall(entities[name]):
        if inner in entities:
            length += _grown(inner, entities, (*within, name))
            if length > _EXPANDED:
                break
    return length


def _refused(path: Path, reason: str) -> ObepError:
    return fail(
        "OBEP305",
        "the XML file is refused",
        file=str(path),
        reason=reason,
        remedy="replace the entity by its text",
    )
