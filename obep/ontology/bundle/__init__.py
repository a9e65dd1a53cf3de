"""Compile a query with T and K into a bundle; pack it, cache it."""
