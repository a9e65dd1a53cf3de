"""What the tests of attacks share."""

from __future__ import annotations

from pathlib import Path

import pytest
from shell import reading


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project beside a file that it must not reach, with links that lead there."""
    (tmp_path / "secret.ttl").write_text("<http://e/secret> a <http://e/Sensor> .\n")
    inside = tmp_path / "project"
    inside.mkdir()
    (inside / "s.jsonl").write_text(reading(1, "a", 35))
    (inside / "link.ttl").symlink_to(tmp_path / "secret.ttl")
    (inside / "linked").symlink_to(tmp_path)
    return inside
