"""Replace the query of a running run."""
