"""The engine: items in, occurrences out.

In: a compiled query, items or logical occurrences in any order the clock allows. Out: the occurrences of its
events, each once, when it is decided; dead letters; snapshots. Never here: parsing of files, sources, Spark.
"""
