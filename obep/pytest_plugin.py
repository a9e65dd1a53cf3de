"""A plugin of pytest that collects cases: folders with a query, its stream and expected.jsonl.

It is found by pytest where obep is installed. `obep_cases = false` in the configuration of pytest, or
`-p no:obep`, leaves cases to `obep test`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of the plugin."""
    parser.addini("obep_cases", "collect folders with expected.jsonl as cases of obep", "bool", default=True)
    words = "write the results of queries to expected.jsonl and to snapshots; check it before you keep it"
    parser.getgroup("obep").addoption("--obep-update", action="store_true", help=words)


def pytest_configure(config: pytest.Config) -> None:
    """Lets `obep.testing.assert_snapshot` know of the option."""
    if config.getoption("--obep-update"):
        os.environ["OBEP_UPDATE"] = "1"


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> CaseFile | None:
    """An expected.jsonl beside a query is a case."""
    if file_path.name != "expected.jsonl" or not parent.config.getini("obep_cases"):
        return None
    from obep.run.cases import query_of

    return CaseFile.from_parent(parent, path=file_path) if query_of(file_path.parent).is_file() else None


class CaseFile(pytest.File):
    """The folder of a case."""

    def collect(self) -> Iterator[pytest.Item]:
        yield Case.from_parent(self, name=self.path.parent.name)


class Case(pytest.Item):
    """Runs a query over its stream and compares with what is expected."""

    def runtest(self) -> None:
        from obep.run.cases import as_expected, occurrences, run_case

        if self.config.getoption("--obep-update"):
            self.path.write_text(as_expected(occurrences(self.path.parent)[0]), "utf-8")
        if lines := run_case(self.path.parent).difference:
            raise Differs("\n".join(lines))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> str:
        from obep.errors import ObepError

        if isinstance(excinfo.value, Differs | ObepError):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, f"case {self.name}"


class Differs(AssertionError):
    """What is found is not what is expected."""
