"""States (STATES.md): what holds from one instant to another."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as Choice

from obep.query.ast.description_nodes import Description
from obep.query.ast.group_nodes import Group, Projection, Select
from obep.query.ast.guard_nodes import Expression, Guard
from obep.query.ast.pattern_nodes import Pattern, StateUse
from obep.query.ast.term_nodes import Duration, Extent, Name, Node, Var


@dataclass(frozen=True, slots=True)
class EventState(Node):
    """`STATE S(?k, …) FROM P TO Q [TIMEOUT d] [LIMIT d] [IF { … }]`."""

    name: Name
    parameters: tuple[Var, ...]
    start: Pattern
    end: Pattern
    timeout: Duration | None = None
    limit: Duration | None = None
    guard: Guard | None = None
    extent: Extent = field(default=Extent(), compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class OverState(Node):
    """`STATE S(?k, …) OVER E WITHIN d [STEP s] [FOR EACH T(?k)] [IF] [GROUP BY] [AGGREGATE] [HAVING]`."""

    name: Name
    parameters: tuple[Var, ...]
    over: Pattern | StateUse
    """`OVER STATE T(?k)` is a StateUse: HELD() is of its episodes."""
    within: Duration
    step: Duration | None = None
    each: StateUse | None = None
    guard: Guard | None = None
    group_by: tuple[Var, ...] = ()
    """As written; if empty, the parameters."""
    aggregates: tuple[Projection, ...] = ()
    having: Expression | None = None
    extent: Extent = field(default=Extent(), compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class ClassState(Node):
    """`STATE S(?k) [ON <w>] AS ( class expression ) [IF { … }]`; without ON, of what K says."""

    name: Name
    parameters: tuple[Var, ...]
    description: Description
    on: str | None = None
    guard: Guard | None = None
    extent: Extent = field(default=Extent(), compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class GroupState(Node):
    """`STATE S(?k, …) [ON <w>] AS { group }`; a group that is one sub-select is a Select."""

    name: Name
    parameters: tuple[Var, ...]
    group: Group | Select
    on: str | None = None
    extent: Extent = field(default=Extent(), compare=False, repr=False, kw_only=True)


Weekday = Choice["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]


@dataclass(frozen=True, slots=True)
class DailyState(Node):
    """`STATE S DAILY FROM 18:00 TO 08:00 [ON Mon-Fri, Sun] [ZONE "Europe/Rome"] [IF { … }]`.

    Times are minutes since midnight (0 to 1440), or variables of the guard over K.
    """

    name: Name
    parameters: tuple[Var, ...]
    start: int | Var
    end: int | Var
    days: tuple[Weekday, ...] | Var = ()
    """Ranges are written out; none: every day."""
    zone: str | Var | None = None
    guard: Guard | None = None
    extent: Extent = field(default=Extent(), compare=False, repr=False, kw_only=True)


State = EventState | OverState | ClassState | GroupState | DailyState
