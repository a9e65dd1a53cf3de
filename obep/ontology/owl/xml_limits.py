"""What an XML file may ask of a parser: entities that stay small, elements that nest within a bound.

Both are checked in one pass before a parser reads the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from obep.errors import ObepError, fail

NESTING = 1000
"""Elements within each other: the parser of RDF/XML takes time that grows with the square of them."""
_ENTITY = re.compile(rb"<!ENTITY(?=\s+(%?)\s*([^\s]+)\s+(?:\"([^\"]*)\"|'([^']*)'|(SYSTEM|PUBLIC)))")
"""Each declaration, also one in the text of another: a comment with a quote in it must hide none."""
_REFERENCE = re.compile(rb"&([^#;&<\s][^;&<\s]*);")
_EXPANDED = 1 << 16
"""The greatest length of an expanded entity of an XML file."""
_NESTED = 20
"""How deep entities may lie within each other."""
_SMALL, _GROWTH = 1 << 23, 20
"""What all references of a file may expand to: so many bytes, or so many times its size."""
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
        entities[name] = entities.get(name, b"") + (double or single)  # parsers differ in which one counts
    if entities:
        lengths = _lengths(entities, path)
        expanded = sum(lengths.get(name, 0) for name in _REFERENCE.findall(data))
        if expanded > max(_SMALL, _GROWTH * len(data)):
            raise _refused(path, f"Its entities expand to {expanded} bytes, and it has {len(data)}.")


def _lengths(entities: Mapping[bytes, bytes], path: Path) -> dict[bytes, int]:
    """How long each entity is when it is expanded."""
    within = {
        name: [one for one in _REFERENCE.findall(text) if one in entities] for name, text in entities.items()
    }
    lengths = {name: len(text) for name, text in entities.items()}
    for _ in range(_NESTED):
        longer = {name: len(entities[name]) + sum(lengths[one] for one in within[name]) for name in entities}
        if longer == lengths:
            return lengths
        lengths = longer
        if max(lengths.values()) > _EXPANDED:
            break
    name = max(lengths, key=lambda one: lengths[one])
    raise _refused(path, f"The entity {name.decode(errors='replace')} grows without measure.")


def _refused(path: Path, reason: str) -> ObepError:
    return fail(
        "OBEP305",
        "the XML file is refused",
        file=str(path),
        reason=reason,
        remedy="replace the entity by its text",
    )
