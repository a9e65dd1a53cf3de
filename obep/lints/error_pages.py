"""Write the pages of the rules into docs/errors.md: `python -m obep.lints.error_pages` in a checkout.

The pages of errors, which are no rules, are written by hand in the same file.
"""

from __future__ import annotations

import re
from pathlib import Path

from obep.lints.registry import Rule, all_rules

PAGES = Path(__file__).resolve().parent.parent.parent / "docs" / "errors.md"
_SECTION = re.compile(r"^### (OBEP\d+) · .*?(?=^##|\Z)", re.MULTILINE | re.DOTALL)
_PART = re.compile(r"^(What it does|Why|Example|Fix):[ \n]", re.MULTILINE)


def page(rule: Rule) -> str:
    """The section of a rule: its docstring, with the examples as code."""
    pieces = _PART.split(rule.page)
    parts = dict(zip(pieces[1::2], (text.strip("\n") for text in pieces[2::2]), strict=True))
    return (
        f"### {rule.code} · {rule.title}\n\n{_prose(parts['What it does'])}\n\n{_prose(parts['Why'])}\n\n"
        f"```\n{_code(parts['Example'])}\n```\n\nFix:\n\n```\n{_code(parts['Fix'])}\n```\n"
    )


def with_rules(text: str) -> str:
    """The text of docs/errors.md with the sections of all rules as they are now."""
    for rule in all_rules():
        sections = {found[1]: found.span() for found in _SECTION.finditer(text)}
        start, end = sections.get(rule.code) or _behind(sections, rule.code)
        text = f"{text[:start]}{page(rule)}\n{text[end:]}"
    return text.rstrip("\n") + "\n"


def _behind(sections: dict[str, tuple[int, int]], code: str) -> tuple[int, int]:
    """Where a new section goes: behind that of the greatest smaller code."""
    end = sections[max(one for one in sections if one < code)][1]
    return end, end


def _prose(text: str) -> str:
    return text.strip()


def _code(text: str) -> str:
    return "\n".join(line.removeprefix("    ") for line in text.strip("\n").splitlines())


if __name__ == "__main__":
    PAGES.write_text(with_rules(PAGES.read_text("utf-8")), "utf-8")
