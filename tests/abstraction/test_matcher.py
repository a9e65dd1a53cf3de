"""What a matcher reports: by stream, by stratum, with the solutions of guards."""

from __future__ import annotations

from cases import bundle, found, item, linked, shown, turtle

from obep.abstraction.matcher import Matched, Matcher
from obep.guards.block_queries import asks
from obep.model import DeadLetter, EagerOccurrence, Item, Occurrence, Solution, Term, body_of
from obep.ontology.bundle.compile import Bundle, compile_bundle


def n(local: str) -> Term:
    return f"<http://e/{local}>"


def matched(answer: Matched | DeadLetter) -> Matched:
    assert isinstance(answer, Matched)
    return answer


def compiled(events: str, t: str = "", k: str = "") -> Bundle:
    return bundle(t, events, k)


# --- streams


def test_an_event_on_a_stream_looks_at_its_items_only() -> None:
    matcher = Matcher(compiled("EVENT H ON <doors> AS A\nEVENT G AS A"))
    assert shown(matched(matcher.match(item(":x a :A .", stream="doors"))).occurrences) == {
        "H(:x) <= :x a :A*",
        "G(:x) <= :x a :A*",
    }
    assert shown(matched(matcher.match(item(":x a :A .", stream="other"))).occurrences) == {
        "G(:x) <= :x a :A*"
    }


def test_the_times_of_an_occurrence_are_those_of_its_item() -> None:
    (only,) = matched(Matcher(compiled("EVENT H AS A")).match(item(":x a :A .", at=42))).occurrences
    assert (only.start, only.end, only.detected, only.since) == (42, 42, 42, 42)
    assert [at for _, at in only.explanation] == [42]


def test_a_triple_that_the_item_and_k_share_is_of_the_item() -> None:
    """The formula of SPEC §3: A must meet A_k, and this one does."""
    assert found(Matcher(compiled("EVENT H AS A", k=":x a :A .")), ":x a :A .") == {"H(:x) <= :x a :A*"}


def test_unknown_names_are_counted_whether_remembered_or_not() -> None:
    for remember in (0, 100):
        matcher = Matcher(compiled("EVENT H AS A"), remember=remember)
        for _ in range(3):
            found(matcher, ":x a :A ; :unheard :y .")
        assert matcher.unknown == 3


def test_an_empty_item_has_no_occurrences() -> None:
    assert Matcher(compiled("EVENT H AS A")).match(Item("s", 1, ())) == Matched(Item("s", 1, ()), ())


# --- guarded logical events


GUARDED = (
    "EVENT Hot AS temp some number IF { ?this :temp ?v FILTER(?v > 30) }\nEVENT Warm AS temp some number"
)


def test_the_body_of_a_guarded_event_is_reported_under_its_own_name() -> None:
    query = linked(GUARDED)
    matcher = Matcher(compile_bundle(query, compiled(GUARDED).t, (), java=False), asks(query).all)
    occurrences = matched(matcher.match(item(":s :temp 31 ."))).occurrences
    assert {one.event for one in occurrences} == {body_of(n("Hot")), n("Warm")}


def test_the_head_of_a_guarded_event_enters_by_the_next_stratum() -> None:
    matcher = Matcher(compiled(f"{GUARDED}\nEVENT Alarm AS Hot"))
    body = next(
        one
        for one in matched(matcher.match(item(":s :temp 31 .", at=5))).occurrences
        if one.event == body_of(n("Hot"))
    )
    hot = EagerOccurrence(n("Hot"), body.individual, body.explanation, 5, 5, 5, 5)
    derived = matched(matcher.match_derived(hot)).occurrences
    assert shown(derived) == {"Alarm(:s) <= :s a :Hot*", "Warm(:s) <= :s a :Hot*"}


# --- composite events


def composite(event: str = "C", **more: object) -> Occurrence:
    explanation = tuple((triple, 3) for triple in turtle(":x a :A ."))
    k = tuple((triple, None) for triple in turtle(":k a :B ."))
    return EagerOccurrence(n(event), n("c1"), (*explanation, *k), 2, 7, 8, 1, **more)  # type: ignore[arg-type]


STRATA = "EVENT E AS A\nEVENT C MATCH E\nEVENT Alert AS C and concerns some Hospital\nEVENT Any AS C"


def test_a_composite_is_an_item_of_the_next_stratum() -> None:
    constructed = turtle(":c1 :concerns :h .")
    matcher = Matcher(compiled(STRATA, k=":h a :Hospital . :k a :B ."))
    occurrences = matched(matcher.match_derived(composite(constructed=constructed))).occurrences
    assert shown(occurrences) == {
        "Alert(:c1) <= :c1 :concerns :h* ; :c1 a :C* ; :h a :Hospital",
        "Any(:c1) <= :c1 a :C*",
    }
    for one in occurrences:
        assert (one.start, one.end, one.detected, one.since) == (2, 7, 8, 1)
        assert {at for _, at in one.explanation} <= {8, None}


def test_what_does_not_use_the_head_is_no_news_in_the_next_stratum() -> None:
    """E holds of x because of the explanation, which the stratum below has reported."""
    matcher = Matcher(compiled(STRATA))
    assert {one.event for one in matched(matcher.match_derived(composite())).occurrences} == {n("Any")}


def test_axioms_about_a_composite_apply_to_it() -> None:
    matcher = Matcher(compiled(STRATA + "\nEVENT D AS Danger", t=":C rdfs:subClassOf :Danger ."))
    assert "D(:c1) <= :c1 a :C*" in shown(matched(matcher.match_derived(composite())).occurrences)


def test_a_constructed_contradiction_is_a_dead_letter() -> None:
    matcher = Matcher(compiled(STRATA, t=":C owl:disjointWith :Hospital ."))
    constructed = turtle(":c1 a :Hospital .")
    assert isinstance(matcher.match_derived(composite(constructed=constructed)), DeadLetter)


# --- solutions


def solutions(events: str, text: str, t: str = "", k: str = "") -> dict[str, tuple[Solution, ...]]:
    """For each event of the first stratum the solutions of its one ask."""
    query = linked(events)
    matcher = Matcher(compile_bundle(query, compiled(events, t, k).t, turtle(k), java=False), asks(query).all)
    return {
        one.individual[len("<http://e/") : -1]: next(iter(one.solutions.values())) if one.solutions else ()
        for one in matched(matcher.match(item(text))).occurrences
    }


ROOMS = ":deployedIn owl:inverseOf :armedWith . :Room a owl:Class . :near a owl:ObjectProperty ."


def test_a_block_reads_the_explanation_closed_under_t() -> None:
    events = (
        "EVENT H AS Room and armedWith some Thing\n"
        "EVENT G MATCH H AS h IF { EVENT h { ?s :deployedIn ?this } }\nRETURN G"
    )
    assert solutions(events, ":r a :Room . :s1 :deployedIn :r .", ROOMS) == {"r": ((n("s1"),),)}


def test_two_explanations_of_one_item_stay_apart() -> None:
    """D7: names of the definition are read off the explanation, so each sees its own sensor."""
    events = "EVENT H AS p some A\nEVENT G MATCH H AS h IF { EVENT h { ?this :p ?y } }\nRETURN G"
    query = linked(events)
    matcher = Matcher(compiled(events), asks(query).all)
    answer = matched(matcher.match(item(":x :p :a , :b . :a a :A . :b a :A .")))
    assert sorted(next(iter(one.solutions.values())) for one in answer.occurrences) == [
        ((n("a"),),),
        ((n("b"),),),
    ]


def test_other_names_are_read_off_the_item_and_k() -> None:
    events = "EVENT H AS p some A\nEVENT G MATCH H AS h IF { EVENT h { ?this :q ?v . ?v :w ?z } }\nRETURN G"
    assert solutions(events, ":x :p :a ; :q :v . :a a :A .", k=":v :w :z .") == {"x": ((n("v"), n("z")),)}


def test_a_block_that_finds_nothing_has_no_entry() -> None:
    events = "EVENT H AS p some A\nEVENT G MATCH H AS h IF { EVENT h { ?this :q ?v } }\nRETURN G"
    assert solutions(events, ":x :p :a . :a a :A .") == {"x": ()}


def test_a_variable_predicate_reads_any_property() -> None:
    events = "EVENT H AS A\nEVENT G MATCH H AS h IF { EVENT h { ?this ?p :y } }\nRETURN G"
    assert solutions(events, ":x a :A ; :unheard :y .") == {"x": ((n("unheard"),),)}


def test_a_leaf_without_a_block_binds_its_individual() -> None:
    events = "EVENT H AS A\nEVENT G(?v) MATCH H(?v)\nRETURN G"
    assert solutions(events, ":x a :A .") == {"x": ((n("x"),),)}


def test_filters_over_time_are_decided_for_each_item() -> None:
    events = (
        "EVENT H AS A\n"
        "EVENT G MATCH H AS h IF { EVENT h { "
        'FILTER(getSTARTTIME(h) > "1970-01-01T00:00:05Z"^^xsd:dateTime) } }\nRETURN G'
    )
    query = linked(events)
    matcher = Matcher(compiled(events), asks(query).all)
    counts = [
        len(matched(matcher.match(item(":x a :A .", at=at * 1_000_000))).occurrences[0].solutions)
        for at in (4, 6, 4)
    ]
    assert counts == [0, 1, 0]


def test_a_composite_is_asked_over_its_explanation_head_and_construction() -> None:
    events = (
        "EVENT E AS A\nEVENT C MATCH E CONSTRUCT { ?this :about :x }\n"
        "EVENT D MATCH C AS c IF { EVENT c { ?this :about ?y . ?y a :A } }\nRETURN D"
    )
    query = linked(events)
    matcher = Matcher(compiled(events), asks(query).all)
    occurrence = composite(constructed=turtle(":c1 :about :x ."))
    matcher.match_derived(occurrence)
    assert list(occurrence.solutions.values()) == [((n("x"),),)]


def test_a_triple_that_the_item_and_k_share_counts_once() -> None:
    matcher = Matcher(compiled("EVENT H AS A and p some Thing", k=":x :p :y ."))
    assert found(matcher, ":x a :A ; :p :y .") == {"H(:x) <= :x :p :y* ; :x a :A*"}
    assert len(matched(matcher.match(item(":x a :A ; :p :y ."))).occurrences) == 1


def test_a_triple_that_stands_twice_counts_once() -> None:
    matcher = Matcher(compiled("EVENT H AS A and p some Thing"))
    once = item(":x a :A ; :p :y .").triples
    for triples in ((*once, *once), (once[0], once[0], once[1])):
        (only,) = matched(matcher.match(Item("s", 7, triples))).occurrences
        assert shown([only]) == {"H(:x) <= :x :p :y* ; :x a :A*"}


def test_annotations_are_known_and_mean_nothing() -> None:
    t = ":note a owl:AnnotationProperty . :A a owl:Class ."
    matcher = Matcher(compiled("EVENT H AS A", t))
    text = ':x a :A , owl:NamedIndividual , owl:Thing ; :note :y ; rdfs:label "x" .'
    assert found(matcher, text) == {"H(:x) <= :x a :A*"}
    assert matcher.unknown == 0
