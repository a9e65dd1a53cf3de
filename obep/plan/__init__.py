"""The plan: what is to be computed, before anything runs.

In: the linked query, its asks and (if there is one) the bundle. Out: for each event a tree of nodes, with
its conditions at the lowest node that can decide them, its horizons and its key; the plan prints itself.
Never here: occurrences, time, state.
"""
