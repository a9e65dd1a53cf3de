"""Random worlds of OWL 2 DL, and judges that say what follows in them.

A world is an ontology T, a static graph K, events and items, drawn by a seed. `python -m worlds --items N
--seed S` (from `tests/`; or `make worlds N=…`) asks obep and two independent reasoners about each item and
compares. What differs is shrunk and written as a program. Nothing here uses obep's own reading of OWL: it
is made of nested tuples that look like OWL's functional syntax, and is written as Turtle for obep and as
functional syntax for the judges.
"""
