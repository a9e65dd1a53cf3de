"""Occurrences in the files that runs write, found by id and shown as a tree of causes."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from obep.errors import fail
from obep.errors import printable as plain
from obep.formats.input_limits import Limits, Refused, lines
from obep.model import Alert
from obep.output.json_reader import Lookup, ReadOccurrence, read_line
from obep.output.rdf_reader import Described, described
from obep.output.why_tree import why

RDF = (".nq", ".trig")
ENDINGS = (".jsonl", ".ndjson", *RDF)


def tree(id: str, files: Sequence[Path]) -> str:
    """The causes of the one occurrence whose id is, or holds, `id`, for people; its id is the second line."""
    found = _find(id, list(files) or sorted(p for p in Path().iterdir() if p.suffix in ENDINGS))
    if isinstance(found, Described):
        name, lines = found.id, [plain(line) for line in found.lines()]
    else:
        name, lines = found.occurrence.id, why(found.occurrence, found.style).split("\n")
    return "\n".join((lines[0], f"  {plain(name)}", *lines[1:]))


def _find(id: str, searched: Sequence[Path]) -> ReadOccurrence | Described:
    found: dict[str, ReadOccurrence | Described] = {}
    for path in searched:
        for name, one in _read(path, id, searched):
            if _is_firing(one):  # the record of its end, which says more, may still come
                found.setdefault(name, one)
            elif name == id:
                return one
            elif name not in found or _is_firing(found[name]):
                found[name] = one
    if id in found:
        return found[id]
    if len(found) == 1:
        return next(iter(found.values()))
    if found:
        some = "\n".join(sorted(found)[:5])
        raise fail("OBEP530", f"{len(found)} occurrences have {id!r} in their id", reason=some)
    names = ", ".join(map(str, searched)) or "the current folder"
    raise fail(
        "OBEP530",
        f"no occurrence {id!r} in {names}",
        reason="The rows of a query have no id and no explanation."
        if any(_has_rows(path) for path in searched)
        else "",
        remedy="obep why ID OUTPUT.jsonl",
    )


def _has_rows(path: Path) -> bool:
    """Whether a file begins with a row of a query."""
    try:
        with path.open("rb") as file:
            return file.read(100).startswith(b'{"query":')
    except OSError:
        return False


def _is_firing(one: ReadOccurrence | Described) -> bool:
    alert = one.occurrence if isinstance(one, ReadOccurrence) else None
    return isinstance(alert, Alert) and alert.until is None


def _read(path: Path, id: str, searched: Sequence[Path]) -> Iterator[tuple[str, ReadOccurrence | Described]]:
    """The occurrences of an output file whose id holds `id`, by id."""
    if path.suffix in RDF:
        with _opened(path) as file:
            yield from described(file.read(), path, id).items()
        return
    others = [other for other in searched if str(other) != "-" and other.suffix not in RDF]
    for line in _mentioning(path, id):
        one = read_line(line, _lookup(others, frozenset()))
        if one and id in one.occurrence.id:
            yield one.occurrence.id, one


def _lookup(files: Sequence[Path], met: frozenset[str]) -> Lookup:
    """Finds an occurrence in lines of JSON, but none of those `met` on the way to it."""

    def look(id: str) -> ReadOccurrence | None:
        if id in met:
            return None
        further = _lookup(files, met | {id})
        read = (read_line(line, further) for path in files for line in _mentioning(path, f'"id":"{id}"'))
        return next((one for one in read if one and one.occurrence.id == id), None)

    return look


def _mentioning(path: Path, text: str) -> Iterator[bytes]:
    """The lines of a file in which a text occurs."""
    needle = text.encode()
    with _opened(path) as file:
        for line in lines(file, Limits().file_bytes):
            if not isinstance(line, Refused) and needle in line:
                yield line


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    try:
        file = sys.stdin.buffer if str(path) == "-" else path.open("rb")
    except OSError as error:
        raise fail("OBEP550", f"{path} cannot be read: {error.strerror}") from None
    with file:
        yield file
