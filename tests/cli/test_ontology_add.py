"""`obep ontology add`: copies and lines in the catalogue, or nothing at all."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from obep.cli.main import app
from obep.config.toml_file import load_config
from obep.errors import ObepError
from obep.ontology.owl.load import load_ontology

SOSA = "<http://www.w3.org/ns/sosa/> a <http://www.w3.org/2002/07/owl#Ontology> .\n"


def add(*arguments: object) -> tuple[int, str]:
    found = CliRunner().invoke(app, ["ontology", *map(str, arguments)])
    return found.exit_code, found.output


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "sosa.ttl").write_text(SOSA)
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path


@pytest.mark.parametrize(
    "before", ["", '[engine]\nlateness = "1 s"', '[ontology.catalogue]\n"x:y" = "z.ttl"\n']
)
def test_an_added_ontology_is_one_that_can_be_imported(folder: Path, before: str) -> None:
    if before:
        Path("obep.toml").write_text(before)
    assert add("add", "sosa", folder / "given")[0] == 0
    Path("t.ttl").write_text("<urn:t> <http://www.w3.org/2002/07/owl#imports> <http://www.w3.org/ns/sosa/> .")
    load_ontology([Path("t.ttl")], load_config(None, Path.cwd()).catalogue)
    again = Path("obep.toml").read_text()
    assert add("add", "sosa", folder / "given" / "sosa.ttl")[0] == 0
    assert Path("obep.toml").read_text() == again
    assert before.splitlines()[-1:] == [] or before.splitlines()[-1] in again.splitlines()


@pytest.mark.parametrize(
    ("name", "path", "before"),
    [
        ("sossa", "sosa.ttl", ""),
        ("brick", "sosa.ttl", ""),
        ("sosa", "nothere.ttl", ""),
        ("sosa", "../empty", ""),
        ("sosa", "sosa.ttl", '[ontology]\ncatalogue = { "x:y" = "z.ttl" }\n'),
        ("sosa", "sosa.ttl", '[ontology.catalogue]\n"http://www.w3.org/ns/sosa/" = "mine.ttl"\n'),
        ("sosa", "sosa.ttl", "not toml"),
    ],
)
def test_what_cannot_be_added_changes_nothing(folder: Path, name: str, path: str, before: str) -> None:
    (folder / "empty").mkdir()
    Path("obep.toml").write_text(before)
    status, _ = add("add", name, folder / "given" / path)
    assert status == 2
    assert Path("obep.toml").read_text() == before
    assert not Path("ontologies").exists()


def test_a_copy_never_replaces_another_file(folder: Path) -> None:
    add("add", "sosa", folder / "given" / "sosa.ttl")
    (folder / "given" / "sosa.ttl").write_text(SOSA.replace("sosa/", "sosa/2"))
    before = Path("obep.toml").read_text()
    status, said = add("add", "sosa", folder / "given" / "sosa.ttl")
    assert status == 2 and "OBEP834" in said
    assert Path("ontologies/sosa/sosa.ttl").read_text() == SOSA
    assert Path("obep.toml").read_text() == before


def test_all_missing_imports_are_named_at_once_with_the_lines_to_write(tmp_path: Path) -> None:
    imports = "<http://www.w3.org/2002/07/owl#imports>"
    (tmp_path / "t.ttl").write_text(f"<urn:t> {imports} <urn:a>, <urn:b>, <urn:here> .")
    (tmp_path / "here.ttl").write_text(f"<urn:here> {imports} <urn:c>, <urn:a> .")
    with pytest.raises(ObepError, match="OBEP304") as error:
        load_ontology([tmp_path / "t.ttl"], {"urn:here": tmp_path / "here.ttl"})
    [said] = error.value.diagnostics
    lines = tomllib.loads(said.remedy)["ontology"]["catalogue"]
    assert list(lines) == ["urn:a", "urn:b", "urn:c"]


def test_imports_that_are_left_out_are_one_warning_also_from_the_cache(tmp_path: Path) -> None:
    imports = "<http://www.w3.org/2002/07/owl#imports>"
    filler = "".join(f"<urn:c{n}> a <http://www.w3.org/2002/07/owl#Class> .\n" for n in range(3000))
    (tmp_path / "t.ttl").write_text(f"<urn:t> {imports} <urn:a>, <urn:b> .\n{filler}")
    (tmp_path / "q.obep").write_text(
        "PREFIX : <urn:>\nVOCAB <t.ttl>\nFROM STREAM <s>\nEVENT E AS :c1\nRETURN ALL\n"
    )
    (tmp_path / "obep.toml").write_text('[ontology]\nmissing_imports = "warn"\ncache = "cache"\n')
    for _ in range(2):
        found = CliRunner().invoke(app, ["check", str(tmp_path / "q.obep")])
        assert found.exit_code == 0
        assert found.output.count("OBEP304") == 1 and "2 imports left out: <urn:a>, <urn:b>" in found.output
