"""The specification of a run for both engines: the query, its sources and its sinks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from string import digits
from typing import Any

from obep.config.output_forms import is_json
from obep.config.toml_file import Config
from obep.config.toml_values import shown_uri
from obep.errors import Diagnostic, fail
from obep.model import local_name
from obep.query.ast import Language
from obep.query.nearest_name import alike
from obep.streams.sinks.open_sinks import ALERTMANAGER, form_of, require_one_topic
from obep.streams.sinks.output_files import output_key
from obep.streams.stream_uri import parse_address

NEAR = 0.8
"""The similarity, at most 1, from which on one name is probably the other misspelt."""


@dataclass(frozen=True, slots=True, repr=False)
class Inlet:
    """A source: the stream it is bound to (if it is), its URI, and whether the user typed it."""

    name: str
    uri: str
    trusted: bool
    alone: bool = True
    """Whether it is the only source of its stream."""

    @property
    def key(self) -> str:
        """Its key in a checkpoint."""
        return self.name if self.name and self.alone else self.shown

    @property
    def shown(self) -> str:
        return f"{self.name}={shown_uri(self.uri)}" if self.name else shown_uri(self.uri)

    def __repr__(self) -> str:
        return self.shown


@dataclass(frozen=True, slots=True, repr=False)
class Target:
    """A sink: its URI and settings, the form of its output if that is fixed, and the events it takes."""

    key: str
    """Its key in a checkpoint."""
    uri: str
    trusted: bool
    settings: Mapping[str, Any] = field(default_factory=dict)
    form: str = ""
    """A name of `FORMS`; empty if it is not fixed."""
    events: tuple[str, ...] = ()
    asked: bool = False
    """Whether the user has given the form, by `--as` or `as`."""

    def __repr__(self) -> str:
        return shown_uri(self.uri)


@dataclass(frozen=True, slots=True)
class Order:
    """The settings of one run; durations are microseconds."""

    query: Path
    config: Config
    inlets: tuple[Inlet, ...]
    targets: tuple[Target, ...]
    lateness: int = 0
    idle: int | None = None
    future: int | None = None
    checkpoint: Path | None = None
    dead_letters: Path | None = None
    strict: bool = False
    require_complete: bool = False
    why: bool = False
    quiet: bool = False
    lints: bool = True
    """Whether rules look at the query, its configuration and its streams."""
    log_json: bool = False
    metrics: str = ""
    master: str = ""
    conf: Mapping[str, str] = field(default_factory=dict)
    drop_state: bool = False
    watch: bool = False
    """Whether the query is replaced when its files change."""
    workers: int = 1
    """The number of processes that the keys are split over."""
    dialect: Language | None = None
    """The language of the query, where neither its ending nor its text shall tell."""


def bind(given: Sequence[str], streams: Sequence[str], config: Config) -> tuple[Inlet, ...]:
    """The sources of a query's streams: those given as [NAME=]URI, and those of obep.toml for the rest.

    A source without a name holds records that name their streams themselves; see `named` for the exception.
    """
    inlets = named([_given(text) for text in given], streams, config)
    names = {inlet.name for inlet in inlets}
    for inlet in inlets:
        if inlet.name and streams and inlet.name not in streams:
            near = get_close_matches(inlet.name, streams, 1)
            raise fail(
                "OBEP511",
                f"the query has no stream {inlet.name}",
                reason=f"It reads: {', '.join(streams)}",
                remedy=f"--source {near[0]}={shown_uri(inlet.uri)}" if near else "",
            )
    for stream in streams or config.sources:
        if stream not in names and stream in config.sources:
            unnamed = next((inlet.shown for inlet in inlets if not inlet.name), "")
            inlets.append(Inlet(stream, _uri_of(stream, config, unnamed), trusted=False))
            names.add(stream)
    missing = [stream for stream in streams if stream not in names]
    if not inlets or (missing and "" not in names):
        what = f"stream {missing[0]} has no source" if missing else "there is no source"
        name = f"{missing[0]}=" if missing else ""
        raise fail(
            "OBEP511",
            what,
            reason=_meant(missing[0], streams, names, config) if missing else "",
            remedy=f"--source {name}FILE.jsonl   (or [sources.{name.rstrip('=') or 'NAME'}] in obep.toml)",
        )
    return _apart(inlets)


def _meant(stream: str, streams: Sequence[str], bound: Iterable[str], config: Config) -> str:
    """A source of obep.toml, or a stream with a source, whose name is almost that of a stream without one."""
    for name, meant in misnamed(streams, config):
        if meant == stream:
            return f"obep.toml has [sources.{name}]."
    near = [name for name in sorted(bound) if alike(name, stream)]
    return f"The stream {near[0]} has one; is it that?" if near else ""


def misnamed(streams: Sequence[str], config: Config) -> list[tuple[str, str]]:
    """Sources of obep.toml that no stream has, each with the stream without such settings it was meant for.

    One obep.toml may serve several queries, so a name that is not near, or has another number, is left alone,
    and so is one beside a stream that has the same settings itself.
    """
    others = [name for name in config.sources if name not in streams]
    bare = {
        name: [one for one in streams if config.sources[name].keys().isdisjoint(config.sources.get(one, {}))]
        for name in others
    }
    near = ((name, stream) for name in others for stream in get_close_matches(name, bare[name], 1, NEAR))
    return [(name, stream) for name, stream in near if name.strip(digits) != stream.strip(digits)]


def unread_sources(query: Path, streams: Sequence[str], config: Config) -> list[Diagnostic]:
    """Warnings of sources in obep.toml that a query does not read, though it was probably to."""
    wrong = misnamed(streams, config)
    said = [
        ("OBEP511", name, f"the query has no stream {name}", f"[sources.{near}{_only(config.sources[name])}]")
        for name, near in wrong
    ]
    said += [
        ("OBEP511", name, f"the query does not read the stream {name}", f"FROM STREAM <{name}>")
        for name in _unread(query, streams, config)
        if name not in dict(wrong)
    ]
    return [
        Diagnostic(code, f"obep.toml: sources.{name}: {message}", remedy=remedy, severity="warning")
        for code, name, message, remedy in said
    ]


def _only(settings: Mapping[str, Any]) -> str:
    """The mapping, if a source has nothing else."""
    return ".mapping" if set(settings) == {"mapping"} else ""


def _unread(query: Path, streams: Sequence[str], config: Config) -> list[str]:
    """The sources of the obep.toml beside a query that neither it reads nor another query there names."""
    if not streams or config.folder != query.parent.resolve():
        return []
    unread = [name for name in config.sources if name not in streams]
    beside = [path for path in query.parent.glob("*.obep") if path.name != query.name] if unread else []
    others = [_text(path) for path in beside]
    return [name for name in unread if not any(f"<{name}>" in text for text in others)]


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", errors="replace") if path.is_file() else ""
    except OSError:  # this file was not asked for
        return ""


def _uri_of(stream: str, config: Config, unnamed: str) -> str:
    """The URI of a source in obep.toml; where it has none, a source given without a name was meant for it."""
    uri = config.sources[stream].get("uri")
    if uri is None:
        raise fail(
            "OBEP512",
            f"sources.{stream}: there is no uri",
            file=str(config.path or ""),
            remedy=f"--source {stream}={unnamed}"
            if unnamed
            else f'uri = "FILE.jsonl" there, or --source {stream}=FILE.jsonl',
        )
    return str(uri.reveal())


def named(inlets: Iterable[Inlet], streams: Sequence[str], config: Config) -> list[Inlet]:
    """The sources, one without a name named after the only stream if obep.toml says how that is read."""
    if len(streams) != 1 or streams[0] not in config.sources:
        return list(inlets)
    return [inlet if inlet.name else replace(inlet, name=streams[0]) for inlet in inlets]


def bindings(order: Order, streams: Iterable[str]) -> list[str]:
    """The options that would give sources without a name to streams that have a mapping in obep.toml."""
    mapped = [one for one in sorted(streams) if "mapping" in order.config.sources.get(one, {})]
    return [
        f"--source {stream}={inlet.shown}" for inlet in order.inlets if not inlet.name for stream in mapped
    ]


def _apart(inlets: Sequence[Inlet]) -> tuple[Inlet, ...]:
    """The sources, those that share a stream distinguished by their URIs."""
    names = Counter(inlet.name for inlet in inlets)
    found = {one.key: one for one in (replace(i, alone=names[i.name] == 1) for i in inlets)}
    if len(found) < len(inlets):
        twice = next(shown for shown, n in Counter(inlet.shown for inlet in inlets).items() if n > 1)
        raise fail("OBEP511", f"the source {twice} is given twice", remedy="give it once")
    return tuple(found.values())


def aim(given: Sequence[str], form: str, config: Config) -> tuple[Target, ...]:
    """The sinks of a run: those given (a URI, or a name of obep.toml), else all of obep.toml, else stdout."""
    targets = []
    for text in given or config.sinks or ("-",):
        if text in config.sinks:
            settings = config.sinks[text]
            uri, chosen = settings["uri"].reveal(), form or settings.get("as", "")
            targets.append(_target(_sink_key(text, uri, False, config), uri, False, settings, chosen))
            if parse_address(uri).scheme == "exec" and not (config.allow_exec or text in given):
                raise fail(
                    "OBEP516",
                    f"sinks.{text} runs a program",
                    reason="obep runs a program of obep.toml only if you allow it.",
                    remedy=f"--sink {text}   (or --allow-exec)",
                )
        else:
            key = _sink_key(shown_uri(text), text, True, config)
            targets.append(_target(key, text, True, {}, form))
    return _counted(targets)


def _sink_key(name: str, uri: str, trusted: bool, config: Config) -> str:
    """The key of a sink in a checkpoint: the path of a file, or its name or URI."""
    path = _file_at(uri, trusted, config)
    return name if path is None else output_key(path)


def file_of(target: Target, config: Config) -> Path | None:
    """The file that a sink is, if it is one."""
    return _file_at(target.uri, target.trusted, config)


def _file_at(uri: str, trusted: bool, config: Config) -> Path | None:
    address = parse_address(uri)
    if address.scheme != "file" or uri == "-":
        return None
    return Path(address.path) if trusted else config.file(address.path)


def origin_of(inlet: Inlet) -> str:
    """The kind of a source's position: in a file, standard input, a folder, a topic."""
    if inlet.uri == "-" or inlet.uri.startswith("-."):
        return "standard input"
    scheme, _, _ = inlet.uri.partition(":")
    if scheme == "kafka":
        return f"Kafka's topic {parse_address(inlet.uri).path}"
    words = {"dir": "a folder", "tcp": "TCP", "mqtt": "MQTT", "mqtts": "MQTT", "rate": "a rate"}
    return words.get(scheme, "a file")


def _counted(targets: Iterable[Target]) -> tuple[Target, ...]:
    """The sinks, those with equal keys distinguished."""
    seen: Counter[str] = Counter()
    found = []
    for target in targets:
        seen[target.key] += 1
        again = seen[target.key] > 1
        found.append(replace(target, key=f"{target.key} #{seen[target.key]}") if again else target)
    return tuple(found)


def _target(key: str, uri: str, trusted: bool, settings: Mapping[str, Any], form: str) -> Target:
    scheme, asked = parse_address(uri).scheme, form != ""
    if scheme in ("http", "https", "exec", *ALERTMANAGER):
        if not is_json(form) and form == settings.get("as"):
            raise fail("OBEP513", f"{shown_uri(uri)} takes JSON, not {form.upper()}")
        form, asked = (form, asked) if is_json(form) else ("event", False)
    elif scheme == "file" and uri != "-":
        form = form_of(uri, form)
    elif form == "csv" and uri != "-":
        raise fail(
            "OBEP513",
            f"{shown_uri(uri)} gets a message each, and CSV has a header",
            remedy="--as rows, or a sink .csv",
        )
    require_one_topic(parse_address(uri))
    return Target(key, uri, trusted, settings, form, tuple(settings.get("events", ())), asked)


def _given(text: str) -> Inlet:
    """[NAME=]URI; a URI may hold `=` itself, after a `:`, `/` or `?`."""
    name, equals, uri = text.partition("=")
    if equals and name and uri and not any(c in name for c in ":/?."):
        return Inlet(name, uri, trusted=True)
    return Inlet("", text, trusted=True)


def wanted_events(names: Iterable[str], known: Iterable[str]) -> frozenset[str]:
    """The events and states (as terms) that a sink names by IRI or by the end of one."""
    found = set()
    terms = list(known)
    for name in names:
        matching = [term for term in terms if name in (term[1:-1], local_name(term))]
        if not matching:
            ends = [local_name(term) for term in terms]
            near = get_close_matches(name, ends, 1)
            raise fail(
                "OBEP517", f"the query returns no event {name}", remedy=near[0] if near else ", ".join(ends)
            )
        found.update(matching)
    return frozenset(found)


def wanted_by(target: Target, returned: Iterable[str], alerting: Iterable[str]) -> frozenset[str]:
    """The events and states (as terms) that a sink takes, of those that a query returns; none: all."""
    alerts = tuple(alerting)
    wanted = wanted_events(target.events, (*returned, *alerts))
    is_alertmanager = parse_address(target.uri).scheme in ALERTMANAGER
    return _only_alerts(target, wanted, alerts) if is_alertmanager else wanted


def _only_alerts(target: Target, wanted: frozenset[str], alerting: Iterable[str]) -> frozenset[str]:
    """The alerts for an Alertmanager: those of all states if it names none."""
    alerts = frozenset(alerting)
    others = sorted(local_name(event) for event in wanted - alerts)
    if others or not alerts:
        why = f"{others[0]} is an event" if others else "the query returns none"
        raise fail(
            "OBEP517",
            f"{target!r} takes alerts, and {why}",
            reason="An alert fires when a state begins and is resolved when it ends; an event does not end.",
            remedy="STATE S … and RETURN S AS ALERTS",
        )
    return wanted or alerts
