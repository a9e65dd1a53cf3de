"""Groups kept up to date: facts come and leave, and the rows that appear and disappear are given back.

Nodes push changes: a row and by how much its number changes. Removal is the same as addition, with the other
sign. A change costs the rows that it makes, not the size of the graph.
"""
