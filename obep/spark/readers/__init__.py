"""Rows of a DataFrame to items."""
