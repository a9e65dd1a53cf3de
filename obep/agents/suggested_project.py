"""From data to a project with rules that fit it, and how often each of them would have fired."""

from __future__ import annotations

import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pyoxigraph import Literal

from obep.agents.field_profiles import Profile, disorder, profiles, quantile
from obep.agents.rule_proposals import Rule, duration, reading, rules_for, title
from obep.agents.sample_records import content, format_of, plain_records
from obep.config.toml_file import Config, load_config
from obep.errors import fail
from obep.formats import read_items_of
from obep.formats.likely_mapping import NO_PATH, likely_settings, mapping_text, toml_text, typical
from obep.formats.record_fields import Record, look_up
from obep.formats.time_hints import NAMING, bare_name, flat_fields, last_step
from obep.formats.units import shown, unit_named
from obep.model import RDF_TYPE, DeadLetter, Item, Term, Triple, local_name
from obep.ontology.owl.load import read_rdf
from obep.run.backtesting.history import over_history
from obep.streams.sources.open_sources import make_reading

NAMES = "http://example.org/"
UNITS = ("unit", "units", "uom")
"""Common names of the field of a record's unit."""
VALUES = ("value", "val", "v", "reading", "measurement")
_IN_BRACKETS = re.compile(r".*[(\[]([^)\]]+)[)\]]\s*\Z|.*?(°[CF]|degC|degF)\Z", re.DOTALL)
_PLACE = re.compile(r":(\w+) \{([^}?:]+)")
"""A property of a template, and the field of its values."""
ONE_FIELD = "if a date and a time of day stand in two fields, write them into one"
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
    notes: tuple[str, ...] = ()
    """Points to check before the rules are used."""


def suggest(data: Sequence[Path], out: Path | None = None, graph: Path | None = None) -> Suggestion:
    """A project for the data; it is written to `out` if that is given, which must be new or empty.

    `graph` is background knowledge: the query reads it, and records are about its individuals if they have
    the same names.
    """
    if out is not None and out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise fail("OBEP887", f"{out} is there already", remedy="--out NEW-FOLDER")
    streams = _streams(data)
    with TemporaryDirectory(prefix="obep-suggest-") as folder:
        home = Path(folder)
        found = _made(streams, home, graph)
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


def _made(streams: dict[str, Path], home: Path, graph: Path | None) -> Suggestion:
    known = [] if graph is None else read_rdf(graph)
    if graph is not None:
        (home / _copy_of(graph)).write_bytes(content(graph))
    mappings = {
        name: _mapping(plain_records(path, LOOKED_AT), name, path, known) for name, path in streams.items()
    }
    names = next((one for each in mappings.values() if (one := each["prefixes"][""]) != NAMES), NAMES)
    for each in mappings.values():  # one namespace for all: streams may read the same fields
        each["prefixes"][""] = names
    fields = _fields(mappings)
    units = _units_of_fields(mappings)
    for name, path in streams.items():
        (home / f"{name}{path.suffix.lower()}").write_bytes(content(path))
    _write(home, "obep.toml", _settings(streams, mappings, 0))
    items, refused = _items(streams, home, load_config(None, home))
    if not items:
        reason = f"{len(refused)} were refused; the first: {refused[0].reason}." if refused else ""
        remedy = ONE_FIELD if any(one.code == "OBEP602" for one in refused) else ""
        raise fail("OBEP886", "no record could be read", reason=reason, remedy=remedy)
    _write(home, "obep.toml", _settings(streams, mappings, disorder(items)))
    seen = profiles(items)
    rules = _rules(seen)
    if not rules:
        raise fail(
            "OBEP886",
            "there is no field to make rules from",
            reason="Rules need a field with at least thirty numbers.",
        )
    ontology = _ontology(seen, names, fields, units)
    _write(home, "ontology.ttl", ontology + _declarations(known, {one.name for one in seen}))
    reads = [*(f"FROM GRAPH <{_copy_of(one)}>" for one in [graph] if one), *_from(streams)]
    _write(home, "query.obep", _query(reads, names, rules))
    tried = over_history(
        home / "query.obep", (), load_config(None, home), quiet=True, lateness=disorder(items)
    )
    counts = {local_name(one.name): one.count for one in tried.fired}
    most = max(FEW, NOISY * len(items))
    kept = [(one, rule) for one, rule in rules if counts.get(rule.name, 0) <= most]
    if not kept:
        raise fail("OBEP886", "every rule that was tried would fire too often")
    _write(home, "query.obep", _query(reads, names, kept))
    counted = [(rule, counts.get(rule.name, 0)) for _, rule in rules]
    return Suggestion(
        tuple(one for one in counted if one[1] <= most),
        tuple(one for one in counted if one[1] > most),
        {name: (home / name).read_text("utf-8") for name in ("obep.toml", "ontology.ttl", "query.obep")},
        len(items),
        len(refused),
        tuple(_notes(seen, refused)),
    )


def _rules(seen: Sequence[Profile]) -> list[tuple[Profile, Rule]]:
    """The rules for all fields; of fields that are silent together, one has a rule for that."""
    found: list[tuple[Profile, Rule]] = []
    watched: list[Profile] = []
    titles: set[str] = set()
    for one in seen:
        if title(one) in titles:
            continue
        titles.add(title(one))
        covered = any(one.is_silent_with(other) for other in watched)
        rules = [rule for rule in rules_for(one) if not (covered and rule.name.endswith("Silent"))]
        if any(rule.name.endswith("Silent") for rule in rules):
            watched.append(one)
        found += [(one, rule) for rule in rules]
    return found


def _copy_of(graph: Path) -> str:
    """The file name of the background knowledge in the project, without an unknown extension."""
    return f"static{graph.suffix if graph.suffix[1:].isalnum() else ''}"


def _from(streams: dict[str, Path]) -> list[str]:
    return [f"FROM STREAM <{name}>" for name in streams]


def _notes(seen: Sequence[Profile], refused: Sequence[DeadLetter]) -> list[str]:
    found = [f"the first refused record ({one.code}): {one.reason}" for one in refused[:1]]
    if seen and len(seen[0].gaps) > 1 and not quantile(seen[0].gaps, 0.5):
        half = f"half of the readings of {local_name(seen[0].name)} have the instant of the one before"
        found.append(
            f"{half}: {ONE_FIELD}; if a field says what is measured, write a file for each measurement"
        )
    return found


def _mapping(records: list[Record], stream: str, path: Path, known: Sequence[Triple]) -> dict[str, Any]:
    """The mapping of a file: of the records in an array, if each file or line has one."""
    inner = {name for one in records for name, value in one.items() if _is_array(value)}
    if len(inner) != 1:
        return _mapping_of(records, stream, path, known)
    [name] = inner
    if not name or "'" in name:
        reason = "In records = \"$['name'][*]\" a name cannot be empty or contain an apostrophe."
        raise fail("OBEP886", f"{path}: the array {shown(name)} has no path", reason=reason)
    elements = [one for record in records for one in record.get(name) or () if isinstance(one, dict)]
    step = f".{name}" if re.fullmatch(r"[A-Za-z_]\w*", name) else f"['{name}']"
    return _mapping_of(elements[:LOOKED_AT], stream, path, known) | {"records": f"${step}[*]"}


def _is_array(value: object) -> bool:
    return isinstance(value, list) and len(value) > 1 and all(isinstance(one, dict) for one in value)


def _mapping_of(records: list[Record], stream: str, path: Path, known: Sequence[Triple]) -> dict[str, Any]:
    """By the field that names what a record is about, or about the stream itself."""
    if not records:
        raise fail("OBEP886", f"{path} has no records that are JSON objects or rows")
    whole = typical(records)
    if "graph" in whole:
        raise fail("OBEP886", f"{path} has RDF, not plain records", remedy="obep init")
    subject = _subject(records, whole)
    if subject:
        names = _namespace({str(look_up(one, subject)) for one in records}, known)
        settings = likely_settings(whole, names, subject=subject, optional=True)
    else:
        settings = likely_settings({**whole, stream: stream}, NAMES, subject=stream, optional=True)
        settings["template"] = settings["template"].replace(f":{{{stream}}}", f":{stream}", 1)
    return settings | _conversion(records, whole)


def _namespace(called: set[str], known: Sequence[Triple]) -> str:
    """Where individuals of the background knowledge are called so, mostly; else that of examples."""
    found = Counter(
        one[1 : -1 - len(local_name(one))]
        for one in {subject for subject, _, _ in known if subject.startswith("<")}
        if local_name(one) in called
    )
    return found.most_common(1)[0][0] if found else NAMES


def _conversion(records: list[Record], whole: Record) -> dict[str, Any]:
    """Where records name units of one dimension, and not always the same: all in the most frequent one."""
    value = next((path for path in whole if path.lower() in VALUES), "")
    said = next((path for path in whole if path.lower() in UNITS), "")
    names = Counter(str(one[said]) for one in records if one.get(said) is not None)
    units = [unit_named(name) for name in names]
    if not value or len(names) < 2 or len({one.dimension if one else None for one in units}) > 1:
        return {}
    if None in units:
        return {}
    return {"units": {value: {"field": said, "to": names.most_common(1)[0][0]}}}


def _fields(mappings: Mapping[str, dict[str, Any]]) -> dict[str, str]:
    """The fields of records by the properties that they become."""
    return dict(pair for one in mappings.values() for pair in _PLACE.findall(one["template"]))


def _units_of_fields(mappings: Mapping[str, dict[str, Any]]) -> dict[str, str]:
    """The units that fields name in brackets or after a degree sign, and those that values are brought to."""
    found: dict[str, str] = {}
    for one in mappings.values():
        for name, path in _PLACE.findall(one["template"]):
            written = _IN_BRACKETS.match(path)
            unit = (written[1] or written[2]).replace("°", "deg") if written else ""
            if path in one.get("units", {}):
                unit = one["units"][path]["to"]
            if unit and unit_named(unit) is not None:
                found[name] = unit
    return found


def _subject(records: list[Record], whole: Record) -> str:
    """A field that is called like a name, or a text that comes again and again."""
    scalars = {path: one for path, one in flat_fields(whole).items() if isinstance(one, str | int | float)}
    named = {path: value for path, value in scalars.items() if not set(path) & NO_PATH}
    for said in (bare_name, last_step):
        for name in NAMING:
            for path in named:
                if said(path) == name:
                    return path
    for path, value in named.items():
        if isinstance(value, str) and not re.fullmatch(r"[-+0-9.,:TZ /eE]*", value):
            known = {str(look_up(one, path)) for one in records}
            if 1 < len(known) <= len(records) / 5:
                return path
    return ""


def _items(streams: dict[str, Path], home: Path, config: Config) -> tuple[list[Item], list[DeadLetter]]:
    items: list[Item] = []
    refused: list[DeadLetter] = []
    for name, path in streams.items():
        read = make_reading(name, config.sources[name], config)
        for one in read_items_of(content(path), format_of(path), read):
            if isinstance(one, Item):
                items.append(one)
            else:
                refused.append(one)
    return items, refused


def _settings(streams: dict[str, Path], mappings: dict[str, dict[str, Any]], late: int) -> str:
    lines = ['[engine]\nname = "embedded"']
    if late:
        lines[0] += f'\nlateness = "{duration(late)}"'
    for name, path in streams.items():
        uri = f"[sources.{name}]\nuri = {toml_text(name + path.suffix.lower())}"
        lines.append(f"{uri}\n\n{mapping_text(mappings[name], name)}")
    return "\n\n".join(lines) + "\n"


def _ontology(
    seen: Sequence[Profile], names: str, fields: Mapping[str, str], units: Mapping[str, str]
) -> str:
    """The fields with numbers as properties, with their units where those are known."""
    head = (
        f"@prefix : <{names}> .\n@prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n\n"
    )
    return head + "".join(
        f":{name} a owl:DatatypeProperty ; rdfs:label {Literal(fields.get(name, name))}"
        + (f" ; rdfs:comment {Literal(f'in {units[name]}')}" if name in units else "")
        + " .\n"
        for name in (local_name(one.name) for one in seen)
    )


def _declarations(known: Sequence[Triple], fields: Collection[Term]) -> str:
    """The classes and properties of the background knowledge, so that queries may use them.

    >>> print(_declarations([("<http://e/s1>", "<http://e/in>", "<http://e/hall>")], ()))
    <BLANKLINE>
    <http://e/in> a owl:ObjectProperty .
    <BLANKLINE>
    """
    kinds: dict[Term, set[str]] = defaultdict(set)
    for _, name, value in known:
        if name == RDF_TYPE and value.startswith("<"):
            kinds[value].add("Class")
        elif name != RDF_TYPE:
            kinds[name].add("DatatypeProperty" if value.startswith('"') else "ObjectProperty")
    lines = [
        f"{name} a owl:{kind} ."
        for name, (kind, *others) in sorted(kinds.items())
        if not others and name not in fields and not name.startswith("<http://www.w3.org/")
    ]
    return "\n".join(["", *lines, ""]) if lines else ""


def _query(reads: Sequence[str], names: str, rules: Sequence[tuple[Profile, Rule]]) -> str:
    lines = [f"PREFIX : <{names}>", "VOCAB <ontology.ttl>", *reads, ""]
    for profile in dict.fromkeys(one.name for one, _ in rules):
        of = [(one, rule) for one, rule in rules if one.name == profile]
        if any("Reading(" in rule.text for _, rule in of):
            lines += [reading(of[0][0]), ""]
        for _, rule in of:
            lines += [f"# {rule.reason}", rule.text, ""]
    return "\n".join([*lines, f"RETURN {', '.join(rule.name for _, rule in rules)}", ""])


def _write(home: Path, name: str, text: str) -> None:
    (home / name).write_text(text, "utf-8")
