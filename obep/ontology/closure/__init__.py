"""Run the rules: stores of facts, their closure, equality, expiration."""
