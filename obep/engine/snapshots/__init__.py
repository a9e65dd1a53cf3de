"""The state of an engine as bytes: how it is sealed, which form it has, how it is written and restored."""
