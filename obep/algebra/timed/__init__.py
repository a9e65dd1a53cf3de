"""Timed solutions (DIALECTS 3): rows with the interval of the triples that they were found in.

A node gives, at each instant, the solutions that end there; what it needs later it remembers.
"""
