"""The names of all benches: what each measures, what runs it, and how it is made short.

`make bench` runs those that have a `short` form, `tests/test_benches.py` all that have a `tiny` one.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Bench:
    """One bench."""

    about: str
    script: str
    arguments: tuple[str, ...] = ()
    """What makes the script this bench."""
    size: str = ""
    """The option that `--n` stands for; nothing where it has no size."""
    short: tuple[str, ...] | None = None
    """Its further arguments in `make bench`; None: it is not run there."""
    tiny: tuple[str, ...] | None = None
    """Arguments with which it ends in a few seconds; None: what it needs is not in every test environment."""
    engines: bool = False
    """Whether it has `--engines`."""

    @property
    def command(self) -> list[str]:
        return [sys.executable, str(HERE / self.script), *self.arguments]


def _workload(name: str, about: str, short: int, tiny: int = 200, engines: bool = True) -> Bench:
    return Bench(
        about,
        "workloads.py",
        (name,),
        "--n",
        ("--n", str(short), "--rounds", "3"),
        ("--n", str(tiny), "--rounds", "1", *(("--engines", "obep") if engines else ())),
        engines=engines,
    )


ONCE = ("--rounds", "1")
BENCHES: dict[str, Bench] = {
    "w1": Bench(
        "W1 from a file to a file, beside other engines, a bare loop and the parsers",
        "w1.py",
        (),
        "--n",
        (
            "--n",
            "50000",
            "--rounds",
            "3",
            "--engines",
            "obep-jsonl,obep-csv,obep-nt.jsonl,obep-nq,loop,msgspec,pyoxigraph",
        ),
        ("--n", "500", *ONCE, "--engines", "obep-jsonl,obep-nq,loop,msgspec,pyoxigraph"),
        engines=True,
    ),
    "lines": Bench(
        "what an answer costs to write: its line of JSON, its id",
        "lines.py",
        (),
        "--n",
        ("--n", "50000", "--rounds", "3"),
        ("--n", "500", *ONCE),
    ),
    "keys": _workload("keys", "W1 from parsed items by 10 to 100,000 keys, WITHIN 1 s to 60 s", 20_000),
    "operators": Bench("operators, from logical occurrences", "operators.py", short=ONCE, tiny=ONCE),
    "guards": Bench(
        "a 3-way SEQ with arithmetic over 1,000 keys",
        "arithmetic_guards.py",
        (),
        "--items",
        ("--items", "10000", "--rounds", "3"),
        ("--items", "3000", *ONCE),
    ),
    "absence": _workload("absence", "NOT FOLLOWED BY, so many deadlines pending", 100_000),
    "policies": _workload("policies", "SEQ with each policy, by 1,000 keys", 20_000, 2_000),
    "dl": Bench(
        "the paper's events: new shapes, warm, and beside HermiT for each item",
        "reasoning.py",
        ("--only", "paper"),
        "--items",
        ("--items", "5000", "--rounds", "3", "--naive", "2"),
        ("--items", "200", *ONCE, "--naive", "0"),
    ),
    "k": Bench(
        "K of a million triples: the first process and the next, memory",
        "static.py",
        (),
        "--triples",
        tiny=("--triples", "4000", *ONCE),
    ),
    "classes": Bench("400 to 40,000 subclasses, every item another", "hierarchy.py", short=()),
    "cases": Bench("case analysis: one item in five lies in the gap", "cases.py"),
    "states": Bench(
        "OVER, and episodes that wait for FOR",
        "states.py",
        (),
        "--episodes",
        (
            "--fill",
            "20000",
            "--rounds",
            "3",
            "--size",
            "2000",
            "--episodes",
            "5000",
            "--rows",
            "20000",
            "--keys",
            "5000",
        ),
        ("--fill", "1500", *ONCE, "--size", "500", "--episodes", "100", "--rows", "500", "--keys", "100"),
    ),
    "latest": Bench(
        "LATEST windows",
        "latest.py",
        (),
        "--items",
        ("--items", "2000", "--rounds", "3"),
        ("--items", "200", *ONCE),
    ),
    "windows": Bench(
        "queries over windows, kept against anew; 001's experiment",
        "languages.py",
        (),
        "--items",
        ("--items", "20000", "--size", "300"),
        ("--items", "500", "--size", "40"),
    ),
    "papers": Bench(
        "the experiments of the papers on EP-SPARQL and Sparkwave", "paper_experiments.py", (), "--items"
    ),
    "many": Bench(
        "1 to 1,000 events over one stream",
        "rules.py",
        (),
        "--items",
        ("--most", "100", "--items", "1000"),
        ("--most", "10", "--items", "200"),
    ),
    "devices": _workload("devices", "10,000 rules over 100,000 devices", 1_000, 50),
    "latency": Bench(
        "push to hit at 10,000 items/s: p50, p99, p99.9, max",
        "latency.py",
        ("--freeze",),
        "--seconds",
        ("--seconds", "5"),
        ("--seconds", "1"),
    ),
    "memory": Bench(
        "bytes of a live occurrence", "latency.py", ("--memory",), "--count", (), ("--count", "1000")
    ),
    "start": _workload("start", "a cold and a warm start of `obep run`", 1, 1, engines=False),
    "large": Bench("large ontologies: the first start and the next", "large_ontologies.py", tiny=("small",)),
    "frames": Bench(
        "frames beside JSON lines", "frames.py", (), "--records", tiny=("--records", "2000", "--times", "1")
    ),
    "lints": Bench(
        "the rules about streams, as shares of a run",
        "stream_rules.py",
        (),
        "--items",
        tiny=("--items", "300", *ONCE),
    ),
    "knowledge": Bench("changes of K", "knowledge_changes.py", tiny=("3000",)),
    "service": Bench(
        "a load on `obep serve`", "service_load.py", (), "--rate", tiny=("--rate", "200", "--seconds", "1")
    ),
    "page": Bench("the page of `obep studio` with very many occurrences", "page.py", (), "--occurrences"),
    "hermit": Bench("HermiT for each item", "naive_hermit.py"),
    "spark": Bench("W1 on Spark", "spark.py", (), "--events"),
    "spark-start": Bench("`obep run --engine spark` from start to first answer", "spark_start.py"),
}
