"""What each alias asks, and which filters stay with the plan."""

from __future__ import annotations

import pytest
from guard_nodes import (
    TwoGraphs,
    block,
    composite,
    facts,
    iri,
    leaf,
    less,
    linked,
    name,
    occurrence,
    triples,
)

from obep.formats.input_limits import Refused
from obep.guards.block_queries import asks, filters_over
from obep.model import body_of
from obep.query.ast import (
    ClassName,
    Comparison,
    Filter,
    First,
    Guard,
    LogicalEvent,
    Or,
    Seq,
    TimeFunction,
    Var,
    Without,
)

A, B = leaf("A"), leaf("B")
DIFFERENT = Filter(Comparison("!=", Var("x"), name("r")))


def test_a_leaf_without_block_has_one_empty_solution() -> None:
    ask = asks(linked(composite("H", Seq((A, B))))).of(iri("H"), "A")
    assert ask.variables == ()
    assert ask.solve(occurrence("A", "a1"), TwoGraphs()) == ((),)


def test_a_parameter_of_a_logical_event_is_its_individual() -> None:
    found = asks(linked(composite("H", Seq((leaf("A", "r"), leaf("B", "r"))))))
    ask = found.of(iri("H"), "A")
    assert (ask.variables, ask.names_this) == (("r",), ("r",))
    assert ask.solve(occurrence("A", "room1"), TwoGraphs()) == ((iri("room1"),),)


def test_the_parameters_of_a_composite_are_read_by_position() -> None:
    inner = composite("Inner", Seq((leaf("A", "p"), leaf("B", "q"))), parameters=(Var("p"), Var("q")))
    found = asks(linked(inner, composite("Outer", leaf("Inner", "x", "y"))))
    ask = found.of(iri("Outer"), "Inner")
    assert (ask.parameters, ask.declared) == ((("x", 0), ("y", 1)), ("p", "q"))
    one = occurrence("Inner", "c", bindings=({"p": iri("1"), "q": iri("2")}, {"p": iri("1"), "q": iri("3")}))
    assert ask.solve(one, TwoGraphs()) == ((iri("1"), iri("2")), (iri("1"), iri("3")))


def test_a_repeated_parameter_demands_equal_values() -> None:
    inner = composite("Inner", Seq((leaf("A", "p"), leaf("B", "q"))), parameters=(Var("p"), Var("q")))
    ask = asks(linked(inner, composite("Outer", leaf("Inner", "x", "x")))).of(iri("Outer"), "Inner")
    one = occurrence("Inner", "c", bindings=({"p": iri("1"), "q": iri("1")}, {"p": iri("1"), "q": iri("3")}))
    assert ask.solve(one, TwoGraphs()) == ((iri("1"),),)


def test_a_composite_without_parameters_is_named_by_its_individual() -> None:
    found = asks(linked(composite("Inner", A), composite("Outer", leaf("Inner", "x"))))
    assert found.of(iri("Outer"), "Inner").names_this == ("x",)


def test_blocks_of_one_alias_add_up_and_a_star_is_for_all() -> None:
    event = composite(
        "H",
        Seq((A, B)),
        block("A", "?this p ?x"),
        block("A B", "?this q ?y"),
        block("", "?this r ?z"),
    )
    found = asks(linked(event))
    assert found.of(iri("H"), "A").triples == triples("?this p ?x . ?this q ?y . ?this r ?z")
    assert found.of(iri("H"), "B").variables == ("y", "z")


def test_equal_asks_are_shared() -> None:
    found = asks(linked(composite("H", Seq((leaf("A", "x"), B))), composite("G", Seq((leaf("A", "x"), B)))))
    assert found.of(iri("H"), "A") is found.of(iri("G"), "A")
    assert [ask.number for ask in found.all] == [0, 1]


def test_two_leaves_of_one_event_are_told_apart() -> None:
    first, second = leaf("A", "x"), leaf("A", "y")
    found = asks(linked(composite("H", Seq((first, second)))))
    assert found.at(iri("H"), first).variables == ("x",)
    assert found.at(iri("H"), second).variables == ("y",)


def test_blank_nodes_join_within_the_block_and_are_projected_away() -> None:
    ask = asks(linked(composite("H", A, block("A", "?this p _:b . _:b q ?x")))).of(iri("H"), "A")
    data = TwoGraphs(rest=facts("a1 p u . a1 p v . u q one . v q one . w q two"))
    assert ask.variables == ("x",)
    assert ask.solve(occurrence("A", "a1"), data) == ((iri("one"),),)


def test_a_blank_node_is_local_to_its_block() -> None:
    event = composite("H", A, block("A", "?this p _:b . _:b q ?x"), block("A", "?this r _:b . _:b q ?y"))
    ask = asks(linked(event)).of(iri("H"), "A")
    data = TwoGraphs(rest=facts("a1 p u . a1 r v . u q one . v q two"))
    assert ask.solve(occurrence("A", "a1"), data) == ((iri("one"), iri("two")),)


def test_own_vocabulary_reads_the_explanation_and_any_other_the_item() -> None:
    ask = asks(linked(composite("H", A, block("A", "?this p ?x . ?this q ?y")))).of(iri("H"), "A")
    data = TwoGraphs(facts("a1 p u"), facts("a1 p v . a1 q w"), frozenset({iri("p")}))
    assert ask.solve(occurrence("A", "a1"), data) == ((iri("u"), iri("w")),)


def test_a_class_of_the_vocabulary_reads_the_explanation() -> None:
    ask = asks(linked(composite("H", A, block("A", "?x a C . ?y a D")))).of(iri("H"), "A")
    data = TwoGraphs(facts("u a C"), facts("v a C . w a D"), frozenset({iri("C")}))
    assert ask.solve(occurrence("A", "a1"), data) == ((iri("u"), iri("w")),)


def test_a_variable_as_predicate_or_class_reads_the_whole_item() -> None:
    ask = asks(linked(composite("H", A, block("A", "?this ?p ?x")))).of(iri("H"), "A")
    data = TwoGraphs(facts("a1 p u"), facts("a1 p v . a1 q w"), frozenset({iri("p")}))
    assert len(ask.solve(occurrence("A", "a1"), data)) == 3
    ask = asks(linked(composite("H", A, block("A", "?this a ?x")))).of(iri("H"), "A")
    data = TwoGraphs(facts("a1 a C"), facts("a1 a D"), frozenset({iri("C")}))
    assert len(ask.solve(occurrence("A", "a1"), data)) == 2


def test_a_variable_twice_in_one_pattern_is_one_value() -> None:
    ask = asks(linked(composite("H", A, block("A", "?x p ?x")))).of(iri("H"), "A")
    assert ask.solve(occurrence("A", "a1"), TwoGraphs(rest=facts("u p u . u p v"))) == ((iri("u"),),)


def test_solutions_are_distinct_and_do_not_depend_on_the_order_of_the_data() -> None:
    ask = asks(linked(composite("H", A, block("A", "?this p ?x")))).of(iri("H"), "A")
    there = ask.solve(occurrence("A", "a1"), TwoGraphs(rest=facts("a1 p u . a1 p v . a1 p u")))
    back = ask.solve(occurrence("A", "a1"), TwoGraphs(rest=facts("a1 p v . a1 p u")))
    assert there == back == ((iri("u"),), (iri("v"),))


def test_a_filter_of_one_alias_belongs_to_its_ask() -> None:
    inside = composite("H", Seq((A, B)), block("A", "?this p ?x", DIFFERENT))
    outside = composite("G", Seq((A, B)), block("A", "?this p ?x"), filters=(DIFFERENT,))
    found = asks(linked(inside, outside))
    assert found.of(iri("H"), "A").filters == (DIFFERENT,)
    assert found.of(iri("G"), "A") is found.of(iri("H"), "A")
    assert filters_over(outside, found) == ()


def test_a_filter_over_two_aliases_stays_with_the_plan() -> None:
    event = composite(
        "H",
        Seq((A, B)),
        block("A", "?this p ?x"),
        block("B", "?this p ?y"),
        filters=(less(Var("x"), Var("y")),),
    )
    [cross] = filters_over(event, asks(linked(event)))
    assert cross.aliases == {"A", "B"}
    assert cross.variables == ("x", "y")
    assert cross.binders == ({"A"}, {"B"})


def test_the_individual_of_a_block_reaches_a_filter_over_several_aliases_hidden() -> None:
    event = composite("H", Seq((leaf("A", "x"), B)), block("B", "", less(Var("this"), Var("x"))))
    found = asks(linked(event))
    [cross] = filters_over(event, found)
    assert set(cross.variables) == {"x", "_:this(B)"}
    ask = found.of(iri("H"), "B")
    assert ask.variables == ("_:this(B)",)
    assert ask.solve(occurrence("B", "b1"), TwoGraphs()) == ((iri("b1"),),)


def test_a_filter_over_a_variable_of_both_branches_of_an_or_holds_in_both() -> None:
    event = composite("H", Or((leaf("A", "x"), leaf("B", "x"))), filters=(DIFFERENT,))
    found = asks(linked(event))
    assert found.of(iri("H"), "A").filters == found.of(iri("H"), "B").filters == (DIFFERENT,)
    assert filters_over(event, found) == ()


def test_a_filter_whose_variables_may_come_together_by_an_or_stays_too() -> None:
    both = leaf("A", "x", alias="a")
    pattern = Seq((Or((both, leaf("B", "x", alias="b"))), leaf("C", "y", alias="c")))
    event = composite("H", pattern, block("a", "?this p ?y"), filters=(less(Var("x"), Var("y")),))
    found = asks(linked(event))
    assert len(found.of(iri("H"), "a").filters) == 1
    [cross] = filters_over(event, found)
    assert cross.binders == ({"a", "b"}, {"a", "c"})


def test_below_first_a_filter_of_the_guard_stays_with_the_plan_but_one_of_the_block_does_not() -> None:
    event = composite("H", Seq((First(leaf("A", "x")), B)), block("A", "?this p ?y", DIFFERENT))
    assert asks(linked(event)).of(iri("H"), "A").filters == (DIFFERENT,)
    event = composite("H", Seq((First(leaf("A", "x")), B)), filters=(DIFFERENT,))
    found = asks(linked(event))
    assert found.of(iri("H"), "A").filters == ()
    assert filters_over(event, found)[0].aliases == {"A"}


def test_within_a_negation_only_the_first_inside_of_it_counts() -> None:
    event = composite("H", First(Without(A, leaf("B", "x"))), filters=(DIFFERENT,))
    found = asks(linked(event))
    assert found.of(iri("H"), "B").filters == (DIFFERENT,)


def test_the_times_of_the_own_alias_belong_to_the_ask_and_those_of_the_whole_do_not() -> None:
    own = less(TimeFunction("getSTARTTIME", "A"), Var("t"))
    whole = less(TimeFunction("getSTARTTIME", None), Var("t"))
    event = composite("H", Seq((A, B)), block("A", "?this at ?t", own, whole))
    found = asks(linked(event))
    assert found.of(iri("H"), "A").filters == (less(TimeFunction("getSTARTTIME", ""), Var("t")),)
    [cross] = filters_over(event, found)
    assert cross.whole and cross.named == {"A"}


def test_the_guard_of_a_logical_event_is_one_ask_about_its_body() -> None:
    guard = Guard((), (less(TimeFunction("getSTARTTIME", None), Var("t")),), triples("?this at ?t"))
    event = LogicalEvent(name("H"), ClassName(name("C")), guard=guard)
    ask = asks(linked(event)).of(iri("H"), "")
    assert ask.event == body_of(iri("H"))
    assert ask.filters == (less(TimeFunction("getSTARTTIME", ""), Var("t")),)
    assert ask.triples == triples("?this at ?t")


def test_an_unguarded_logical_event_asks_nothing() -> None:
    assert asks(linked(LogicalEvent(name("H"), ClassName(name("C"))))).all == ()


def test_an_item_that_makes_too_many_solutions_is_refused() -> None:
    """Two patterns without a common variable multiply: 400 x 400 rows."""
    ask = asks(linked(composite("H", A, block("A", "?x p ?y . ?z q ?w")))).of(iri("H"), "A")
    data = facts(" . ".join(f"s{n} p o{n} . s{n} q o{n}" for n in range(400)))
    with pytest.raises(Refused, match="more than 100,000 solutions"):
        ask.solve(occurrence("A", "a1"), TwoGraphs(rest=data))
