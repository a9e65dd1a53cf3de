"""The static graph while it changes."""
