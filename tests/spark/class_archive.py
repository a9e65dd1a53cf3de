"""Spark's classes as Java keeps them in memory, in a file: a third of what a small cluster costs to start.

The first test that starts a cluster lets its Java write it as it ends; all that start later map it. A file
that fits another Java, or Spark's jars in another place, is not used: Java itself looks.
"""

from __future__ import annotations

import os
import shutil
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from zlib import crc32


def _fitting() -> str:
    """What the file depends on: PySpark and where it lies, and the Java that would be started."""
    home = os.environ.get("JAVA_HOME")
    java = f"{home}/bin/java" if home else shutil.which("java") or ""
    place = os.path.realpath(java)
    changed = os.stat(place).st_mtime_ns if os.path.exists(place) else 0
    spark = find_spec("pyspark")
    if spark is None:
        return "none"
    return f"{version('pyspark')}-{crc32(f'{place} {changed} {spark.origin}'.encode()):08x}"


ARCHIVE = Path.home() / ".cache" / "obep-tests" / f"spark-{_fitting()}.jsa"


def to_be_written(folder: Path) -> str:
    """The option by which a Java writes it into a folder, unless it is there."""
    return "" if ARCHIVE.exists() else f" -XX:ArchiveClassesAtExit={folder / ARCHIVE.name}"


def keep(folder: Path) -> None:
    """That Java has ended: what it has written is for all."""
    written = folder / ARCHIVE.name
    if written.exists():
        ARCHIVE.parent.mkdir(parents=True, exist_ok=True)
        for other in ARCHIVE.parent.glob("spark-*.jsa"):  # of another clone: each is large
            other.unlink(missing_ok=True)
        shutil.move(written, ARCHIVE.with_suffix(f".{os.getpid()}"))
        ARCHIVE.with_suffix(f".{os.getpid()}").replace(ARCHIVE)
