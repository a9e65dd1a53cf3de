"""The project that a service runs: its query, settings, sources and sinks, and the folder of its state."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from obep.config.toml_file import Config, load_config
from obep.engine.query import Query
from obep.errors import Diagnostic, ObepError, fail
from obep.lints.check_project import examine
from obep.query.languages import written_in
from obep.query.link import link
from obep.query.parse.parser import parse, read_query
from obep.run.embedded import DAY
from obep.run.run_spec import Inlet, Order, aim
from obep.serve.settings import STATE


@dataclass(frozen=True, slots=True)
class Checked:
    """A text that was checked: the query, if nothing is wrong with it, and all there is to say."""

    query: Query | None
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class Project:
    """A query with the configuration around it."""

    path: Path
    config: Config
    state: Path

    @property
    def name(self) -> str:
        """What the query is called in the API."""
        return self.path.stem

    @property
    def folder(self) -> Path:
        return self.path.resolve().parent

    def check(self, text: str | None = None, *, lints: bool = True) -> Checked:
        """Read, check and compile a query in the place of this one, or this one."""
        try:
            file = read_query(self.path) if text is None else parse(text, self.path.name, written_in(text))
            linked = link(file, self.folder, allowed=self.config.allowed, catalogue=self.config.catalogue)
        except ObepError as error:
            return Checked(None, error.diagnostics)
        engine = self.config.engine
        found = examine(
            linked,
            self.config.catalogue,
            strict=engine.get("strict", False),
            require_complete=engine.get("require_complete", False),
            cache_dir=self.config.cache,
            max_explanations=engine.get("max_explanations"),
            max_work=engine.get("max_work"),
            ignore=self.config.ignore,
            lints=lints,
        )
        if found.errors or found.bundle is None:
            return Checked(None, found.diagnostics)
        query = Query(linked, found.bundle, found.diagnostics)
        try:
            query.require_returns()
        except ObepError as error:
            return Checked(None, (*found.diagnostics, *error.diagnostics))
        return Checked(query, found.diagnostics)

    def load(self, text: str | None = None) -> Query:
        """The compiled query; raises what is wrong with it."""
        checked = self.check(text)
        if checked.query is None:
            raise ObepError(*(one for one in checked.diagnostics if one.severity == "error"))
        return checked.query

    def order(self, query: Query) -> Order:
        """The run that the service is: the sources and sinks of obep.toml; what has no source is posted."""
        config, engine = self.config, self.config.engine
        inlets = tuple(
            Inlet(stream, str(config.sources[stream]["uri"].reveal()), trusted=False)
            for stream in query.linked.streams
            if "uri" in config.sources.get(stream, {})
        )
        for inlet in inlets:
            if inlet.uri == "-" or inlet.uri.startswith("-."):
                raise fail("OBEP853", f"sources.{inlet.name}: a service does not read standard input")
        targets = aim((), "", config) if config.sinks else ()
        for target in targets:
            if target.uri == "-":
                raise fail("OBEP853", f"sinks.{target.key}: a service does not write standard output")
        dead = engine.get("dead_letters")
        return Order(
            self.path,
            config,
            inlets,
            targets,
            lateness=engine.get("lateness") or 0,
            idle=engine.get("idle"),
            future=engine.get("future", DAY),
            checkpoint=self.state,
            dead_letters=config.file(dead) if dead else None,
            quiet=True,
        )


def find_project(
    given: Path,
    config: Path | None = None,
    state: Path | None = None,
    allowed: tuple[Path, ...] = (),
    *,
    allow_exec: bool = False,
) -> Project:
    """The project in a folder, or of a query file. Raises OBEP854 if it is not clear which query it is."""
    folder = given if given.is_dir() else given.parent
    settings = load_config(config, folder, allowed, allow_exec=allow_exec)
    path = given if not given.is_dir() else _query_in(given, settings)
    if state is None:
        state = settings.file(settings.serve.get("state", STATE))
    return Project(path, settings, state)


def _query_in(folder: Path, settings: Config) -> Path:
    named = settings.serve.get("query")
    if named:
        return settings.file(named)
    found = sorted(path for path in folder.glob("*.obep") if path.is_file())
    if len(found) == 1:
        return found[0]
    there = ", ".join(path.name for path in found)
    raise fail(
        "OBEP854",
        f"{folder} has {len(found)} queries" if found else f"{folder} has no query (*.obep)",
        reason=f"They are {there}." if found else "",
        remedy=f'obep serve {found[0]}, or [serve] query = "{found[0].name}" in obep.toml'
        if found
        else "obep init",
    )
