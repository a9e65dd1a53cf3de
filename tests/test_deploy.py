"""The Dockerfile and the systemd unit are as their linters want them; neither is started here."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

DEPLOY = Path(__file__).parent.parent / "deploy"
LINTER = shutil.which("hadolint") or shutil.which("hadolint", path=os.path.dirname(sys.executable))
SYSTEMD = shutil.which("systemd-analyze")


@pytest.mark.skipif(LINTER is None, reason="no hadolint (make parts)")
def test_hadolint_finds_nothing_in_the_dockerfile() -> None:
    done = subprocess.run([LINTER or "", DEPLOY / "Dockerfile"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


@pytest.mark.skipif(SYSTEMD is None, reason="no systemd-analyze")
def test_systemd_finds_nothing_in_the_unit(tmp_path: Path) -> None:
    text = (DEPLOY / "obep.service").read_text("utf-8")
    (tmp_path / "obep.service").write_text(text.replace("/opt/obep/bin/obep", sys.executable), "utf-8")
    command = [SYSTEMD or "", "verify", "--man=no", tmp_path / "obep.service"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_dockerfile_copies_what_the_wheel_needs() -> None:
    text = (DEPLOY / "Dockerfile").read_text("utf-8")
    copied = {
        word for line in re.findall(r"^COPY (?!--)(.*) \S+$", text, re.MULTILINE) for word in line.split()
    }
    assert {"obep", "grammar", "ontologies", "docs/errors.md", "docs/llms.md", "pyproject.toml"} <= copied
    assert [name for name in copied if not (DEPLOY.parent / name).exists()] == []
