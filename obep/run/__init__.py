"""A run from its specification to its exit status, whichever engine it uses."""
