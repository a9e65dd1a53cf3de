"""Abstraction: items to logical occurrences, each with its explanation (SPEC §3, D1 to D4).

In: a `Bundle`, items, occurrences of composite events as items of the next stratum. Out: `Matched`, or a
`DeadLetter`. Never here: patterns, time order, files.

The path of an item: shapes (private names are replaced) → evaluate (rules, then bounds and the reasoner) →
explain (all minimal reasons) → templates (remembered) → matcher (occurrences, with the solutions of guards).
That of the items of a window: union (which triples explain something together) → together (when they came).
"""
