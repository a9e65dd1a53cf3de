"""The algebra of groups (DIALECTS 2): solutions, joins, aggregates.

In: the AST of groups, terms. Out: solutions and their aggregates. Never here: patterns of events, reasoning.
"""
