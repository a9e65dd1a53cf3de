"""Errors of the language (SPEC §9): one small function each; the others are syntax errors and names."""
