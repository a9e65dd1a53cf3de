"""Brackets of Turtle and TriG that nest too deeply, seen before a parser keeps something for each of them.

Texts, IRIs and comments are passed over, whatever stands in them; a file is looked at as it is read.
"""

from __future__ import annotations

import re

from obep.formats.input_limits import CHUNK, Refused, Unmarked

_PLAIN = re.compile(
    rb"""(?:[^\[\](){}|"'<>\#\\]++ | \}
        | <[^<>\r\n]*+>
        | "(?!""|"?\Z)(?:[^"\\\r\n]++|\\.)*+"
        | '(?!''|'?\Z)(?:[^'\\\r\n]++|\\.)*+'
        | \{(?!\||\Z) | \#[^\r\n]*+[\r\n] | \\.)*+""",
    re.VERBOSE | re.DOTALL,
)
"""Text that opens and closes nothing."""
_WITHIN = {
    b"#": re.compile(rb"[^\r\n]*+"),
    b"<": re.compile(rb"[^<>\r\n]*+"),
    b'"': re.compile(rb'(?:[^"\\\r\n]++|\\.)*+', re.DOTALL),
    b"'": re.compile(rb"(?:[^'\\\r\n]++|\\.)*+", re.DOTALL),
    b'"""': re.compile(rb'(?:[^"\\]++|\\.|"(?!""|"?\Z))*+', re.DOTALL),
    b"'''": re.compile(rb"(?:[^'\\]++|\\.|'(?!''|'?\Z))*+", re.DOTALL),
}
"""The text inside a comment, an IRI or a string, by its beginning; the same number of quotes ends it."""
_OPENS = (b"[", b"(", b"<<", b"{|")
_CLOSES = (b"]", b")", b">>", b"|}")


class Brackets:
    """The depth of brackets at the current end of a document."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._depth = 0
        self._within = b""
        self._rest = b""

    def too_deep(self, piece: bytes) -> int | None:
        """Where in the next piece a bracket lies too deep, if one does."""
        data = self._rest + piece
        before, self._rest = len(self._rest), b""
        closes = self._depth > 0 and b">>" in data
        if not self._within and not closes and _is_flat(data):
            line = data.rfind(b"\n") + 1
            if len(data) - line <= CHUNK:
                self._rest = data[line:]
                return None
        at = self._scan(data)
        return None if at is None else max(at - before, 0)

    def _scan(self, data: bytes) -> int | None:
        at = 0
        while at < len(data):
            run = (_WITHIN[self._within] if self._within else _PLAIN).match(data, at)
            assert run is not None, "each may be empty"
            at = run.end()
            sign = data[at : at + 3]
            if width := len(self._within):
                if len(sign) < width or sign == b"\\":
                    self._rest = sign  # it is seen with what follows
                    return None
                self._within = b""
                at += width
            elif width := _width(sign, _OPENS):
                self._depth += 1
                if self._depth > self._most:
                    return at
                at += width
            elif width := _width(sign, _CLOSES):
                self._depth = max(self._depth - 1, 0)
                at += width
            elif len(sign) < 3:
                self._rest = sign
                return None
            elif sign in _WITHIN:
                self._within = sign
                at += 3
            else:
                self._within = sign[:1] if sign[:1] in _WITHIN else b""
                at += 1
        return None


def _is_flat(data: bytes) -> bool:
    """Whether a piece is at the end of each line as deep as before, and within nothing; most are."""
    brackets = b"[" in data or b"]" in data or b"(" in data or b")" in data or b"|" in data
    return not (brackets or b"<<" in data or b'"""' in data or (b"'" in data and b"'''" in data))


def _width(sign: bytes, those: tuple[bytes, ...]) -> int:
    """The length of the opening quotes at the beginning of a text; 0 if there are none."""
    return next((len(one) for one in those if sign.startswith(one)), 0)


def check_turtle(data: bytes, most: int) -> None:
    """Refuses Turtle whose brackets nest too deeply."""
    if data.count(b"[") + data.count(b"(") + data.count(b"<<") + data.count(b"{|") <= most:
        return
    if Brackets(most).too_deep(data) is not None:
        raise _refused(most)


class Shallow:
    """A file of TriG as far as its brackets do not nest too deeply."""

    def __init__(self, file: Unmarked, most: int) -> None:
        self._file = file
        self._most = most
        self._brackets = Brackets(most)
        self._piece = b""
        self._at = 0
        self._deep = False

    def read(self, n: int = -1, /) -> bytes:
        if self._at >= len(self._piece):
            self._take()
        at, self._at = self._at, self._at + n if n >= 0 else len(self._piece)
        return self._piece[at : self._at]

    def _take(self) -> None:
        if not self._deep:
            self._piece, self._at = self._file.read(CHUNK), 0
            deep = self._brackets.too_deep(self._piece)
            if deep is None:
                return
            self._piece, self._deep = self._piece[:deep], True
            if self._piece:
                return
        raise _refused(self._most, "the rest was not read: ")


def _refused(most: int, what: str = "") -> Refused:
    return Refused("OBEP606", f"{what}brackets are nested more than {most} deep")
