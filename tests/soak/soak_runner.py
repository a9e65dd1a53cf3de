"""One schedule, from its first session to its last: the real run with its surroundings simulated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from soak_faults import BROKEN, FULL, CheckpointDisk, Fate, Killed, SoakFile, guarded_save
from soak_input import Input
from soak_schedule import Schedule, Session
from soak_sources import World, stepped

from obep import load
from obep.config.toml_file import Config
from obep.engine.engine import Engine
from obep.engine.observer import Taken
from obep.engine.query import Query
from obep.errors import ObepError
from obep.formats.tables import record_blocks
from obep.model import Occurrence
from obep.run import checkpoint, dead_letters, embedded, pipeline
from obep.run.run_spec import Order, aim
from obep.streams.sinks import open_sinks
from obep.streams.sources import batches, merge
from obep.streams.sources.files import FileSource
from obep.why_not.latest import Latest

QUERIES = Path(__file__).parent / "queries"
SECOND = 1_000_000
EXPECTED = {"full": FULL, "break": BROKEN}


class FateObserver(Latest):
    """Lets the end of a session come while its engine takes items or reports."""

    follows = False  # the engine may take items in blocks

    def __init__(self, fate: Fate) -> None:
        super().__init__(0)
        self._fate = fate

    def taken(self, items: Taken) -> Taken:
        self._fate.touch("items")
        return items

    def reported(self, found: Sequence[Occurrence]) -> None:
        self._fate.touch("found")


@cache
def query_named(name: str) -> Query:
    """A query, compiled once for all schedules."""
    return load(QUERIES / f"{name}.obep", java=False)


@dataclass(slots=True)
class Ran:
    """What a session was: the engine at its end, and whether it came to its own end."""

    engine: Engine
    clean: bool


@dataclass(slots=True)
class Play:
    """A schedule that is played in a folder."""

    schedule: Schedule
    folder: Path
    world: World = field(init=False)
    input: Input = field(init=False)
    moved: bool = False
    """Whether an output was moved."""

    def __post_init__(self) -> None:
        self.world = World(Random(self.schedule.seed))
        self.input = Input(self.schedule, self.folder / "in", self.world)

    def session(self, session: Session, resumes: bool) -> Ran:
        """One run. An output that the checkpoint does not know is refused: then it is moved, as it says."""
        try:
            return self._run(session, resumes)
        except ObepError as error:
            unknown = self.folder / "more.jsonl"
            if f"{unknown} is not empty" not in str(error):
                raise
            unknown.unlink()
            self.moved = True
            return self._run(session, resumes)

    def _run(self, session: Session, resumes: bool) -> Ran:
        """A fate that is not met lets a run come to its end."""
        fate = Fate(session.fate, session.after, self.world.random)
        files: list[SoakFile] = []
        self.input.show(session.seen, session.torn)
        self.world.size = session.size
        run = engine = None
        try:
            with self._simulated(session, fate, files):
                run, engine = embedded.open_run(
                    self._order(session, resumes),
                    query_named(self.schedule.query),
                    observer=FateObserver(fate),
                )
                self._simulate(run, engine, fate)
                if resumes:  # the undisturbed run reads one by one
                    _read_in_blocks(run)
                run.go()
                run.close()
        except Killed:
            return Ran(engine, False)
        except ObepError as error:
            if not fate.met or error.diagnostics[0].code != EXPECTED.get(session.fate):
                raise
            return Ran(engine, False)
        finally:
            for file in files:
                file.abandon()
        return Ran(engine, not run.stopping)

    def _simulate(self, run: pipeline.Run, engine: Engine, fate: Fate) -> None:
        engine._now = engine._steady = self.world.micros
        run.clock = self.world.calls
        run.on_turn = lambda run: fate.touch("turn")
        fate.stop = run.stop
        if run.checkpoint is not None:
            run.checkpoint.save = guarded_save(run.checkpoint.save, fate)

    def _order(self, session: Session, resumes: bool) -> Order:
        config = Config(self.folder)
        return Order(
            QUERIES / f"{self.schedule.query}.obep",
            config,
            self.input.inlets(),
            aim([str(self.folder / name) for name in session.sinks], "", config),
            session.lateness * SECOND,
            None if session.idle is None else session.idle * SECOND,
            checkpoint=self.folder / "kept" if resumes else None,
            dead_letters=self.folder / "dead.jsonl",
        )

    @contextmanager
    def _simulated(self, session: Session, fate: Fate, files: list[SoakFile]) -> Iterator[None]:
        """The parts of obep that meet the world, in the form that this session needs."""
        opened = open_sinks.open_output

        def open_output(path: Path, start: int) -> Any:
            files.append(SoakFile(opened(path, start), fate))
            return files[-1]

        passing = self.schedule.kind == "log"
        seams = (
            (embedded, "open_source", self.input.open),
            (open_sinks, "open_output", open_output),
            (dead_letters, "open_output", open_output),
            (checkpoint, "os", CheckpointDisk(fate)),
            (pipeline, "merged", stepped(self.world, fate, passing)),
            (pipeline, "INTERVAL_S", session.interval),
            (batches, "SIZE", session.size),
            (merge, "SIZE", session.size),
            (record_blocks, "FEW", 1),
        )
        before = [(module, name, getattr(module, name)) for module, name, _ in seams]
        try:
            for module, name, value in seams:
                setattr(module, name, value)
            yield
        finally:
            for module, name, value in before:
                setattr(module, name, value)


def _read_in_blocks(run: pipeline.Run) -> None:
    """As `obep run` reads files."""
    for source in run.sources.values():
        if isinstance(source, FileSource):
            source.read_lazily()


def undisturbed(schedule: Schedule, folder: Path) -> Ran:
    """The schedule's whole input in one run, without a checkpoint."""
    return Play(schedule, folder).session(schedule.base, resumes=False)
