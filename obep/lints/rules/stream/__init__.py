"""Rules that look at the items of a run."""
