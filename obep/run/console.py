"""Write diagnostics as text or JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from enum import StrEnum

from obep.errors import Diagnostic


class Form(StrEnum):
    """The forms of diagnostics."""

    text = "text"
    json = "json"


def write(diagnostics: Iterable[Diagnostic], form: Form = Form.text) -> None:
    """Diagnostics for people on stderr, an empty line after each; for machines as one JSON list on stdout."""
    if form is Form.json:
        print(json.dumps([diagnostic.to_json() for diagnostic in diagnostics], ensure_ascii=False, indent=2))
        return
    for diagnostic in diagnostics:
        print(f"{diagnostic}\n", file=sys.stderr)


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    """Whether any of them is more than a warning."""
    return any(diagnostic.severity == "error" for diagnostic in diagnostics)
