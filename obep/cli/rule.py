"""`obep rule [CODE]`: what a message means, and what to do."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from obep.errors import fail


def command(
    code: Annotated[str | None, typer.Argument(help="A code, such as OBEP211.", show_default=False)] = None,
) -> None:
    """Print the page of a code; without one, list all codes with their titles."""
    from obep.codes import CODES

    if code is None:
        for one, title in CODES.items():
            print(f"{one}  {title}")
        return
    known = code.upper()
    if known not in CODES:
        from obep.query.nearest_name import nearest

        near = nearest(known, CODES)
        raise fail("OBEP518", f"there is no code {code}", remedy=f"obep rule {near}" if near else "obep rule")
    print(page_of(known))


def page_of(code: str) -> str:
    """The page of a code, as docs/errors.md has it."""
    from obep.resources import resource

    match = re.search(rf"^### {code} · (.*?)(?=^##|\Z)", resource("docs/errors.md"), re.MULTILINE | re.DOTALL)
    assert match is not None, code
    return f"{code}  {match[1].strip()}"
