"""The nodes of a plan: what operators will be, with all that is known of their candidates beforehand.

A node says which aliases its candidates bind (`aliases`, in the order of their parts), which variables
their rows have (`variables`), and four facts that decide how much the operators need to remember:
`punctual` (done = end), `rooted` (since = start), `point` (start = end) and `view` (its live candidates may
vanish again, SPEC §4).
"""

from __future__ import annotations

from obep.plan.nodes import binary, contextual, node, unary
from obep.plan.nodes.binary import *  # noqa: F403  # `__all__` of each names its nodes
from obep.plan.nodes.contextual import *  # noqa: F403  # `__all__` of each names its nodes
from obep.plan.nodes.node import *  # noqa: F403  # `__all__` of each names its nodes
from obep.plan.nodes.unary import *  # noqa: F403  # `__all__` of each names its nodes

__all__: list[str] = []
__all__ += binary.__all__
__all__ += contextual.__all__
__all__ += node.__all__
__all__ += unary.__all__
