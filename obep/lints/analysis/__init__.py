"""Analyses of a query or a stream that several rules use."""
