"""Aggregates that are added to and taken from (STATES 2, DIALECTS D18).

In: rows (their end, a key, the term of the aggregate's argument) that come and leave. Out: the aggregate's
term for the rows that are there. The cost of a row does not depend on how many there are, but for the
logarithm of ordered structures. Nothing is written to a snapshot: an aggregate is built again from its rows.
"""
