"""The documentation says only what runs: its commands, programs, queries and links are tried."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from documents import DOCS, PAGES, ROOT, Block, anchors, blocks, like, without_blocks

from obep.lints.check_query import check
from obep.query.link import link
from obep.query.parse.parser import parse

TUTORIAL = DOCS / "tutorial.md"


def short(page_or_block: Path | Block) -> str:
    """A name for a case."""
    return page_or_block.stem if isinstance(page_or_block, Path) else str(page_or_block.line)


@pytest.fixture
def shell_home(tmp_path: Path) -> Path:
    """A folder with an `obep` and a `python` that are those of this test."""
    programs = tmp_path / ".bin"
    programs.mkdir()
    for name, words in (("obep", "-m obep"), ("python", "")):
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n', "utf-8")
        program.chmod(0o755)
    return tmp_path


def shell(command: str, folder: Path, home: Path) -> str:
    """What a command writes on a terminal that is none: both outputs, as they come."""
    environment = {
        **os.environ,
        "PATH": f"{home / '.bin'}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "NO_COLOR": "1",
        "COLUMNS": "100",
    }
    ran = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
    )
    return ran.stdout


def steps(console: str) -> list[tuple[str, str]]:
    """The commands of a block, each with the output that is shown below it."""
    pieces = re.split(r"^\$ (.*)\n", console, flags=re.MULTILINE)
    assert pieces[0] == "", "a console block begins with a command"
    return list(zip(pieces[1::2], pieces[2::2], strict=True))


def follow(page: Path, folder: Path, home: Path) -> int:
    """Do what a page says, block by block: write its files, run its commands. Says how many commands ran."""
    ran = 0
    for block in blocks(page):
        if block.title.startswith("add to "):
            with (folder / block.title.removeprefix("add to ")).open("a", encoding="utf-8") as file:
                file.write(block.text)
        elif block.title:
            (folder / block.title).write_text(block.text, "utf-8")
        elif block.language == "console":
            for command, shown in steps(block.text):
                if command.startswith("cd "):
                    folder = folder / command.removeprefix("cd ")
                    continue
                ran += 1
                said = shell(command, folder, home)
                assert like(shown).fullmatch(said), f"{page.name}:{block.line}: $ {command}\n{said}"
    return ran


@pytest.mark.slow
def test_the_tutorial_runs_as_it_is_written(shell_home: Path) -> None:
    assert follow(TUTORIAL, shell_home, shell_home) > 10


OTHERS = [page for page in PAGES if page != TUTORIAL and any(b.language == "console" for b in blocks(page))]


@pytest.mark.slow
@pytest.mark.parametrize("page", OTHERS, ids=lambda page: page.stem)
def test_the_commands_of_other_pages_run(page: Path, shell_home: Path) -> None:
    """They stand in a clone: the examples lie below the folder."""
    shutil.copytree(ROOT / "examples", shell_home / "examples")
    assert follow(page, shell_home, shell_home)


@pytest.mark.slow
def test_the_tour_of_the_readme_runs(shell_home: Path) -> None:
    shutil.copytree(ROOT / "examples", shell_home / "examples")
    tour = (ROOT / "README.md").read_text("utf-8").split("## A tour", 1)[1]
    commands = re.findall(r"^    (obep [^#\n]*)", tour, re.MULTILINE)
    assert len(commands) > 3
    for command in commands:
        differs = "|| true" if "--diff" in command else "|| echo failed"
        said = shell(f"{command} {differs}", shell_home, shell_home)
        assert "Traceback" not in said, said
        assert not said.endswith("failed\n"), said


PROGRAMS = [
    (page, block)
    for page in PAGES
    if page not in (TUTORIAL, DOCS / "spark.md")
    for block in blocks(page)
    if block.language == "python"
]


@pytest.mark.slow
@pytest.mark.parametrize(("page", "block"), PROGRAMS, ids=short)
def test_the_programs_of_the_pages_run(page: Path, block: Block, shell_home: Path) -> None:
    """A comment `# prints: …` says what the line before it prints."""
    shutil.copytree(ROOT / "examples", shell_home / "examples")
    (shell_home / "program.py").write_text(block.text, "utf-8")
    said = shell("python program.py", shell_home, shell_home)
    assert "Traceback" not in said, said
    shown = "".join(f"{line}\n" for line in re.findall(r"# prints: (.*)$", block.text, re.MULTILINE))
    if shown:
        assert like(shown).fullmatch(said), said


QUERIES = [(page, block) for page in PAGES for block in blocks(page) if block.language == "obep"]


@pytest.mark.parametrize(("page", "block"), QUERIES, ids=short)
def test_the_queries_of_the_pages_are_right(page: Path, block: Block) -> None:
    text, folder = block.text, ROOT / "examples" / "01-rooms"
    if block.title.startswith("add to "):
        folder = ROOT / "obep" / "cli" / "project"
        text = (folder / "query.obep").read_text("utf-8") + text
    linked = link(parse(text, page.name), folder)
    assert [said for said in check(linked) if said.severity == "error"] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_link_leads_somewhere(page: Path) -> None:
    wrong = []
    for target in re.findall(r"\]\(([^)\s]+)\)", without_blocks(page)):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        there = page.parent / path if path else page
        if not there.exists() or (
            anchor and there.suffix == ".md" and there.parent == DOCS and anchor not in anchors(there)
        ):
            wrong.append(target)
    assert wrong == []


@pytest.mark.parametrize("page", PAGES, ids=short)
def test_every_file_of_ours_that_a_page_names_is_there(page: Path) -> None:
    ours = "obep|grammar|tests|docs|examples|bench|ontologies"
    named = re.findall(rf"`((?:{ours})/[\w./*-]*)`", page.read_text("utf-8"))
    assert [path for path in named if not any(ROOT.glob(path))] == []


def test_every_page_is_in_the_navigation() -> None:
    listed = set(re.findall(r"[\w-]+\.md", (ROOT / "mkdocs.yml").read_text("utf-8")))
    assert {page.name for page in DOCS.glob("*.md")} <= listed


@pytest.mark.slow
def test_the_pictures_show_what_the_engine_finds(shell_home: Path) -> None:
    said = shell(f"python {DOCS}/scripts/timelines.py --check", shell_home, shell_home)
    assert said.endswith("pictures, stale: none\n"), said


def test_every_picture_is_shown() -> None:
    texts = [(DOCS / page).read_text("utf-8") for page in ("operators.md", "performance.md")]
    shown = {name for text in texts for name in re.findall(r"\(pictures/([\w-]+\.svg)\)", text)}
    assert shown == {file.name for file in (DOCS / "pictures").glob("*.svg")}


def test_every_operator_of_the_grammar_has_a_picture() -> None:
    """Those are the words that a name in a pattern must not be, but for the clauses and their like."""
    terminals = (DOCS.parent / "grammar" / "terminals.lark").read_text("utf-8")
    [words] = re.findall(r"^EVENT_WORD: /\(\?!\(\?i:([\w|]+)\)", terminals, re.MULTILINE)
    clauses = "event named return match as subclassof if partition policy construct"
    prologue, synonyms = "prefix base vocab tbox from include", "followed followed_by not_followed_by"
    operators = set(words.split("|")) - {*clauses.split(), *prologue.split(), *synonyms.split()}
    page = (DOCS / "language.md").read_text("utf-8")
    drawn = {name.lower() for name in re.findall(r"^\| `([A-Z ]+)` \| !\[", page, re.MULTILINE)}
    assert drawn == operators | {"not followed by"}
    assert len(operators) > 20


def test_the_page_of_the_grammar_is_what_the_grammar_gives(shell_home: Path) -> None:
    said = shell(f"python {DOCS}/scripts/language.py --check", shell_home, shell_home)
    assert said == "docs/language.md is what the grammar gives\n"
