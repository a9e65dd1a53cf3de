"""The rules of SPEC §9 that need no ontology, one small function each.

In comes a linked query (or one event of it, laid out as a `Scope`), out go diagnostics. A rule never
changes the query and never looks at another rule's findings; `obep.lints.check_query` decides their order.
"""
