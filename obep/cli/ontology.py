"""`obep ontology add NAME FILE…`: copies of published ontologies in the catalogue of a project."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

import typer

from obep.errors import fail

SPACES: Mapping[str, tuple[str, ...]] = {
    "brick": ("https://brickschema.org/schema/",),
    "sosa": ("http://www.w3.org/ns/sosa",),
    "ssn": ("http://www.w3.org/ns/ssn",),
    "qudt": ("http://qudt.org/", "https://qudt.org/"),
    "saref": ("https://saref.etsi.org/", "https://w3id.org/saref"),
    "rec": ("https://w3id.org/rec",),
    "s223": ("http://data.ashrae.org/standard223", "http://data.ashrae.org/bacnet"),
    "time": ("http://www.w3.org/2006/time",),
    "owl-time": ("http://www.w3.org/2006/time",),
    "prov": ("http://www.w3.org/ns/prov",),
}
"""The names of published ontologies, with the beginnings of their IRIs."""
ENDINGS = frozenset((".ttl", ".nt", ".rdf", ".owl", ".xml", ".owx", ".jsonld"))
FOLDER = "ontologies"
_TABLE = "[ontology.catalogue]"


def command(
    action: Annotated[str, typer.Argument(metavar="add", help="What to do: add.", show_default=False)],
    name: Annotated[
        str, typer.Argument(metavar="NAME", help=f"One of {', '.join(SPACES)}.", show_default=False)
    ],
    path: Annotated[
        Path, typer.Argument(metavar="DIR_OR_FILE", help="Where your copy lies.", show_default=False)
    ],
    config: Annotated[
        Path, typer.Option(metavar="FILE", help="The configuration that gets the lines.")
    ] = Path("obep.toml"),
) -> None:
    """Copy a published ontology into the project, and name it in the catalogue of obep.toml.

    The copies lie in ontologies/NAME beside obep.toml. Nothing is fetched from the network.
    """
    if action != "add":
        raise fail("OBEP518", f"obep ontology {action}: no such action", remedy="obep ontology add NAME FILE")
    if name not in SPACES:
        from obep.query.nearest_name import nearest

        raise fail(
            "OBEP834",
            f"{name} is no ontology that obep knows by name",
            reason=f"Known: {', '.join(SPACES)}. Any other goes into {_TABLE} of obep.toml by hand.",
            remedy=nearest(name, SPACES) or "",
        )
    text, known = _configuration(config)
    home = config.resolve().parent
    lines: dict[str, str] = {}
    copies: dict[Path, Path] = {}
    for file in _files(path):
        copy = Path(FOLDER) / name / file.name
        for iri in _names(file):
            lines.setdefault(iri, copy.as_posix())
            copies[file] = copy
    if not any(iri.startswith(SPACES[name]) for iri in lines):
        found = ", ".join(f"<{iri}>" for iri in list(lines)[:3]) or "no ontology"
        raise fail(
            "OBEP834",
            f"{path} is not {name}",
            reason=f"It has {found}; one of {name} begins with {SPACES[name][0]}.",
        )
    taken = [iri for iri, file in lines.items() if known.get(iri, file) != file]
    if taken:
        raise fail(
            "OBEP834",
            f"<{taken[0]}> is in the catalogue of {config} already, as {known[taken[0]]}",
            remedy="take its line out there first",
        )
    for file, copy in copies.items():
        if (home / copy).exists() and (home / copy).read_bytes() != file.read_bytes():
            raise fail(
                "OBEP834", f"{home / copy} is there already, and is another file", remedy=f"rename {file}"
            )
    after = _with_lines(text, {iri: file for iri, file in lines.items() if iri not in known}, config)
    for file, copy in copies.items():
        _copy(file, home / copy)
    if after != text:
        _write(config, after)
    for iri, name in lines.items():
        print(f'"{iri}" = "{name}"')


def _configuration(config: Path) -> tuple[str, Mapping[str, str]]:
    """The text of obep.toml, and the catalogue in it."""
    import tomllib

    from obep.config.toml_file import load_config

    if not config.exists():
        return "", {}
    load_config(config, config.parent)
    text = config.read_text("utf-8-sig")
    return text, tomllib.loads(text).get("ontology", {}).get("catalogue", {})


def _files(path: Path) -> Iterator[Path]:
    """The files of RDF that a path stands for."""
    if not path.is_dir():
        yield path
        return
    found = [one for one in sorted(path.iterdir()) if one.suffix.lower() in ENDINGS and one.is_file()]
    if not found:
        raise fail("OBEP834", f"{path} has no file of RDF", reason=f"Endings: {' '.join(sorted(ENDINGS))}")
    yield from found


def _names(file: Path) -> Iterator[str]:
    """The IRIs by which others import what a file has: of its ontologies, and of their versions."""
    from obep.model import RDF_TYPE
    from obep.ontology.owl.axioms import OWL
    from obep.ontology.owl.load import read_rdf

    triples = read_rdf(file)
    found = {s for s, p, o in triples if p == RDF_TYPE and o == f"<{OWL}Ontology>"}
    versions = (o for s, p, o in triples if s in found and p == f"<{OWL}versionIRI>")
    for term in (*sorted(found), *versions):
        if term.startswith("<"):
            yield term[1:-1]


def _with_lines(text: str, lines: Mapping[str, str], config: Path) -> str:
    """The text of obep.toml with more lines in its catalogue."""
    import tomllib

    written = "".join(f"{_quoted(iri)} = {_quoted(file)}\n" for iri, file in lines.items())
    if not written:
        return text
    head, table, tail = text.partition(f"{_TABLE}\n")
    gap = "\n" if text and not text.endswith("\n\n") else ""
    end = "\n" if text and not text.endswith("\n") else ""
    whole = f"{head}{table}{written}{tail}" if table else f"{text}{end}{gap}{_TABLE}\n{written}"
    try:
        tomllib.loads(whole)
    except tomllib.TOMLDecodeError:
        raise fail(
            "OBEP834",
            f"the lines cannot be put into {config}",
            reason="Its catalogue is written in another way.",
            remedy=written.rstrip(),
        ) from None
    return whole


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _copy(file: Path, to: Path) -> None:
    try:
        if file.resolve() != to.resolve():
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, to)
    except OSError as error:
        raise fail("OBEP540", f"{to} cannot be written: {error.strerror}") from None


def _write(config: Path, text: str) -> None:
    try:
        config.write_text(text, "utf-8")
    except OSError as error:
        raise fail("OBEP540", f"{config} cannot be written: {error.strerror}") from None
