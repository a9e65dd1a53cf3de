"""The languages beside OBEP: each is read, printed in itself, known by what it says, and refused by name."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lark.parsers.lalr_analysis import LALR_Analyzer
from query_strategies import language_files

from obep.errors import Diagnostic, ObepError
from obep.lints.check_project import examine
from obep.query import ast
from obep.query.languages import LANGUAGES, language_of, written_in
from obep.query.link import link
from obep.query.packed_ast import pack_files, unpack_files
from obep.query.parse.parse_table import lark_parser
from obep.query.parse.parser import parse, parse_bytes
from obep.query.print.printer import show

MODEST = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_each_grammar_is_lalr_without_conflicts(language: ast.Language) -> None:
    # It raises on shift/reduce conflicts, too.
    LALR_Analyzer(lark_parser(language).parser.parser_conf, strict=True).compute_lalr()


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_printed_reads_as_the_same_query_and_prints_the_same(language: ast.Language) -> None:
    @given(language_files(language))
    @MODEST
    def holds(file: ast.QueryFile) -> None:
        text = show(file)
        assert parse(text, language=language) == file
        assert show(parse(text, language=language)) == text
        assert unpack_files(pack_files([file])) == [file]

    holds()


@given(
    st.sampled_from(list(LANGUAGES)), st.text(max_size=40), st.sampled_from(["", "SELECT * { ", "REGISTER "])
)
@MODEST
def test_any_text_is_read_or_refused(language: ast.Language, text: str, before: str) -> None:
    try:
        parse(before + text, language=language)
    except ObepError as error:
        assert all(one.code in ("OBEP001",) or one.message for one in error.diagnostics)


def test_a_comment_stays_with_its_place() -> None:
    text = (
        "# before\nREGISTER QUERY q AS\nSELECT ?x\nFROM STREAM <s> [RANGE 5 s STEP 1 s]  # the stream\n"
        "WHERE {\n  ?x a :T .  # a type\n  # a filter\n  FILTER(?x != :a)\n}\n# the end\n"
    )
    file = parse(text, language="csparql")
    assert [one.text for one in file.comments] == [
        "# before",
        "# the stream",
        "# a type",
        "# a filter",
        "# the end",
    ]
    assert parse(show(file), language="csparql") == file
    assert "WHERE {\n  ?x a :T .  # a type\n  # a filter\n" in show(file)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("REGISTER QUERY q AS SELECT * { ?s ?p ?o }", "csparql"),
        ("register stream q as construct { ?s ?p ?o } from stream <s> where { ?s ?p ?o }", "csparql"),
        ("REGISTER STREAM <q> AS SELECT * FROM NAMED WINDOW <w> ON <s> [RANGE 5 s] { ?s ?p ?o }", "rspql"),
        ("REGISTER ISTREAM <q> AS SELECT * { ?s ?p ?o }", "rspql"),
        ("SELECT * FROM NAMED WINDOW <w> ON <s> [RANGE 5 s] WHERE { WINDOW <w> { ?s ?p ?o } }", "rspql"),
        ("EVENT A AS B RETURN A", "obep"),
        (
            "FROM NAMED WINDOW <w> ON <s> [RANGE 5 s] REGISTER RSTREAM <q> AS SELECT * { ?s ?p ?o } RETURN A",
            "obep",
        ),
        ('EVENT A AS p value "REGISTER QUERY"', "obep"),
        ("SELECT ?x { { ?x a :A } SEQ { ?x a :B } }", "epsparql"),
        ("SELECT ?x FROM NAMED :s WIN [RANGE 5] AS :w { WINDOW :w { ?x a :A } }", "rsepql"),
        ("SELECT * { ?x a :A TIMEWINDOW (5) }", "sparkwave"),
        ("EVENT On AS A EVENT Off AS B RETURN On", "obep"),
    ],
)
def test_a_text_shows_its_language(text: str, language: ast.Language) -> None:
    assert written_in(text) == language
    assert language_of("q.txt", text) == language
    assert parse_bytes(text.encode(), "q.txt").language == language


def test_the_ending_of_a_file_counts_before_what_it_says() -> None:
    assert language_of("a/q.RSPQL", "REGISTER QUERY q AS SELECT * { ?s ?p ?o }") == "rspql"


REFUSED = [
    ("csparql", "SELECT ?x { ?x isIn ?y }", "OBEP042", "isIn"),
    ("csparql", "SELECT * { ?x :p http://a.org/b#c }", "OBEP042", ""),
    ("rspql", "SELECT * { ?s ?p ?o", "OBEP003", "{"),
    ("rspql", "SELECT * { ?s x:p ?o }", "OBEP007", "x:"),
    ("rspql", "REGISTER RSTREAM <q> UNDER ENTAILMENT REGIME <http://www.w3.org/ns/entailment/RIF> AS "
     "SELECT * { ?s ?p ?o }", "OBEP702", "RIF"),
    ("rspql", "REGISTER ISTREAM <q> AS SELECT DSTREAM * { ?s ?p ?o }", "OBEP011", "DSTREAM"),
]  # fmt: skip
C_SPARQL = "REGISTER QUERY q AS SELECT * FROM STREAM <s> [RANGE 5 s STEP 1 s] WHERE"
RSP_QL = "SELECT * FROM NAMED WINDOW <w> ON <s> [RANGE 5 s STEP 1 s] WHERE { WINDOW <w>"
UPDATES = ("INSERT DATA { :a :b :c }", "DELETE WHERE { ?s ?p ?o }", "LOAD <x>", "CLEAR ALL", "DROP GRAPH <x>",
           "CREATE GRAPH <x>", "COPY <a> TO <b>", "MOVE <a> TO <b>", "ADD <a> TO <b>")  # fmt: skip
LEFT_OUT = [
    *((("epsparql", "csparql")[at % 2], text, text.split()[0]) for at, text in enumerate(UPDATES)),
    ("csparql", "WITH <g> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }", "WITH … DELETE"),
    ("csparql", f"{C_SPARQL} {{ SERVICE <x> {{ ?s ?p ?o }} }}", "SERVICE"),
    ("epsparql", "SELECT * { { ?s ?p ?o } SEQ { SERVICE <x> { ?s ?p ?o } } }", "SERVICE"),
    *((language, "DESCRIBE <x>", "DESCRIBE") for language in LANGUAGES if language != "obep"),
    ("rspql", RSP_QL + " { GRAPH :g { ?s ?p ?o } } }", "GRAPH inside WINDOW"),
    ("rsepql", "SELECT * FROM NAMED :s WIN [RANGE 5 STEP 1] AS :w { WINDOW :w { GRAPH :g { ?s ?p ?o } } }",
     "GRAPH inside WINDOW"),
    ("rsepql", "SELECT * FROM NAMED :s WIN [RANGE 5] AS :w EVENT ON :w { GRAPH :g { ?s ?p ?o } } AS E "
     "WHERE { MATCH { E } }", "GRAPH inside EVENT"),
    ("csparql", f"{C_SPARQL} {{ ?s ?p ?o }} AGGREGATE {{ (?n, COUNT, {{?s}}) }}", "AGGREGATE"),
    ("rspql", RSP_QL + " { ?s ?p ?o } } AGGREGATE { (?n, COUNT, {?s}) }", "AGGREGATE"),
    ("rspql", 'SELECT * FROM NAMED WINDOW <w> ON <s> [RANGE 5 s BEGIN AT "2020"] { ?s ?p ?o }', "BEGIN"),
    ("rspql", "SELECT * FROM NAMED WINDOW <w> ON <s> [RANGE 5 s] WITH DURATION 5 s { ?s ?p ?o }", "WITH"),
    ("epsparql", "SELECT * { ?x :p+ ?y }", "the path +"),
    ("epsparql", "SELECT * { ?x :p* ?y }", "the path *"),
    ("sparkwave", "SELECT * { ?x :p+ ?y TIMEWINDOW (5) }", "the path +"),
    ("epsparql", "SELECT ?x { ?x :p ?y } DO print(?x)", "DO"),
    ("epsparql", "SELECT ?x { { ?x :p ?y } DO { print(?x) } }", "DO"),
    ("epsparql", "SELECT ?x { ?x :p ?y . ?z is ?y + 1 }", "is"),
    ("epsparql", "SELECT ?x { ?x :p ?y . ?z is 5 }", "is is not supported"),
    ("epsparql", "SELECT ?x { { ?x :p ?y } SEQ { ?x :p ?v . ?z is ?y } }", "is is not supported"),
    ("csparql", f"{C_SPARQL} {{ ?x :p ?y . ?z is 5 }}", "is is not supported"),
    ("epsparql", "SELECT ?x { ?x :p ?y . rdf_store(?x, :p, ?y) }", "rdf_store(…)"),
    ("epsparql", "SELECT ?x { ?x :p ?y . rdf_store(?x, ?p, ?y) }", "rdf_store(…)"),
    ("epsparql", "SELECT ?x { ?x :p ?y . aggregate(?x, ?y) }", "aggregate(…)"),
    ("sparkwave", "SELECT * { { ?x :p ?y } BEFORE { ?y :p ?z } TIMEWINDOW (5) }", "BEFORE"),
    ("sparkwave", "SELECT * { ?x :p ?y . BEFORE (a, b) TIMEWINDOW (5) }", "BEFORE"),
    ("epsparql", "SELECT ?x WHERE { STREAM <http://s> [RANGE 5s] { ?x :p ?y } }", "STREAM in a group"),
    ("csparql", "SELECT ?x WHERE { STREAM <http://s> [NOW] { ?x :p ?y } }", "STREAM in a group"),
    ("csparql", "SELECT ?x FROM NAMED STREAM <http://s> [NOW - 10 MINUTES TO NOW] WHERE { ?x :p ?y }",
     "[NOW - …], of SPARQLStream"),
    ("epsparql", "SELECT ?x ?y WHERE ?x ?x ?x . SEQOPTIONAL ?y ?y ?y .", "SEQOPTIONAL"),
    ("epsparql", "SELECT ?x ?y WHERE { { ?x :p ?x } SEQOPTIONAL { ?y :p ?y } }", "SEQOPTIONAL"),
]  # fmt: skip
"""Section 12 of DIALECTS in its order. Input triples with intervals are no part of a query."""
OTHERS = [
    ("rspql", "SELECT ?x FROM STREAM <s> { ?x ?p ?o }", "epsparql"),
    ("csparql", "SELECT * { { ?s <p:p> ?o } SEQ { ?o <p:q> ?z } }", "epsparql"),
    (
        "epsparql",
        "STREAM <http://e/s-t> IS s\nSTREAM <http://e/u-v> IS u\nSELECT * FROM NAMED <s> WIN [RANGE 8] "
        "AS <w> EVENT ON <w> { ?s ?p ?o } AS E WHERE { MATCH { E } }",
        "rsepql",
    ),
    ("csparql", "REGISTER RSTREAM <x> AS SELECT * { ?s ?p ?o }", "rspql"),
    ("rspql", "REGISTER QUERY q AS SELECT * { ?s ?p ?o }", "csparql"),
    ("csparql", "EVENT A AS B RETURN A", "obep"),
    ("epsparql", "REGISTER QUERY q AS SELECT * { ?s ?p ?o }", "csparql"),
    ("epsparql", RSP_QL + " { ?s ?p ?o } }", "rspql"),
    ("epsparql", "SELECT * { ?x :p ?y TIMEWINDOW (5) }", "sparkwave"),
    ("rspql", "SELECT ?x FROM NAMED :s WIN [RANGE 5] AS :w { WINDOW :w { ?x a :A } }", "rsepql"),
    ("sparkwave", "REGISTER QUERY q AS SELECT * { ?s ?p ?o }", "csparql"),
    ("rsepql", "REGISTER ISTREAM <q> AS SELECT * { ?s ?p ?o }", "rspql"),
    ("obep", "REGISTER QUERY q AS SELECT * { ?s ?p ?o }", "csparql"),
    ("obep", "SELECT * { ?x :p ?y TIMEWINDOW (5) }", "sparkwave"),
]


@pytest.mark.parametrize(("language", "text", "code", "said"), REFUSED)
def test_what_cannot_be_read_is_refused_with_its_place(
    language: ast.Language, text: str, code: str, said: str
) -> None:
    (found,) = refusals(language, text)
    assert found.code == code
    assert said in found.message


@pytest.mark.parametrize(("language", "text", "said"), LEFT_OUT)
def test_what_is_left_out_is_refused_by_name(language: ast.Language, text: str, said: str) -> None:
    found = refusals(language, f"PREFIX : <http://example.org/>\n{text}")
    assert any(one.message.startswith(said) for one in found), found


@pytest.mark.parametrize(("language", "text", "other"), OTHERS)
def test_a_query_of_another_language_is_named(language: ast.Language, text: str, other: ast.Language) -> None:
    (found,) = refusals(language, text)
    assert found.code == "OBEP701"
    title = LANGUAGES[other].title
    assert found.message == f"this looks like {title}, and the file is {LANGUAGES[language].title}"
    assert LANGUAGES[other].ending in found.remedy


def refusals(language: ast.Language, text: str) -> tuple[Diagnostic, ...]:
    """The errors of a text, all with a place and a remedy."""
    try:
        found = examine(link(parse(text, "q", language)), {}, java=False).errors
    except ObepError as error:
        found = error.diagnostics
    assert all(one.span is not None and one.remedy and one.reason for one in found)
    return found


def test_settings_stand_before_the_query_and_prefixes_anywhere() -> None:
    file = parse(
        "VOCAB <t.ttl> FROM GRAPH <k.ttl> REPORT all CLOSED left ENTAILMENT simple\n"
        "STREAM <http://s> IS points\n"
        "REGISTER QUERY a AS PREFIX ex: <http://e/>. SELECT * FROM STREAM <http://s> [RANGE 5m SLIDE 1m] "
        "{ ?s ex:p ?o } ;\nREGISTER QUERY b AS PREFIX ex: <http://e/> SELECT ?s { ?s ex:q ?o }",
        language="csparql",
    )
    assert [(one.key, one.value) for one in file.settings] == [
        ("report", "all"), ("closed", "left"), ("entailment", "simple"),
    ]  # fmt: skip
    assert [(one.prefix, one.iri) for one in file.prefixes] == [("ex", "http://e/")]
    assert file.stream_sources == (ast.StreamSource("http://s", "points"),)
    (window,) = file.queries[0].windows
    assert (window.role, window.range, window.step) == (
        "default", ast.Duration(300_000_000), ast.Duration(60_000_000),
    )  # fmt: skip


def test_a_slip_with_one_reading_is_taken_and_noted() -> None:
    file = parse('SELECT * { ?s :p ?o FILTER(?o > "PT1H"xsd:duration) }', language="csparql")
    (slip,) = file.slips
    assert (slip.remedy, slip.span.column) == ('"PT1H"^^xsd:duration', 33)
    assert '"PT1H"^^xsd:duration' in show(file)


@pytest.mark.parametrize(
    ("language", "text", "meant"),
    [
        (
            "csparql",
            "SELECT * FROM STREAM <s:s> [RANGE 5 s STPE 1 s] { ?x ?p ?o }",
            "STEP",
        ),
        (
            "csparql",
            "SELECT * FORM STREAM <s:s> [RANGE 5 s STEP 1 s] { ?x ?p ?o }",
            "FROM",
        ),
        ("csparql", "SELECT * { ?x ?p ?o } LIMTI 4", "LIMIT"),
        ("epsparql", "SELECT * WHERE { ?x ?p ?o } OPTIONLSEQ { ?x ?q ?o }", "OPTIONALSEQ"),
    ],
)
def test_a_keyword_with_a_slip_is_named_in_every_language(
    language: ast.Language, text: str, meant: str
) -> None:
    with pytest.raises(ObepError) as caught:
        parse(text, language=language)
    assert (caught.value.code, caught.value.diagnostics[0].remedy) == ("OBEP002", meant)
