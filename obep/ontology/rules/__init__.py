"""From axioms to rules: the normal form, the rules, and the program that runs."""
