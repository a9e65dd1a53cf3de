"""The canonical text of the parts of a query; `obep.query.print.printer` puts them together."""

from __future__ import annotations

from obep.query.print import (
    print_conditions,
    print_descriptions,
    print_events,
    print_groups,
    print_names,
    print_patterns,
    print_queries,
    print_states,
    print_windows,
)
from obep.query.print.canonical_text import text

PARTS = (
    print_names,
    print_descriptions,
    print_patterns,
    print_conditions,
    print_groups,
    print_events,
    print_states,
    print_windows,
    print_queries,
)
"""Importing them teaches `text` their nodes."""

__all__ = ["PARTS", "text"]
