"""The rows behind `STATE … OVER E WITHIN d`: groups, their aggregates, and when they change (STATES 2).

In: rows with their group, end and terms, in the order of `done`, and how far time has come. Out: which groups
changed at which instants, with the aggregates' values and whether HAVING is true. The cost of an instant is
what came, what left and what changed, never the rows or the groups that are there. Nothing here knows the
engine.
"""
