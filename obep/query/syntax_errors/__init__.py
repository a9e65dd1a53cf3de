"""Explain syntax errors: what was probably meant, and what to write."""
