"""The variable by whose value an event's work can be split without changing its answers (SPEC §4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from obep.plan.plan import EventPlan


def key_of(planned: EventPlan) -> str | None:
    """The first variable of PARTITION BY, or one that every alias binds."""
    return planned.partition_by[0] if planned.partition_by else None
