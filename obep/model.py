"""The values that every part shares: terms, items, occurrences, dead letters.

Terms are N-Triples strings (`<iri>`, `_:label`, `"5"^^<…integer>`); instants are integer microseconds
since the epoch. Nothing here parses, reasons or keeps state.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

Term = str
Triple = tuple[Term, Term, Term]
Assertion = tuple[Triple, int | None]
"""A triple and the instant at which it was seen; `None` for one of K (SPEC D1)."""

Solution = tuple[Term | None, ...]
"""The values of the variables of an `Ask`, in its order."""
Stamp = tuple[Assertion, Assertion, str, Term]
"""What an occurrence adds to an id: the first and the last assertion of its explanation, all of them as text,
and its individual."""

RDF_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
SECOND = 1_000_000


class Sent(NamedTuple):
    """A number as it was sent, its unit, and the unit that it was brought to."""

    number: str
    unit: str
    to: str


class Item(NamedTuple):
    """One RDF message (the paper's physical event); terms are written as in N-Triples.

    >>> import obep
    >>> obep.Item("doors", 2_000_000, (("<http://e/a>", "<http://e/opens>", "<http://e/b>"),)).at
    2000000
    """

    stream: str
    at: int
    triples: tuple[Triple, ...]
    name: Term = ""
    """The IRI of the message where its source gave it one."""
    sent: bytes = b""
    """The record that it was read from, until it is taken: a dead letter shows it."""
    removed: tuple[Triple, ...] | None = None
    """Of a change of K: the triples that go. Its `triples` come."""
    record: bytes = b""
    """Of a record that is looked up in the K of its instant: the record itself, until then."""
    converted: tuple[tuple[Triple, Sent], ...] = ()
    """The triples whose numbers were brought to another unit, and what was sent."""


def without_record(item: Item) -> Item:
    """The item without the record that it was read from: it may be kept for long."""
    return Item(*item[:4], converted=item.converted) if item.sent else item


class DeadLetter(NamedTuple):
    """An input that takes part in nothing, and why. `raw` is what can be shown of it.

    >>> import obep
    >>> query = obep.load(text="EVENT A AS Room\\nRETURN A")
    >>> [letter] = obep.detect(query, [{"t": 1, "room": "a"}, {"room": "b"}], time="t").dead_letters
    >>> letter.code, letter.raw
    ('OBEP602', '{"room":"b"}')
    """

    stream: str
    at: int | None
    code: str
    reason: str
    raw: str = ""
    line: int = 0
    """The line of its file on which it begins, or the row of its frame, where that is known (from 1)."""


@dataclass(eq=False)
class Occurrence:
    """An event that happened: [start, end], decided at `detected`, because of its explanation.

    Two occurrences are the same iff their `key` is equal. Instants are microseconds since 1970; terms are
    written as in N-Triples.

    >>> import obep
    >>> query = obep.load(text="PREFIX : <http://e/>\\nEVENT Hot AS (celsius some number[> 30])\\nRETURN Hot")
    >>> [hit] = query.engine().push("@prefix : <http://e/> . :a :celsius 31.5 .", at=1)
    >>> print(hit.why())
    Hot at 1 of a
      a celsius "31.5"  (seen at 1)
    """

    if not TYPE_CHECKING:
        __slots__ = ()  # each kind of occurrence has those that it needs; mypy knows the fields

    event: Term
    """The IRI of the event."""
    individual: Term
    """What it was found of; that of an event by a pattern is made of its id."""
    explanation: tuple[Assertion, ...]
    """The triples that made it true, and when each was seen; `None`: it is in the static graph."""
    start: int
    end: int
    detected: int
    """The instant at which it was decided: after `end` if the pattern had to wait (NOT FOLLOWED BY)."""
    since: int
    solutions: dict[int, tuple[Solution, ...]] = field(default_factory=dict)
    # by the number of an `Ask`, what the guard blocks of the aliases that may read this occurrence found in
    # its graph; an ask that found nothing has no entry
    parts: tuple[Part, ...] = ()
    """The occurrences that a pattern matched."""
    bindings: tuple[dict[str, Term], ...] = ()
    """The values of the variables, one dict for each solution."""
    partition: tuple[Term, ...] = ()
    constructed: tuple[Triple, ...] = ()
    bounded: bool = False
    """Whether a reasoner was needed and missing: its event is a lower bound, there may be more."""
    _id: str = ""
    style: str = ""
    """How its instants came in, `iso` or `integer`; nothing where it is unknown."""
    items: tuple[Item | Occurrence | Term, ...] = ()
    """The items that it was found in, or their names; an occurrence is an item of the next stratum."""
    _written: tuple[str, bytes, int] | None = None
    """In which style it is written to the output as a part of others, which may be many; how; and on how many
    levels its causes in that."""
    _stamp: Stamp | None = field(default=None, init=False)
    """What it adds to the ids of those that it is a part of."""

    @property
    def key(self) -> tuple[object, ...]:
        """What makes it the same as another one; its id alone, where that was given."""
        if self._id and self.individual == f"<{self._id}>":
            return (self.event, self._id)
        return (self.event, self.explanation, self.start, self.end, self.individuals(), self.partition)

    def individuals(self) -> tuple[Term, ...]:
        """Those of all its parts that are no contexts, or its own."""
        return tuple(sorted([p.occurrence.individual for p in self.parts if not p.context])) or (
            self.individual,
        )

    @property
    def id(self) -> str:
        """`urn:obep:H:<hash>`; equal inputs give equal ids, in every process."""
        if not self._id:
            self._id = identity(
                self.event, self.explanation, self.start, self.end, self.individuals(), self.partition
            )
        return self._id

    @property
    def record_id(self) -> str:
        """The identity of a record of it, for sinks that take each once."""
        return self.id

    def _rows_of(self, ask: int) -> tuple[Solution, ...]:
        # What an ask found in its graph: `solutions`, of which the others need not be made.
        return self.solutions.get(ask, ())

    def to_json(self, style: str | None = None) -> dict[str, object]:
        """The record that `obep run` writes; its instants as `iso` or `integer`, or as they came in."""
        return _writers[0].to_json(self, style)

    def to_rdf(self, style: str | None = None, format: str = "trig") -> str:
        """A named graph with what is known about it, as TriG or N-Quads."""
        return _writers[0].to_rdf(self, style, format)

    def to_rows(self, style: str | None = None) -> list[dict[str, object]]:
        """A record for each of its solutions (RETURN … AS ROWS)."""
        return _writers[0].to_rows(self, style)

    def why(self) -> str:
        """A tree for people: which occurrences, which assertions."""
        return _writers[0].why(self)

    def _repr_html_(self) -> str:
        return _writers[0].why_html(self)


@dataclass(slots=True, eq=False)
class EagerOccurrence(Occurrence):
    """An occurrence that holds all of its fields."""


class LazyOccurrence(Occurrence):
    """An occurrence of one instant that shares what it has in common with others.

    It holds what only it has. `make_field` makes the rest; an explanation is made once.
    """

    __slots__ = ("_id", "_solutions", "_stamp", "_written", "explanation", "items", "start", "style")

    _solutions: dict[int, tuple[Solution, ...]] | None
    """Those that it was given; None: they are made when they are read."""

    @property
    def solutions(self) -> dict[int, tuple[Solution, ...]]:
        given = self._solutions
        found: dict[int, tuple[Solution, ...]] = self.make_field("solutions") if given is None else given
        return found

    @solutions.setter
    def solutions(self, given: dict[int, tuple[Solution, ...]]) -> None:
        self._solutions = given

    def __getattr__(self, name: str) -> Any:
        # Only called for a slot without a value.
        value = self.make_field(name)
        if name == "explanation":
            self.explanation = value
        return value

    def make_field(self, name: str) -> Any:
        """The value of a field that has none yet; here, its default."""
        if name not in _DEFAULTS:
            raise AttributeError(name)
        return _DEFAULTS[name]


_DEFAULTS: dict[str, Any] = {"_id": "", "items": (), "style": ""}
for _name in ("end", "detected", "since"):
    setattr(LazyOccurrence, _name, vars(LazyOccurrence)["start"])  # one slot, read by four names


class ConvertedAssertion(tuple[Triple, int | None]):
    """One whose number was brought to another unit: it equals the plain one, and knows what was sent."""

    how: str


def convert(assertion: Assertion, how: str) -> Assertion:
    """An assertion that says how its number was converted (`86 DEG_F = 30.0 degC`), if it was."""
    if not how:
        return assertion
    one = ConvertedAssertion(assertion)
    one.how = how
    return one


def conversion_of(assertion: Assertion) -> str:
    """How the number of an assertion was converted; nothing if it was not."""
    return assertion.how if isinstance(assertion, ConvertedAssertion) else ""


def conversions(explanation: Iterable[Assertion]) -> tuple[str, ...]:
    """For each assertion of an explanation how its number was converted; nothing if none was."""
    found = tuple([conversion_of(one) for one in explanation])
    return found if any(found) else ()


def with_conversions(explanation: tuple[Assertion, ...], hows: Sequence[str | None]) -> tuple[Assertion, ...]:
    """What `conversions` has told of an explanation is said by its assertions again."""
    if not hows:
        return explanation
    return tuple([convert(one, how or "") for one, how in zip(explanation, hows, strict=True)])


def as_converted(explanation: tuple[Assertion, ...], known: Iterable[Assertion]) -> tuple[Assertion, ...]:
    """An explanation whose assertions say what equal ones among those that are known say."""
    found: dict[Assertion, Assertion] = {one: one for one in known if isinstance(one, ConvertedAssertion)}
    return tuple([found.get(one, one) for one in explanation]) if found else explanation


@dataclass(slots=True, eq=False)
class Alert(EagerOccurrence):
    """That a state has come to hold (`firing`), or does no longer (`resolved`): two records with one id."""

    status: str = "firing"
    lasting: int = 0
    """How long it had to hold before it fires (FOR), in microseconds."""
    labels: dict[str, Term] = field(default_factory=dict)
    """The values of the state's parameters."""
    until: int | None = None
    ended: str = ""
    """`changed`, or `expired`: what kept it has left its window, or TIMEOUT."""

    @property
    def record_id(self) -> str:
        return f"{self.id}:{self.status}"


@dataclass(slots=True, eq=False)
class Answer(EagerOccurrence):
    """What a query answers at an instant: rows (`bindings`), or a graph (`constructed`)."""

    op: str = ""
    """`+` or `-` where answers are differences."""
    timed: bool = False
    """Whether its rows have the interval of what they were found in (DIALECTS 3)."""

    @property
    def record_id(self) -> str:
        return f"{self.id}{self.op}"


def is_empty(one: Occurrence) -> bool:
    """Whether it is an answer without rows, which only forms with a document for each answer write."""
    return isinstance(one, Answer) and not (one.bindings or one.constructed)


class Writers(Protocol):
    """Write an occurrence as JSON, RDF, rows and a text. `obep.output`, a layer above, provides it."""

    def to_json(self, occurrence: Occurrence, style: str | None) -> dict[str, object]: ...

    def to_rdf(self, occurrence: Occurrence, style: str | None, format: str) -> str: ...

    def to_rows(self, occurrence: Occurrence, style: str | None) -> list[dict[str, object]]: ...

    def why(self, occurrence: Occurrence) -> str: ...

    def why_html(self, occurrence: Occurrence) -> str: ...


_writers: list[Writers] = []


def provide_writers(writers: Writers) -> None:
    """Set how occurrences write themselves."""
    _writers[:] = [writers]


class Part(NamedTuple):
    """The occurrence that an alias is bound to. A context (what stands right of DURING or
    CONTAINS) only has to be there.

    >>> import obep
    >>> query = obep.load(
    ...     text="PREFIX : <http://e/> EVENT A AS Room EVENT B MATCH A AS x SEQ A AS y WITHIN 5 s RETURN B"
    ... )
    >>> room = "@prefix : <http://e/> . :a a :Room ."
    >>> [hit] = obep.testing.hits_in(query, [(1, room), (2, room)])[1]
    >>> [(part.alias, part.occurrence.start) for part in hit.parts]
    [('x', 1000000), ('y', 2000000)]
    """

    alias: str
    occurrence: Occurrence
    context: bool = False


def identity(
    event: Term,
    explanation: Iterable[Assertion],
    start: int,
    end: int,
    individuals: tuple[Term, ...],
    partition: tuple[Term, ...],
) -> str:
    """The id of what makes an occurrence the same one (SPEC D1)."""
    text = id_text(event, explanation, str(start), str(end), individuals, partition)
    return id_prefix(event) + id_digest(text.encode())


def id_text(
    event: Term,
    explanation: Iterable[tuple[Triple, int | str | None]],
    start: str,
    end: str,
    individuals: Iterable[Term],
    partition: Iterable[Term],
) -> str:
    """What an id is the digest of."""
    pieces = [event, start, end, *partition, "|", *individuals, "|", assertions_text(explanation)]
    return "\0".join(pieces)


def assertions_text(explanation: Iterable[tuple[Triple, int | str | None]]) -> str:
    """An explanation as it stands in the text of an id.

    >>> assertions_text([(("<a>", "<b>", "<c>"), 5), (("<a>", "<b>", "<d>"), None)])
    '<a> <b> <c> 5\\x00<a> <b> <d> \\x00'
    """
    return "".join([f"{s} {p} {o} {'' if at is None else at}\0" for (s, p, o), at in explanation])


def id_prefix(event: Term) -> str:
    """What all ids of an event begin with."""
    return f"urn:obep:{local_name(event)}:"


def id_digest(text: bytes) -> str:
    """The rest of an id."""
    return blake2b(text, digest_size=16).hexdigest()


@lru_cache(1024)
def local_name(event: Term) -> str:
    """The end of an IRI, for people and ids.

    >>> local_name("<http://example.org/building#Entering>")
    'Entering'
    """
    return event.strip("<>").rsplit("#", 1)[-1].rsplit("/", 1)[-1]


def digest_of(item: Item) -> str:
    """The same for items of one stream that say the same, whenever they come."""
    text = "\n".join([item.stream, *sorted([" ".join(triple) for triple in item.triples])])
    return blake2b(text.encode(), digest_size=16).hexdigest()


def item_name(digest: str, at: int) -> Term:
    """The name of an item: its instant and a hash of its stream and its triples, the same in every run."""
    return f"<urn:obep:item:{at}:{digest}>"


def body_of(event: Term) -> Term:
    """The event term under which the body of a guarded logical event is found, before its guard.

    >>> body_of("<http://example.org/Hot>")
    '<http://example.org/Hot#body>'
    """
    return f"{event[:-1]}#body>"
