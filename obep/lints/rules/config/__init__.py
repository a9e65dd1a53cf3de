"""Rules that look at obep.toml."""
