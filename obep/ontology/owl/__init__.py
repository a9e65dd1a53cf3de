"""OWL 2 DL as values: axioms, literals, data ranges; RDF and Manchester syntax to OWL."""
