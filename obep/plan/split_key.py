"""The variable by whose value an event's work can be split without changing its answers (SPEC §4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from obep.plan.nodes import Choice, Pick, Rest, walk

if TYPE_CHECKING:
    from obep.plan.plan import EventPlan


def key_of(planned: EventPlan) -> str | None:
    """The first variable of PARTITION BY, or one that every alias binds to a single value.

    NOT, FIRST, LAST and the policies look at all occurrences, whatever their values.
    """
    if planned.partition_by:
        return planned.partition_by[0]
    if planned.root is None or planned.policy != "unrestricted":
        return None
    if any(isinstance(node, Rest | Choice | Pick) for node in walk(planned.root)):
        return None
    first, *others = planned.leaves
    return next(
        (name for name in first.variables if all(name in leaf.single for leaf in (first, *others))), None
    )
