"""The languages that queries are written in: their files, their grammars, and how a text shows its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any, NamedTuple

from obep.errors import fail
from obep.query import ast
from obep.query.ast import Language
from obep.query.nearest_name import nearest

_SHARED = ("terminals", "sparql", "windows", "languages")


class Known(NamedTuple):
    """A language: what it is called, how its files end, which files of `grammar/` make its grammar."""

    title: str
    ending: str
    grammar: tuple[str, ...]


LANGUAGES: dict[Language, Known] = {
    "obep": Known("OBEP", ".obep", ("terminals", "manchester", "sparql", "windows", "obep")),
    "csparql": Known("C-SPARQL", ".csparql", (*_SHARED, "csparql")),
    "rspql": Known("RSP-QL", ".rspql", (*_SHARED, "rspql")),
    "epsparql": Known("EP-SPARQL", ".epsparql", (*_SHARED, "epsparql")),
    "rsepql": Known("RSEP-QL", ".rsepql", (*_SHARED, "rsepql")),
    "sparkwave": Known("Sparkwave", ".tpg", (*_SHARED, "sparkwave")),
}


def dialect_of(name: str | None) -> Language | None:
    """The language that a user calls so, however it is spelt: `rspql`, `RSP-QL`, `.rspql`; else OBEP518.

    >>> dialect_of("RSP-QL"), dialect_of("c_sparql"), dialect_of(None)
    ('rspql', 'csparql', None)
    """
    if name is None:
        return None
    plain = re.sub(r"[\W_]", "", str(name)).lower()
    for language, known in LANGUAGES.items():
        if plain in (language, known.ending[1:]):
            return language
    titles = ", ".join(f"{language} ({known.title})" for language, known in LANGUAGES.items())
    near = nearest(plain, list(LANGUAGES)) or "obep"
    raise fail("OBEP518", f"there is no language {name!r}", reason=f"There are {titles}.", remedy=near)


def language_of(name: str, text: str) -> Language:
    """The language of a file, by the ending of its name, or else by what it says.

    >>> language_of("q.csparql", ""), language_of("-", "REGISTER QUERY q AS SELECT * { ?s ?p ?o }")
    ('csparql', 'csparql')
    """
    ending = PurePath(name).suffix.lower()
    for language, known in LANGUAGES.items():
        if ending == known.ending:
            return language
    return written_in(text)


_QUERY = re.compile(r"\b(?:SELECT|CONSTRUCT|ASK|REGISTER)\b", re.IGNORECASE)
_PIECES = re.compile(
    r'"""(?:[^"\\]|\\[\s\S]|"(?!""))*"""'
    r"|'''(?:[^'\\]|\\[\s\S]|'(?!''))*'''"
    r'|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\''
    r'|(?P<iri><[^\x00-\x20<>"{}|^`\\]*>)|#[^\n]*|(?P<open>\{)|(?P<close>\})|(?P<word>[\w:.-]+|\[)'
)


def written_in(text: str) -> Language:
    """The language that a text seems to be written in (DIALECTS 1)."""
    if not _QUERY.search(text):
        return "obep"
    said = f" {' '.join(_outside_braces(text))} "
    if re.search(r"\bTIMEWINDOW\b", text, re.IGNORECASE):
        return "sparkwave"
    if re.search(r" WIN \[ | EVENT ON (?:<>|\S*:\S*) ", said) and re.search(
        r" (?:SELECT|CONSTRUCT|ASK) ", said
    ):
        return "rsepql"
    if " EVENT " in said or " RETURN " in said or " STATE " in said:
        return "obep"
    if " REGISTER QUERY " in said or (" REGISTER STREAM " in said and " FROM NAMED WINDOW " not in said):
        return "csparql"
    if re.search(r" REGISTER [RID]STREAM | FROM NAMED WINDOW ", said):
        return "rspql"
    return "epsparql" if re.search(r" (?:SELECT|CONSTRUCT|ASK) ", said) else "obep"


def _outside_braces(text: str) -> Iterator[str]:
    """The words that stand outside of braces, in upper case; an IRI is <>."""
    depth = 0
    for piece in _PIECES.finditer(text):
        kind = piece.lastgroup
        depth = max(0, depth + (kind == "open") - (kind == "close"))
        if not depth and kind == "iri":
            yield "<>"
        elif not depth and kind == "word":
            yield piece[0].upper()


def with_settings(file: ast.QueryFile, settings: Mapping[str, Any]) -> ast.QueryFile:
    """A file with the settings of `[query]` in obep.toml that it does not say itself (DIALECTS 1).

    Ontologies, graphs and streams are added. Queries in OBEP have none of these.
    """
    if file.language == "obep" or not settings:
        return file
    said = {one.key for one in file.settings}
    mapped = {one.iri for one in file.stream_sources}
    keys: tuple[Any, ...] = ("entailment", "policy", "report", "closed")
    values = [ast.Setting(key, settings[key]) for key in keys if key in settings and key not in said]
    kinds: tuple[Any, ...] = ("vocab", "graph")
    sources = [ast.Source(kind, path) for kind in kinds for path in settings.get(kind, ())]
    streams = [
        ast.StreamSource(iri, source)
        for iri, source in settings.get("streams", {}).items()
        if iri not in mapped
    ]
    return replace(
        file,
        settings=(*file.settings, *values),
        sources=(*file.sources, *(one for one in sources if one not in file.sources)),
        stream_sources=(*file.stream_sources, *streams),
    )
