"""Queries of other languages in OBEP, where OBEP can say them. A tree comes in, a tree of OBEP goes out."""
