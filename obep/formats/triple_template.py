"""A template of triples with {field} placeholders, read once as Turtle; records only fill in terms.

`:sensor-{id} :celsius {temp:double} ; :note "in {room?}" .` Placeholders stand for a term, for a part of an
IRI or local name (encoded), or for a part of a string. A triple with an optional `{field?}` that is missing
is left out; any other missing field refuses the record. `{{` and `}}` are braces.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo
from functools import partial
from typing import Any

from pyoxigraph import Literal, RdfFormat, parse

from obep.errors import fail
from obep.formats.input_limits import Refused
from obep.formats.rdf_text import localise, read_turtle
from obep.formats.record_fields import (
    TYPES,
    XSD,
    Record,
    as_text,
    date_time,
    in_iri,
    is_null,
    look_up,
)
from obep.formats.reference_lookup import Lookup
from obep.formats.time_hints import fields_there, likely_field
from obep.formats.units import shown
from obep.model import RDF_TYPE, Term, Triple

_TOKENS = re.compile(
    r"""(?P<iri><[^\s<>"]*>)
      | (?P<text>\"{3}.*?\"{3} | '{3}.*?'{3} | "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*')
      | (?P<comment>\#[^\n]*)
      | (?P<variable>\?[^\W\d]\w*)
      | (?P<name>(?:[\w.:%-]|\{[^{}\n]*\})+)
      | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_PLACE = re.compile(r"\{([^{}\n]*)\}")


@dataclass(frozen=True, slots=True)
class Place:
    """A placeholder: the field, the type of its term, and whether it may be missing."""

    path: str
    type: str = ""
    optional: bool = False


Fill = Callable[[Record], Term | None]
"""Makes a term for a record; None if an optional field is missing."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A term to be filled in: texts around places; `kind` is term, iri or text, `suffix` a text's type."""

    kind: str
    pieces: tuple[str | Place, ...]
    suffix: str = ""

    @property
    def places(self) -> tuple[Place, ...]:
        return tuple(piece for piece in self.pieces if isinstance(piece, Place))

    @property
    def around(self) -> tuple[str, str]:
        """What stands before and after the place of an IRI that has one."""
        [at] = [n for n, piece in enumerate(self.pieces) if isinstance(piece, Place)]
        return "<" + "".join(map(str, self.pieces[:at])), "".join(map(str, self.pieces[at + 1 :])) + ">"

    def compile(self, zone: tzinfo = UTC) -> Fill:
        """A function that fills it in; what can be decided once is decided here."""
        if self.kind == "term":
            return _fill_term(self.places[0], _made(self.places[0].type, zone))
        if self.suffix.startswith(f"^^<{XSD}") and len(self.pieces) == 1:
            type = self.suffix[len(XSD) + 3 : -1]
            if type in TYPES:
                return _fill_term(self.places[0], _made(type, zone))
        return _fill_iri(self) if self.kind == "iri" else _fill_text(self.pieces, self.suffix)


def _made(type: str, zone: tzinfo) -> Callable[[str, Any], Term]:
    """What makes terms of a type; date-times without a zone are those of `zone`."""
    return partial(date_time, zone=zone) if type == "dateTime" else TYPES[type]


def value_of(record: Record, place: Place) -> Any:
    """The value of a place; None if it is optional and missing."""
    value = record.get(place.path)
    if value is None:
        value = look_up(record, place.path)
    if value is None or value == "":
        if place.optional:
            return None
        if value is None:
            raise _nothing(record, place)
    return value


def _nothing(record: Record, place: Place) -> Refused:
    """What is said of a record that lacks a field, or has nothing in it."""
    path = place.path
    steps = path.split(".")
    ways = (".".join(steps[:n]) for n in range(1, len(steps) + 1))
    if null := next((way for way in ways if is_null(record, way)), ""):
        what = "the field" if null == path else null
        optional = f"{{{path}?{':' if place.type else ''}{place.type}}}"
        return Refused("OBEP610", f"{path}: {what} is null; {optional} would leave its triples out")
    near = likely_field(record, path)
    hint = f": is it {near}? Then {{{near}}} in the mapping" if near else f"; {fields_there(record)}"
    return Refused("OBEP610", f"{path}: the field is missing{hint}")


def _fill_term(place: Place, make: Callable[[str, Any], Term]) -> Fill:
    def fill(record: Record) -> Term | None:
        value = value_of(record, place)
        return None if value is None else make(place.path, value)

    return fill


def _fill_iri(slot: Slot) -> Fill:
    def fill(record: Record) -> Term | None:
        text = _joined(record, slot.pieces, in_iri)
        return None if text is None else f"<{text}>"

    return fill if len(slot.places) > 1 else _fill_iri_at_once(slot, fill)


def _fill_iri_at_once(slot: Slot, otherwise: Fill) -> Fill:
    """The same for one place, which most values fill as they are: nothing in them needs to be encoded."""
    path, (head, tail) = slot.places[0].path, slot.around

    def fill(record: Record) -> Term | None:
        value: Any = record.get(path)
        kind = type(value)
        if kind is int or (kind is str and value.isascii() and value.isalnum()):
            return f"{head}{value}{tail}"
        return otherwise(record)

    return fill


def _fill_text(pieces: tuple[str | Place, ...], suffix: str) -> Fill:
    def fill(record: Record) -> Term | None:
        text = _joined(record, pieces, as_text)
        if text is None:
            return None
        try:
            return f"{Literal(text)}{suffix}"
        except (ValueError, UnicodeEncodeError):
            path = next(piece.path for piece in pieces if isinstance(piece, Place))
            raise Refused("OBEP610", f"{path}: {shown(text)} is not text") from None

    return fill


def _joined(
    record: Record, pieces: tuple[str | Place, ...], written: Callable[[str, Any], str]
) -> str | None:
    """The pieces, with the fields of a record in their places; nothing where one may be missing, and is."""
    text = ""
    for piece in pieces:
        if isinstance(piece, str):
            text += piece
        elif (value := value_of(record, piece)) is None:
            return None
        else:
            text += written(piece.path, value)
    return text


Pattern = tuple[Term | Slot, Term | Slot, Term | Slot]


class Template:
    """The triples of a template, ready to be filled in."""

    def __init__(
        self,
        patterns: tuple[Pattern, ...],
        zone: tzinfo = UTC,
        lookup: Lookup | None = None,
        name: Slot | None = None,
    ) -> None:
        """`name`: the slot of the name of the item, which stands in no triple."""
        self.patterns = patterns
        self._lookup = lookup
        terms = dict.fromkeys(term for pattern in patterns for term in pattern)
        slots = [term for term in terms if isinstance(term, Slot)]
        self._named = name is not None
        if name is not None:
            slots.append(name)
        self._constants = [term for term in terms if isinstance(term, str)]
        filled: list[Term | Slot] = [*slots, *self._constants]
        number = {term: n for n, term in enumerate(filled)}
        self.slots = tuple(slots)
        self.fills = tuple(slot.compile(zone) for slot in slots)
        self._shape = tuple((number[s], number[p], number[o]) for s, p, o in patterns)
        self._objects: dict[str, list[int]] = {}
        """For each field the patterns whose objects have it."""
        for n, (_, _, o) in enumerate(patterns):
            for place in o.places if isinstance(o, Slot) else ():
                self._objects.setdefault(place.path, []).append(n)

    @property
    def paths(self) -> tuple[str, ...]:
        """The fields that it has places for, each once."""
        slots = (term for pattern in self.patterns for term in pattern if isinstance(term, Slot))
        paths = dict.fromkeys(place.path for slot in slots for place in slot.places)
        if self._lookup is not None:
            for variable in self._lookup.variables:
                paths.pop(variable, None)
            paths |= dict.fromkeys(self._lookup.fields)
        return tuple(paths)

    def fill(self, record: Record) -> list[Triple]:
        """The triples for a record; blank nodes have the template's labels."""
        return self.triples(self._filled(record))

    def _filled(self, record: Record) -> list[Term | None]:
        if self._lookup is not None:
            names = zip(self._lookup.variables, self._lookup.find(record), strict=True)
            record = record | {variable: name[1:-1] for variable, name in names}
        return [fill(record) for fill in self.fills]

    def made_of(self, path: str, record: Record, sent: object, found: list[Triple]) -> Iterable[Triple]:
        """The triples whose object has a field."""
        places = self._objects.get(path, ())
        if len(found) == len(self._shape):
            return [one for place in places if (one := found[place])[2][0] == '"']
        terms = [*self._filled(record), *self._constants]
        made = [tuple([terms[n] for n in self._shape[place]]) for place in places]
        return [one for one in found if one in made and one[2][0] == '"']

    def name(self, filled: Sequence[Term | None]) -> Term:
        """The name of the item that the terms of the slots make; nothing if it has none."""
        return (filled[-1] or "") if self._named else ""

    def triples(self, filled: Iterable[Term | None]) -> list[Triple]:
        """The triples that the terms of the slots make, without those that lack one."""
        terms = [*filled, *self._constants]
        found = [(terms[s], terms[p], terms[o]) for s, p, o in self._shape]
        if None in terms:
            found = [triple for triple in found if None not in triple]
        return found  # type: ignore[return-value]  # without None

    @property
    def names(self) -> frozenset[Term]:
        """The properties and classes that stand in it."""
        said = ((o if p == RDF_TYPE else p) for _, p, o in self.patterns)
        return frozenset(name for name in said if isinstance(name, str))

    @property
    def plain(self) -> bool:
        """Whether the terms of its slots, which are no properties, are all that records differ in."""
        if self._lookup is not None or any(term.startswith("_:") for term in self._constants):
            return False
        return not any(isinstance(p, Slot) for _, p, _ in self.patterns)


def compile_template(
    text: str, prefixes: dict[str, str], where: str, zone: tzinfo = UTC, lookup: Lookup | None = None
) -> Template:
    """Reads a template; what is wrong with it is an error of the configuration.

    The variable of a `lookup` may stand in it wherever an IRI may.
    """
    mark = "obepPlace"
    while mark in text:
        mark += "x"
    places: list[Place] = []
    prologue = "".join(f"@prefix {name}: <{iri}> .\n" for name, iri in prefixes.items())
    turtle = _with_marks(text, mark, places, where)
    try:
        triples = localise(read_turtle(prologue + turtle), "t")
    except Refused as refused:
        hint = "Each line of prefixes counts too." if prefixes else ""
        unknown = re.search(r"The prefix (\S*): has not been declared", refused.reason)
        remedy = ""
        if unknown:
            remedy = f'prefixes = {{ "{unknown[1]}" = "http://example.org/" }}   under [{where}]'
        elif _lacks_dot(prologue + turtle):
            remedy = f"a . is missing at the end: {_end_of(text)} ."
        raise fail(
            "OBEP522",
            f"{where}: the template is not Turtle: {refused.reason}",
            reason="" if remedy else hint,
            remedy=remedy,
        ) from None
    if not triples:
        raise fail("OBEP522", f"{where}: the template has no triples")
    finder = re.compile(rf"{mark}(\d+)e")
    slot = partial(_slot, finder=finder, places=places, mark=mark)
    patterns = tuple((slot(s), slot(p), slot(o)) for s, p, o in triples)
    for s, p, _ in patterns:
        for term, allowed in ((s, "an IRI"), (p, "an IRI")):
            if isinstance(term, Slot) and term.kind == "term" and term.places[0].type != "iri":
                path = term.places[0].path
                raise fail(
                    "OBEP522",
                    f"{where}: {{{path}}} stands where {allowed} is needed",
                    remedy=f"{{{path}:iri}}",
                )
    _check_variables(places, lookup, where)
    return Template(patterns, zone, lookup)


def _check_variables(places: Iterable[Place], lookup: Lookup | None, where: str) -> None:
    """A template uses the variable of its lookup, and no other."""
    used = {place.path for place in places if place.path.startswith("?")}
    given = set(lookup.variables) if lookup is not None else set()
    if strange := sorted(used - given):
        raise fail(
            "OBEP522",
            f"{where}: the variable {strange[0]} of the template is not defined",
            reason=f"Its lookup has {', '.join(sorted(given))}." if given else "",
            remedy=f'subject = {{ lookup = "{strange[0]} …/… {{id}}" }}' if lookup is None else "",
        )
    if given - used:
        raise fail("OBEP522", f"{where}: the template does not use {given.pop()}, which is looked up")


def _lacks_dot(turtle: str) -> bool:
    """Whether all that a text needs to be Turtle is a dot at its end."""
    try:
        return bool(read_turtle(f"{turtle} ."))
    except Refused:
        return False


def _end_of(text: str, most: int = 40) -> str:
    """The last words of a template."""
    *_, last = text.strip().splitlines()
    last = last.strip()
    return last if len(last) <= most else f"… {last[-most:].partition(' ')[2] or last[-most:]}"


def _with_marks(text: str, mark: str, places: list[Place], where: str) -> str:
    """The template as Turtle, with marks where the placeholders were."""
    text = text.replace("{{", "\x00").replace("}}", "\x01")

    def marked(match: re.Match[str]) -> str:
        places.append(_place(match[1], where))
        return f"{mark}{len(places) - 1}e"

    out = []
    for token in _TOKENS.finditer(text):
        piece = token[0]
        if token.lastgroup == "comment":
            continue
        if token.lastgroup == "name" and (bare := _PLACE.fullmatch(piece)):
            piece = f"<obep-field:{marked(bare)}>"
        elif token.lastgroup == "name":
            body, dot = (piece[:-1], ".") if piece.endswith(".") else (piece, "")
            lone = _PLACE.fullmatch(body)
            piece = (f"<obep-field:{marked(lone)}>" if lone else _PLACE.sub(marked, body)) + dot
        elif token.lastgroup == "variable":
            places.append(Place(piece, "iri"))
            piece = f"<obep-field:{mark}{len(places) - 1}e>"
        elif token.lastgroup in ("iri", "text"):
            piece = _PLACE.sub(marked, piece)
        elif piece in "{}":
            raise fail(
                "OBEP522",
                f"{where}: an unmatched brace",
                remedy="{field}, or {{ for a brace",
            )
        out.append(piece)
    return "".join(out).replace("\x00", "{").replace("\x01", "}")


def _place(inside: str, where: str) -> Place:
    path, colon, type = inside.rpartition(":")
    if not colon or type not in TYPES or not type:
        if colon and re.fullmatch(r"\w+\??", type) and path and not path.startswith("@"):
            misplaced = type[-1] == "?" and type[:-1] in TYPES
            raise fail(
                "OBEP522",
                f"{where}: {{{inside}}}: unknown type {type!r}",
                reason="Write the ? of an optional field before the type." if misplaced else "",
                remedy=f"{{{path}?:{type[:-1]}}}" if misplaced else " ".join(filter(None, TYPES)),
            )
        path, type = inside, ""
    optional = path.endswith("?")
    path = path.removesuffix("?").strip()
    if not path:
        raise fail("OBEP522", f"{where}: {{{inside}}} names no field")
    return Place(path, type, optional)


def _slot(term: Term, finder: re.Pattern[str], places: list[Place], mark: str) -> Term | Slot:
    found = finder.split(term)
    if len(found) == 1:
        return term
    if whole := re.fullmatch(rf"<obep-field:{mark}(\d+)e>", term):
        return Slot("term", (places[int(whole[1])],))
    kind, suffix = "iri", ""
    if term[0] == '"':
        kind, end = "text", term.rindex('"')
        suffix = term[end + 1 :]
        found = finder.split(term[1:end])
        # What stands around the places was escaped for N-Triples; it is escaped again as a whole later.
        found[::2] = [_unescaped(text) for text in found[::2]]
    else:
        found = finder.split(term[1:-1])
    pieces = [places[int(text)] if n % 2 else text for n, text in enumerate(found)]
    return Slot(kind, tuple(piece for piece in pieces if piece != ""), suffix)


def _unescaped(text: str) -> str:
    [quad] = parse(f'<urn:x> <urn:x> "{text}" .', RdfFormat.N_TRIPLES)
    assert isinstance(quad.object, Literal)
    return quad.object.value
