"""Ontology: T, K and the definitions of events, made ready for reasoning (SPEC §3).

In: ontology and graph files (`load`), the definitions of a linked query (`definitions`). Out: a `Bundle`
(`compile`): rules in tables (`normal`, `profile`, `tables`), K closed under them (`reading`, `mapped`), and
the one door to Java (`reasoner`). Never here: items, time, the network.

The path of an axiom: load → nodes, mapping → axioms → axiom_rules, normal → rules → profile (what is exact) →
tables → program, which `saturate` runs.
"""
