"""The input and output of the rules about streams and configurations."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from obep.model import Term

if TYPE_CHECKING:
    from obep.config.toml_file import Config
    from obep.engine.query import Query
    from obep.formats.timestamps import Style
    from obep.ontology.bundle.compile import Bundle


class Finding(NamedTuple):
    """A finding of a rule about streams or configurations."""

    stream: str
    """The stream, or the source; empty: the run as a whole."""
    message: str
    remedy: str = ""
    reason: str = ""
    about: Term = ""
    """The name that it is about, if it is about one. It is redundant if a rule that suppresses its own has
    found something about the same name of the same stream, or about the stream as a whole."""


def label(stream: str) -> str:
    """The beginning of a message about a stream; the stream of a query that names none has no label.

    >>> label("doors"), label("")
    ('doors: ', '')
    """
    return f"{stream}: " if stream else ""


@dataclass(frozen=True, slots=True)
class RunContext:
    """The input of a rule about streams beside the statistics."""

    query: Query
    watched: Callable[[str], Any]
    """The result of the rule's `watch` for the items of a stream."""
    streams: Collection[str] = ()
    """The streams of the query."""
    found: Container[Term] = ()
    """The events that occurred."""
    style: Style | None = None
    """The style of instants."""
    ended: bool = False
    """Whether the run is over, so that nothing more can be learnt from it."""
    at_end: bool = False
    """Whether it has read all there is, from its beginning, and not all of it was refused."""
    bounded: bool = False
    """Whether it has read all there is, from its beginning, of sources that end."""
    units_read: Container[str] = ()
    """The streams of which the units that come with numbers are read."""


@dataclass(frozen=True, slots=True)
class ConfigContext:
    """The input of a rule about a configuration."""

    bundle: Bundle
    config: Config
    endless: tuple[str, ...] = ()
    """The sources of the run that may go on for ever."""
    ending: tuple[str, ...] = ()
    """Its other sources."""
    waits: bool = field(default=True)
    """Whether a setting says how long sources wait for each other."""
