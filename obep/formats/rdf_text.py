"""RDF text to triples, by pyoxigraph; blank nodes get labels that every run gives again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from hashlib import blake2b

import msgspec
import pyoxigraph

from obep.formats.input_limits import MARK, Limits, Refused, check_nesting
from obep.formats.nesting import check_turtle
from obep.model import Triple

FORMATS = {
    "turtle": pyoxigraph.RdfFormat.TURTLE,
    "ntriples": pyoxigraph.RdfFormat.N_TRIPLES,
    "jsonld": pyoxigraph.RdfFormat.JSON_LD,
}

_parse = pyoxigraph.parse
_TURTLE = pyoxigraph.RdfFormat.TURTLE
_N_TRIPLES = pyoxigraph.RdfFormat.N_TRIPLES
_JSON_LD = pyoxigraph.RdfFormat.JSON_LD


def read_turtle(text: str | bytes) -> list[Triple]:
    """The triples of a Turtle or N-Triples document, with blank nodes as the parser labels them."""
    try:
        triples = [tuple(str(quad).split(" ", 2)) for quad in _parse(text, _TURTLE)]
    except (SyntaxError, ValueError) as error:
        raise Refused("OBEP604", syntax(error)) from None
    return triples  # type: ignore[return-value]  # a triple prints as three terms


def read_jsonld(text: str | bytes) -> list[Triple]:
    """The triples of a JSON-LD document of one graph. Contexts come with it: none is fetched."""
    try:
        quads = list(_parse(text, _JSON_LD))
    except (SyntaxError, ValueError) as error:
        if "LoadDocumentCallback" in str(error):
            raise Refused(
                "OBEP607",
                "the JSON-LD context is a link, and obep fetches nothing: write it into the message, "
                "or give the stream a mapping with that context",
            ) from None
        raise Refused("OBEP604", syntax(error)) from None
    if len({quad.graph_name for quad in quads}) > 1:
        raise Refused("OBEP604", "the JSON-LD document holds several graphs; an item is one")
    return [(str(q.subject), str(q.predicate), str(q.object)) for q in quads]


def read_message(text: str | bytes) -> list[Triple]:
    """The triples of a JSON-LD document that has something to say: plain JSON gives none, and is refused."""
    found = read_jsonld(text)
    if not found and (field := _unmapped(text)):
        raise Refused(
            "OBEP604",
            f"the JSON-LD gives no triple: {field} is no property, as no @context makes it one. Write "
            '"@context": {"@vocab": "http://example.org/"} into it, or give plain JSON a mapping',
        )
    return found


def _unmapped(text: str | bytes) -> str:
    """A key that is not JSON-LD's own. Numbers are not read: some are beyond what a machine can hold."""
    try:
        document = json.loads(text, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):  # the other parser has taken it: only a hint is lost
        return "what it holds"
    for one in document if isinstance(document, list) else [document]:
        if isinstance(one, dict) and (keys := [key for key in one if not key.startswith("@")]):
            return str(keys[0])
    return ""


def parse_graph(
    data: str | bytes | dict[str, object] | list[object], format: str, limits: Limits
) -> list[Triple]:
    """The triples of one graph in `turtle`, `ntriples` or `jsonld`."""
    if isinstance(data, dict | list):
        data = msgspec.json.encode(data)
    raw = (data.encode() if isinstance(data, str) else data).removeprefix(MARK)
    if len(raw) > limits.item_bytes:
        raise Refused(
            "OBEP605", f"an item of {len(raw)} bytes is over the limit of {limits.item_bytes} bytes"
        )
    if format == "jsonld":
        check_nesting(raw, limits.nesting)
        return read_message(raw)
    check_turtle(raw, limits.nesting)
    return read_turtle(raw)


TOGETHER = 500
"""Messages that are read as one: where one of them is not as it should be, these are read one by one."""


def read_lines(texts: Sequence[str], limits: Limits) -> list[list[Triple] | None]:
    """The triples of many small N-Triples documents, each line once, and as one, which is half the price.

    `None` for a text that is to be read by itself: it is other than lines of one triple each, or may be.
    """
    most = limits.item_bytes // 4  # a character has no more bytes than that
    found: list[list[Triple] | None] = []
    known: dict[str, Triple] = {}
    for first in range(0, len(texts), TOGETHER):
        some = [text.rstrip("\n") for text in texts[first : first + TOGETHER]]
        every = _is_lines("\n".join(some), most)
        split = [text.split("\n") if every or _is_lines(text, most) else None for text in some]
        if _learn(dict.fromkeys(line for lines in split if lines for line in lines), known):
            found += [None if lines is None else [known[line] for line in lines] for lines in split]
        else:
            found += [None] * len(split)
    return found


def read_line_triples(texts: Sequence[str]) -> tuple[list[list[str]], int] | None:
    """The triples of small N-Triples documents of equally many lines, read as one, and how many each has.

    `None` where one of them is other than lines of one triple each, or may be.
    """
    some = [text.rstrip("\n") for text in texts]
    each = some[0].count("\n") + 1
    joined = "\n".join(some)
    if any(text.count("\n") != each - 1 for text in some) or not _is_lines(joined, len(joined) + 1):
        return None
    triples = _triples_of(joined)
    return (triples, each) if triples is not None and len(triples) == each * len(some) else None


def _triples_of(text: str) -> list[list[str]] | None:
    """The triples of an N-Triples document, as they print; `None` if it cannot be read."""
    try:
        written = pyoxigraph.serialize(_parse(text, _N_TRIPLES), format=_N_TRIPLES)
    except (SyntaxError, ValueError):
        return None
    assert written is not None, "it is not written to a file"
    return [line.split(" ", 2) for line in written.decode().split(" .\n")[:-1]]


def _learn(lines: Iterable[str], known: dict[str, Triple]) -> bool:
    """Read lines that are not known yet; whether each has its triple."""
    new = [line for line in lines if line not in known]
    triples = _triples_of("\n".join(new))
    if triples is None or len(triples) != len(
        new
    ):  # a line has no more than one triple: so each has exactly one, or we stop
        return False
    known.update(zip(new, map(tuple, triples), strict=True))  # type: ignore[arg-type]  # three terms each
    return True


def _is_lines(text: str, most: int) -> bool:
    """Whether it is not too long, each line begins with an IRI, and nothing nests or is a message's own."""
    if len(text) >= most or text[:1] != "<" or text.count("\n") != text.count("\n<"):
        return False
    brackets = "[" in text or "(" in text or "{" in text
    return not (brackets or "_:" in text or "<<" in text or "\r" in text)


def localise(triples: Iterable[Triple], prefix: str) -> tuple[Triple, ...]:
    """The distinct triples, blank nodes renamed by first appearance to `_:<prefix>n<number>`."""
    names: dict[str, str] = {}
    renamed: dict[Triple, None] = {}
    for s, p, o in triples:
        if s[0] == "_":
            s = names.get(s) or names.setdefault(s, f"_:{prefix}n{len(names)}")
        if o[0] == "_":
            o = names.get(o) or names.setdefault(o, f"_:{prefix}n{len(names)}")
        elif o[:3] == "<<(":
            raise Refused("OBEP604", "triple terms (RDF 1.2) are not taken in items")
        renamed[s, p, o] = None
    return tuple(renamed)


def private_prefix(stream: str, at: int | None, message: bytes) -> str:
    """The prefix of an item's blank nodes: the same message of a stream at an instant has the same."""
    head = f"{stream}\0{'' if at is None else at}\0".encode()
    return "b" + blake2b(head + message, digest_size=8).hexdigest()


def item_triples(found: list[Triple], stream: str, at: int, message: bytes) -> tuple[Triple, ...]:
    """The graph of an item: distinct triples, blank nodes private to it."""
    for s, _, o in found:
        if s[0] == "_" or o[0] == "_" or o[:3] == "<<(":
            return localise(found, private_prefix(stream, at, message))
    return tuple(dict.fromkeys(found))


def syntax(error: Exception) -> str:
    """The parser's words without its repetition of the line."""
    text = str(error)
    return text[: text.rindex(" (line ")] if text.endswith(")") and " (line " in text else text
