"""SHACL: shapes as conditions and constraints, and the rules of SHACL-AF, over graphs of N-Triples terms."""
