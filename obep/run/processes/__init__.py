"""A run in several processes of one machine."""
