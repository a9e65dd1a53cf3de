"""Reading the tables of obep.toml: every key is known, every value has its kind, secrets stay secret."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from obep.errors import fail
from obep.secrets import remember

_VARIABLE = re.compile(r"\$\{([A-Za-z_]\w*)\}")
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class Secret:
    """A text that may hold a secret: it prints as it is written in obep.toml, `reveal` says what it is."""

    __slots__ = ("_shown", "_value")

    def __init__(self, value: str, shown: str = "***") -> None:
        self._value = value
        self._shown = shown

    def reveal(self) -> str:
        """The secret itself."""
        return self._value

    def __repr__(self) -> str:
        return self._shown

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._value == other._value

    def __hash__(self) -> int:
        return hash(self._value)


MEANT = {"timezone": "zone", "time_zone": "zone", "tz": "zone"}
"""Common names of settings, with their names here."""

Kind = Callable[[Any, str], Any]
"""Takes a value and the place where it stands; gives the setting, or raises OBEP503."""


@dataclass(frozen=True, slots=True)
class Others:
    """The settings of another table, which are easily written into the wrong one."""

    kinds: Mapping[str, Kind]
    place: str = ""
    """Where that table stands; nothing: around this one."""


def table(value: Any, kinds: Mapping[str, Kind], where: str, others: Others | None = None) -> dict[str, Any]:
    """The settings of a table whose keys are all known."""
    if not isinstance(value, dict):
        raise wrong(where, "a table", value)
    unknown = next((key for key in value if key not in kinds), None)
    if unknown is not None:
        meant = MEANT.get(unknown, "")
        near = [meant] if meant in kinds else get_close_matches(unknown, kinds, 1)
        remedy = dotted(where, near[0]) if near else ""
        if others is not None and unknown in others.kinds:
            remedy = f"{unknown} = …   under [{others.place or where.rpartition('.')[0]}]"
        raise fail(
            "OBEP502",
            f"{dotted(where, unknown)}: there is no such setting",
            reason=f"Here stand: {', '.join(kinds)}",
            remedy=remedy,
        )
    return {key: kinds[key](item, dotted(where, key)) for key, item in value.items()}


def tables(kinds: Mapping[str, Kind], others: Others | None = None) -> Kind:
    """A table of tables with names of the user's choice."""

    def read(value: Any, where: str) -> dict[str, dict[str, Any]]:
        if not isinstance(value, dict):
            raise wrong(where, "a table", value)
        return {name: table(item, kinds, dotted(where, name), others) for name, item in value.items()}

    return read


def nested(kinds: Mapping[str, Kind], others: Others | None = None) -> Kind:
    """A table within a table."""
    return lambda value, where: table(value, kinds, where, others)


def text(value: Any, where: str) -> str:
    """A text, with ${NAME} from the environment."""
    if not isinstance(value, str):
        raise wrong(where, "text", value)
    return expand(value, where)


def literal_text(value: Any, where: str) -> str:
    """A text in which ${…} means nothing special."""
    if not isinstance(value, str):
        raise wrong(where, "text", value)
    return value


def names(value: Any, where: str) -> tuple[str, ...]:
    """An array of texts."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise wrong(where, "an array of texts", value)
    return tuple(value)


def secret(value: Any, where: str) -> Secret:
    """A text that is never printed."""
    if not isinstance(value, str):
        raise wrong(where, "text", value)
    return Secret(expand(value, where), value if _VARIABLE.fullmatch(value) else "***")


def headers(value: Any, where: str) -> dict[str, Secret]:
    """Headers of HTTP, as they can be sent; what cannot be is refused without its value."""
    found: dict[str, Secret] = each(secret)(value, where)
    for name, one in found.items():
        place = dotted(where, name)
        if not _HEADER.fullmatch(name):
            raise fail(
                "OBEP503",
                f"{place}: not a valid name of a header",
                reason="Its name consists of letters, digits and hyphens.",
            )
        if wrong_one := next((c for c in one.reveal() if not _sendable(c)), None):
            raise fail(
                "OBEP503",
                f"{place}: the value cannot be sent: it holds {_called(wrong_one)}",
                reason="A header is one line of Latin letters, digits and signs.",
                remedy=_without(wrong_one, value[name]),
            )
    return found


def _sendable(character: str) -> bool:
    return character == "\t" or " " <= character <= "~" or "\xa0" <= character <= "\xff"


def _called(character: str) -> str:
    """A character, without anything of what stands beside it."""
    if character in "\r\n":
        return "a line break"
    return f"the character U+{ord(character):04X}"


def _without(character: str, written: str) -> str:
    """The remedy for a value with a forbidden character."""
    named = _VARIABLE.search(written)
    if character in "\r\n" and named:
        return f'export {named[1]}="$(printf %s "${named[1]}")"   (without the line break at its end)'
    return "write it without, or encoded as the receiver wants it (Base64, say)"


def uri(value: Any, where: str) -> Secret:
    """A URI; it prints without its user and password, and with ${NAME} as written."""
    if not isinstance(value, str) or not value:
        raise wrong(where, "a URI", value)
    return Secret(expand(value, where), shown_uri(value))


def shown_uri(value: str) -> str:
    """A URI as it may be printed.

    >>> shown_uri("mqtt://me:word@host/topic")
    'mqtt://***@host/topic'
    >>> shown_uri("mqtt://me:a/b? c@host/topic"), shown_uri("mqtt://host/topic")
    ('mqtt://***@host/topic', 'mqtt://host/topic')
    >>> shown_uri("kafka://host/a@b")
    'kafka://host/a@b'
    """
    scheme, sign, rest = value.partition("://")
    head = re.split(r"[/?#\s]", rest, maxsplit=1)[0]
    # a password that is not percent-encoded may hold / or ?, so all until the last @ may be secret
    if sign and "@" in rest and ("@" in head or ":" in head):
        return f"{scheme}://***@{rest.rpartition('@')[2]}"
    return value


def whole_number(value: Any, where: str) -> int:
    """A number of things."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise wrong(where, "a whole number", value)
    return value


def positive(value: Any, where: str) -> int:
    """A number of things, of which there is one at least."""
    if whole_number(value, where) == 0:
        raise wrong(where, "a whole number from 1 on", value)
    return int(value)


def flag(value: Any, where: str) -> bool:
    """true or false."""
    if not isinstance(value, bool):
        raise wrong(where, "true or false", value)
    return value


_SECONDS = re.compile(r"\d{1,9}(?:\.\d{1,6})?", re.ASCII)


def duration(value: Any, where: str) -> int:
    """A duration in microseconds; a bare number is one of seconds, also as text (an option is text)."""
    from obep.formats.timestamps import parse_duration

    if isinstance(value, str) and _SECONDS.fullmatch(value.strip()):
        value = float(value)
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e9:
        return round(value * 1_000_000)
    if not isinstance(value, str):
        raise wrong(where, 'a duration such as "5s"', value)
    try:
        return parse_duration(value)
    except ValueError as error:
        raise fail("OBEP503", f"{where}: {error}") from None


def zone(value: Any, where: str) -> str:
    """The name of a zone, or its offset from UTC; it is kept as it is written."""
    from obep.formats.zones import nearest_zone, zone_named

    if not isinstance(value, str):
        raise wrong(where, 'a zone such as "Europe/Berlin"', value)
    try:
        zone_named(value)
    except ValueError:
        raise fail(
            "OBEP503",
            f"{where}: {value!r} is no zone",
            reason='A zone is a name such as "Europe/Berlin", or an offset such as "+02:00".',
            remedy=f'zone = "{near}"' if (near := nearest_zone(value)) else "",
        ) from None
    return value


def choice(*allowed: str) -> Kind:
    """One of a few words."""

    def read(value: Any, where: str) -> str:
        if value not in allowed:
            near = get_close_matches(str(value), allowed, 1)
            raise fail(
                "OBEP503",
                f"{where}: {value!r} is not one of {', '.join(allowed)}",
                remedy=near[0] if near else "",
            )
        return str(value)

    return read


def anything(value: Any, where: str) -> Any:
    """A value that is looked at where it is used."""
    return value


def each(kind: Kind) -> Kind:
    """A table with keys of the user's choice and values of one kind."""

    def read(value: Any, where: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise wrong(where, "a table", value)
        return {key: kind(item, dotted(where, key)) for key, item in value.items()}

    return read


def either(when: type, kind: Kind, otherwise: Kind) -> Kind:
    """One kind for values of a type, another for the rest."""
    return lambda value, where: (kind if isinstance(value, when) else otherwise)(value, where)


def expand(value: str, where: str) -> str:
    """The text with ${NAME} replaced from the environment; an unset one is an error that names it.

    What is taken from there is said nowhere from then on.
    """

    def variable(match: re.Match[str]) -> str:
        found = os.environ.get(match[1])
        if found is None:
            raise fail(
                "OBEP504",
                f"{where}: the environment variable {match[1]} is not set",
                remedy=f"export {match[1]}=…",
            )
        remember(found, match[0])
        return found

    return _VARIABLE.sub(variable, value)


def wrong(where: str, wanted: str, value: object) -> Exception:
    """The error about a value of the wrong kind; it says the kind only, as the value may be a secret."""
    kind = {dict: "a table", list: "an array", str: "text", bool: "true or false"}.get(
        type(value), "a number"
    )
    return fail("OBEP503", f"{where}: expected {wanted}, got {kind}")


def dotted(where: str, key: str) -> str:
    """The place of a key in a table."""
    return f"{where}.{key}" if where else key
