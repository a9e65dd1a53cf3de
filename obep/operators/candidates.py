"""What flows between operators.

A candidate (SPEC §4) is a plain tuple: millions of them live for a moment only.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Final

from obep.model import Occurrence, Term

Row = tuple[Term | None, ...]
"""The values of a node's variables."""
Rows = tuple[Row, ...]
Parts = tuple[Occurrence | None, ...]
"""What each alias of the node is bound to; `None` for one that did not take part."""
Candidate = tuple[int, int, int, int, Parts, Any]
"""start, end, done, since, parts, rows. Below FIRST and LAST the last is a tuple of `Rows | None`."""
START: Final = 0
END: Final = 1
DONE: Final = 2
SINCE: Final = 3
PARTS: Final = 4
ROWS: Final = 5

Emit = Callable[[Candidate], None]
Take = Callable[[Occurrence], None]
"""Where the occurrences of an event go."""
Enter = Callable[[Occurrence, Rows], None]
"""The same with the rows that it brings."""
Key = Hashable

NOTHING: Rows = ((),)
"""The rows of a candidate without a guard block: one, empty."""
