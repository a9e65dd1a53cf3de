"""The functions of FILTER: their names, how many arguments they take, and what is wrong with a call.

`obep.guards` carries them out; the table stands here so that the checker need not load it.
"""

from __future__ import annotations

from obep.errors import Diagnostic, sentence
from obep.query.aggregates import AGGREGATES
from obep.query.ast import Aggregate, Call, Expression, Literal, Name, QueryFile, Var
from obep.query.diagnostics import say
from obep.query.nearest_name import nearest
from obep.query.timestamp_calls import is_timestamp
from obep.query.walk import walk
from obep.query.xpath_regex import RegexError, parse_regex
from obep.query.xpath_regex_tree import cost

FUNCTIONS: dict[str, tuple[int, int | None]] = {
    # forms that do not evaluate all of their arguments
    "BOUND": (1, 1), "IF": (3, 3), "COALESCE": (1, None),
    # terms
    "SAMETERM": (2, 2), "ISIRI": (1, 1), "ISURI": (1, 1), "ISBLANK": (1, 1), "ISLITERAL": (1, 1),
    "ISNUMERIC": (1, 1), "STR": (1, 1), "LANG": (1, 1), "DATATYPE": (1, 1), "IRI": (1, 1), "URI": (1, 1),
    "STRDT": (2, 2), "STRLANG": (2, 2),
    # strings
    "STRLEN": (1, 1), "SUBSTR": (2, 3), "UCASE": (1, 1), "LCASE": (1, 1), "STRSTARTS": (2, 2),
    "STRENDS": (2, 2), "CONTAINS": (2, 2), "STRBEFORE": (2, 2), "STRAFTER": (2, 2),
    "ENCODE_FOR_URI": (1, 1), "CONCAT": (0, None), "LANGMATCHES": (2, 2), "REGEX": (2, 3), "REPLACE": (3, 4),
    # numbers
    "ABS": (1, 1), "ROUND": (1, 1), "CEIL": (1, 1), "FLOOR": (1, 1),
    "SQRT": (1, 1), "POW": (2, 2), "LN": (1, 1), "EXP": (1, 1), "SIN": (1, 1), "COS": (1, 1), "ATAN": (1, 1),
    # dates and times; SECONDS is also the length of a duration
    "YEAR": (1, 1), "MONTH": (1, 1), "DAY": (1, 1), "HOURS": (1, 1), "MINUTES": (1, 1), "SECONDS": (1, 1),
    "TIMEZONE": (1, 1), "TZ": (1, 1), "LOCAL": (2, 2),
    # hashes
    "MD5": (1, 1), "SHA1": (1, 1), "SHA256": (1, 1), "SHA384": (1, 1), "SHA512": (1, 1),
}  # fmt: skip
"""Name → least and greatest number of arguments (`None`: as many as you like)."""

CHANGING = frozenset({"NOW", "RAND", "UUID", "STRUUID", "BNODE"})
"""Functions of SPARQL whose value changes from run to run: the same input must give the same answers."""

ELSEWHERE = {
    "LENGTH": "STRLEN", "LEN": "STRLEN", "SIZE": "STRLEN", "UPPER": "UCASE", "LOWER": "LCASE",
    "SUBSTRING": "SUBSTR", "STARTSWITH": "STRSTARTS", "STARTS_WITH": "STRSTARTS", "ENDSWITH": "STRENDS",
    "ENDS_WITH": "STRENDS", "MATCH": "REGEX", "MATCHES": "REGEX", "LIKE": "REGEX", "CEILING": "CEIL",
    "IFNULL": "COALESCE", "START": "getSTARTTIME", "STARTTIME": "getSTARTTIME", "END": "getENDTIME",
    "ENDTIME": "getENDTIME", "DURATION": "getDURATION", "MEAN": "AVG", "AVERAGE": "AVG",
}  # fmt: skip
"""Names of our functions in other languages."""

CASTS: dict[str, str] = {
    f"<http://www.w3.org/2001/XMLSchema#{local}>": f"xsd:{local}"
    for local in (
        "string", "boolean", "integer", "decimal", "float", "double", "dateTime", "date", "duration",
        "dayTimeDuration",
    )
}  # fmt: skip
"""The datatypes that a value can be cast to."""


def check_expression(
    expression: Expression,
    file: QueryFile | None = None,
    *,
    aggregates: bool = False,
    windows: bool = False,
) -> list[Diagnostic]:
    """What is wrong with the calls in an expression: unknown functions, arguments, regular expressions, and
    aggregates where there is no group. `windows`: it may ask when a triple was seen."""
    found = []
    for call in (node for node in walk(expression) if isinstance(node, Call | Aggregate)):
        if isinstance(call, Aggregate):
            said = None if aggregates else _no_aggregate(call)
        else:
            if windows and is_timestamp(call.function):
                number = len(call.arguments)
                said = None if number and number % 3 == 0 else _check_number("timestamp", number, 1, 1)
            else:
                said = _check_name(call.function, len(call.arguments), aggregates) or _check_use(call)
        if said is not None:
            code, message, reason, remedy = said
            found.append(say(code, file or _NO_FILE, call.span, message, reason, remedy))
    return found


_NO_FILE = QueryFile(None, (), (), (), (), (), name="")
Said = tuple[str, str, str, str]


def _check_name(function: str | Name, given: int, aggregates: bool) -> Said | None:
    if isinstance(function, Name):
        if not function.iri:  # its prefix is unknown, and the parser has said so
            return None
        if function.iri in CASTS:
            return _check_number(function.text, given, 1, 1)
        name, known = function.text, list(CASTS.values())
        reason = "A name before ( is a cast to a datatype, such as xsd:double(?v)."
    elif function in FUNCTIONS:
        return _check_number(function, given, *FUNCTIONS[function])
    elif function in CHANGING:
        return None
    else:
        name, known = function, [*FUNCTIONS, "getSTARTTIME", "getENDTIME", "getDURATION"]
        reason = "FILTER has SPARQL 1.1's functions, getSTARTTIME, getENDTIME, getDURATION and seconds."
        if aggregates:
            known += AGGREGATES
            reason = "There are aggregates, such as AVG and MEDIAN, and the functions of SPARQL 1.1."
    meant = ELSEWHERE.get(name.upper()) or nearest(name, known)
    asks = f"; did you mean {meant}?" if meant else ""
    remedy = f"{meant}(…)" if meant else 'one of SPARQL\'s, such as STRLEN(?v), ABS(?v) or REGEX(?v, "…")'
    return "OBEP190", f"{name} is no function{asks}", reason, remedy


def _check_number(name: str, given: int, least: int, most: int | None) -> Said | None:
    if given >= least and (most is None or given <= most):
        return None
    wanted = f"{least}" if least == most else f"at least {least}" if most is None else f"{least} to {most}"
    noun = "argument" if wanted.endswith("1") else "arguments"
    remedy = f"{name}({', '.join('…' for _ in range(max(least, 1)))})"
    reason = "Its arguments are in parentheses, separated by commas."
    return "OBEP191", f"{name} takes {wanted} {noun}, not {given}", reason, remedy


def _check_use(call: Call) -> Said | None:
    name = call.function
    if name in CHANGING:
        reason = "Its value changes from run to run, but the same input must give the same answers and ids."
        other = "a value of the item, or of the static graph"
        remedy = "getENDTIME(), the time of the match" if name == "NOW" else other
        return "OBEP420", f"{name} cannot be used in a guard", reason, remedy
    if name == "BOUND" and not isinstance(call.arguments[0], Var):
        return "OBEP191", "BOUND takes a variable", "Only a variable can be bound.", "BOUND(?v)"
    if name == "LOCAL":
        return _check_zone(call.arguments[1])
    return _check_regex(call, name) if name == "REGEX" or name == "REPLACE" else None


def _no_aggregate(call: Aggregate) -> Said:
    reason = "A FILTER is evaluated for one solution. Aggregates need all solutions."
    count = call.function == "COUNT"
    remedy = "A TIMES 3 in MATCH, for three of A" if count else "compare the values of two events"
    return "OBEP153", f"{call.function} cannot be used in a guard", reason, remedy


def _check_zone(zone: Expression) -> Said | None:
    """A zone that stands in the query is looked up here; one that comes with the data, when it comes."""
    if not isinstance(zone, Literal):
        return None
    from obep.formats.zones import nearest_zone, zone_named

    try:
        zone_named(zone.lexical)
    except ValueError:
        near = nearest_zone(zone.lexical)
        asks = f"; did you mean {near}?" if near else ""
        reason = "A zone is a name of the tz database, such as Europe/Rome, or an offset, such as +02:00."
        return (
            "OBEP141",
            f"{zone.lexical!r} is no zone{asks}",
            reason,
            f'LOCAL(?t, "{near or "Europe/Rome"}")',
        )
    return None


def _check_regex(call: Call, name: str) -> Said | None:
    """A pattern that stands in the query is read here; one that comes with the data, when it comes."""
    pattern = call.arguments[1]
    flags = (*call.arguments[3 if name == "REPLACE" else 2 :], Literal(""))[0]
    if not isinstance(pattern, Literal) or not isinstance(flags, Literal):
        return None
    try:
        tree = parse_regex(pattern.lexical, flags.lexical)
    except RegexError as error:
        return (
            "OBEP192",
            "the regular expression cannot be used",
            sentence(str(error)),
            'REGEX(?v, "^R[0-9]+$"); a sign that means itself has a backslash before it, written \\\\.',
        )
    if name == "REPLACE" and cost(tree) is None:
        reason = "A repetition in a repetition can take exponential time to replace. REGEX has no such limit."
        remedy = "one repetition at each place: (a|b)+ for (a+|b+)+"
        return "OBEP192", "REPLACE cannot bound the time of this regular expression", reason, remedy
    return None
