"""two equivalent events

What it does: Finds events that are equivalent by the ontology.

Why: Each occurrence of one is an occurrence of the other, and is reported under both names.

Example:

    EVENT Hot AS HotRoom
    EVENT Warm AS WarmRoom       # and the ontology makes HotRoom and WarmRoom equivalent

Fix:

    EVENT Hot AS HotRoom
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from obep.errors import Diagnostic

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle

CODE = "OBEP240"
NAME = "equivalent-events"
SEVERITY = "warning"


def check_bundle(bundle: Bundle) -> list[Diagnostic]:
    return [one for one in bundle.diagnostics if one.code == CODE]
