"""Logical occurrences of mapped records: they differ in the terms of the template and in the instant only.

What is found in one record of a decision is found in all of them. Explanation, item and texts are made when
somebody reads them.
"""

from __future__ import annotations

from dataclasses import MISSING, fields
from itertools import groupby
from typing import Any, cast

import msgspec

from obep.abstraction.answer_templates import Hit
from obep.formats.tables.mapped_records import Mapped
from obep.formats.timestamps import Style
from obep.formats.triple_template import Template as Filled
from obep.model import Assertion, Occurrence, Stamp, Term, Triple

Source = int | Term
"""A slot of the template, or a term that all records of the decision have."""
Pattern = tuple[Source, Source, Source]
AT, NAME = -1, -2
"""Among the pieces of a text: the instant, and the individual without its brackets."""
_encode = msgspec.json.Encoder().encode


class DecidedHit:
    """One explanation of an event for an individual, in all records of a decision."""

    __slots__ = (
        *("bounded", "event", "explained", "fixed", "hit", "individual", "names", "often", "plain"),
        *("stream", "template", "_cause", "_stamp"),
    )

    def __init__(
        self,
        hit: Hit,
        individual: Source,
        explained: list[tuple[Pattern, bool]],
        names: list[Source],
        stream: str,
        template: Filled,
    ) -> None:
        """`explained`: the patterns of its assertions in their order, each with whether the item has it."""
        self.hit, self.event, self.bounded = hit, hit.event, hit.bounded
        self.individual, self.explained, self.names = individual, explained, names
        self.stream, self.template = stream, template
        self.fixed = _is_ordered(explained)
        """Whether the order of the assertions is the same in all records."""
        self.plain: list[tuple[int, tuple[Source | None, ...]]] | None = None
        """The asks and the one solution of each, if there is nothing else to solve."""
        self.often: list[tuple[int, int]] = []
        """The asks that only name the individual, and how often."""
        self._cause: list[bytes | int] | None = None
        self._stamp: list[str | int] | None = None

    def explanation(self, terms: tuple[Term | None, ...], at: int) -> tuple[Assertion, ...]:
        """Why it happened in a record."""
        found: list[Assertion] = [
            (_filled(pattern, terms), at if own else None) for pattern, own in self.explained
        ]
        return tuple(found) if self.fixed else tuple(sorted(found))

    def stamp(self, terms: tuple[Term | None, ...], at: int) -> Stamp:
        """What it adds to ids; only where the order is fixed."""
        if self._stamp is None:
            pieces: list[str | int] = []
            for (s, p, o), own in self.explained:
                pieces += (s, " ", p, " ", o, " ", AT if own else "", "\0")
            self._stamp = _joined(pieces)
        known = cast(tuple[Term, ...], terms)  # no term of a hit is missing
        said = "".join(
            [one if isinstance(one, str) else str(at) if one == AT else known[one] for one in self._stamp]
        )
        first, own_first = self.explained[0]
        head = (_filled(first, terms), at if own_first else None)
        if len(self.explained) == 1:
            return head, head, said
        last, own_last = self.explained[-1]
        return head, (_filled(last, terms), at if own_last else None), said

    def cause(self, terms: tuple[Term | None, ...], time: bytes) -> bytes:
        """What it looks like as a part of others in JSON; only where the order is fixed."""
        if self._cause is None:
            self._cause = [one.encode() if isinstance(one, str) else one for one in self._cause_pieces()]
        made = []
        for piece in self._cause:
            if type(piece) is bytes:
                made.append(piece)
            elif piece == AT:
                made.append(time)
            elif piece == NAME:
                made.append(_encode(terms[self.individual])[2:-2])  # type: ignore[index]  # a slot
            else:
                made.append(_encode(terms[piece])[1:-1])  # type: ignore[index]  # a slot
        return b"".join(made)

    def _cause_pieces(self) -> list[str | int]:
        name = self.individual
        pieces: list[str | int] = ['"individual":"', NAME if isinstance(name, int) else _json(_bare(name))]
        pieces += ('","start":', AT, ',"end":', AT, ',"assertions":[')
        for place, (pattern, _) in enumerate(self.explained):
            s, p, o = (one if isinstance(one, int) else _json(one) for one in pattern)
            pieces += (',"' if place else '"', s, " ", p, " ", o, ' ."')
        pieces.append("]")
        if not all(own for _, own in self.explained):
            pieces.append(',"seen":[')
            for place, (_, own) in enumerate(self.explained):
                pieces += ("," if place else "", AT if own else "null")
            pieces.append("]")
        return _joined(pieces)


def _is_ordered(explained: list[tuple[Pattern, bool]]) -> bool:
    """Whether no name of a record can change the order: one assertion, or one subject in all."""
    subjects = {pattern[0] for pattern, _ in explained}
    properties = [pattern[1] for pattern, _ in explained]
    one = len(explained) == 1 or (len(subjects) == 1 and len(set(properties)) == len(properties))
    return one or not any(isinstance(term, int) for pattern, _ in explained for term in pattern)


def _filled(pattern: Pattern, terms: tuple[Term | None, ...]) -> Triple:
    s, p, o = pattern
    return (
        terms[s] if isinstance(s, int) else s,
        p,
        terms[o] if isinstance(o, int) else o,
    )  # type: ignore[return-value]  # properties are no slots, and no term of a hit is missing


def _bare(term: Term) -> str:
    """An IRI without its brackets; a blank node of K as it is."""
    return term[1:-1] if term.startswith("<") else term


def _json(text: str) -> str:
    return _encode(text)[1:-1].decode()


def _joined(pieces: list[str | int]) -> list[str | int]:
    """The same with texts that follow each other as one."""
    found: list[str | int] = []
    for texts, some in groupby(pieces, key=lambda one: isinstance(one, str)):
        found.extend(["".join(map(str, some))] if texts else list(some))  # noqa: B031  # read once
    return found


class Decided(Occurrence):
    """A logical occurrence in a mapped record."""

    __slots__ = ("by", "terms")

    by: DecidedHit
    terms: tuple[Term | None, ...]

    def __getattr__(self, name: str) -> Any:
        # Only called for a slot without a value.
        if name == "explanation":
            value: Any = self.by.explanation(self.terms, self.start)
        elif name == "items":
            value = (Mapped(self.by.stream, self.start, self.terms, self.by.template).item(),)
        elif name in _DEFAULTS:
            value = _DEFAULTS[name]
        else:
            raise AttributeError(name)
        setattr(self, name, value)
        return value


_DEFAULTS = {field.name: field.default for field in fields(Occurrence) if field.default is not MISSING}


def stamp_of_decided(one: Decided) -> Stamp | None:
    """What it adds to ids, without its explanation; nothing where that has to be made."""
    return one.by.stamp(one.terms, one.start) if one.by.fixed else None


def cause_of_decided(one: Decided, style: Style, time: bytes) -> tuple[str, bytes, int] | None:
    """The same for a line of JSON."""
    return (style, one.by.cause(one.terms, time), 0) if one.by.fixed else None
