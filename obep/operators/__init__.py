"""Operators: occurrences in, candidates of a pattern out, as time goes on.

In: the tree of a plan, the occurrences (and for NOT the items) of one instant after the other. Out: the
candidates that are done at that instant. Never here: the clock, strata, reasoning, reports.
"""
