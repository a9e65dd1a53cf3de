"""A run from its specification to its exit status, whichever engine it uses."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from types import ModuleType
from typing import TYPE_CHECKING, Unpack

if TYPE_CHECKING:
    from obep.engine.query import EngineSettings, Query
    from obep.model import DeadLetter, Item, Occurrence


class _Callable(ModuleType):
    """This package. Importing it hides the function `obep.run` of the same name, so it can be called, too."""

    def __call__(
        self, query: Query, items: Iterable[Item | DeadLetter], **settings: Unpack[EngineSettings]
    ) -> list[Occurrence]:
        from obep.engine.query import run

        return run(query, items, **settings)


sys.modules[__name__].__class__ = _Callable
