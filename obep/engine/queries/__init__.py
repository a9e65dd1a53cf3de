"""Queries over windows while they run (DIALECTS 5)."""
