"""Read obep.toml: the file, and the kinds of values in it."""
