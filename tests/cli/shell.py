"""The shell in this process: arguments in, exit status and both outputs out."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from typer import testing
from typer.main import get_command

from obep.cli.main import app

vars(testing)["_get_command"] = cache(get_command)  # options are read from signatures, which takes time


@dataclass(frozen=True)
class Said:
    """What a command said and how it ended."""

    status: int
    out: str
    err: str

    @property
    def records(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


def obep(*arguments: str | Path, stdin: bytes | None = None) -> Said:
    """Runs `obep` with the arguments; a bug is raised, not turned into a status."""
    words = [str(a) for a in arguments]
    runner = testing.CliRunner(env={"OBEP_DEBUG": "1"})
    result = runner.invoke(app, words, input=stdin, catch_exceptions=False)
    return Said(result.exit_code, result.stdout, result.stderr)


def embedded(query: str | Path, *arguments: str | Path, stdin: bytes | None = None) -> Said:
    """`obep run` on the embedded engine."""
    return obep("run", query, "--engine", "embedded", *arguments, stdin=stdin)


HOT = """PREFIX : <http://e/>
FROM STREAM <s>
EVENT Hot AS (Sensor and celsius some number[> 30])
RETURN Hot
"""


def hot(folder: Path, text: str = HOT) -> Path:
    """A small query, beside which a configuration and streams may be put."""
    (folder / "q.obep").write_text(text)
    return folder / "q.obep"


def reading(time: object, id: str, celsius: float, stream: str = "s") -> str:
    graph = f"<http://e/{id}> a <http://e/Sensor> ; <http://e/celsius> {celsius} ."
    return json.dumps({"stream": stream, "time": time, "graph": graph}) + "\n"
