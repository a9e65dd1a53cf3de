"""The nodes of the algebra (SPARQL 1.1, 18.2 to 18.5): one node, one file."""
