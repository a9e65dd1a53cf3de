"""What happens in one schedule: all of it follows from the seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from soak_records import Record, Shape, in_turn, make_records

QUERIES = sorted(path.stem for path in (Path(__file__).parent / "queries").glob("*.obep"))
KINDS = ("files", "files", "mixed", "log", "log", "folder", "pipe")
FATES = ("kill", "kill", "kill", "full", "stop", "break", "end")


@dataclass(frozen=True, slots=True)
class Session:
    """One run: its settings, what it sees of the input, and how it ends."""

    fate: str
    after: int
    """How many steps it takes until then."""
    lateness: int
    idle: int | None
    size: int
    interval: float
    seen: int
    """How many records (by the order of merging) lie there when it begins."""
    torn: bool
    """Whether half of the next line does, too."""
    rotate: bool
    """Whether files that were read to their end are replaced afterwards."""
    sinks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Schedule:
    """The input and the sessions; the last one is not disturbed and sees everything."""

    seed: int
    query: str
    kind: str
    shape: Shape
    records: list[Record]
    sessions: list[Session]
    base: Session
    """The settings of the undisturbed run."""

    @property
    def punctual(self) -> bool:
        """Whether every record comes within the lateness."""
        return not self.shape.late

    @property
    def ties(self) -> frozenset[int]:
        """The seconds of several records."""
        often = Counter(record.at for record in self.records if record.at is not None)
        return frozenset(at for at, count in often.items() if count > 1)

    @property
    def ordered(self) -> bool:
        """Whether the order of arrival is the same in every run, so that outputs are equal byte for byte."""
        return not (self.kind == "log" and len(self.shape.sources) > 1)


def make_schedule(seed: int, queries: Sequence[str] = QUERIES) -> Schedule:
    random = Random(seed)
    kind = random.choice(KINDS)
    sources = ("a", "b") if kind in ("files", "mixed", "log") and random.random() < 0.6 else ("a",)
    settings = random.choice(("fixed", "fixed", "changing", "changing", "late"))
    if len(sources) > 1 and kind == "log" and settings == "late":
        settings = "fixed"
    disorder = random.choice((0, 0, 1, 4))
    shape = Shape(
        sources,
        kind == "mixed",
        disorder,
        settings == "late",
        random.random() < 0.6,
        kind in ("log", "folder", "pipe"),
        random.random() < 0.3,
        Random(f"{seed} graphs").random() < 0.6,
    )
    records = make_records(random, shape, random.randint(4, 40))
    if kind in ("files", "mixed"):
        records = in_turn(records)
    clock = ClockSettings(random, settings, disorder, kind == "log" and len(sources) > 1)
    base, sessions = _planned(random, kind, len(records), clock)
    return Schedule(seed, random.choice(queries), kind, shape, records, sessions, base)


@dataclass(frozen=True, slots=True)
class ClockSettings:
    """Lateness and idle under which the input has the same answers."""

    random: Random
    kind: str
    disorder: int
    apart: bool
    """Whether sources arrive in any order, so that the clock must wait for each."""

    def draw(self) -> tuple[int, int | None]:
        if self.kind == "late":
            return self.disorder, None
        lateness = self.disorder + self.random.choice((0, 0, 2, 5))
        waits = self.apart or self.random.random() < 0.4
        return lateness, self.random.choice((3, 10)) if waits else None


def _planned(random: Random, kind: str, count: int, clock: ClockSettings) -> tuple[Session, list[Session]]:
    """The undisturbed run, and the sessions."""
    first = clock.draw()
    outputs = ("out.jsonl",) if random.random() < 0.7 else ("out.nq", "out.jsonl")
    extra = random.random() < 0.4
    rotates = kind in ("files", "mixed") and random.random() < 0.3
    sessions = []
    seen = 0
    for last in [False] * random.randint(1, 5) + [True]:
        seen = count if last else random.randint(seen, count)
        chosen = clock.draw() if clock.kind == "changing" else first
        sinks = [*outputs, *(["more.jsonl"] if extra and random.random() < 0.6 else [])]
        random.shuffle(sinks)
        fate = "end" if last else random.choice(FATES)
        after = int(random.expovariate(1 / 40))
        size, interval = random.choice((1, 2, 3, 8, 256)), random.choice((0.0, 3.0, 3.0, 20.0, 1e9))
        torn, rotate = not last and random.random() < 0.4, rotates and random.random() < 0.6
        sessions.append(
            Session(fate, after, *chosen, size, interval, seen, torn and not rotate, rotate, tuple(sinks))
        )
    base = Session("end", 0, *first, 256, 1e9, count, False, False, outputs)
    return base, sessions
