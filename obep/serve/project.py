"""The project that a service runs: its queries, settings, sources and sinks, and the folder of its state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from obep.config.toml_file import Config, load_config
from obep.engine.query import Query
from obep.errors import Diagnostic, Diagnostics, ObepError, fail
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
    """Queries with the configuration around them."""

    paths: Mapping[str, Path]
    """The files of its queries, by the names of these; further queries have no file."""
    config: Config
    state: Path

    @property
    def name(self) -> str:
        """What the first query is called in the API."""
        return next(iter(self.paths))

    @property
    def folder(self) -> Path:
        """Where the queries look for what they read."""
        return self.paths[self.name].resolve().parent

    def check(self, text: str | None = None, name: str = "", *, lints: bool = True) -> Checked:
        """Read, check and compile a text as the query of that name (the first), or its file."""
        name = name or self.name
        path = self.paths.get(name, self.folder / f"{name}.obep")
        try:
            file = read_query(path) if text is None else parse(text, path.name, written_in(text))
            folder, config = path.resolve().parent, self.config
            linked = link(file, folder, allowed=config.allowed, catalogue=config.catalogue)
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
        query = Query(linked, found.bundle, Diagnostics(found.diagnostics))
        try:
            query.require_returns()
        except ObepError as error:
            return Checked(None, (*found.diagnostics, *error.diagnostics))
        return Checked(query, found.diagnostics)

    def load(self, text: str | None = None, name: str = "") -> Query:
        """The compiled query; raises what is wrong with it."""
        checked = self.check(text, name)
        if checked.query is None:
            raise ObepError(*(one for one in checked.diagnostics if one.severity == "error"))
        return checked.query

    def file_text(self, name: str) -> str:
        """What the file of a query holds; raises why it cannot be read."""
        try:
            return self.paths[name].read_text("utf-8-sig")
        except (OSError, UnicodeDecodeError):
            self.load(name=name)  # says why
            raise

    def order(self, streams: Iterable[str]) -> Order:
        """The run that the service is: the sources and sinks of obep.toml; what has no source is posted."""
        config, engine = self.config, self.config.engine
        inlets = tuple(
            Inlet(stream, str(config.sources[stream]["uri"].reveal()), trusted=False)
            for stream in streams
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
            self.paths[self.name],
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
    paths = [given] if not given.is_dir() else _queries_in(given, settings)
    if state is None:
        state = settings.file(settings.serve.get("state", STATE))
    by_name = {path.stem: path for path in paths}
    if len(by_name) < len(paths):
        raise fail(
            "OBEP854",
            "two queries have the same name",
            reason="A query is called as its file is, without the ending.",
            remedy="rename one of the files",
        )
    return Project(by_name, settings, state)


def _queries_in(folder: Path, settings: Config) -> list[Path]:
    named = settings.serve.get("query", ())
    if named:
        return [settings.file(one) for one in ((named,) if isinstance(named, str) else named)]
    found = sorted(path for path in folder.glob("*.obep") if path.is_file())
    if len(found) == 1:
        return found
    there = ", ".join(path.name for path in found)
    listed = ", ".join(f'"{path.name}"' for path in found)
    raise fail(
        "OBEP854",
        f"{folder} has {len(found)} queries" if found else f"{folder} has no query (*.obep)",
        reason=f"They are {there}; some may only be included by others." if found else "",
        remedy=f"obep serve {found[0]}, or [serve] query = [{listed}] in obep.toml" if found else "obep init",
    )
