"""Sinks: where occurrences go."""
