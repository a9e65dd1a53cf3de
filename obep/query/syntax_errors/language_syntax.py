"""Syntax errors in the languages other than OBEP."""

from __future__ import annotations

import re

from obep.errors import Diagnostic
from obep.query.languages import LANGUAGES, written_in
from obep.query.parse.file_scope import Scope
from obep.query.parse.lalr import Stuck
from obep.query.syntax_errors.duration_errors import misspelt_duration
from obep.query.syntax_errors.error_context import Situation
from obep.query.syntax_errors.expected_words import expected
from obep.query.syntax_errors.keyword_errors import misspelt
from obep.query.syntax_errors.punctuation_errors import brackets_and_characters

LEFT_OUT: dict[str, tuple[str, str]] = {
    "SERVICE": (
        "obep sends no requests while a query runs.",
        "FROM <file.ttl>, with the data in that file",
    ),
    "DESCRIBE": ("What describes a node is not defined.", "CONSTRUCT { ?x ?p ?o } WHERE { ?x ?p ?o }"),
    **dict.fromkeys(
        ("INSERT", "DELETE", "LOAD", "CLEAR", "DROP", "CREATE", "COPY", "MOVE", "ADD"),
        ("A query does not change its data.", "CONSTRUCT, whose answers are a stream that can be read"),
    ),
    "AGGREGATE": (
        "The AGGREGATE clause was left behind by C-SPARQL itself.",
        "GROUP BY and (COUNT(?x) AS ?n)",
    ),
    "BEGIN": (
        "Evaluation times count from 0.",
        "COMPUTE EVERY 1 min",
    ),
    "WITH": ("WITH DURATION of the drafts is not supported.", "a window FROM t1 TO t2"),
    **dict.fromkeys(
        ("DO", "RDF_STORE"),
        ("obep does not run Prolog of ETALIS.", "BIND, FROM <file.ttl>, or a window with GROUP BY"),
    ),
    "BEFORE": ("No paper says what BEFORE (a, b) means.", "SEQ, in EP-SPARQL"),
    "SEQOPTIONAL": (
        "It is not known yet whether the second part occurs, so an answer might have to be withdrawn.",
        "OPTIONALSEQ, whose optional part is the first one",
    ),
}
"""Unsupported parts of the languages (DIALECTS 12): the reason, and the remedy."""


def syntax_errors(scope: Scope, error: Stuck) -> list[Diagnostic]:
    """The errors of a text that does not parse, with the earlier ones."""
    situation = Situation.of(scope, error)
    if foreign := _other_language(situation) or _foreign(situation):
        return [foreign]
    found = _left_out(situation) or _bare_iri(situation)
    found = found or misspelt_duration(situation) or misspelt(situation)
    found = found or brackets_and_characters(situation) or _plain(situation)
    return [*scope.diagnostics, found]


_TELLING = re.compile(
    r"\b(?:REGISTER|RETURN|EVENT|FROM\s+NAMED\s+WINDOW|TIMEWINDOW|WIN\s*\[)"
    r"|\}\s*(?:OPTIONALSEQ|SEQ|EQUALSOPTIONAL|EQUALS)\s*\{",
    re.IGNORECASE,
)
_FROM_STREAM = re.compile(r"\bFROM\s+STREAM\b", re.IGNORECASE)
"""Several languages have it, so it does not show which one a text is in."""


def _other_language(situation: Situation) -> Diagnostic | None:
    """A query of one language in a file of another."""
    scope = situation.scope
    other = written_in(scope.text)
    windowed = scope.language in ("rspql", "rsepql") and _FROM_STREAM.search(scope.text)
    if other == scope.language or not (windowed or _TELLING.search(scope.text)):
        return None
    here, there = LANGUAGES[scope.language], LANGUAGES[other]
    return situation.diagnostic(
        "OBEP701",
        f"this looks like {there.title}, and the file is {here.title}",
        f"Here could stand {expected(situation.accepts)}.",
        f"give the file the ending {there.ending}, or say --dialect {other}",
    )


_SEQOPTIONAL = re.compile(r"\bSEQOPTIONAL\b", re.IGNORECASE)
"""The text before it in the paper is not a query either."""


PROLOG = LEFT_OUT["DO"]
_UPDATE = LEFT_OUT["INSERT"]
FOREIGN: list[tuple[str, str, tuple[str, str]]] = [
    (r"\brdf_store\s*\(", "rdf_store(…)", PROLOG),
    (r"\baggregate\s*\(", "aggregate(…)", PROLOG),
    (r"\}\s*DO\s*[({]", "DO", PROLOG),
    (r"(?<=\s)is\s+[^;.{}]*[-+*/]", "is", PROLOG),
    (r"\bBEFORE\s*[({]", "BEFORE", LEFT_OUT["BEFORE"]),
    (r"\bWITH\s+\S+\s+(?:INSERT|DELETE)\b", "WITH … DELETE or INSERT", _UPDATE),
    (
        r"\{\s*STREAM\s+\S+\s*\[",
        "STREAM in a group, of CQELS,",
        ("Windows are named before WHERE.", "FROM STREAM <s> [RANGE 10 s STEP 1 s], in C-SPARQL"),
    ),
    (
        r"\[\s*NOW\b",
        "[NOW - …], of SPARQLStream,",
        ("A frame has another form here.", "[FROM NOW - 10 min TO NOW - 0 s STEP 1 min]"),
    ),
]
"""Notations of other engines; they are searched only in a text that does not parse."""


def _foreign(situation: Situation) -> Diagnostic | None:
    """Syntax of another engine, before the place where the parser is stuck or at it."""
    text = situation.scope.text
    for shape, what, (reason, remedy) in FOREIGN:
        found = re.compile(shape, re.IGNORECASE).search(text)
        if found is not None and found.start() <= situation.start + 1:
            span = situation.span_of(found.start(), found[0])
            return situation.diagnostic("OBEP702", f"{what} is not supported", reason, remedy, span)
    return None


def _left_out(situation: Situation) -> Diagnostic | None:
    word, span = situation.word.upper(), situation.span
    if word not in LEFT_OUT:
        later = _SEQOPTIONAL.search(situation.scope.text)
        if later is None:
            return None
        word, span = later[0].upper(), situation.span_of(later.start(), later[0])
    reason, remedy = LEFT_OUT[word]
    return situation.diagnostic("OBEP702", f"{word} is not supported", reason, remedy, span)


def _bare_iri(situation: Situation) -> Diagnostic | None:
    """`http://example.org/x` without brackets."""
    if not re.match(r"\w+://", situation.scope.text[situation.start : situation.start + 40]):
        last = situation.scope.last
        if last is None or not re.match(r"\w+:/", situation.scope.text[last.span.start : last.span.end + 1]):
            return None
    return situation.diagnostic(
        "OBEP042",
        "an IRI stands between < and >",
        "Without them # would begin a comment.",
        f"<{situation.chunk}>",
    )


def _plain(situation: Situation) -> Diagnostic:
    return situation.diagnostic(
        "OBEP001",
        f"{situation.word} cannot stand here" if situation.word else "the query ends too early",
        f"Here could stand {expected(situation.accepts)}.",
        f"remove {situation.word}" if situation.word else "go on",
    )
