"""The canonical text of the parts of a query; `obep.query.printer` puts them together."""

from __future__ import annotations

from obep.query.printing import conditions, descriptions, events, patterns, words
from obep.query.printing.canonical import text

PARTS = (words, descriptions, patterns, conditions, events)
"""Importing them teaches `text` their nodes."""

__all__ = ["PARTS", "text"]
