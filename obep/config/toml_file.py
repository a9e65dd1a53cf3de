"""obep.toml: sources, sinks, mappings, the ontology catalogue, and settings of the engines and limits.

It lies beside the query, or is named by --config. Paths in it are relative to it, and files lie below its
folder unless --allow-path says otherwise.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from obep.config.catalogue import Catalogue
from obep.config.output_forms import ASKED
from obep.config.toml_values import (
    Kind,
    Others,
    Secret,
    anything,
    choice,
    duration,
    each,
    either,
    flag,
    headers,
    literal_text,
    names,
    nested,
    positive,
    secret,
    table,
    tables,
    text,
    uri,
    whole_number,
    zone,
)
from obep.errors import Diagnostic, ObepError, Span, fail
from obep.formats.input_limits import Limits
from obep.formats.quantities import UNITS
from obep.model import Triple

NAME = "obep.toml"

MAPPING: dict[str, Kind] = {
    "template": literal_text,
    "context": either(str, text, anything),
    "subject": either(str, text, nested({"lookup": literal_text})),
    "records": literal_text,
    "prefixes": each(text),
    "time": text,
    "time_format": text,
    "zone": zone,
    "unit": choice("s", "ms", "us", "ns"),
    "units": each(anything),
}

CONNECTION: dict[str, Kind] = {
    "username": secret,
    "password": secret,
    "tls": flag,
    "ca": text,
    "certificate": text,
    "key": text,
    "client_id": text,
    "qos": whole_number,
    "options": each(secret),
}
"""The common settings of sources and sinks on a network."""

OF_SOURCE: dict[str, Kind] = {
    "uri": uri,
    "format": text,
    "unit": choice("s", "ms", "us", "ns"),
    "zone": zone,
    "time_property": text,
    "prefixes": each(text),
    "start": choice("earliest", "latest"),
    "missing_time": choice("arrival", "refuse"),
    "validate": text,
    "units": choice("qudt"),
    **CONNECTION,
}

SOURCE: dict[str, Kind] = {
    **OF_SOURCE,
    "mapping": either(str, text, nested(MAPPING, Others(OF_SOURCE))),
}

SINK: dict[str, Kind] = {
    "uri": uri,
    "as": choice(*ASKED),
    "events": names,
    "headers": headers,
    "retries": whole_number,
    "timeout": duration,
    "resend": duration,
    "labels": each(text),
    **CONNECTION,
}

ENGINE: dict[str, Kind] = {
    "name": choice("spark", "embedded"),
    "lateness": duration,
    "idle": duration,
    "future": duration,
    "strict": flag,
    "require_complete": flag,
    "checkpoint": text,
    "dead_letters": text,
    "max_explanations": positive,
    "max_keys": positive,
    "max_because": positive,
    "max_work": positive,
}

SPARK: dict[str, Kind] = {"master": text, "buckets": whole_number, "conf": each(secret)}

LIMITS: dict[str, Kind] = {
    "item_bytes": whole_number,
    "nesting": whole_number,
    "file_bytes": whole_number,
    "gzip_ratio": whole_number,
}

SERVE: dict[str, Kind] = {
    "query": either(str, text, names),
    "host": text,
    "port": whole_number,
    "state": text,
    "certificate": text,
    "key": text,
    "tokens": tables({"token": secret, "role": choice("read", "write", "admin")}),
    "queue": positive,
    "body_bytes": positive,
    "body_seconds": positive,
    "keep": positive,
    "snapshot": duration,
    "history": duration,
    "watchers": positive,
}

QUERY: dict[str, Kind] = {
    "vocab": names,
    "graph": names,
    "entailment": choice("owl", "simple"),
    "policy": choice("unrestricted", "recent", "chronological", "naive"),
    "report": choice("nonempty", "all", "change"),
    "closed": choice("right", "left"),
    "streams": each(text),
}
"""The settings of queries in other languages than OBEP."""

FILE: dict[str, Kind] = {
    "sources": tables(SOURCE),
    "sinks": tables(SINK),
    "mappings": tables(MAPPING, Others(OF_SOURCE, "sources.NAME")),
    "ontology": nested({"catalogue": each(text), "cache": text, "missing_imports": choice("error", "warn")}),
    "query": nested(QUERY),
    "engine": nested(ENGINE),
    "lints": nested({"ignore": names}),
    "spark": nested(SPARK),
    "limits": nested(LIMITS),
    "serve": nested(SERVE),
}


@dataclass(frozen=True, slots=True)
class Config:
    """The settings of obep.toml, or the defaults without one."""

    folder: Path
    """Where relative paths of the configuration begin."""
    path: Path | None = None
    sources: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    sinks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    mappings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    catalogue: Mapping[str, Path] = field(default_factory=dict)
    engine: Mapping[str, Any] = field(default_factory=dict)
    spark: Mapping[str, Any] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    allowed: tuple[Path, ...] = ()
    cache: Path | None = None
    """Where the reasoner's answers are remembered; none: where one does so on this machine."""
    allow_exec: bool = False
    """Whether what the configuration names may be run: programs, libraries, classes."""
    ignore: tuple[str, ...] = ()
    """The codes of warnings that are switched off."""
    serve: Mapping[str, Any] = field(default_factory=dict)

    def file(self, path: str) -> Path:
        """A file that the configuration names, if it lies where files may lie."""
        return below(Path(path), self.folder, self.allowed)

    def mapping_of(self, source: str) -> tuple[Mapping[str, Any], str] | None:
        """The settings of a source's mapping and where they stand, its context read if it is a file.

        The zone of the source is that of a mapping which has none.
        """
        of_source = self.sources.get(source, {})
        setting = of_source.get("mapping")
        where = f"sources.{source}.mapping"
        if setting is None:
            return None
        if isinstance(setting, str):
            if setting not in self.mappings:
                known = ", ".join(self.mappings) or "none"
                raise fail(
                    "OBEP502", f"{where}: there is no mapping {setting!r}", reason=f"There are: {known}"
                )
            setting, where = self.mappings[setting], f"mappings.{setting}"
        if "zone" in of_source:
            setting = {"zone": of_source["zone"], **setting}
        return self._with_context(setting, where), where

    def with_lookups(self, k: Callable[[], Iterable[Triple]], *, waits: bool = False) -> Config:
        """The same with the indexes of what mappings look up in K; with lookups that wait for the K of the
        record's instant, where it changes."""
        if not (found := self.lookups()):
            return self
        from obep.formats.record_mapping import waiting, with_index

        sources = dict(self.sources)
        triples = () if waits else tuple(k())
        for name, (setting, where) in found.items():
            mapping = (
                waiting(setting) if waits else with_index(setting, where, lambda one: one.over(triples).index)
            )
            sources[name] = {**sources[name], "mapping": mapping}
        return replace(self, sources=sources)

    def lookups(self) -> dict[str, tuple[Mapping[str, Any], str]]:
        """By source, the settings of a mapping that looks something up in K, and where they stand."""
        names = [name for name, one in self.sources.items() if "mapping" in one]
        found = {name: one for name in names if (one := self.mapping_of(name)) is not None}
        return {name: one for name, one in found.items() if isinstance(one[0].get("subject"), dict)}

    def check_mappings(self) -> None:
        """Make every mapping once, so that errors are reported before anything is read."""
        named = {name: one for name in self.sources if (one := self.mapping_of(name)) is not None}
        used = {where for _, where in named.values()}
        others = [
            (self._with_context(setting, where), where)
            for name, setting in self.mappings.items()
            if (where := f"mappings.{name}") not in used
        ]
        if named or others:
            from obep.formats.record_mapping import make_mapping

            made = {name: make_mapping(setting, where) for name, (setting, where) in named.items()}
            rest = [make_mapping(setting, where) for setting, where in others]
            if isinstance(self.catalogue, Catalogue):
                self.catalogue.mappings = {n: m for n, m in made.items() if "units" not in self.sources[n]}
                self.catalogue.given = frozenset().union(*(one.triples.names for one in made.values()))
                looked_up = (one.looked_up for one in (*made.values(), *rest))
                self.catalogue.looked_up |= frozenset().union(*looked_up)

    def _with_context(self, setting: Mapping[str, Any], where: str) -> Mapping[str, Any]:
        if isinstance(setting.get("context"), str):
            return {**setting, "context": self._context(setting["context"], f"{where}.context")}
        return setting

    def _context(self, path: str, where: str) -> object:
        if "://" in path:
            raise fail(
                "OBEP522",
                f"{where}: obep fetches nothing from the web",
                remedy="save it as a file beside obep.toml",
            )
        try:
            context = json.loads(self.file(path).read_text("utf-8-sig"))
        except (OSError, ValueError, RecursionError) as error:
            raise fail("OBEP522", f"{where}: {path} cannot be read as JSON: {error}") from None
        return context["@context"] if isinstance(context, dict) and "@context" in context else context


def load_config(
    path: Path | None, beside: Path, allowed: tuple[Path, ...] = (), *, allow_exec: bool = False
) -> Config:
    """The configuration in `path`, or in the obep.toml of the folder `beside` if there is one."""
    file = path or beside / NAME
    if path is None and not file.is_file():
        return Config(beside.resolve(), allowed=allowed, allow_exec=allow_exec)
    try:
        data = tomllib.loads(file.read_text("utf-8-sig"))
    except OSError as error:
        raise fail("OBEP500", f"{file} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise fail("OBEP500", f"not TOML: {error}", file=str(file)) from None
    except tomllib.TOMLDecodeError as error:
        raise _not_toml(str(error), file) from None
    except ValueError as error:  # a number of more digits than Python reads
        raise fail("OBEP500", f"not TOML: {error}", file=str(file)) from None
    except RecursionError:
        reason = "Arrays or tables in it are nested too deeply."
        remedy = "no setting of obep needs more than a few levels"
        raise fail("OBEP500", "not read as TOML", file=str(file), reason=reason, remedy=remedy) from None
    return replace(_checked(data, file, allowed), allow_exec=allow_exec)


_PLACE = re.compile(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", re.DOTALL)
_SECRET = re.compile(r"passw|secret|token|credential|user|key|://.*@", re.IGNORECASE)
_AFTER = "one setting a line; a text with \" in it stands in '''…''', as template = ''':a :b \"{c}\" .'''"
_REMEDIES = {
    "Invalid value": 'text stands in quotes: name = "value"',
    "Illegal character '\\n'": "close the quotes on the line where they open",
    'Expected "\'"': "close the quotes on the line where they open",
    "Expected '=' after": 'name = "value"',
    "Expected newline or end of document after a statement": _AFTER,
    "Unescaped '\\'": "\\\\ is a backslash, or put the text in '…', where \\ is one",
    "Cannot overwrite": "each name once in a table",
    "Cannot declare": "each [table] once, and all of it there",
}
"""Remedies, by the beginning of tomllib's message."""


def _not_toml(words: str, file: Path) -> ObepError:
    """The error of a file that is no TOML, with the line, unless it may hold a secret."""
    lines = file.read_text("utf-8-sig").split("\n")
    found = _PLACE.fullmatch(words)
    message, line, column = found.groups() if found else (words, None, None)
    at, place = (int(line), int(column)) if line and column else (len(lines), len(lines[-1]) + 1)
    text = lines[at - 1].rstrip("\r")
    remedy = next((help for start, help in _REMEDIES.items() if message.startswith(start)), "")
    return ObepError(
        Diagnostic(
            "OBEP500",
            f"not TOML: {message}",
            str(file),
            Span(0, 0, at, place, at, place + 1),
            remedy=remedy,
            line_text="" if _SECRET.search(text) else text,
        )
    )


def _checked(data: dict[str, Any], file: Path, allowed: tuple[Path, ...]) -> Config:
    folder = file.resolve().parent
    try:
        settings = table(data, FILE, "")
        for name, setting in settings.get("sinks", {}).items():
            if "uri" not in setting:
                raise fail("OBEP512", f"sinks.{name}: there is no uri")
        ontology = settings.get("ontology", {})
        catalogue = ontology.get("catalogue", {})
        config = Config(
            folder,
            file,
            settings.get("sources", {}),
            settings.get("sinks", {}),
            settings.get("mappings", {}),
            Catalogue(
                {iri: below(Path(path), folder, allowed) for iri, path in catalogue.items()},
                lenient=ontology.get("missing_imports") == "warn",
                query=settings.get("query"),
            ),
            settings.get("engine", {}),
            settings.get("spark", {}),
            Limits(**settings.get("limits", {})),
            allowed,
            below(Path(ontology["cache"]), folder, allowed) if ontology.get("cache") else None,
            ignore=settings.get("lints", {}).get("ignore", ()),
            serve=settings.get("serve", {}),
        )
        config.check_mappings()
        if isinstance(config.catalogue, Catalogue) and any("units" in one for one in config.sources.values()):
            config.catalogue.looked_up |= UNITS
        return config
    except ObepError as error:
        raise ObepError(
            *(
                Diagnostic(d.code, d.message, d.file or str(file), d.span, d.reason, d.remedy, d.line_text)
                for d in error.diagnostics
            )
        ) from None


def below(path: Path, folder: Path, allowed: tuple[Path, ...] = ()) -> Path:
    """The path, links followed, if it lies below the folder or an allowed one; else OBEP505."""
    try:
        real = (folder / path).resolve()
    except (OSError, RuntimeError, ValueError) as error:  # a loop of links, or a NUL in the name
        raise fail("OBEP505", f"{path} leads nowhere: {error}") from None
    for root in (folder, *allowed):
        if real.is_relative_to(root.resolve()):
            return real
    raise fail(
        "OBEP505",
        f"{path} lies outside {folder}",
        reason="Files that a query or obep.toml names lie below its folder, links followed.",
        remedy=f"--allow-path {real.parent}",
    )


def secret_of(setting: Any) -> str | None:
    """The value of a secret setting."""
    return setting.reveal() if isinstance(setting, Secret) else setting
