"""Break obep one line at a time and list what no test notices.

`python tests/mutation --module obep/operators/sequence.py` runs a quick, fixed subset of the tests for each
mutant, in a process of its own with a time limit, against a copy of the repository. `--sample N` takes some
of the mutants, by `--seed`. A survivor is a line that could be wrong, a line that needs no test (it is only
faster with it), or a test that is missing.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import IO

import hypothesis
import lark
import msgspec
import pyoxigraph
import pytest
import rdflib
from mutation_loaded import put_in_place
from mutation_mutants import Mutant, mutants

ROOT = Path(__file__).parents[2]
PRELOADED = (hypothesis, lark, msgspec, pyoxigraph, pytest, rdflib)
"""What every mutant's process would load again; obep itself is never loaded here."""
LOAD = 77
"""The status of a child whose mutant cannot be put into loaded modules."""
MODULES = (
    "obep/operators",
    "obep/guards",
    "obep/engine/clock.py",
    "obep/ontology/rules",
    "obep/ontology/closure",
)
TESTS = {
    "obep/operators": "operators oracle/test_oracle_by_hand.py oracle/test_oracle_found.py "
    "oracle/test_oracle_random.py oracle/test_laws.py engine/test_keyed_sequences.py",
    "obep/engine/clock.py": "engine/test_clock_idle.py engine/test_engine_time.py "
    "engine/test_changed_settings.py",
    "obep/guards": "guards/test_sparql_values.py guards/test_guard_functions.py guards/test_asks.py "
    "guards/test_regexes.py guards/test_conditions_agree_with_rdflib.py guards/test_guards_end_to_end.py",
    "obep/ontology": "abstraction/test_matcher.py abstraction/test_every_rule_counts.py "
    "abstraction/test_kinds_of_reasoning.py abstraction/test_found_by_comparing.py "
    "abstraction/test_found_with_two_individuals.py ontology/test_relevance.py ontology/test_locality.py",
}
"""The tests that are run for what lies below a path."""


def main() -> int:
    options = _options()
    rng = Random(options.seed)
    with tempfile.TemporaryDirectory(prefix="obep-mutants-", dir=_ram()) as folder:
        copy = Path(folder) / "obep"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".*", "site", "__pycache__", "bench"))
        survivors = total = 0
        for tests, modules in _by_tests(options.module or MODULES, options.tests).items():
            limit = _baseline(copy, tests)
            found = [
                (module, one) for module in modules for one in mutants((copy / module).read_text("utf-8"))
            ]
            chosen = rng.sample(found, min(options.sample or len(found), len(found)))
            print(f"{len(chosen)} of {len(found)} mutants of {' '.join(modules)}", flush=True)
            total += len(chosen)
            answered: set[int] = set()
            for number, survives in _answers(copy, chosen, tests, limit):
                answered.add(number)
                survivors += survives
                if survives:
                    module, one = chosen[number]
                    print(f"{module}:{one.line}: {one.kind}: {one.before}  →  {one.after}", flush=True)
            assert len(answered) == len(chosen), "each mutant has an answer"
        print(f"{survivors} of {total} mutants survive (seed {options.seed})")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python tests/mutation", description=__doc__)
    parser.add_argument(
        "--module", action="append", help="a file or folder of obep/, several times if you like"
    )
    parser.add_argument("--tests", help="the tests to run, relative to tests/ (default: those of the module)")
    parser.add_argument("--sample", type=int, help="how many mutants of each group of modules (default: all)")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def _ram() -> Path | None:
    ram = Path("/dev/shm")
    return ram if ram.is_dir() else None


def _by_tests(paths: list[str] | tuple[str, ...], tests: str | None) -> dict[str, list[str]]:
    """The modules below the paths, by the tests that are run for them."""
    found: dict[str, list[str]] = {}
    for path in paths:
        whole = ROOT / path
        files = [whole] if whole.is_file() else sorted(whole.rglob("*.py"))
        if not files:
            raise SystemExit(f"there is no module {path}")
        chosen = tests or next((some for start, some in TESTS.items() if path.startswith(start)), "")
        if not chosen:
            raise SystemExit(f"no tests are known for {path}; give --tests")
        found.setdefault(chosen, []).extend(str(file.relative_to(ROOT)) for file in files)
    return found


def _baseline(copy: Path, tests: str) -> float:
    """How long a mutant may take: some times what the tests take without one, which must pass."""
    begin = time.monotonic()
    if _run(lambda: _tests(copy, tests), 600):
        raise SystemExit(
            f"the tests fail without a mutant: {tests}\n{(copy / 'output').read_text('utf-8')[-3000:]}"
        )
    return 30 + 4 * (time.monotonic() - begin)


def _answers(
    copy: Path, chosen: list[tuple[str, Mutant]], tests: str, limit: float
) -> Iterator[tuple[int, bool]]:
    """Of each mutant whether it survives: first those that can be put into loaded modules."""
    reader, writer = os.pipe()
    loaded = os.fork()
    if loaded == 0:
        os.close(reader)
        with os.fdopen(writer, "w", buffering=1) as answers:
            os._exit(_run_loaded(copy, chosen, tests, limit, answers))
    os.close(writer)
    left = set(range(len(chosen)))
    with os.fdopen(reader) as answers:
        for line in answers:
            number, answer = line.split()
            if answer != "load":
                left.remove(int(number))
                yield int(number), answer == "survives"
    os.waitpid(loaded, 0)
    for number in sorted(left):
        module, mutant = chosen[number]
        yield number, _survives(copy, module, mutant, tests, limit)


def _run_loaded(
    copy: Path, chosen: list[tuple[str, Mutant]], tests: str, limit: float, answers: IO[str]
) -> int:
    """Load obep and the tests once, and run them in a fork for each mutant that can be put in place."""
    if _tests(copy, tests, "--collect-only"):
        return 1

    def run(module: str, mutant: Mutant) -> int:
        path = copy / module
        if not put_in_place(str(path), path.read_text("utf-8"), mutant.source):
            return LOAD
        return _tests(copy, tests)

    for number, (module, mutant) in enumerate(chosen):
        status = _run(lambda module=module, mutant=mutant: run(module, mutant), limit)  # type: ignore[misc]
        answer = "survives" if status == 0 else "load" if status == LOAD << 8 else "noticed"
        answers.write(f"{number} {answer}\n")
    return 0


def _survives(copy: Path, module: str, mutant: Mutant, tests: str, limit: float) -> bool:
    path = copy / module
    beside = path.with_suffix(".whole")
    shutil.copy2(path, beside)
    try:
        path.write_text(mutant.source, "utf-8")
        return _run(lambda: _tests(copy, tests), limit) == 0
    finally:
        beside.replace(path)


def _run(work: Callable[[], int], limit: float) -> int:
    """The status of some work in a child; one that takes too long is ended and counts as noticed."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        os._exit(work())
    end = time.monotonic() + limit
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        if time.monotonic() > end:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return -1
        time.sleep(0.02)


def _tests(copy: Path, tests: str, *options: str) -> int:
    os.chdir(copy)
    output = os.open(copy / "output", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(output, stream)
    os.environ["CI"] = "1"  # the same random examples for each mutant
    sys.dont_write_bytecode = True
    sys.path[:] = [
        str(copy),
        *(one for one in sys.path if one != str(ROOT) and Path(one) != Path(__file__).parent),
    ]
    places = [f"tests/{one}" for one in tests.split()]
    marks = "not java and not spark and not slow"
    return int(
        pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", marks, *options, *places])
    )


if __name__ == "__main__":
    raise SystemExit(main())
