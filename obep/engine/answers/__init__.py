"""Answers of an engine to why-not: about events, and about states by events, rows, groups and calendars."""
