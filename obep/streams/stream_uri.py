"""URIs of sources and sinks, taken apart by hand: `#` and `+` of MQTT topics are no fragments."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote

from obep.config.toml_values import shown_uri
from obep.errors import fail

NETWORK = ("tcp", "mqtt", "mqtts", "kafka", "http", "https", "alertmanager", "alertmanagers")


@dataclass(frozen=True, slots=True, repr=False)
class Address:
    """A URI in its parts; `path` is a file, a topic or a command, without the leading slash of a topic."""

    uri: str
    scheme: str
    path: str
    host: str = ""
    port: int | None = None
    username: str = ""
    password: str = ""
    options: tuple[tuple[str, str], ...] = ()

    def __repr__(self) -> str:
        return f"Address({self.shown})"

    @property
    def shown(self) -> str:
        """The URI as it may be printed."""
        return shown_uri(self.uri)

    def option(self, name: str, default: str = "") -> str:
        """The value of a `?name=value`."""
        return dict(self.options).get(name, default)


def parse_address(uri: str) -> Address:
    """The parts of a URI; what has no known scheme is a path.

    >>> parse_address("mqtt://me:word@localhost:1884/site/+/door?qos=1").path
    'site/+/door'
    """
    scheme, colon, rest = uri.partition(":")
    if colon and scheme in ("dir", "exec"):
        return Address(uri, scheme, rest)
    if not colon or not rest.startswith("//"):
        return Address(uri, "file", uri)
    if scheme == "file":
        return Address(uri, "file", unquote(rest[2:]))
    if scheme not in NETWORK:
        raise fail(
            "OBEP512",
            f"there is no kind of source or sink {scheme}://",
            remedy="a path, -, dir:PATH, tcp://, mqtt://, kafka://, https://, alertmanager://, exec:COMMAND",
        )
    rest, _, query = rest[2:].partition("?")
    place, _, path = rest.partition("/")
    userinfo, at, place = place.rpartition("@")
    username, _, password = userinfo.partition(":") if at else ("", "", "")
    host, port = _host(place, uri)
    options = tuple(parse_qsl(query, keep_blank_values=True))
    return Address(uri, scheme, path, host, port, unquote(username), unquote(password), options)


def _host(place: str, uri: str) -> tuple[str, int | None]:
    if place.startswith("["):  # IPv6
        host, _, rest = place[1:].partition("]")
        port = rest.removeprefix(":")
    else:
        host, _, port = place.partition(":")
    if "," in place:  # several Kafka brokers
        return place, None
    if port and not (port.isdecimal() and int(port) < 65536):
        if "@" in uri:  # it may be a piece of a password
            remedy = "write / as %2F, ? as %3F, # as %23 and a space as %20 in a name or password"
            raise fail("OBEP512", f"{shown_uri(uri)}: the part before the host cannot be read", remedy=remedy)
        raise fail("OBEP512", f"{shown_uri(uri)}: {port!r} is no port")
    return host, int(port) if port else None
