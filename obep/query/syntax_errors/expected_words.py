"""The terminals of the grammar in the words of its users."""

from __future__ import annotations

from collections.abc import Iterable

ALLEN = (
    "BEFORE", "AFTER", "MEETS", "METBY", "OVERLAPS", "OVERLAPPEDBY",
    "STARTS", "STARTEDBY", "DURING", "CONTAINS", "FINISHES", "FINISHEDBY",
)  # fmt: skip

KEYWORDS: dict[str, tuple[str, ...]] = {
    "VOCAB": ("VOCAB", "TBOX"), "SUBCLASSOF": ("subClassOf",), "ON_SOURCE": ("ON",),
    "PARTITION_BY": ("PARTITION BY", "PARTITION"),
    "POLICY_NAME": ("unrestricted", "chronological", "recent", "naive"), "SEQ": ("SEQ", "FOLLOWED BY"),
    "AND": ("AND", "EQUALS"), "ALLEN": ALLEN, "END_OF": ("END",), "IN_WINDOW": ("IN",),
    "CLASS_AND": ("and", "that"), "CLASS_OR": ("or",), "CLASS_NOT": ("not",), "SOME": ("some",),
    "ONLY": ("only",), "VALUE": ("value",), "BOUND": ("min", "max", "exactly"), "SELF": ("Self",),
    "INVERSE": ("inverse",), "TIME_FUNCTION": ("getSTARTTIME", "getENDTIME", "getDURATION"),
    "CONSTRUCT_QUERY": ("CONSTRUCT",), "STREAM_OPERATOR": ("RSTREAM", "ISTREAM", "DSTREAM"),
    "SIDE": ("LEFT", "RIGHT"), "REPORT_NAME": ("NONEMPTY", "CHANGE", "ALL"), "POLICY_SETTING": ("POLICY",),
    "ENTAILMENT_NAME": ("SIMPLE", "OWL"), "REGIME": ("UNDER ENTAILMENT REGIME",),
    "LOOSE": ("OPTIONALSEQ", "EQUALSOPTIONAL"), "TIGHT": ("SEQ", "EQUALS"), "ID": ("ID", "IND"),
    "STATIC_INSTANCES": ("STATIC_INSTANCES",), "EPSILON_ONTOLOGY": ("EPSILON_ONTOLOGY",),
    "FACET": ("<", "<=", ">", ">=", "length", "minLength", "maxLength", "pattern", "langRange"),
}  # fmt: skip
"""The words that a terminal stands for, where they are not its name."""

SORTS: dict[str, tuple[str, ...]] = {
    "operator": ("SEQ", "FOLLOWED", "FOLLOWED_BY", "NEXT", "WITHOUT", "OR", "AND", "EQUALS", "JOIN", *ALLEN),
    "unary": ("FIRST", "LAST", "OPTIONAL", "EVERY", "NOT"),
    "clause": (
        "AS", "SUBCLASSOF", "MATCH", "IF", "CONSTRUCT", "POLICY", "PARTITION", "WITHIN", "ON", "TIMES",
    ),
    "declaration": ("EVENT", "NAMED", "RETURN"),
    "prologue": ("BASE", "PREFIX", "VOCAB", "TBOX", "FROM", "INCLUDE"),
    "manchester": (
        "and", "or", "not", "some", "only", "value", "min", "max", "exactly", "self", "that", "inverse",
    ),
    "shouted": ("SOME", "ONLY", "VALUE", "MIN", "MAX", "EXACTLY", "SELF", "THAT", "INVERSE"),
    "sparql": (
        "SELECT", "ASK", "DESCRIBE", "WHERE", "ORDER", "LIMIT", "GROUP", "HAVING", "REGISTER", "INSERT",
        "DELETE",
    ),
    "sql": ("LIKE", "BETWEEN", "IS", "NULL", "MATCHES"),
    "target": ("TO", "INTO"),
    "filter": ("FILTER",),
    "in": ("IN",),
    "boolean": ("TRUE", "FALSE"),
    "by": ("BY",),
}  # fmt: skip
WORDS: dict[str, str] = {word: sort for sort, words in SORTS.items() for word in words}
"""The sort of every word that means something somewhere."""

DESCRIBED = {
    "EVENT_WORD": "the name of an event",
    "RETURN_WORD": "the name of an event",
    "CLASS_WORD": "a class or property",
    "GUARD_WORD": "a name",
    "CONDITION_WORD": "a name",
    "QUERY_NAME": "a name",
    "ASSIGN": "=",
    "FUNCTION": "a function",
    "VAR": "a variable (?v)",
    "BLANK": "a blank node",
    "IRI": "an IRI in < >",
    "PREFIX_NAME": "a prefix with its colon",
    "STRING": "a string in quotes",
    "NUMBER": "a number",
    "FLOAT": "a number",
    "UNSIGNED": "a number",
    "INTEGER": "a whole number",
    "BOOLEAN": "true or false",
    "DURATION": "a duration such as 5 min",
    "LANGUAGE": "a language tag",
    "COMPARE": "a comparison",
    "SUM": "+ or -",
    "PRODUCT": "* or /",
    "SIGN": "!",
    "EITHER": "||",
    "BOTH": "&&",
    "HAT": "^^ and a datatype",
    "LPAR": "(",
    "RPAR": ")",
    "LBRACE": "{",
    "GROUP_BRACE": "{",
    "ATOM_WORD": "a state such as S(?k)",
    "WINDOW_GROUP": "WINDOW",
    "CLOCK": "a time such as 18:00",
    "DAY": "a day such as Mon",
    "DASH": "-",
    "PATH_OR": "|",
    "PATH_THEN": "/",
    "PATH_INVERSE": "^",
    "PATH_NOT": "!",
    "PATH_TIMES": "*, + or ?",
    "SEPARATOR": "SEPARATOR=",
    "RBRACE": "}",
    "LSQB": "[",
    "RSQB": "]",
    "COMMA": ",",
    "SEMICOLON": ";",
    "DOT": ".",
    "STAR": "*",
    "A": "a",
    "$END": "the end",
    "EVENT_BLOCK": "EVENT",
    "ALLEN": "one of Allen's relations (BEFORE, DURING, …)",
    "FACET": "a facet such as > or pattern",
    "TIME_FUNCTION": "getSTARTTIME",
}


def keywords(terminal: str) -> tuple[str, ...]:
    """The words that a terminal stands for: its name, if nothing else is listed.

    >>> keywords("GROUP_BY"), keywords("SEQ"), keywords("VAR")
    (('GROUP BY',), ('SEQ', 'FOLLOWED BY'), ())
    """
    listed = KEYWORDS.get(terminal)
    return listed or (() if terminal in DESCRIBED else (terminal.replace("_", " "),))


_FIRST = (
    "MATCH", "AS", "EVENT_WORD", "RETURN_WORD", "CLASS_WORD", "GUARD_WORD", "CONDITION_WORD", "VAR",
    "DURATION", "SEQ", "AND", "OR", "WITHIN", "CLASS_AND", "SOME", "FILTER", "EVENT", "PREFIX", "RETURN",
)  # fmt: skip
"""The words to list first."""
MOST = 9


def expected(accepts: Iterable[str]) -> str:
    """What could stand at a place, for people.

    >>> expected({"RPAR", "SEQ"})
    'SEQ or )'
    """
    ordered = sorted(accepts, key=lambda t: (_FIRST.index(t) if t in _FIRST else 50 + (not keywords(t)), t))
    words = list(dict.fromkeys(DESCRIBED.get(t) or keywords(t)[0] for t in ordered))
    if len(words) > MOST:
        words = [*words[: MOST - 1], "…"]
        return ", ".join(words)
    return " or ".join([*([", ".join(words[:-1])] if len(words) > 1 else []), *words[-1:]])
