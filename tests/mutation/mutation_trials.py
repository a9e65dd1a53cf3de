"""Runs tests against mutants: in forks of a process that has collected them, or in a process for each."""

from __future__ import annotations

import mmap
import os
import pickle
import resource
import select
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO

import pytest
from mutation_loaded import changed_functions, put_in_place
from mutation_mutants import Mutant
from mutation_reach import Function, Reach, Reached, calls_of

PATIENCE = 900.0
"""Seconds after which a process hangs, however busy the machine is; its CPU time has a closer bound."""
MARKS = "not java and not spark"
Chosen = Sequence[tuple[str, Mutant]]


def run_tests(copy: Path, tests: str, *options: str, plugins: Sequence[object] = ()) -> int:
    """Run tests of the copy in this process, which is good for nothing else then."""
    os.chdir(copy)
    output = os.open(copy / "output", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(output, stream)
    os.environ["CI"] = "1"  # the same random examples for each mutant
    sys.dont_write_bytecode = True
    root, here = Path(__file__).parents[2], Path(__file__).parent
    sys.path[:] = [str(copy), *(one for one in sys.path if one != str(root) and Path(one) != here)]
    places = [f"tests/{one}" for one in tests.split()]
    temporary = f"--basetemp={copy.parent / 'tmp'}"
    command = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", MARKS, temporary]
    return int(pytest.main([*command, *options, *places], plugins=[*plugins]))


def in_child(work: Callable[[], int], seconds: float) -> int:
    """The status of some work in a child; one that takes too much CPU time, or hangs, is ended."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
        os._exit(work())
    watched = os.pidfd_open(child)
    ended, _, _ = select.select([watched], [], [], PATIENCE)
    os.close(watched)
    if not ended:
        os.killpg(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    return status if ended else -1


class Trials:
    """A plugin of pytest: instead of running the tests once, run them for each mutant, in a fork."""

    def __init__(self, copy: Path, chosen: Chosen, answers: IO[str]) -> None:
        self._copy = copy
        self._chosen = chosen
        self._answers = answers
        self._paths = frozenset(str(copy / module) for module, _ in chosen)
        self._collecting = ExitStack()
        self._loading = self._collecting.enter_context(calls_of(self._paths))
        self._at = mmap.mmap(-1, 8)
        """The number of the test that a child is at."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self._collecting.close()
        reach = self._reach(session)
        if reach is None:
            return True
        self._answers.write(f"{reach.seconds()}\n")
        for number, (module, mutant) in enumerate(self._chosen):
            self._answers.write(f"{number} {self._answer(session, reach, module, mutant)}\n")
        return True

    def _reach(self, session: pytest.Session) -> Reach | None:
        """What each test calls; none if the tests fail without a mutant."""
        path = self._copy / "reach"

        def work() -> int:
            found = []
            for test, following in _with_next(session.items):
                begin = time.process_time()
                with calls_of(self._paths) as calls:
                    _run_one(test, following)
                found.append(Reached(test.nodeid, frozenset(calls), time.process_time() - begin))
            path.write_bytes(pickle.dumps(found))
            return int(session.testsfailed > 0)

        return None if in_child(work, 3600) else Reach(pickle.loads(path.read_bytes()))

    def _answer(self, session: pytest.Session, reach: Reach, module: str, mutant: Mutant) -> str:
        path = self._copy / module
        code = changed_functions(str(path), path.read_text("utf-8"), mutant.source)
        functions: list[Function] = [(str(path), name) for name in code]
        if not code or not self._loading.isdisjoint(functions):
            return "load"
        by_name = {one.nodeid: one for one in session.items}
        names = reach.of(functions)
        if not names:
            return "unreached"

        def work() -> int:
            if not put_in_place(str(path), code):
                return _LOAD
            for number, (test, following) in enumerate(_with_next([by_name[name] for name in names])):
                self._at[:] = number.to_bytes(8, "little")
                _run_one(test, following)
                if session.testsfailed:
                    return 1
            return 0

        status = in_child(work, 10 + 4 * reach.seconds(names))
        if status == 0:
            return "survives"
        if status == _LOAD << 8:
            return "load"
        reach.note(functions, names[int.from_bytes(self._at[:], "little")])
        return "noticed"


_LOAD = 77
"""The status of a child whose mutant cannot be put into loaded modules."""


def _with_next(tests: list[pytest.Item]) -> Iterator[tuple[pytest.Item, pytest.Item | None]]:
    return zip(tests, [*tests[1:], None], strict=False)


def _run_one(test: pytest.Item, following: pytest.Item | None) -> None:
    """Run a test; the fixtures that it shares with the following one stay."""
    test.config.hook.pytest_runtest_protocol(item=test, nextitem=following)


def survives_alone(copy: Path, module: str, mutant: Mutant, tests: str, seconds: float) -> bool:
    """Whether no test notices a mutant, where everything is loaded anew."""
    path = copy / module
    beside = path.with_suffix(".whole")
    shutil.copy2(path, beside)
    try:
        path.write_text(mutant.source, "utf-8")
        return in_child(lambda: run_tests(copy, tests), seconds) == 0
    finally:
        beside.replace(path)
