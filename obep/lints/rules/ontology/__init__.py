"""Rules that need the ontology, the static graph and the compiled query."""
