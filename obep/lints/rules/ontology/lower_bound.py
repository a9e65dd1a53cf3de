"""an event runs as a lower bound

What it does: Finds an event whose definition or guard needs the reasoner, where there is no Java.

Why: The occurrences that are found are right, but some may be missing. The output marks them (`bounded`).
With `--require-complete` this is an error.

Example:

    obep run query.obep

Fix:

    pip install "obep[java]"
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from obep.errors import Diagnostic

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle

CODE = "OBEP241"
NAME = "lower-bound"
SEVERITY = "warning"


def check_bundle(bundle: Bundle) -> list[Diagnostic]:
    return [one for one in bundle.diagnostics if one.code == CODE]
