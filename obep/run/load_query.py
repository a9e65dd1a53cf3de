"""`obep.load`: read, check and compile a query."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from obep.engine.query import Query
from obep.errors import Diagnostics, ObepError
from obep.lints.check_project import examine
from obep.query.languages import dialect_of, written_in
from obep.query.link import link
from obep.query.parse.parser import parse, read_query


def load(
    path: str | Path | None = None,
    *,
    text: str | None = None,
    folder: str | Path | None = None,
    dialect: str | None = None,
    allowed: tuple[Path, ...] = (),
    catalogue: Mapping[str, Path] | None = None,
    java: bool = True,
    strict: bool = False,
    require_complete: bool = False,
    cache_dir: str | Path | None = None,
    max_explanations: int | None = None,
    max_work: int | None = None,
    ignore: Collection[str] = (),
    lints: bool = True,
) -> Query:
    """Read and compile a query, from a file or from `text` (whose paths are relative to `folder`).

    `dialect` is the language that it is written in, as `"rspql"` or `"RSP-QL"`; without it the ending of the
    file or the text decides.
    Raises ObepError with all that is wrong with it. `java=False` never starts the reasoner; with
    `strict` a guard sees only the vocabulary of its event; `require_complete` refuses events that need the
    reasoner where there is no Java, which otherwise run as a lower bound; `max_explanations` is how many of
    one event and individual are looked for in an item, `max_work` how many steps an item may take
    before it is a dead letter (OBEP628); both hold on every engine. `ignore` are the codes of warnings that
    are left out; `lints=False` looks for none at all.

    >>> query = load(text="PREFIX : <http://e/>\\nEVENT Hot AS (celsius some number[> 30])\\nRETURN Hot")
    >>> [hit.start for hit in query.engine().push("@prefix : <http://e/> . :a :celsius 31.5 .", at=1)]
    [1000000]
    """
    if (path is None) == (text is None):
        raise TypeError("load takes a path or text=, one of them")
    if path is not None:
        file, home = read_query(Path(path), dialect_of(dialect)), Path(path).resolve().parent
    else:
        chosen = dialect_of(dialect) or written_in(text or "")
        file, home = parse(text or "", language=chosen), Path(folder or ".")
    linked = link(file, home, allowed=allowed, catalogue=catalogue)
    found = examine(
        linked,
        {} if catalogue is None else catalogue,
        java=java,
        strict=strict,
        require_complete=require_complete,
        cache_dir=Path(cache_dir) if cache_dir else None,
        max_explanations=max_explanations,
        max_work=max_work,
        ignore=ignore,
        lints=lints,
    )
    if found.errors:
        raise ObepError(*found.errors)
    return Query(linked, found.bundle, Diagnostics(found.diagnostics))
