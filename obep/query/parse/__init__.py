"""Text to tokens to reductions: the LALR machine, its table, and the names of a file."""
