"""Explain why an event did not occur."""
