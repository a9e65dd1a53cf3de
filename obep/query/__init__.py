"""The query language: a text comes in, a checked AST goes out.

`parse` reads one file, `link` adds the files it includes, `check` says what is wrong with their meaning,
`show` prints. Nothing here loads an ontology, opens a stream or evaluates anything.
"""
