"""The grammar: no conflicts, the AST's names, words reserved only where they mean something."""

from __future__ import annotations

import dataclasses
import inspect
import re
import typing
from functools import cache

import pytest
from lark.grammar import Rule

from obep.errors import ObepError
from obep.query import ast
from obep.query.build import PARTS
from obep.query.build.actions import RULES
from obep.query.languages import LANGUAGES
from obep.query.parse.parse_table import lark_parser
from obep.query.parse.parser import parse
from obep.query.parse.reserved import _RESERVED, RESERVED_EVENT, Place, is_reserved
from obep.query.walk import walk
from obep.resources import resource

SHARED = {base for cls in vars(ast).values() if inspect.isclass(cls) for base in cls.__mro__[1:]}
AST_CLASSES = {
    cls.__name__: cls
    for cls in vars(ast).values()
    if inspect.isclass(cls) and issubclass(cls, ast.Node) and cls not in SHARED
}
FIELDS = {
    field.name for cls in AST_CLASSES.values() for field in dataclasses.fields(typing.cast(typing.Any, cls))
}
PASSING_ON = {
    # chains are folded from the left, brackets are remembered by what stands in them
    "sequence", "combined", "grouped", "enclosed", "sub_select", "constraint", "path_one",
    # places of a Name, a Literal or a Duration
    "a", "class_word", "term_word", "class_literal", "facet_value", "instant", "clock", "day",
    # triples are written out
    "property_list", "objects", "blank_properties", "collection",
    # the rows of VALUES, the keys of GROUP BY
    "values_of", "values_row", "undef", "group_key",
    # the parts of a query
    "compute", "construct_where", "from_stream", "from_window", "literal_without_hat", "regime",
    "select_query", "bare_where", "bare_template", "bare_projection", "horizon", "seconds", "win",
    "event_sequence", "event_leaf", "tpg_file", "handlers", "handler",
}  # fmt: skip


def camel(rule: str) -> str:
    return "".join(part.capitalize() for part in rule.split("_"))


@cache
def rule_names() -> set[str]:
    """What the parser calls back: the alias of a rule's alternative, or the rule's own name."""
    return {
        rule.alias or str(rule.origin.name) for rule in all_rules() if not rule.origin.name.startswith("_")
    }


@cache
def all_rules() -> list[Rule]:
    """The rules of all languages; lark takes seconds for each."""
    return [rule for language in LANGUAGES for rule in lark_parser(language).rules]


def event(text: str) -> ast.CompositeEvent:
    found = parse(text).events[0]
    assert isinstance(found, ast.CompositeEvent)
    return found


def pattern(text: str) -> ast.Pattern:
    return event(f"EVENT X MATCH {text}").pattern


def description(text: str) -> ast.Description:
    found = parse(f"EVENT X AS {text}").events[0]
    assert isinstance(found, ast.LogicalEvent)
    return found.description


def condition(text: str) -> ast.Expression:
    guard = event(f"EVENT X MATCH A IF {{ FILTER({text}) }}").guard
    assert guard is not None
    return guard.filters[0].condition


def leaf(name: str) -> ast.Leaf:
    return ast.Leaf(ast.Name(name, f"<http://example.org/obep#{name.lstrip(':')}>"))


A, B, C, D = (leaf(name) for name in "ABCD")


# --- the grammar itself ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_every_rule_is_a_class_or_a_field_of_the_ast() -> None:
    assert PARTS
    called = {name for name in RULES if name in rule_names()}
    assert called == set(RULES), "a callback that no rule calls"
    strange = {name for name in called if camel(name) not in AST_CLASSES and name not in FIELDS | PASSING_ON}
    assert strange == set()


@pytest.mark.slow
def test_every_class_of_the_ast_has_a_rule() -> None:
    made_elsewhere = {"Comment", "Slip", "TriplePattern", "PathPattern"}  # from other rules, or from none
    assert set(AST_CLASSES) - {camel(name) for name in rule_names()} == made_elsewhere


@pytest.mark.slow
def test_rules_without_a_callback_only_pass_on() -> None:
    for rule in all_rules():
        name = rule.alias or str(rule.origin.name)
        if name not in RULES:
            inline = rule.origin.name.startswith("_") or rule.options.expand1
            assert inline, f"{name} would leave a tree in the AST"


PLACES: list[Place] = ["event", "class", "guard", "condition", "return"]


@pytest.mark.parametrize("place", PLACES)
def test_the_reserved_words_of_the_printer_are_those_of_the_grammar(place: Place) -> None:
    line = next(
        line
        for line in resource("grammar/terminals.lark").splitlines()
        if line.startswith(f"{place.upper()}_WORD:")
    )
    excluded = line[: line.index("(?![")]
    words = set(re.findall(r"[A-Za-z_]{2,}|(?<=:)a(?=\|)", excluded.partition("/")[2]))
    assert len(words) > 4
    for word in words:
        assert is_reserved(word, place), word
    any_case, this_case = _RESERVED[place]
    assert any_case | this_case == words


@pytest.mark.parametrize("word", sorted(RESERVED_EVENT))
def test_a_colon_lets_every_reserved_word_be_an_event(word: str) -> None:
    file = parse(f"EVENT :{word} AS Room EVENT X MATCH :{word} AS :{word} SEQ B RETURN :{word}")
    assert file.events[0].name.iri == f"<http://example.org/obep#{word}>"


# --- words ----------------------------------------------------------------------------------------------


def test_keywords_in_any_case() -> None:
    text = "event x match a Seq b WitHin 5 S policy RECENT if { Filter(?x in (1)) } return x as Rdf stream"
    assert parse(text) == parse(text.upper().replace("X", "x").replace(" A ", " a ").replace(" B ", " b "))


def test_a_prefix_may_be_a_keyword() -> None:
    file = parse("PREFIX event: <http://e.org/> EVENT event:Foo AS event:Bar and not event:Foo")
    assert file.events[0].name == ast.Name("event:Foo", "<http://e.org/Foo>")


FREE = ["contains", "Within", "FIRST", "seq", "Next", "on", "If", "filter", "a", "policy"]


@pytest.mark.parametrize("word", FREE)
def test_words_of_patterns_are_free_in_class_expressions(word: str) -> None:
    assert description(f"{word} some {word}") == ast.Some(
        ast.Name(word, f"<http://example.org/obep#{word}>"),
        ast.ClassName(ast.Name(word, f"<http://example.org/obep#{word}>")),
    )


NAMES_OF_STATES = [
    "Some",
    "Only",
    "Value",
    "Min",
    "Max",
    "Exactly",
    "Self",
    "That",
    "Inverse",
    "some",
    "value",
    "While",
    "Unless",
    "Repeated",
    "Until",
    "At",
    "To",
    "For",
    "In",
    "On",
    "Aggregate",
    "Having",
    "Timeout",
    "Limit",
    "Step",
    "Group",
    "Zone",
    "State",
    "Over",
    "Daily",
    "Each",
    "Begin",
    "End",
    "Latest",
    "Window",
    "Register",
    "Held",
]
USES_OF_A_STATE = (
    "MATCH BEGIN {}(?k)",
    "MATCH END {}(?k) FOR 5 min",
    "MATCH {}(?k) FOR 5 min",
    "MATCH A(?k) WHILE {}(?k)",
    "MATCH A(?k) UNLESS {}(?k)",
    "MATCH (BEGIN {0}(?k) SEQ END {0}(?k)) WITHIN 5 min",
)


@pytest.mark.parametrize("name", NAMES_OF_STATES)
def test_a_state_may_have_the_name_of_a_word(name: str) -> None:
    iri = f"<http://example.org/obep#{name}>"
    for before in ("", "EVENT A AS p some number\n", "EVENT A AS p some B\n"):
        (state,) = parse(f"{before}STATE {name}(?k) FROM A(?k) TO B(?k) LIMIT 1 d").states
        assert state.name.iri == iri
    for use in USES_OF_A_STATE:
        event = parse(f"EVENT A AS B EVENT X(?k) {use.format(name)}").events[1]
        assert any(isinstance(node, ast.Name) and node.iri == iri for node in walk(event)), use
        assert not any(
            isinstance(node, ast.Name) and node.iri.endswith(("#BEGIN>", "#END>")) for node in walk(event)
        )


@pytest.mark.parametrize(
    "text",
    [
        "EVENT State AS p some State and (A or B)",
        "EVENT X AS p some State EVENT Over AS A",
        "EVENT X AS State some (A and B)",
        "EVENT X MATCH Begin WHILE S(?k)",
        "EVENT X MATCH Begin UNLESS S",
        "EVENT X MATCH Begin REPEATED EVERY 5 min UNTIL End AT MOST 3 TIMES",
        "EVENT X MATCH Begin FOR 5 min",
        "EVENT X MATCH Begin IN <w>",
        "STATE S FROM Begin TO End LIMIT 5 min",
        "STATE S FROM Begin TO End TIMEOUT (5 min)",
        "STATE S OVER Begin WITHIN 5 min GROUP BY ?k",
        "STATE S OVER Begin WITHIN 5 min HAVING (COUNT(*) > 1)",
        "EVENT X MATCH Begin REGISTER RSTREAM <q> AS SELECT ?x WHERE { ?x :p ?y }",
        "EVENT X MATCH End STATE S(?k) AS (A)",
        "EVENT X MATCH End RETURN X, State",
    ],
)
def test_begin_end_and_state_stay_names_before_other_words(text: str) -> None:
    names = [node.iri.rpartition("#")[2] for node in walk(parse(text)) if isinstance(node, ast.Name)]
    assert {"Begin>", "End>", "State>"} & set(names)


def test_a_missing_event_is_reported_at_the_keyword() -> None:
    with pytest.raises(ObepError) as caught:
        parse("EVENT X MATCH A SEQ WITHIN 5 s")
    assert caught.value.code == "OBEP066"


def test_an_arrow_never_belongs_to_a_name() -> None:
    assert pattern(":A->:B") == ast.Seq((leaf(":A"), leaf(":B")))
    assert pattern("A-B->C") == ast.Seq((leaf("A-B"), C))


def test_a_dot_after_a_number_ends_the_event() -> None:
    assert description("p value 5.") == description("p value 5 .")


def test_the_less_sign_begins_no_iri_in_a_condition() -> None:
    assert condition(":a<:b&&:c>:d") == condition(":a < :b && :c > :d")
    assert condition('?a<?b&&"x"^^xsd:string<?c&&str(?a)<?b') == condition(
        '?a < ?b && "x"^^xsd:string < ?c && str(?a) < ?b'
    )


@pytest.mark.parametrize(
    ("text", "micros"),
    [
        ("500 ms", 500_000), ("5 s", 5_000_000), ("5 sec", 5_000_000), ("5 min", 300_000_000),
        ("5 m", 300_000_000), ("5 M", 300_000_000), ("1H", 3_600_000_000), ("2 d", 172_800_000_000),
        ('"PT5M"', 300_000_000), ("(5 min)", 300_000_000), ('("P1DT12H")', 129_600_000_000),
        ('"PT0.5S"^^xsd:dayTimeDuration', 500_000), ("1.5 s", 1_500_000), ("PT5M", 300_000_000),
        ("5min", 300_000_000), ("10 seconds", 10_000_000), ("0 s", 0),
    ],
)  # fmt: skip
def test_durations(text: str, micros: int) -> None:
    assert pattern(f"A WITHIN {text}") == ast.Within(A, ast.Duration(micros))


@pytest.mark.parametrize("text", ['"P1M"', '"P1Y"', '"5"', '"-PT5M"', '"PT"', '"P1H"', '"PT0.0000001S"'])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ObepError) as caught:
        parse(f"EVENT X MATCH A WITHIN {text}")
    assert [one.code for one in caught.value.diagnostics] == ["OBEP013"]


# --- names ----------------------------------------------------------------------------------------------


def test_what_the_colon_stands_for() -> None:
    def iri(text: str) -> str:
        return parse(f"{text} EVENT Hot AS Room").events[0].name.iri

    assert iri("PREFIX : <http://e.org/b#>") == "<http://e.org/b#Hot>"
    assert iri("BASE <http://e.org/b#>") == "<http://e.org/b#Hot>"
    assert iri("BASE <http://e.org/x/y> PREFIX : <../z#>") == "<http://e.org/z#Hot>"
    assert iri("PREFIX : <z#> BASE <http://e.org/x/y>") == "<http://e.org/x/z#Hot>"
    assert iri("") == "<http://example.org/obep#Hot>"


@pytest.mark.parametrize(
    ("text", "iri"),
    [
        ("Thing", "http://www.w3.org/2002/07/owl#Thing"),
        ("Nothing", "http://www.w3.org/2002/07/owl#Nothing"),
        ("integer", "http://www.w3.org/2001/XMLSchema#integer"),
        ("string", "http://www.w3.org/2001/XMLSchema#string"),
        ("number", "urn:obep:number"),
        (":Thing", "http://example.org/obep#Thing"),
        ("owl:Thing", "http://www.w3.org/2002/07/owl#Thing"),
        ("rdfs:Literal", "http://www.w3.org/2000/01/rdf-schema#Literal"),
        ("<http://e.org/x>", "http://e.org/x"),
    ],
)
def test_names_of_classes(text: str, iri: str) -> None:
    assert description(text) == ast.ClassName(ast.Name(text, f"<{iri}>"))


def test_thing_is_owls_in_guards_too() -> None:
    guard = event("EVENT X MATCH A IF { EVENT A { ?x a Thing, integer . ?x a :Thing } }").guard
    assert guard is not None
    assert [getattr(triple.object, "iri", "") for triple in guard.blocks[0].triples] == [
        "<http://www.w3.org/2002/07/owl#Thing>",
        "<http://example.org/obep#integer>",
        "<http://example.org/obep#Thing>",
    ]


def test_an_unknown_prefix_is_reported_once_and_with_its_place() -> None:
    with pytest.raises(ObepError) as caught:
        parse("EVENT X AS sosa:Room\nEVENT Y AS sosa:Room and ex:p some Thing")
    first, second = caught.value.diagnostics
    assert first.code == second.code == "OBEP007"
    assert first.span is not None
    assert second.span is not None
    assert (first.span.line, first.span.column) == (1, 12)
    assert (second.span.line, second.span.column) == (2, 26)
    assert caught.value.diagnostics[0].remedy == "PREFIX sosa: <http://www.w3.org/ns/sosa/>"


# --- patterns -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("A SEQ B SEQ C", ast.Seq((A, B, C))),
        ("A SEQ B NEXT C", ast.Next((ast.Seq((A, B)), C))),
        ("(A SEQ B) SEQ C", ast.Seq((ast.Seq((A, B)), C))),
        ("A SEQ (B SEQ C)", ast.Seq((A, ast.Seq((B, C))))),
        ("A SEQ B OR C AND D", ast.Seq((A, ast.Or((B, ast.And((C, D))))))),
        ("A AND B JOIN C", ast.Join((ast.And((A, B)), C))),
        ("A AND B EQUALS C", ast.And((A, B, C))),
        ("A DURING B DURING C", ast.Allen("DURING", ast.Allen("DURING", A, B), C)),
        ("NOT A AND FIRST LAST B", ast.And((ast.Not(A), ast.First(ast.Last(B))))),
        ("NOT A TIMES 3", ast.Not(ast.Times(A, 3))),
        ("OPTIONAL(A) SEQ B", ast.Seq((ast.Optional(A), B))),
        ("A SEQ B WITHIN 5 s", ast.Within(ast.Seq((A, B)), ast.Duration(5_000_000))),
        ("A NOT FOLLOWED BY B", ast.NotFollowedBy(A, B, None)),
        ("A NOT FOLLOWED BY B SEQ C", ast.Seq((ast.NotFollowedBy(A, B, None), C))),
        (
            "A SEQ B NOT FOLLOWED BY C WITHIN 5 s WITHIN 6 s",
            ast.Within(
                ast.NotFollowedBy(ast.Seq((A, B)), C, ast.Duration(5_000_000)), ast.Duration(6_000_000)
            ),
        ),
        ("A SEQ B WITHOUT C", ast.Without(ast.Seq((A, B)), C)),
        ("A WITHOUT B OR C SEQ D", ast.Seq((ast.Without(A, ast.Or((B, C))), D))),
    ],
)
def test_precedence(text: str, tree: ast.Pattern) -> None:
    assert pattern(text) == tree


def test_brackets_and_operators_keep_their_places() -> None:
    found = pattern("(A OR B) SEQ C NOT FOLLOWED BY D")
    assert isinstance(found, ast.NotFollowedBy)
    assert (found.operator.column, found.operator.end_column) == (30, 45)
    assert isinstance(found.left, ast.Seq)
    assert [one.bracketed for one in found.left.operands] == [True, False]


# --- events ---------------------------------------------------------------------------------------------


def test_clauses_in_any_order() -> None:
    usual = event("EVENT X MATCH A PARTITION BY ?x, ?y POLICY recent IF { } CONSTRUCT { ?x :p ?y }")
    for other in (
        "EVENT X CONSTRUCT { ?x :p ?y . } IF { } POLICY recent PARTITION BY ?x ?y MATCH A",
        "EVENT X { IF { } MATCH A POLICY recent CONSTRUCT { ?x :p ?y } PARTITION BY ?x ?y }",
    ):
        assert event(other) == usual


def test_turtle_in_guards_is_written_out() -> None:
    guard = event(
        """EVENT X MATCH A IF { EVENT A {
          ?x a Room ; :p 1, -2.5, 1e3, true, "a"@EN, "b"^^xsd:date ; :q [ :r _:y ] } }"""
    ).guard
    assert guard is not None
    shown = [
        (getattr(t.subject, "name", ""), getattr(t.predicate, "text", ""), t.object)
        for t in guard.blocks[0].triples
    ]
    xsd = "http://www.w3.org/2001/XMLSchema#"

    def literal(text: str, local: str) -> ast.Literal:
        return ast.Literal(text, ast.Name(f"xsd:{local}", f"<{xsd}{local}>"))

    assert shown == [
        ("x", "a", ast.Name("Room", "<http://example.org/obep#Room>")),
        ("x", ":p", literal("1", "integer")),
        ("x", ":p", literal("-2.5", "decimal")),
        ("x", ":p", literal("1e3", "double")),
        ("x", ":p", literal("true", "boolean")),
        ("x", ":p", ast.Literal("a", language="en")),
        ("x", ":p", literal("b", "date")),
        ("x", ":q", ast.Var("_:b1")),
        ("_:b1", ":r", ast.Var("_:y")),
    ]


def test_an_anonymous_node_takes_no_label_of_the_text() -> None:
    guard = event("EVENT X MATCH A IF { EVENT A { ?x :p [] . ?x :p _:b1 } }").guard
    assert guard is not None
    assert [t.object for t in guard.blocks[0].triples] == [ast.Var("_:b2"), ast.Var("_:b1")]


def test_the_guard_of_a_logical_event_has_triples_of_its_own() -> None:
    found = parse("EVENT X AS Room IF { ?this :temp ?t . FILTER(?t > 30) ?this :in ?r }").events[0]
    assert found.guard is not None
    assert len(found.guard.own) == 2
    assert len(found.guard.filters) == 1


def test_a_bare_number_in_a_facet_has_no_datatype_of_its_own() -> None:
    found = description('xsd:double[> 30.0, <= "40"^^xsd:integer]')
    assert isinstance(found, ast.Restriction)
    assert [facet.value.datatype and facet.value.datatype.text for facet in found.facets] == [
        None,
        "xsd:integer",
    ]


def test_expressions_bind_as_in_sparql() -> None:
    bare, full = "?a || ?b && ?c = ?d + ?e * -?f", "?a || (?b && (?c = (?d + (?e * (-?f)))))"
    assert condition(bare) == condition(full)
    assert condition("?a - ?b - ?c") == condition("(?a - ?b) - ?c")
    assert condition("?x NOT IN (1, 2)") == ast.Membership(
        ast.Var("x"), (condition("1"), condition("2")), True
    )
    assert condition("getduration() > 5 min") == ast.Comparison(
        ">", ast.TimeFunction("getDURATION", None), ast.Duration(300_000_000)
    )
