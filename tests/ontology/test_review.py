"""What the reasoner says at compile time: impossible events, contradictions, equal events, subsumptions."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from owl import c, ontology, t, triples

from obep.errors import ObepError
from obep.ontology.bundle.cache import Folder, axioms_hash, cache_dir
from obep.ontology.bundle.review import clear_static, review
from obep.ontology.hermit.classify import classify
from obep.ontology.hermit.contradiction import minimal_clash
from obep.ontology.hermit.reasoner import INCONSISTENT, Hierarchy, Reasoner, shared_reasoner
from obep.ontology.owl import axioms as ax
from obep.ontology.owl.axiom_set import Axioms
from obep.ontology.owl.axioms import SubClassOf
from obep.query.link import Linked, link
from obep.query.parse.parser import parse

A, B, C, D = (c(name) for name in "ABCD")
r = t("r")


def linked(text: str) -> Linked:
    return link(parse(f"PREFIX : <http://example.org/t#>\n{text}", "rooms.obep"))


QUERY = """EVENT Wet AS A and B
EVENT Damp AS B and A
EVENT Dry AS A and r some C
"""
DEFINED = (
    ax.EquivalentClasses((c("Wet"), ax.And((A, B)))),
    ax.EquivalentClasses((c("Damp"), ax.And((B, A)))),
    ax.EquivalentClasses((c("Dry"), ax.And((A, ax.Some(r, C))))),
)


@pytest.mark.java
def test_an_event_that_can_never_happen_is_an_error_at_its_name() -> None:
    T = ontology(*DEFINED, ax.Range(r, B), ax.DisjointClasses((B, C)), SubClassOf(D, A))
    with pytest.raises(ObepError) as caught:
        review(linked(QUERY), T)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "OBEP344"
    text = str(diagnostic)
    assert "rooms.obep:4:7" in text
    assert "    4 | EVENT Dry AS A and r some C\n      |       ^^^\n" in text
    assert "Dry can never happen" in text
    assert "B and C are disjoint" in text
    assert "what r leads to is a B" in text
    assert "D" not in diagnostic.reason.replace("Dry", "")  # only what is to blame


@pytest.mark.java
def test_equal_events_are_a_warning_at_the_second_one() -> None:
    found = review(linked(QUERY), ontology(*DEFINED))
    (warning,) = found.warnings
    assert (warning.code, warning.severity) == ("OBEP240", "warning")
    assert "Damp and Wet are the same event" in str(warning)
    assert "rooms.obep:3:7" in str(warning)
    assert {(t("Dry"), t("A")), (t("Damp"), t("Wet")), (t("Wet"), t("Damp"))} <= set(
        found.hierarchy.subsumptions()
    )


@pytest.mark.java
def test_subsumptions_by_case_analysis_are_handed_back() -> None:
    T = ontology(SubClassOf(A, ax.Or((B, C))), SubClassOf(B, D), SubClassOf(C, D), *DEFINED)
    assert (t("A"), t("D")) in set(review(linked(QUERY), T).hierarchy.subsumptions())


@pytest.mark.java
def test_an_ontology_that_contradicts_itself_is_an_error() -> None:
    T = ontology(*DEFINED, ax.ClassAssertion(A, t("x")), SubClassOf(A, ax.Not(A)))
    with pytest.raises(ObepError) as caught:
        review(linked(QUERY), T)
    assert caught.value.code == "OBEP345"
    assert "the ontology contradicts itself" in str(caught.value)
    assert "x is an A" in str(caught.value)


@pytest.mark.java
def test_a_static_graph_that_contradicts_the_ontology_is_an_error_with_a_minimal_set() -> None:
    filler = [SubClassOf(c(f"F{i}"), c(f"F{i + 1}")) for i in range(60)]
    T = ontology(*filler, ax.Domain(r, A), SubClassOf(A, B), ax.DisjointClasses((B, C)), *DEFINED)
    good, bad = triples("u r v. v r u."), triples("w r x. x r y. y r w. y a C. x a D. y a F7.")
    with pytest.raises(ObepError) as caught:
        clear_static(T, [good, bad], shared_reasoner())
    assert caught.value.code == "OBEP345"
    (diagnostic,) = caught.value.diagnostics
    lines = [line.strip() for line in diagnostic.reason.splitlines()[1:]]
    assert sorted(lines) == [
        "A is a B",
        "B and C are disjoint",
        "what has r is an A",
        "y is a C",
        "y r w",
    ]


@pytest.mark.java
def test_alike_components_of_k_are_looked_at_once() -> None:
    T = ontology(SubClassOf(A, ax.Or((B, C))), ax.DisjointClasses((A, D)), roles="r")
    reasoner = shared_reasoner()
    before = reasoner.calls
    clear_static(T, [triples(f"a{i} r b{i}. b{i} a A.") for i in range(50)], reasoner)
    assert reasoner.calls == before + 1


@pytest.mark.java
def test_every_axiom_of_a_minimal_clash_is_needed() -> None:
    T = ontology(
        SubClassOf(A, ax.Or((B, C))),
        SubClassOf(B, D),
        SubClassOf(C, D),
        SubClassOf(D, ax.Only(r, ax.BOTTOM)),
        SubClassOf(ax.TOP, ax.Some(t("s"), ax.TOP)),
        ax.SubProperty(t("s"), r),
    )
    facts = [f for x in triples("x a A. y a B. x r y.") if (f := T.assertion(x))]
    guilty = minimal_clash(T, facts, shared_reasoner())
    assert guilty

    def consistent(some: tuple[ax.Axiom, ...]) -> bool:
        return shared_reasoner().consistent(Axioms(some, T.classes, T.object_properties))

    assert not consistent(guilty)
    for i in range(len(guilty)):
        assert consistent(guilty[:i] + guilty[i + 1 :])


@pytest.mark.java
def test_a_classification_is_made_once_and_read_from_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    T, broken = ontology(*DEFINED), ontology(SubClassOf(ax.TOP, ax.BOTTOM))
    first = classify(T, tmp_path)
    assert isinstance(first, Hierarchy)
    assert classify(broken, tmp_path) is INCONSISTENT
    monkeypatch.setattr(Reasoner, "classify", None)
    reordered = Axioms(T.axioms[::-1], T.classes, T.object_properties)
    assert classify(reordered, tmp_path) == first
    assert classify(broken, tmp_path) is INCONSISTENT


def test_the_hash_of_t_does_not_depend_on_the_order() -> None:
    T = ontology(*DEFINED)
    assert axioms_hash(ontology(*DEFINED[::-1])) == axioms_hash(T)
    assert axioms_hash(ontology(*DEFINED[1:])) != axioms_hash(T)


@pytest.mark.slow
def test_the_hash_of_t_does_not_depend_on_the_process() -> None:
    T = ontology(*DEFINED)
    code = (
        "import sys; sys.path.insert(0, 'tests/ontology')\n"
        "from test_review import DEFINED, ontology, axioms_hash\n"
        "print(axioms_hash(ontology(*DEFINED)))"
    )
    for seed in ("1", "2"):
        out = subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PATH": ""},
            capture_output=True,
            text=True,
            check=True,
        )
        assert out.stdout.strip() == axioms_hash(T)


def test_what_cannot_be_read_from_disk_is_as_good_as_nothing(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.write("abc", [1, 2])
    assert folder.read("abc", list[int]) == [1, 2]
    assert folder.read("abc", dict[str, int]) is None
    assert folder.read("abd", list[int]) is None
    file = tmp_path / "ab" / "abc.json"
    whole = file.read_bytes()
    for harmed in (whole[:-1], whole.replace(b"2", b"3"), b"[1,2]", b"", b"\n", b"\xff"):
        file.write_bytes(harmed)
        assert folder.read("abc", list[int]) is None
    (tmp_path / "ab" / "abd.json").write_bytes(whole)  # an answer to another question
    assert folder.read("abd", list[int]) is None
    (tmp_path / "file").touch()
    Folder(tmp_path / "file").write("abc", [1])  # no place to write: nothing is remembered, nothing fails
    assert Folder(tmp_path / "file").read("abc", list[int]) is None


@pytest.mark.slow
def test_many_processes_may_write_one_entry_at_once(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from obep.ontology.bundle.cache import Folder\n"
        "folder = Folder(Path(sys.argv[1]))\n"
        "for i in range(300):\n"
        "    folder.write('abc', ['x' * 5000] * 3)\n"
        "    assert folder.read('abc', list[str]) == ['x' * 5000] * 3\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path)]) for _ in range(3)]
    assert [process.wait(60) for process in running] == [0, 0, 0]
    assert [path.name for path in (tmp_path / "ab").iterdir()] == ["abc.json"]


def test_where_things_are_remembered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OBEP_CACHE", str(tmp_path))
    assert cache_dir() == tmp_path
    monkeypatch.delenv("OBEP_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_dir() == tmp_path / ".cache" / "obep"


def test_whoever_has_no_home_remembers_in_a_folder_of_his_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def nowhere() -> Path:
        raise RuntimeError("no home")

    for name in ("OBEP_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", nowhere)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    mine = cache_dir()
    assert mine.parent == tmp_path
    assert mine.stat().st_mode & 0o777 == 0o700
    mine.chmod(0o777)  # as somebody else may have made it: nothing in it is believed
    assert cache_dir() == Path(os.devnull)
    mine.rmdir()
    mine.symlink_to(tmp_path)
    assert cache_dir() == Path(os.devnull)


@pytest.mark.java
def test_a_second_start_asks_nobody(tmp_path: Path) -> None:
    code = (
        "import sys, obep\n"
        "query = obep.load('examples/07-ward/query.obep')\n"
        "data = open('examples/07-ward/stream.jsonl', 'rb').read()\n"
        "from obep.formats import read_items\n"
        "stream = query.linked.streams[0]\n"
        "engine = query.engine()\n"
        "found = engine.push_items(read_items(data, 'jsonl', stream)) + engine.close()\n"
        "print(query.bundle.java, len(found), 'jpype' in sys.modules)\n"
    )

    def start() -> list[str]:
        out = subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"OBEP_CACHE": str(tmp_path)},
            capture_output=True, text=True, check=True, timeout=300,
        )  # fmt: skip
        return out.stdout.split()

    first, second = start(), start()
    assert first[0] == second[0] == "True"
    assert first[1] == second[1] != "0"
    assert (first[2], second[2]) == ("True", "False")
