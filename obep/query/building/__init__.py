"""From the parser's reductions to the AST: one function for each rule of `grammar/`.

The functions are embedded in the parser, so no tree is built and nothing recurses. What is wrong but does
not keep the parser from going on is noted in the scope of the file that is being read.
"""

from __future__ import annotations

from obep.query.building import conditions, descriptions, events, files, guards, patterns, words
from obep.query.building.rules import RULES, reading

PARTS = (words, descriptions, patterns, guards, conditions, events, files)
"""Importing them fills the table of rules."""

__all__ = ["PARTS", "RULES", "reading"]
