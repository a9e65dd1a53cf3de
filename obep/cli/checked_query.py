"""A query file as `check` and `explain` see it: compiled as `run` compiles it, with all there is to say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from obep.errors import Diagnostic, ObepError

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle
    from obep.query.ast import Language


class Seen(NamedTuple):
    """The compiled query, unless there are errors among the diagnostics."""

    bundle: Bundle | None
    diagnostics: tuple[Diagnostic, ...]


def examine(
    path: Path,
    config: Path | None = None,
    allowed: tuple[Path, ...] = (),
    ignore: tuple[str, ...] = (),
    dialect: Language | None = None,
) -> Seen:
    """Every diagnostic about a query file, its configuration, and codes of `ignore` without effect."""
    seen = _examine(path, config, allowed, ignore, dialect)
    if not ignore:
        return seen
    from obep.lints.ignore import without_effect

    every = _examine(path, config, allowed, (), dialect).diagnostics
    return seen._replace(diagnostics=(*seen.diagnostics, *without_effect(ignore, every)))


def _examine(
    path: Path,
    config: Path | None,
    allowed: tuple[Path, ...],
    ignore: tuple[str, ...],
    dialect: Language | None,
) -> Seen:
    from obep.config.toml_file import load_config
    from obep.lints.check_project import examine as examined
    from obep.query.link import link
    from obep.query.parse.parser import read_query
    from obep.run.run_spec import unread_sources

    try:
        settings = load_config(config, path.parent, allowed)
        file = read_query(path, dialect)
        linked = link(file, path.parent, allowed=allowed, catalogue=settings.catalogue)
    except ObepError as error:
        return Seen(None, error.diagnostics)
    found = examined(
        linked,
        settings.catalogue,
        strict=settings.engine.get("strict", False),
        require_complete=settings.engine.get("require_complete", False),
        cache_dir=settings.cache,
        ignore=(ignored := (*settings.ignore, *ignore)),
    )
    said = (
        *found.diagnostics,
        *(s for s in unread_sources(path, linked.streams, settings) if s.code not in ignored),
    )
    if found.bundle is None or not settings.sources:  # a small query without mappings is answered at once
        return Seen(found.bundle, said)
    from obep.lints.stream_context import ConfigContext
    from obep.lints.stream_rules import apply_config_rules

    about = apply_config_rules(ConfigContext(found.bundle, settings), ignored)
    return Seen(found.bundle, (*said, *(one.diagnostic for one in about)))
