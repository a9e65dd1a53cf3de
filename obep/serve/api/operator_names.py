"""What the operators of a pattern are called in the field, with the words of the language."""

OPERATORS = {
    "Sequence": "sequence (SEQ)",
    "Pick": "sequence with a policy (SEQ)",
    "Pair": "join (AND, relations of intervals)",
    "Next": "next (NEXT, TIMES)",
    "Either": "disjunction (OR)",
    "Store": "disjunction (OR)",
    "Rest": "negation (NOT)",
    "Without": "negation (WITHOUT)",
    "Silence": "absence (NOT FOLLOWED BY)",
    "Fallback": "outer join (OPTIONAL)",
    "Choice": "selection (FIRST, LAST)",
    "Settle": "selection (FIRST, LAST)",
    "Repeated": "timer (REPEATED EVERY)",
    "Replay": "window (WITHIN)",
    "WindowLeaf": "window (IN)",
    "InState": "context (WHILE, UNLESS)",
    "While": "context (WHILE)",
    "Unless": "context (UNLESS)",
}
"""By the classes of `obep.operators`."""
