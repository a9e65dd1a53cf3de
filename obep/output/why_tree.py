"""Why something was reported: a readable tree of occurrences and assertions."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import NamedTuple

from obep.errors import printable
from obep.formats.timestamps import Style, show_instant
from obep.model import Alert, Assertion, Occurrence, Term, conversion_of, id_prefix
from obep.output.json_writer import parts_of, sources, style_of
from obep.query.ast import Duration
from obep.query.print.printer import show
from obep.query.state_parts import StatePart, state_part


class Branch(NamedTuple):
    """A line of the tree, and what stands below it."""

    text: str
    below: tuple[Branch, ...] = ()

    def lines(self, indent: str = "") -> Iterator[str]:
        """The tree as text."""
        yield indent + self.text
        for one in self.below:
            yield from one.lines(f"{indent}  ")

    def html(self) -> str:
        """The tree as HTML that folds; all of its text is escaped."""
        line = escape(printable(self.text))
        if not self.below:
            return f'<div style="margin-left:1.2em">{line}</div>'
        inner = "".join(one.html() for one in self.below)
        return f'<details open style="margin-left:1em"><summary>{line}</summary>{inner}</details>'


def why(occurrence: Occurrence, style: str | None = None) -> str:
    """The occurrence, what it was made of, and what that was seen in; fit for a terminal."""
    return "\n".join(map(printable, why_branch(occurrence, style_of(occurrence, style)).lines()))


def why_html(occurrence: Occurrence) -> str:
    """The tree as HTML for a notebook."""
    return why_branch(occurrence, style_of(occurrence, None)).html()


def why_branch(occurrence: Occurrence, style: Style, alias: str = "") -> Branch:
    """The tree of an occurrence's causes."""
    moment = state_part(occurrence)
    event = short(occurrence.event if moment is None else moment.of)
    title = event if moment is None else _moment(event, moment)
    title = title if alias in ("", event) else f"{alias}: {title}"
    bound = "  (a lower bound)" if occurrence.bounded else ""
    head = f"{title} {_times(occurrence, style)}{_about(occurrence)}{bound}{_status(occurrence)}"
    below = [
        Branch("with " + ", ".join(f"?{name} = {short(value)}" for name, value in binding.items()))
        for binding in filter(None, _bindings(occurrence))
    ]
    below += [Branch(f"as {guard}") for guard in getattr(occurrence, "guards", ())]
    parts = parts_of(occurrence)
    if not parts:
        for heading, assertions in _causes(occurrence, moment):
            shown = tuple(_assertion(occurrence, assertion, style) for assertion in assertions)
            below += [Branch(heading, shown)] if heading else shown
        below += [why_branch(source, style) for source in sources(occurrence)]
        if _is_cut(occurrence):
            below.append(Branch("(its causes are not in the file)"))
    for part in parts:
        one = why_branch(part.occurrence, style, part.alias)
        below.append(one._replace(text=f"{one.text}  (context)") if part.context else one)
    return Branch(head, tuple(below))


def _assertion(occurrence: Occurrence, assertion: Assertion, style: Style) -> Branch:
    (s, p, o), _ = assertion
    how = conversion_of(assertion)
    whence = _whence(occurrence, assertion, style)
    return Branch(f"{short(s)} {short(p)} {short(o)}  ({f'{how}, ' if how else ''}{whence})")


def _causes(occurrence: Occurrence, moment: StatePart | None) -> Iterator[tuple[str, list[Assertion]]]:
    """The causes of an occurrence; for the end of a state, those of its beginning and later ones (STATES
    3)."""
    known, end = list(occurrence.explanation), occurrence.end
    resolved = isinstance(occurrence, Alert) and occurrence.status == "resolved"
    if resolved or (moment is not None and moment.moment == "episode" and moment.lasting is None):
        begun, words = occurrence.start, ("at its beginning", "later, until its end")
    elif moment is not None and moment.moment == "end":
        begun, words = end - 1, ("before its end", "at its end")
    else:
        yield "", known
        return
    for word, later in zip(words, (False, True), strict=True):
        found = [one for one in known if (one[1] is not None and one[1] > begun) == later]
        if found:
            yield word, found


def _moment(state: str, part: StatePart) -> str:
    """A moment of a state as a query asks for it."""
    word = {"begin": "BEGIN ", "end": "END "}.get(part.moment, "")
    lasting = "" if part.lasting is None else f" FOR {show(Duration(part.lasting))}"
    return f"{word}{state}{lasting}"


def _status(occurrence: Occurrence) -> str:
    """Whether an alert still fires, and what ended it."""
    if not isinstance(occurrence, Alert):
        return ""
    return f"  ({occurrence.status}{f': {occurrence.ended}' if occurrence.ended else ''})"


def _bindings(occurrence: Occurrence) -> tuple[dict[str, Term], ...]:
    """Its solutions; those of an alert with the parameters of its state."""
    if not isinstance(occurrence, Alert):
        return occurrence.bindings
    return tuple({**occurrence.labels, **row} for row in occurrence.bindings or ({},))


def _whence(occurrence: Occurrence, assertion: Assertion, style: Style) -> str:
    """Where an assertion comes from: what is known, an item, or an occurrence that was an item."""
    at = assertion[1]
    if at is None:
        return "known"
    if source := _source(occurrence, assertion):
        return f"follows from {short(source.event)}"
    return f"{'at' if _is_cut(occurrence) else 'seen at'} {show_instant(at, style)}"


def _is_cut(occurrence: Occurrence) -> bool:
    """Whether it has been read from a file that does not tell its causes (`obep.output.json_reader`)."""
    return getattr(occurrence, "causes_are_missing", False)


def _source(occurrence: Occurrence, assertion: Assertion) -> Occurrence | None:
    """The occurrence that brought an assertion which was in no item: its class, or what it constructed."""
    for source in sources(occurrence):
        if assertion not in source.explanation:
            return source
        for one in [part.occurrence for part in source.parts] or [source]:
            if assertion in one.explanation and (found := _source(one, assertion)):
                return found
    return None


def _about(occurrence: Occurrence) -> str:
    if occurrence.parts or not occurrence.individual or state_part(occurrence) is not None:
        return ""
    if occurrence.individual.startswith(f"<{id_prefix(occurrence.event)}") and not _is_cut(occurrence):
        return ""  # a graph event, which is about itself
    return f" of {short(occurrence.individual)}"


def _times(occurrence: Occurrence, style: Style) -> str:
    start, end = show_instant(occurrence.start, style), show_instant(occurrence.end, style)
    when = f"at {start}" if start == end else f"from {start} to {end}"
    if occurrence.detected != occurrence.end:
        when += f", decided at {show_instant(occurrence.detected, style)}"
    return when


def short(term: Term) -> str:
    """A term for people: the end of an IRI, a literal without its datatype."""
    if term.startswith("<"):
        return term[1:-1].rsplit("#", 1)[-1].rsplit("/", 1)[-1] or term
    if term.startswith('"'):
        return term.split("^^<", 1)[0]
    return term
