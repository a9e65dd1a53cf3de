"""From data to a project with rules that fit it, and how often each of them would have fired."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from obep.agents.field_profiles import Profile, disorder, profiles
from obep.agents.rule_proposals import Rule, duration, reading, rules_for, title
from obep.agents.sample_records import content, format_of, merged, plain_records
from obep.config.toml_file import Config, load_config
from obep.errors import fail
from obep.formats import read_items_of
from obep.formats.likely_mapping import likely_settings, mapping_text
from obep.formats.record_fields import Record
from obep.formats.time_hints import NAMING, bare_name, last_step
from obep.model import Item, local_name
from obep.run.backtesting.history import over_history
from obep.streams.sources.open_sources import make_reading

NAMES = "http://example.org/"
LOOKED_AT = 2000
"""Records that a mapping is made of."""
NOISY = 0.02
"""A rule that fires for more than this part of the items is left out."""
FEW = 20


@dataclass(frozen=True)
class Suggestion:
    """Rules with how often each fires in the data; `files` are those of the project."""

    rules: tuple[tuple[Rule, int], ...]
    noisy: tuple[tuple[Rule, int], ...]
    files: dict[str, str]
    items: int
    refused: int


def suggest(data: Sequence[Path], out: Path | None = None) -> Suggestion:
    """A project for the data; it is written to `out` if that is given, which must be new or empty."""
    if out is not None and out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise fail("OBEP887", f"{out} is there already", remedy="--out NEW-FOLDER")
    streams = _streams(data)
    with TemporaryDirectory(prefix="obep-suggest-") as folder:
        home = Path(folder)
        found = _made(streams, home)
        if out is not None:
            try:
                shutil.copytree(home, out, dirs_exist_ok=True)
            except (OSError, shutil.Error) as error:
                raise fail("OBEP887", f"{out} cannot be written: {error}") from None
    return found


def _streams(data: Sequence[Path]) -> dict[str, Path]:
    """The files by the names of the streams that they become."""
    found: dict[str, Path] = {}
    for path in data:
        if not path.is_file():
            raise fail("OBEP886", f"there is no file {path}")
        name = re.sub(r"\W", "_", path.stem, flags=re.ASCII).strip("_") or "data"
        if name[0].isdigit() or name in found:
            name = f"stream{len(found) + 1}_{name}"
        found[name] = path
    return found


def _made(streams: dict[str, Path], home: Path) -> Suggestion:
    mappings = {name: _mapping(plain_records(path, LOOKED_AT), name, path) for name, path in streams.items()}
    for name, path in streams.items():
        (home / f"{name}{path.suffix.lower()}").write_bytes(content(path))
    _write(home, "obep.toml", _settings(streams, mappings, 0))
    items, refused = _items(streams, home, load_config(None, home))
    if not items:
        raise fail("OBEP886", "no record could be read", reason=f"{refused} were refused.")
    _write(home, "obep.toml", _settings(streams, mappings, disorder(items)))
    seen = profiles(items)
    rules = _rules(seen)
    if not rules:
        raise fail(
            "OBEP886",
            "there is no field to make rules from",
            reason="Rules need a field with at least thirty numbers.",
        )
    _write(home, "ontology.ttl", _ontology(seen))
    _write(home, "query.obep", _query(streams, rules))
    tried = over_history(
        home / "query.obep", (), load_config(None, home), quiet=True, lateness=disorder(items)
    )
    counts = {local_name(one.name): one.count for one in tried.fired}
    most = max(FEW, NOISY * len(items))
    kept = [(one, rule) for one, rule in rules if counts.get(rule.name, 0) <= most]
    if not kept:
        raise fail("OBEP886", "every rule that was tried would fire too often")
    _write(home, "query.obep", _query(streams, kept))
    counted = [(rule, counts.get(rule.name, 0)) for _, rule in rules]
    return Suggestion(
        tuple(one for one in counted if one[1] <= most),
        tuple(one for one in counted if one[1] > most),
        {name: (home / name).read_text("utf-8") for name in ("obep.toml", "ontology.ttl", "query.obep")},
        len(items),
        refused,
    )


def _rules(seen: Sequence[Profile]) -> list[tuple[Profile, Rule]]:
    """The rules for all fields; of fields that come in the same messages, one tells that they are silent."""
    found: list[tuple[Profile, Rule]] = []
    covered: set[str] = set()
    titles: set[str] = set()
    for one in seen:
        if title(one) in titles:
            continue
        titles.add(title(one))
        silent = not set(one.streams) <= covered
        rules = [rule for rule in rules_for(one) if silent or not rule.name.endswith("Silent")]
        if rules:
            covered |= set(one.streams)
        found += [(one, rule) for rule in rules]
    return found


def _mapping(records: list[Record], stream: str, path: Path) -> dict[str, Any]:
    """The mapping of a file: by the field that names what a record is about, or about the stream itself."""
    if not records:
        raise fail("OBEP886", f"{path} has no records that are JSON objects or rows")
    whole = merged(records)
    if "graph" in whole:
        raise fail("OBEP886", f"{path} has RDF, not plain records", remedy="obep init")
    subject = _subject(records, whole)
    if subject:
        return likely_settings(whole, NAMES, subject=subject, optional=True)
    settings = likely_settings({**whole, stream: stream}, NAMES, subject=stream, optional=True)
    settings["template"] = settings["template"].replace(f":{{{stream}}}", f":{stream}", 1)
    return settings


def _subject(records: list[Record], whole: Record) -> str:
    """A field that is called like a name, or a text that comes again and again."""
    for said in (bare_name, last_step):
        for name in NAMING:
            for path in whole:
                if said(path) == name:
                    return path
    for path, value in whole.items():
        if isinstance(value, str) and not re.fullmatch(r"[-+0-9.,:TZ /eE]*", value):
            known = {str(one.get(path)) for one in records}
            if 1 < len(known) <= len(records) / 5:
                return path
    return ""


def _items(streams: dict[str, Path], home: Path, config: Config) -> tuple[list[Item], int]:
    items: list[Item] = []
    refused = 0
    for name, path in streams.items():
        read = make_reading(name, config.sources[name], config)
        for one in read_items_of(content(path), format_of(path), read):
            if isinstance(one, Item):
                items.append(one)
            else:
                refused += 1
    return items, refused


def _settings(streams: dict[str, Path], mappings: dict[str, dict[str, Any]], late: int) -> str:
    lines = ['[engine]\nname = "embedded"']
    if late:
        lines[0] += f'\nlateness = "{duration(late)}"'
    for name, path in streams.items():
        uri = f'[sources.{name}]\nuri = "{name}{path.suffix.lower()}"'
        lines.append(f"{uri}\n\n{mapping_text(mappings[name], name)}")
    return "\n\n".join(lines) + "\n"


def _ontology(seen: Sequence[Profile]) -> str:
    """The fields with numbers as properties."""
    head = (
        f"@prefix : <{NAMES}> .\n@prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n\n"
    )
    return head + "".join(
        f':{local_name(one.name)} a owl:DatatypeProperty ; rdfs:label "{local_name(one.name)}" .\n'
        for one in seen
    )


def _query(streams: dict[str, Path], rules: Sequence[tuple[Profile, Rule]]) -> str:
    lines = [
        f"PREFIX : <{NAMES}>",
        "VOCAB <ontology.ttl>",
        *(f"FROM STREAM <{name}>" for name in streams),
        "",
    ]
    for profile in dict.fromkeys(one.name for one, _ in rules):
        of = [(one, rule) for one, rule in rules if one.name == profile]
        if any("Reading(" in rule.text for _, rule in of):
            lines += [reading(of[0][0]), ""]
        for _, rule in of:
            lines += [f"# {rule.reason}", rule.text, ""]
    return "\n".join([*lines, f"RETURN {', '.join(rule.name for _, rule in rules)}", ""])


def _write(home: Path, name: str, text: str) -> None:
    (home / name).write_text(text, "utf-8")
