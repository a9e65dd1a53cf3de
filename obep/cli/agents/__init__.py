"""Commands for agents, and from data to a first rule."""
