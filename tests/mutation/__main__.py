"""Break obep one line at a time and list what no test notices.

`python tests/mutation --module obep/operators/sequence.py` runs a quick, fixed subset of the tests for each
mutant: those that call what it changes, in a process of its own with a time limit, against a copy of the
repository. `--sample N` takes some
of the mutants, by `--seed`. A survivor is a line that could be wrong, a line that needs no test (it is only
faster with it), or a test that is missing.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random

import hypothesis
import lark
import msgspec
import pyoxigraph
import pytest
import rdflib
from mutation_mutants import Mutant, mutants
from mutation_trials import Trials, run_tests, survives_alone

ROOT = Path(__file__).parents[2]
PRELOADED = (hypothesis, lark, msgspec, pyoxigraph, pytest, rdflib)
"""What every mutant's process would load again; obep itself is never loaded here."""
MODULES = (
    "obep/operators",
    "obep/guards",
    "obep/engine/clock.py",
    "obep/ontology/rules",
    "obep/ontology/closure",
)
TESTS = {
    "obep/operators": "operators oracle/test_oracle_found.py oracle/test_timed_engine.py "
    "oracle/test_oracle_random.py oracle/test_laws.py engine/test_keyed_sequences.py "
    "oracle/test_leaf_windows.py oracle/test_state_engine.py engine/test_states.py "
    "engine/test_window_leaves.py",
    "obep/engine/clock.py": "engine/test_clock_idle.py engine/test_clock_in_order.py "
    "engine/test_engine_time.py engine/test_changed_settings.py",
    "obep/guards": "guards abstraction/test_many_guards.py engine/test_families.py",
    "obep/ontology/rules": "abstraction/test_matcher.py abstraction/test_every_rule_counts.py "
    "abstraction/test_kinds_of_reasoning.py abstraction/test_found_by_comparing.py "
    "abstraction/test_bounds.py abstraction/test_found_with_two_individuals.py "
    "ontology/test_relevance.py ontology/test_locality.py",
    "obep/ontology/closure": "abstraction/test_matcher.py abstraction/test_every_rule_counts.py "
    "abstraction/test_changing_store.py abstraction/test_changing_knowledge.py "
    "abstraction/test_expiring_facts.py "
    "abstraction/test_shared_k.py abstraction/test_found_with_two_individuals.py abstraction/test_work.py",
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
            found = [
                (module, one) for module in modules for one in mutants((copy / module).read_text("utf-8"))
            ]
            chosen = rng.sample(found, min(options.sample or len(found), len(found)))
            print(f"{len(chosen)} of {len(found)} mutants of {' '.join(modules)}", flush=True)
            total += len(chosen)
            answered: set[int] = set()
            for number, answer in _answers(copy, chosen, tests, anew=not options.functions):
                answered.add(number)
                if len(answered) % 100 == 0:
                    print(f"# {len(answered)} have an answer, {survivors} survive", flush=True)
                if answer in ("survives", "unreached"):
                    survivors += 1
                    module, one = chosen[number]
                    why = " (no test calls it)" if answer == "unreached" else ""
                    print(f"{module}:{one.line}: {one.kind}: {one.before}  →  {one.after}{why}", flush=True)
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
    parser.add_argument(
        "--functions",
        action="store_true",
        help="leave out what lies outside of functions, which needs all tests",
    )
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


def _answers(
    copy: Path, chosen: list[tuple[str, Mutant]], tests: str, *, anew: bool
) -> Iterator[tuple[int, str]]:
    """Of each mutant what became of it: first of those that can be put into loaded modules."""
    reader, writer = os.pipe()
    loaded = os.fork()
    if loaded == 0:
        os.close(reader)
        with os.fdopen(writer, "w", buffering=1) as answers:
            run_tests(copy, tests, plugins=[Trials(copy, chosen, answers)])
            os._exit(0)
    os.close(writer)
    left: list[int] = []
    with os.fdopen(reader) as answers:
        if not (seconds := answers.readline()):
            words = (copy / "output").read_text("utf-8")[-3000:]
            raise SystemExit(f"the tests fail without a mutant: {tests}\n{words}")
        for line in answers:
            number, answer = line.split()
            if answer == "load":
                left.append(int(number))
            else:
                yield int(number), answer
    os.waitpid(loaded, 0)
    print(f"# {len(left)} mutants outside of functions{'' if anew else ' are left out'}", flush=True)
    for number in left:
        if not anew:
            yield number, "left out"
            continue
        module, mutant = chosen[number]
        survives = survives_alone(copy, module, mutant, tests, 30 + 4 * float(seconds))
        yield number, "survives" if survives else "noticed"


if __name__ == "__main__":
    raise SystemExit(main())
