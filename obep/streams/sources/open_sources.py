"""Opens the sources of a run: each URI with the settings, mapping and limits of its stream."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from obep.config.toml_file import Config
from obep.errors import fail
from obep.formats.stream_reader import GENERATED_AT, Notes, Reading
from obep.formats.zones import zone_named
from obep.streams.sources.batches import Source
from obep.streams.sources.files import FileSource, FolderSource, PipeSource, now
from obep.streams.stream_uri import Address, parse_address


def open_source(
    name: str,
    uri: str,
    config: Config,
    *,
    stream: str = "",
    trusted: bool = True,
    notes: Notes | None = None,
    spool: Path | None = None,
    resumes: bool = False,
) -> Source:
    """The source of a URI, bound to the stream `name` if it has one; `stream` is for records that name none.

    `trusted` says that the user typed the URI: then its file may lie anywhere. `spool` is a folder for
    messages that no checkpoint has yet, if there are checkpoints. `resumes` says that another run will go on
    where this one ends.
    """
    address = parse_address(uri)
    settings = config.sources.get(name, {}) if name else {}
    reading = make_reading(name, settings, config, stream=stream, live=_is_live(address), notes=notes)
    reading.source = shown = name or address.shown
    format = settings.get("format", "")
    reading.growing = resumes and address.scheme == "file"
    if address.scheme == "file" and (uri == "-" or uri.startswith("-.")):
        return PipeSource(shown, uri, reading, format)
    if address.scheme in ("file", "dir"):
        path = Path(address.path) if trusted else config.file(address.path)
        if address.scheme == "dir":
            return FolderSource(shown, path, reading, format)
        return FileSource(shown, path, reading, format, "" if trusted else place_of(name, config))
    return _open_network(shown, address, reading, settings, config, format, spool)


def place_of(name: str, config: Config) -> str:
    """Where obep.toml gives the URI of a source."""
    return f"sources.{name}.uri in {config.path}"


def _open_network(
    name: str,
    address: Address,
    reading: Reading,
    settings: Mapping[str, Any],
    config: Config,
    format: str,
    spool: Path | None,
) -> Source:
    if address.scheme == "tcp":
        from obep.streams.sources.tcp import TcpSource

        return TcpSource(name, address, reading, format)
    if address.scheme in ("mqtt", "mqtts"):
        from obep.streams.mqtt import MqttSource

        return MqttSource(name, address, reading, settings, config, format, spool)
    if address.scheme == "kafka":
        from obep.streams.kafka import KafkaSource

        return KafkaSource(name, address, reading, settings, config, format)
    raise fail(
        "OBEP512", f"{address.shown} is no source", remedy="a path, -, dir:PATH, tcp://, mqtt://, kafka://"
    )


def make_reading(
    name: str,
    settings: Mapping[str, Any],
    config: Config,
    *,
    stream: str = "",
    live: bool = False,
    notes: Notes | None = None,
) -> Reading:
    """How the records of a source are read, by its settings in obep.toml.

    Where a mapping names the field of the time, a record without it is wrong, also on a live source: its
    arrival would move the watermark to now, and all that is older would be late.
    """
    found = config.mapping_of(name) if name else None
    mapping = None
    if found is not None:
        from obep.formats.record_mapping import make_mapping

        mapping = make_mapping(*found)
    timed = found is not None and "time" in found[0]
    arrives = settings.get("missing_time", "arrival" if live and not timed else "refuse") == "arrival"
    time_property = settings.get("time_property")
    return Reading(
        stream=name or stream,
        rename=bool(name),
        unit=settings.get("unit", "s"),
        zone=zone_named(settings.get("zone", "UTC")),
        time_property=f"<{time_property}>" if time_property else GENERATED_AT,
        prologue="".join(f"@prefix {p}: <{iri}> .\n" for p, iri in settings.get("prefixes", {}).items()),
        mapping=mapping,
        mapped=() if name else tuple(stream for stream, one in config.sources.items() if "mapping" in one),
        arrival=now if arrives else None,
        limits=config.limits,
        notes=notes or Notes(),
    )


def _is_live(address: Address) -> bool:
    """Whether messages have a time of arrival that means something."""
    return address.scheme not in ("file", "dir") or address.path == "-" or address.path.startswith("-.")
