"""The program around the commands: completion, the version, and what nobody expected."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from shell import obep
from typer.testing import CliRunner

from obep.cli.main import COMMANDS, app

RUN = [sys.executable, "-c", "from obep.cli.main import main; main()"]


def completed(words: str, *, shell: str = "bash") -> list[str]:
    """What a shell is told when the user presses tab after the words."""
    environment = {
        **os.environ,
        "_OBEP_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
        "_TYPER_COMPLETE_ARGS": words,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    said = subprocess.run(RUN, env=environment, capture_output=True, text=True, timeout=60)
    assert said.stderr == ""
    return said.stdout.split()


@pytest.mark.slow
def test_the_shell_completes_commands_options_and_choices() -> None:
    assert completed("obep wh") == ["why", "why-not"]
    assert completed("obep ")[: len(COMMANDS)] == list(COMMANDS)
    assert completed("obep run --eng") == ["--engine"]
    assert completed("obep run q.obep --engine ") == ["spark", "embedded"]
    assert "--dead-letters" in " ".join(completed("obep run --dead", shell="zsh"))
    assert "--dead-letters" in completed("obep run --dead", shell="fish")


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_shown_and_installed(tmp_path: Path, shell: str) -> None:
    environment = {**os.environ, "HOME": str(tmp_path), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    shown = subprocess.run(
        [*RUN, "--show-completion", shell], env=environment, capture_output=True, text=True, timeout=60
    )
    assert shown.returncode == 0, shown.stderr
    assert "_OBEP_COMPLETE" in shown.stdout
    installed = subprocess.run(
        [*RUN, "--install-completion", shell], env=environment, capture_output=True, text=True, timeout=60
    )
    assert installed.returncode == 0, installed.stderr
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any("_OBEP_COMPLETE" in path.read_text() for path in files), "it is only written below HOME"


def test_a_wrong_option_is_no_surprise() -> None:
    for arguments in (("rum",), ("run",), ("run", "q.obep", "--no-such-option")):
        said = obep(*arguments)
        assert said.status == 2
        assert "OBEP599" not in said.err
        assert "Usage" in said.err


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    def fall(*arguments: object, **settings: object) -> None:
        raise KeyError("a\x1b[2J")

    monkeypatch.setattr("obep.cli.installation.diagnose", fall)


@pytest.mark.usefixtures("broken")
def test_what_nobody_expected_is_said_in_a_few_lines() -> None:
    said = CliRunner(env={"OBEP_DEBUG": None}).invoke(app, ["doctor"])
    assert said.exit_code == 1
    assert said.stdout == ""
    assert said.stderr.startswith("OBEP599  obep met an unexpected error\n  KeyError: ")
    assert "Traceback" not in said.stderr
    assert "OBEP_DEBUG=1" in said.stderr
    assert "\x1b" not in said.stderr


@pytest.mark.usefixtures("broken")
def test_who_debugs_gets_the_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OBEP_DEBUG", raising=False)
    for arguments, variable in ((["--debug", "doctor"], None), (["doctor"], "1")):
        said = CliRunner(env={"OBEP_DEBUG": variable}).invoke(app, arguments)
        assert isinstance(said.exception, KeyError)


def test_the_version_is_that_of_the_package() -> None:
    from importlib.metadata import version

    assert obep("--version").out == f"obep {version('obep')}\n"
