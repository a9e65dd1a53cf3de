"""Occurrences in the files that runs write, found by id and shown as a tree of causes."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict

import msgspec
from msgspec import structs

from obep.commands.terminal import plain
from obep.engine.rdf import OBEP, PROV
from obep.engine.why import short
from obep.errors import fail
from obep.formats.limits import Limits, Refused, lines
from obep.model import RDF_TYPE

ENDINGS = (".jsonl", ".ndjson", ".nq", ".trig")


class Cause(TypedDict, total=False):
    """A part of an occurrence, as a JSON line tells it."""

    event: str
    alias: str
    individual: str
    start: str | int | float
    end: str | int | float
    assertions: list[str]
    context: bool


class Line(msgspec.Struct):
    """As much of a JSON line as is shown; a line that does not look so is none of ours."""

    id: str
    event: str
    start: str | int | float | None = None
    end: str | int | float | None = None
    detected: str | int | float | None = None
    bindings: list[dict[str, str]] = []
    because: list[Cause] = []


_decode = msgspec.json.Decoder(Line).decode


@dataclass
class Told:
    """An occurrence as a file tells it."""

    id: str
    event: str = ""
    start: object = None
    end: object = None
    detected: object = None
    bindings: list[dict[str, str]] = field(default_factory=list)
    because: list[Cause] = field(default_factory=list)
    statements: list[str] = field(default_factory=list)
    derived: list[str] = field(default_factory=list)
    sources: dict[str, Told] = field(default_factory=dict)
    """By assertion, the occurrence that it follows from, if a file tells it."""


def find(id: str, files: Sequence[Path]) -> Told:
    """The one occurrence whose id is, or holds, `id`, with those that it follows from."""
    searched = list(files) or sorted(p for p in Path().iterdir() if p.suffix in ENDINGS)
    told = _find(id, searched)
    _follow(told, [path for path in searched if str(path) != "-"], {told.id})
    return told


def _find(id: str, searched: Sequence[Path]) -> Told:
    found: dict[str, Told] = {}
    for path in searched:
        for told in read(path, id):
            if told.id == id:
                return told
            found.setdefault(told.id, told)
    if len(found) == 1:
        return next(iter(found.values()))
    if found:
        some = "\n".join(sorted(found)[:5])
        raise fail("OBEP531", f"{len(found)} occurrences have {id!r} in their id", reason=some)
    names = ", ".join(map(str, searched)) or "the current folder"
    raise fail("OBEP530", f"no occurrence {id!r} in {names}", remedy="obep why ID OUTPUT.jsonl")


def _follow(told: Told, files: Sequence[Path], met: set[str]) -> None:
    """Looks for the occurrences that this one's assertions follow from, and for theirs, but those `met`."""
    for part in told.because:
        for text in part.get("assertions", ()):
            subject, event = _type_of(text)
            if not event or event == part.get("event"):
                continue
            found = (one for path in files for one in mentioning(path, subject) if one.event == event)
            source = next((one for one in found if _is_about(one, subject, part)), None)
            if source is not None and source.id not in met:
                told.sources[text] = source
                _follow(source, files, met | {source.id})


def _type_of(assertion: str) -> tuple[str, str]:
    """Who is said to be of which class; nothing if the assertion says something else."""
    terms = assertion.removesuffix(" .").split(" ")
    return (terms[0].strip("<>"), terms[2].strip("<>")) if terms[1:2] == [RDF_TYPE] else ("", "")


def _is_about(one: Told, subject: str, part: Cause) -> bool:
    """Whether an occurrence is the one that makes `subject` what a part of another says that it is."""
    if one.id == subject:
        return True
    individuals = [cause.get("individual") for cause in one.because if cause.get("event") == one.event]
    return individuals == [subject] and (one.start, one.end) == (part.get("start"), part.get("end"))


def read(path: Path, id: str) -> Iterator[Told]:
    """The occurrences of an output file whose id holds `id`."""
    return (told for told in mentioning(path, id) if id in told.id)


def mentioning(path: Path, name: str) -> Iterator[Told]:
    """The occurrences of an output file in which a name occurs; of RDF those whose id it is in."""
    try:
        file = sys.stdin.buffer if str(path) == "-" else path.open("rb")
    except OSError as error:
        raise fail("OBEP550", f"{path} cannot be read: {error.strerror}") from None
    with file:
        if path.suffix in (".nq", ".trig"):
            yield from _read_quads(file.read(), path, name)
            return
        needle = name.encode()
        for line in lines(file, Limits().file_bytes):
            if isinstance(line, Refused) or needle not in line:
                continue
            try:
                yield Told(**structs.asdict(_decode(line)))
            except msgspec.DecodeError:
                continue


def _read_quads(data: bytes, path: Path, id: str) -> Iterator[Told]:
    import pyoxigraph

    kind = pyoxigraph.RdfFormat.N_QUADS if path.suffix == ".nq" else pyoxigraph.RdfFormat.TRIG
    told: dict[str, Told] = {}
    try:
        for quad in pyoxigraph.parse(data, kind):
            if isinstance(quad.graph_name, pyoxigraph.NamedNode):
                name = quad.graph_name.value
                if id in name:
                    told.setdefault(name, Told(name)).statements.append(f"{quad.triple} .")
            elif isinstance(quad.subject, pyoxigraph.NamedNode) and id in quad.subject.value:
                name = quad.subject.value
                _describe(told.setdefault(name, Told(name)), quad.predicate.value, quad.object)
    except SyntaxError as error:
        raise fail("OBEP550", f"{path} cannot be read: {error}") from None
    yield from (one for one in told.values() if one.event)


def _describe(told: Told, predicate: str, value: Any) -> None:
    text = value.value
    if predicate == f"{OBEP}event":
        told.event = text
    elif predicate == f"{OBEP}start":
        told.start = text
    elif predicate == f"{OBEP}end":
        told.end = text
    elif predicate == f"{PROV}generatedAtTime":
        told.detected = text
    elif predicate == f"{PROV}wasDerivedFrom":
        told.derived.append(text)


def tree(told: Told) -> str:
    """The causes of an occurrence, for people."""
    return "\n".join(plain(line) for line in _lines(told))


def _lines(told: Told) -> Iterator[str]:
    """The occurrence, its causes, and below each assertion that follows from another occurrence that one."""
    yield f"{_name(told.event)} {_when(told.start, told.end, told.detected)}"
    yield f"  {told.id}"
    for binding in told.bindings:
        if binding:
            yield "  with " + ", ".join(f"?{name} = {short(value)}" for name, value in binding.items())
    for part in told.because:
        name, alias = _name(part.get("event", "")), part.get("alias", "")
        title = name if alias in ("", name) else f"{alias}: {name}"
        context = "  (context)" if part.get("context") else ""
        when = _when(part.get("start"), part.get("end"))
        yield f"  {title} {when} of {_name(part.get('individual', ''))}{context}"
        for text in part.get("assertions", ()):
            source = told.sources.get(text)
            yield f"    {_statement(text)}{_follows(text, source)}"
            yield from (f"      {line}" for line in _lines(source)) if source else ()
    yield from (f"  {_statement(text)}" for text in told.statements)
    yield from (f"  from {name}" for name in told.derived)


def _follows(assertion: str, source: Told | None) -> str:
    """What an assertion follows from: the individual of a composite event is named by its occurrence's id."""
    subject, event = _type_of(assertion)
    if source is None and not subject.startswith(f"urn:obep:{_name(event)}:"):
        return ""
    return f"  (follows from {_name(event)})"


def _when(start: object, end: object, detected: object = None) -> str:
    text = f"at {_time(start)}" if start == end else f"from {_time(start)} to {_time(end)}"
    return text if detected in (None, end) else f"{text}, decided at {_time(detected)}"


def _time(value: object) -> object:
    return "?" if value is None else value


def _name(iri: str) -> str:
    return short(f"<{iri}>") if iri and not iri.startswith("_:") else iri


def _statement(text: str) -> str:
    """An assertion with short names; one that is no triple is shown as it is."""
    terms = text.removesuffix(" .").split(" ", 2)
    return " ".join(map(short, terms)) if len(terms) == 3 else text
