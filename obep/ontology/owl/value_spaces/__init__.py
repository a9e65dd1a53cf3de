"""Sets of literals: texts that patterns allow, and regions of the values of a datatype."""
