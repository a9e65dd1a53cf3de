"""Comments, and the places they stand before, or beside.

A place is what the printer may write on a line of its own: a clause of the prologue, the head of an event,
an operand of its pattern or class expression, a triple, a closing brace. Places are counted in the order in
which the printer writes them, so that a comment stays with its place. One at the end of a line stands beside
the first place of its event on that line.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from obep.errors import Span
from obep.query.ast import (
    Comment,
    CompositeEvent,
    Event,
    Filter,
    GraphEvent,
    GroupState,
    Guard,
    Language,
    LogicalEvent,
    QueryFile,
    Register,
    State,
    TriplePattern,
)
from obep.query.print import print_descriptions, print_events, print_patterns, print_queries, print_states
from obep.query.print.print_groups import Piece
from obep.query.walk import statements

_WORDS = re.compile(
    r'"""(?:[^"\\]|\\[\s\S]|"(?!""))*"""'
    r"|'''(?:[^'\\]|\\[\s\S]|'(?!''))*'''"
    r'|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\''
    r'|<[^\x00-\x20<>"{}|^`\\]*>'
    r"|#[^\n]*"
)
_EMPTY_LINE = re.compile(r"[ \t\r]*\n[ \t\r]*\n\s*\S")


class Place(NamedTuple):
    """Where a place begins; `end` lies behind that if comments inside belong to it, too."""

    start: int
    end: int
    until: int
    """Where its event ends; 0 for what is no part of an event."""


def with_comments(file: QueryFile) -> QueryFile:
    """The text of the file with its comments."""
    if "#" not in file.text:
        return file
    numbered = sorted((place, number) for number, place in enumerate(places(file)))
    ordered = [place for place, _ in numbered]
    starts = [place.start for place in ordered]
    heads = {declared.span.start for declared in statements(file)}
    found: list[Comment] = []
    taken: set[int] = set()
    line, counted = 1, 0
    for comment, offset, alone in _comments(file.text):
        line += file.text.count("\n", counted, offset)
        counted = offset
        begin = file.text.rfind("\n", 0, offset) + 1
        at = _before(offset, ordered, starts) if alone else _of_line(offset, begin, ordered, starts)
        top = at == len(ordered) or not ordered[at].until or ordered[at].start in heads
        end = offset + len(comment)
        apart = alone and top and _EMPTY_LINE.match(file.text, end) is not None
        number = numbered[at][1] if at < len(numbered) else len(numbered)
        column = offset - begin + 1
        span = Span(offset, end, line, column, line, column + len(comment))
        beside = not alone and number < len(numbered) and number not in taken
        if beside:  # a second one would become a part of the first
            taken.add(number)
        found.append(Comment(comment, number, apart, beside, span=span))
    found.sort(key=lambda comment: (comment.before, comment.beside))
    return replace(file, comments=tuple(found))


def _before(offset: int, ordered: list[Place], starts: list[int]) -> int:
    """The place that a comment on a line of its own stands before, or inside; it never leaves its event."""
    at = bisect_right(starts, offset)
    if at == 0:
        return at
    last = ordered[at - 1]
    leaves = at == len(ordered) or ordered[at].until != last.until
    return at - 1 if offset < last.end or (leaves and offset < last.until) else at


def _of_line(offset: int, begin: int, ordered: list[Place], starts: list[int]) -> int:
    """The first place on the line of a comment that is of the event which the comment ends in, or the last
    place before if none begins there."""
    at = max(0, bisect_right(starts, offset) - 1)
    until = ordered[at].until if ordered else 0
    while until and at and starts[at - 1] >= begin and ordered[at - 1].until == until:
        at -= 1
    return at


def places(file: QueryFile) -> Iterator[Place]:
    """The places that a comment can stand before, in the order of the printer."""
    if file.base is not None:
        yield _within(file.base_span)
    settings = (*file.sources, *file.settings, *file.stream_sources, *file.windows)
    for declaration in (*file.prefixes, *settings):
        yield _within(declaration.span)
    for declared in statements(file):
        until = declared.extent.end
        if isinstance(declared, LogicalEvent | CompositeEvent | GraphEvent):
            found = _of_event(declared)
        elif isinstance(declared, Register):
            found = _of_query(declared, file.language)
        else:
            found = _of_state(declared)
        yield from (place._replace(until=until) for place in found)
    for returned in file.returns:
        yield _within(returned.span)


def _of_event(event: Event) -> Iterator[Place]:
    clauses = event.extent.clauses
    if isinstance(event, GraphEvent):
        yield from _of_piece(print_events.group_piece(event), event.group.span)
    else:
        yield _within(event.span)  # that is its head
    if isinstance(event, LogicalEvent):
        yield from (_within(part.span) for part in print_descriptions.parts(event.description))
    elif isinstance(event, CompositeEvent):
        yield from (_within(part.span) for part in print_patterns.parts(event.pattern))
    if isinstance(event, CompositeEvent):
        if event.partition_by:
            yield _within(clauses.get("partition_by", event.span))
        if event.policy != "unrestricted":
            yield _within(clauses.get("policy", event.span))
    if event.guard is not None:
        yield from _of_guard(event.guard)
    if event.construct:
        yield from _of_block(clauses.get("construct", event.span), event.construct)


def _of_query(query: Register, language: Language) -> Iterator[Place]:
    *clauses, where = print_queries.query_pieces(query, language)
    for piece in clauses:
        yield from _of_piece(piece)
    yield from _of_piece(where, print_queries.where_span(query))


def _of_state(state: State) -> Iterator[Place]:
    if isinstance(state, GroupState):
        yield from _of_piece(print_states.group_piece(state), state.group.span)
        return
    yield _within(state.span)
    yield from (_within(span) for _, span in print_states.parts(state))
    if state.guard is not None:
        yield from _of_guard(state.guard)
    yield from (_within(span) for _, span in print_states.last_parts(state))


def _of_piece(piece: Piece, braces: Span | None = None) -> Iterator[Place]:
    """A part of a group; its first word, its own parts and its closing brace are places."""
    if not piece.closing:
        yield _within(piece.span)
        return
    yield _at(piece.span)
    for one in piece.inner:
        yield from _of_piece(one)
    yield _end(braces or piece.span)


def _of_guard(guard: Guard) -> Iterator[Place]:
    yield _at(guard.span)
    yield from (_within(triple.span) for triple in guard.own)
    for block in guard.blocks:
        yield from _of_block(block.span, (*block.triples, *block.filters))
    yield from (_within(one.span) for one in guard.filters)
    yield _end(guard.span)


def _of_block(span: Span, parts: tuple[TriplePattern | Filter, ...]) -> Iterator[Place]:
    yield _at(span)
    yield from (_within(part.span) for part in parts)
    yield _end(span)


def _at(span: Span) -> Place:
    return Place(span.start, span.start, 0)


def _within(span: Span) -> Place:
    return Place(span.start, span.end, 0)


def _end(span: Span) -> Place:
    """The closing brace."""
    return Place(span.end - 1, span.end - 1, 0)


def _comments(text: str) -> Iterator[tuple[str, int, bool]]:
    """Each comment, where it begins, and whether it has its line to itself."""
    for word in _WORDS.finditer(text):
        if word[0].startswith("#"):
            line = text.rfind("\n", 0, word.start()) + 1
            yield word[0].rstrip(), word.start(), not text[line : word.start()].strip(" \t\ufeff")
