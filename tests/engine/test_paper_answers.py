"""What the queries of the papers answer, worked out by hand from DIALECTS.

The files have the text of the papers. Those that are broken are refused: `tests/query/test_paper_queries.py`
holds where.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import pytest

import obep
from obep.errors import ObepError
from obep.model import Answer, DeadLetter

PAPERS = Path(__file__).parents[1] / "query" / "data" / "papers"
DAY, MINUTE, SECOND = 86_400_000_000, 60_000_000, 1_000_000
XSD = "http://www.w3.org/2001/XMLSchema#"
EP = "PREFIX : <http://example.org/>\n"

Row = tuple[int, int, str]
"""Start, end (of rows of a window both are the evaluation time), the values in the order of the names."""


class Case(NamedTuple):
    """A query over a stream."""

    name: str
    stream: list[tuple[int, str]]
    """The instant, in some unit, and Turtle; `a>` before it names a stream."""
    rows: list[Row]
    unit: int = SECOND
    columns: str = ""
    before: str = ""
    """What stands before the query: prefixes and settings that the paper leaves to the engine."""
    prefixes: str = ""
    files: Mapping[str, tuple[str, str]] = MappingProxyType({})
    """The static graphs: by the IRI the name of the file, and Turtle."""
    stream_name: str = "s"
    text: str = ""
    """Instead of the file."""


MEANS = """@prefix ex: <http://example/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
ex:isIn a owl:ObjectProperty , owl:TransitiveProperty .
ex:mario a ex:Commuter . ex:bus7 a ex:Bus . ex:tunnel a ex:Tunnel ."""
FRIENDS = """@prefix fb: <http://facebook.example.org/ns#> . @prefix twd: <http://twitter.example.org/ns#> .
@prefix sioc: <http://rdfs.org/sioc/ns#> . @prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix sma: <http://socialmedia.example.org/ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
fb:update rdfs:subPropertyOf sioc:creator_of ; rdfs:range fb:StatusUpdate .
fb:mentions rdfs:subPropertyOf sma:talksAbout .
twd:post rdfs:subPropertyOf sioc:creator_of ; rdfs:range twd:Tweet .
twd:talksAbout rdfs:subPropertyOf sma:talksAbout .
fb:JohnDoe sioc:account_of foaf:JohnDoe . twd:johnd sioc:account_of foaf:JohnDoe ."""
POSTS = [
    (1, "http://facebook.example.org/update/stream> fb:JohnDoe fb:update fb:post123 ."),
    (2, "http://facebook.example.org/update/stream> fb:post123 fb:mentions geo:2775220 ."),
    (3, "http://twitter.example.org/update/stream> twd:johnd twd:post twd:tweet456 ."),
]
PLACES = (
    "@prefix fb: <http://facebook.example.org/ns#> . @prefix twd: <http://twitter.example.org/ns#> . "
    "@prefix geo: <http://sws.geonames.org/> . "
)
TYPES = """@prefix i: <http://www4.wiwiss.fu-berlin.de/bizer/bsbm/v01/instances/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . i:Type2 rdfs:subClassOf i:TargetProductType ."""
BSBM = (
    "@prefix v: <http://www4.wiwiss.fu-berlin.de/bizer/bsbm/v01/vocabulary/> . "
    "@prefix dc: <http://purl.org/dc/elements/1.1/> . "
    "@prefix i: <http://www4.wiwiss.fu-berlin.de/bizer/bsbm/v01/instances/> . "
    "@prefix c: <http://downloade.org/rdf/iso-3166/countries#> . "
)
OFFER = [
    (
        1,
        "http://bsbm.org/stream> i:p a i:Type2 ; v:producer i:acme . "
        "i:acme v:country c:DE . i:shop v:country c:GB .",
    ),
    (2, "http://bsbm.org/stream> i:q a i:Type1 ."),
    *(
        (
            at,
            f"http://bsbm.org/stream> i:{one} a v:Offer ; v:product i:{product} ; v:vendor i:shop ; "
            "v:price 7 ; v:validFrom 1 ; "
            "v:validTo 2 ; v:deliveryDays 3 ; v:offerWebpage i:page ; dc:publisher i:shop ; dc:date 4 .",
        )
        for at, one, product in ((4, "o1", "p"), (5, "o2", "q"))
    ),
]
HIERARCHY = {"http://members.sti2.at/~rdjank/ProductTypeHierarchy.rdf": ("types.ttl", TYPES)}
FIGURE_1 = [
    (2, ":a1 :p :b1 ."),
    (4, ":a2 :p :b2 ."),
    (6, ":b1 :q :c1 . :b2 :q :c2 ."),
    (8, ":b2 :q :c2 ."),
    (10, ":b1 :q :c1 . :a3 :p :b3 ."),
    (12, ":b3 :q :c3 ."),
]
E = "http://example.org/"


def offers(*more: str) -> str:
    """Listing 2 with triple patterns more, their IRIs in brackets."""
    text = (PAPERS / "offers.csparql").read_text("utf-8").rstrip()
    return text.removesuffix("}") + " . ".join(("", *more)) + " }"


GB = "?vendor bsbm-voc:country <http://downloade.org/rdf/iso-3166/countries#GB>"
PRODUCER = "?product bsbm-voc:producer ?producer"
DE = "?producer bsbm-voc:country <http://downloade.org/rdf/iso-3166/countries#DE>"

CASES = [
    # 100, 60 and 110 within 30 days; of the other company the rise comes on the 30th day after the first
    Case(
        "ep-1.epsparql",
        [
            (0, ":acme :hasStockPrice 100 . :far :hasStockPrice 100 ."),
            (5, ":acme :hasStockPrice 60 . :far :hasStockPrice 60 ."),
            (9, ":acme :hasStockPrice 110 ."),
            (30, ":far :hasStockPrice 110 ."),
        ],
        [(0, 9, "acme")],
        DAY,
        "company",
        EP,
    ),
    # with the agency that downrated it before; who was never downrated is alone
    Case(
        "ep-2.epsparql",
        [
            (1, ":acme :downratedby :moody ."),
            (2, ":acme :hasStockPrice 100 . :other :hasStockPrice 100 ."),
            (3, ":acme :hasStockPrice 40 . :other :hasStockPrice 40 ."),
        ],
        [(1, 3, "acme moody"), (2, 3, "other -")],
        DAY,
        "company ratingagency",
        EP,
    ),
    # no acquisition ever before the last price (D24): also one before the first price counts
    Case(
        "ep-3.epsparql",
        [
            (0, ":c :hasAcquired :z ."),
            (1, ":a :hasStockprice 100 . :b :hasStockprice 100 . :c :hasStockprice 100 ."),
            (2, ":b :hasAcquired :z ."),
            (3, ":a :hasStockPrice 120 . :b :hasStockPrice 120 . :c :hasStockPrice 120 ."),
        ],
        [(1, 3, "a")],
        DAY,
        "company",
        EP,
    ),
    Case(
        "ep-4.epsparql",
        [
            (1, ":r1 :rater :moody ; :rated :acme ; :score 5 ."),
            (2, ":r2 :rater :moody ; :rated :acme ; :score 3 ."),
            (3, ":r3 :rater :moody ; :rated :acme ; :score 4 ."),
        ],
        [(1, 2, "acme downratedby moody"), (1, 3, "acme downratedby moody")],
        DAY,
        "",
        EP,
    ),
    # each price goes with the latest point: an older one has a price in between over the same interval
    Case(
        "ep-5-manual.epsparql",
        [
            (0, ":p0 :hasCount 0 ; :hasSum 0 ."),
            (1, ":ACME :hasStockPrice 10 ."),
            (2, ":ACME :hasStockPrice 20 ."),
            (3, ":ACME :hasStockPrice 30 ."),
        ],
        [
            (0, n, f"_ {p} {v}")
            for n, count, total in ((1, 1, 10), (2, 2, 30), (3, 3, 60))
            for p, v in (("hasCount", count), ("hasSum", total))
        ],
        DAY,
        "",
        EP,
    ),
    # isIn is transitive, so mario is in the tunnel as soon as his bus is;
    # (t - 10, t] holds his triples from 1 to 10
    Case(
        "commuters.csparql",
        [
            (1, f'ex:mario ex:isIn ex:bus7 ; ex:remainingTravelTime "PT40M"^^<{XSD}duration> .'),
            (3, "ex:bus7 ex:isIn ex:tunnel ."),
            (4, f'ex:luca ex:isIn ex:bus7 ; ex:remainingTravelTime "PT40M"^^<{XSD}duration> .'),
        ],
        [
            (t, t, row)
            for t in range(1, 5)
            for row in (["mario Bus bus7"] + ["mario Tunnel tunnel"] * (t > 2))
        ],
        SECOND,
        "user type x",
        "",
        "@prefix ex: <http://example/> .",
        {"http://mobileservice.org/meansOfTransportation.rdf": ("means.ttl", MEANS)},
        "http://mobileservice.org/positions.trdf",
    ),
    # a window of 5 minutes at the last triple: at 6 minutes that of 1 is out of it
    Case(
        "places.csparql",
        [*POSTS, (5, "http://twitter.example.org/update/stream> twd:tweet456 twd:talksAbout geo:2775220 .")],
        [(1, 5, "tweet456 post123 JohnDoe")],
        MINUTE,
        "tweet fbpost user",
        "",
        PLACES,
        {"http://foaf.example.org/friends.rdf": ("friends.ttl", FRIENDS)},
    ),
    Case(
        "places.csparql",
        [*POSTS, (6, "http://twitter.example.org/update/stream> twd:tweet456 twd:talksAbout geo:2775220 .")],
        [],
        MINUTE,
        "tweet fbpost user",
        "",
        PLACES,
        {"http://foaf.example.org/friends.rdf": ("friends.ttl", FRIENDS)},
    ),
    # p is of a type below the target, q is not
    Case("offers.csparql", OFFER, [(1, 4, "o1 p shop")], SECOND, "offer product vendor", "", BSBM, HIERARCHY),
    Case(
        "offers-2.csparql",
        OFFER,
        [(1, 4, "o1 p shop")],
        SECOND,
        "offer product vendor",
        "",
        BSBM,
        HIERARCHY,
        text=offers(GB),
    ),
    Case(
        "offers-3.csparql",
        OFFER,
        [(1, 4, "o1 p shop")],
        SECOND,
        "offer product vendor",
        "",
        BSBM,
        HIERARCHY,
        text=offers(GB, PRODUCER, DE),
    ),
    Case(
        "offers-3.csparql",
        OFFER,
        [],
        SECOND,
        "offer product vendor",
        "",
        BSBM,
        HIERARCHY,
        text=offers(PRODUCER, DE.replace("#DE", "#FR")),
    ),
    # LND 9, as it is printed: of the left side only a3 counts
    Case("example-4.rsepql", FIGURE_1, [(10, 12, "a3 c3")], SECOND, "x z", EP, stream_name=f"{E}S"),
    Case(
        "example-4.rsepql",
        FIGURE_1,
        [(2, 6, "a1 c1"), (4, 6, "a2 c2"), (4, 8, "a2 c2"), (2, 10, "a1 c1"), (10, 12, "a3 c3")],
        SECOND,
        "x z",
        EP,
        stream_name=f"{E}S",
        text=(PAPERS / "example-4.rsepql").read_text("utf-8").replace("LND 9", "LND 1"),
    ),
]


def test_each_query_that_is_read_has_a_case() -> None:
    broken = {"ep-5.epsparql", "ep-6.epsparql", "ep-7.epsparql", "offers-2.csparql", "offers-3.csparql"}
    assert {case.name for case in CASES if not case.text} == {path.name for path in PAPERS.iterdir()} - broken
    for name in broken:
        with pytest.raises(ObepError):
            obep.load(PAPERS / name, java=False)


def _local(term: str | None) -> str:
    if term is None:
        return "-"
    if term.startswith("_:"):
        return "_"
    return term[1:].split('"')[0] if term[0] == '"' else term[1:-1].replace("#", "/").rsplit("/", 1)[1]


def _shown(answers: Iterable[Answer], case: Case) -> list[Row]:
    found = []
    for one in answers:
        start, end = one.start // case.unit, one.end // case.unit
        assert one.detected == one.end
        lines = [" ".join(map(_local, triple)) for triple in one.constructed]
        lines += [" ".join(_local(row.get(name)) for name in case.columns.split()) for row in one.bindings]
        found += [(start, end, line) for line in lines]
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_query_of_a_paper_answers_what_follows_from_its_text(case: Case, tmp_path: Path) -> None:
    for name, turtle in case.files.values():
        (tmp_path / name).write_text(turtle)
    text = case.before + (case.text or (PAPERS / case.name).read_text("utf-8"))
    query = obep.load(
        text=text,
        folder=tmp_path,
        catalogue={iri: tmp_path / name for iri, (name, _) in case.files.items()},
        dialect=obep.query.languages.language_of(case.name, ""),
        java=False,
    )
    letters: list[DeadLetter] = []
    engine = query.engine(on_dead_letter=letters.append)
    found = []
    for at, said in case.stream:
        stream, mark, turtle = said.partition("> ")
        stream, turtle = (stream, turtle) if mark and stream.startswith("http") else (case.stream_name, said)
        prefixes = case.prefixes or f"@prefix : <{E}> . "
        found += engine.push(f"{prefixes}{turtle}", at * case.unit / SECOND, stream, format="turtle")
    found += engine.close()
    assert not letters
    assert _shown((one for one in found if isinstance(one, Answer)), case) == case.rows
