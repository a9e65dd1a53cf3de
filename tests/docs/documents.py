"""The documents as data: fenced blocks with their language and title, links, headings."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]

_FENCE = re.compile(r"^```([\w-]*)([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_TITLE = re.compile(r'title="([^"]*)"')


class Block(NamedTuple):
    """A fenced block."""

    language: str
    title: str
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    text = page.read_text("utf-8")
    found = []
    for match in _FENCE.finditer(text):
        title = _TITLE.search(match[2])
        line = text.count("\n", 0, match.start()) + 1
        found.append(Block(match[1], title[1] if title else "", match[3], line))
    return found


def without_blocks(page: Path) -> str:
    """The text of a page around its blocks."""
    return _FENCE.sub("", page.read_text("utf-8"))


def anchors(page: Path) -> set[str]:
    """The anchors that mkdocs makes of a page's headings."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", without_blocks(page), re.MULTILINE):
        words = re.sub(r"[^\w\s-]", "", re.sub(r"[`*]", "", heading)).strip().lower()
        found.add(re.sub(r"[-\s]+", "-", words))
    return found


def like(shown: str) -> re.Pattern[str]:
    """A pattern for output as it is shown: `…` in a line stands for anything in it, alone for any lines."""
    lines = []
    for line in shown.splitlines():
        if line.strip() == "…":
            lines.append(r"(?:[^\n]*\n)*?")
        else:
            lines.append("[^\n]*".join(map(re.escape, line.split("…"))) + r"\n")
    return re.compile("".join(lines))
