"""From the parser's reductions to the AST: one function for each rule of `grammar/`.

The functions are embedded in the parser, so no tree is built and nothing recurses. What is wrong but does
not keep the parser from going on is noted in the scope of the file that is being read.
"""

from __future__ import annotations

from obep.query.build import (
    build_conditions,
    build_descriptions,
    build_events,
    build_files,
    build_groups,
    build_guards,
    build_languages,
    build_names,
    build_patterns,
    build_queries,
    build_states,
)
from obep.query.build.actions import RULES, reading

PARTS = (
    build_names,
    build_descriptions,
    build_patterns,
    build_guards,
    build_conditions,
    build_groups,
    build_events,
    build_states,
    build_files,
    build_queries,
    build_languages,
)
"""Importing them fills the table of rules."""

__all__ = ["PARTS", "RULES", "reading"]
