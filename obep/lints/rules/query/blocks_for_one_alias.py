"""two blocks for one alias, and none for another

What it does: Finds a guard with two blocks for one alias and none for another.

Why: Both blocks read the graph of the same alias, and the other alias has no condition. Usually the second
block is meant for the other alias.

Example:

    IF { EVENT was { ?this :kw ?old . } EVENT was { ?this :kw ?new . } }

Fix:

    IF { EVENT was { ?this :kw ?old . } EVENT is { ?this :kw ?new . } }
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from obep.errors import Diagnostic
from obep.lints.analysis.pattern_layout import Scope
from obep.query.diagnostics import listed, quote, say

CODE = "OBEP253"
NAME = "blocks-for-one-alias"
SEVERITY = "warning"


def check_pattern(scope: Scope) -> Iterator[Diagnostic]:
    asked = {place.alias for block in scope.blocks for place in scope.read_by(block)}
    named = {time.alias for condition in scope.conditions for time in condition.times}
    left = [place.alias for place in scope.places if place.alias not in asked and place.positive]
    others = [alias for alias in dict.fromkeys(left) if alias not in named]
    seen: set[str] = set()
    for block in scope.blocks:
        if len(block.aliases) != 1 or not others:
            continue
        (alias,) = block.aliases
        if alias in seen:
            yield say(
                CODE,
                scope.file,
                block.alias_spans[0] if block.alias_spans else block.span,
                f"{alias} has two blocks, and {listed(others)} {'has' if len(others) == 1 else 'have'} none",
                f"Both blocks ask the graph of {alias}, and nothing is asked of {listed(others, 'or')}. "
                "What is asked of one alias stands in one block.",
                quote(replace(block, aliases=(others[0],))),
            )
            return
        seen.add(alias)
