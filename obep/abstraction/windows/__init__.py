"""The items of a window together: what they explain, and what they entail."""
