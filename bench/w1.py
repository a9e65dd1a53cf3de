"""W1 from a file to a file: A, then B of the same room within 5 s, all pairs. obep beside peers and limits.

    python bench/w1.py                          200,000 events, five rounds
    python bench/w1.py --n 2000000 --rounds 3
    python -m bench w1 --engines obep-jsonl,loop --json figures.jsonl
    python bench/w1.py --flink /path/to/python  a Python with apache-flink

Every engine runs in a process of its own, in turn; its processor time and its greatest memory are the
system's figures for that process, start-up included. All engines must have as many answers as the loop.
Esper comes from Maven (`mvn` and `javac` must be there); an engine that cannot be had is named as missing.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from figures import Figure, show

HERE = Path(__file__).parent
NS = "http://example.org/w#"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
WITHIN_MS = 5_000
QUERY = f"""PREFIX : <{NS}>
FROM STREAM <s>
EVENT A AS ClassA
EVENT B AS ClassB
EVENT H(?r) MATCH A AS a SEQ B AS b WITHIN 5 s
IF {{ EVENT a {{ ?this :room ?r . }} EVENT b {{ ?this :room ?r . }} }}
RETURN H
"""
MAPPING = f"""
[sources.s.mapping]
prefixes = {{ "" = "{NS}" }}
unit = "ms"
template = ":e{{n}} a :Class{{kind}} ; :room :{{room}} ."
"""
ENDINGS = ("jsonl", "csv", "nt.jsonl", "nq")
"""The formats in which the events are written."""
GOALS = {"obep-jsonl": 150_000.0}
"""Events a second of processor time that are asked for (issue 19)."""


@dataclass
class Spent:
    """What a process took."""

    processor: float
    clock: float
    megabytes: float
    answers: int


def write_files(folder: Path, count: int) -> None:
    """The same events in each format, with one seed; no two have the same instant."""
    random = Random(7)
    at = 0
    files = {end: (folder / f"w1.{end}").open("w") for end in ENDINGS}
    files["csv"].write("time,room,kind,n\n")
    for n in range(count):
        at += random.choice((10, 20, 30))
        room, kind = f"r{random.randrange(200)}", random.choice("AB")
        triples = (f"<{NS}e{n}> <{TYPE}> <{NS}Class{kind}>", f"<{NS}e{n}> <{NS}room> <{NS}{room}>")
        files["jsonl"].write(json.dumps({"time": at, "room": room, "kind": kind, "n": n}) + "\n")
        files["csv"].write(f"{at},{room},{kind},{n}\n")
        graph = "".join(f"{triple} .\n" for triple in triples)
        files["nt.jsonl"].write(json.dumps({"time": at, "graph": graph}) + "\n")
        name = f"<urn:g{n}>"
        seen = f'"{at}"^^<http://www.w3.org/2001/XMLSchema#integer>'
        files["nq"].write(f"{name} <http://www.w3.org/ns/prov#generatedAtTime> {seen} .\n")
        files["nq"].write("".join(f"{triple} {name} .\n" for triple in triples))
    for file in files.values():
        file.close()


def write_projects(folder: Path) -> None:
    """A query with its obep.toml for each format."""
    for end in ENDINGS:
        project = folder / end
        project.mkdir()
        (project / "q.obep").write_text(QUERY)
        unit = "" if end in ("jsonl", "csv") else 'unit = "ms"\n'
        mapping = MAPPING if end in ("jsonl", "csv") else ""
        (project / "obep.toml").write_text(f'[sources.s]\nuri = "../w1.{end}"\n{unit}{mapping}')


def pairs(path: Path) -> int:
    """The bare loop: a deque of the instants of A for each room."""
    waiting: dict[str, deque[int]] = {}
    found = 0
    for line in path.open("rb"):
        record = json.loads(line)
        at, room = record["time"], record["room"]
        before = waiting.setdefault(room, deque())
        while before and before[0] <= at - WITHIN_MS:
            before.popleft()
        if record["kind"] == "A":
            before.append(at)
        else:
            found += len(before)
    return found


def decode(path: Path) -> int:
    """A limit: msgspec's decoder alone."""
    import msgspec

    read = msgspec.json.Decoder().decode
    return sum(1 for line in path.open("rb") if read(line))


def parse(path: Path) -> int:
    """A limit: pyoxigraph's parser alone, on the same bytes."""
    import pyoxigraph

    return sum(1 for _ in pyoxigraph.parse(path=str(path), format=pyoxigraph.RdfFormat.N_QUADS))


LIMITS: dict[str, tuple[Callable[[Path], int], str]] = {
    "loop": (pairs, "jsonl"),
    "msgspec": (decode, "jsonl"),
    "pyoxigraph": (parse, "nq"),
}


def commands(folder: Path, flink: str) -> dict[str, list[str]]:
    """How to run each engine; the last word that it prints is the number of its answers."""
    found = {name: [sys.executable, __file__, "--limit", name, str(folder)] for name in LIMITS}
    for end in ENDINGS:
        query, out = folder / end / "q.obep", folder / end / "out.jsonl"
        found[f"obep-{end}"] = [
            *(sys.executable, "-m", "obep", "run", str(query), "--engine", "embedded", "--quiet"),
            *("--allow-path", str(folder), "--sink", str(out)),
        ]
    if jars := esper_classes(folder):
        for name in ("cold", "warm"):
            out = folder / f"esper-{name}.txt"
            found[f"esper-{name}"] = [
                "java",
                "-cp",
                jars,
                "Esper",
                "w1",
                name,
                str(folder / "w1.csv"),
                str(out),
            ]
    if flink:
        found["flink"] = [flink, str(HERE / "flink_join.py"), str(folder / "w1.csv")]
    return found


def esper_classes(folder: Path) -> str:
    """The class path of Esper and its small driver, compiled now; nothing if it cannot be had."""
    missing = [tool for tool in ("java", "javac", "mvn") if shutil.which(tool) is None]
    if missing:
        print(f"Esper is missing: there is no {', '.join(missing)}")
        return ""
    jars = Path.home() / ".cache" / "obep-bench" / "esper"
    if not any(jars.glob("esper-*.jar")):
        fetch = ["mvn", "-q", "-B", "-f", str(HERE / "peers" / "pom.xml"), "dependency:copy-dependencies"]
        if subprocess.run([*fetch, f"-DoutputDirectory={jars}"], check=False).returncode:
            print("Esper is missing: Maven could not fetch it")
            return ""
    classes = folder / "classes"
    path = f"{jars}/*"
    subprocess.run(["javac", "-cp", path, "-d", str(classes), str(HERE / "peers" / "Esper.java")], check=True)
    return f"{classes}{os.pathsep}{path}"


def run(name: str, command: list[str], folder: Path) -> Spent:
    """Runs an engine once, as a process of its own."""
    out = folder / name.removeprefix("obep-") / "out.jsonl"
    out.unlink(missing_ok=True)
    begin = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        printed = process.stdout.read().split()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    clock = time.perf_counter() - begin
    assert process.returncode == 0, f"{name} ended with {process.returncode}"
    processor = usage.ru_utime + usage.ru_stime
    if name in ("esper-warm", "flink"):  # they say what their last round, or their JVM, took
        processor, answers = float(printed[-2]), int(printed[-1])
    elif name.startswith("obep-"):
        answers = sum(1 for _ in out.open("rb"))
    else:
        answers = int(printed[-1])
    return Spent(processor, clock, usage.ru_maxrss / 1024, answers)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--n", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--engines", default="", help="names with commas between them; all by default")
    parser.add_argument("--flink", default="", help="a Python that has apache-flink")
    parser.add_argument("--limit", nargs=2, metavar=("NAME", "FOLDER"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.limit:
        name, folder = given.limit
        measure, end = LIMITS[name]
        print(measure(Path(folder) / f"w1.{end}"))
        return
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_files(folder, given.n)
        write_projects(folder)
        expected = pairs(folder / "w1.jsonl")
        engines = commands(folder, given.flink)
        if given.engines:
            wanted = given.engines.split(",")
            if missing := [name for name in wanted if name not in engines]:
                print(f"missing: {', '.join(missing)} (there are {', '.join(engines)})")
            engines = {name: engines[name] for name in wanted if name in engines}
        spent: dict[str, list[Spent]] = {name: [] for name in engines}
        for _ in range(given.rounds):
            for name, command in engines.items():
                one = run(name, command, folder)
                assert name in ("msgspec", "pyoxigraph") or one.answers == expected, (name, one, expected)
                spent[name].append(one)
    if not given.flink:
        print("Flink is missing: --flink PYTHON names a Python with apache-flink")
    print(f"W1, {given.n:,} events, {expected:,} answers, start-up included")
    show(figures(spent, given.n))


def figures(spent: dict[str, list[Spent]], count: int) -> list[Figure]:
    """Events a second of processor time, and the memory of each engine."""
    found = []
    for name, runs in spent.items():
        rates = tuple(count / one.processor for one in runs)
        found.append(Figure(name, rates, "events/s", least=GOALS.get(name)))
        found.append(Figure(f"  {name}: by the clock", tuple(count / one.clock for one in runs), "events/s"))
        found.append(Figure(f"  {name}: memory", tuple(one.megabytes for one in runs), "MB"))
    return found


if __name__ == "__main__":
    main()
