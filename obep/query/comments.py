"""Comments, and the clauses they stand before; one at the end of a line belongs to the clause it follows.

A `Comment` counts clauses in the order in which the printer writes them, so that it stays with its clause.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace

from obep.errors import Span
from obep.query.ast import Comment, CompositeEvent, QueryFile

_WORDS = re.compile(
    r'"""(?:[^"\\]|\\[\s\S]|"(?!""))*"""'
    r"|'''(?:[^'\\]|\\[\s\S]|'(?!''))*'''"
    r'|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\''
    r'|<[^\x00-\x20<>"{}|^`\\]*>'
    r"|#[^\n]*"
)


def with_comments(file: QueryFile) -> QueryFile:
    """The same file with its comments."""
    if "#" not in file.text:
        return file
    places = sorted((span.start, number) for number, span in enumerate(clauses(file)))
    starts = [start for start, _ in places]
    found: list[Comment] = []
    line, counted = 1, 0
    for comment, offset, alone in _comments(file.text):
        line += file.text.count("\n", counted, offset)
        counted = offset
        after = bisect_right(starts, offset)
        if not alone:
            after = max(0, after - 1)
        before = places[after][1] if after < len(places) else len(places)
        column = offset - file.text.rfind("\n", 0, offset)
        end = offset + len(comment), column + len(comment)
        found.append(Comment(comment, before, span=Span(offset, end[0], line, column, line, end[1])))
    found.sort(key=lambda comment: comment.before)
    return replace(file, comments=tuple(found))


def clauses(file: QueryFile) -> Iterator[Span]:
    """The clauses that a comment can stand before, in the order of the printer."""
    if file.base is not None:
        yield _base_span(file)
    for declaration in (*file.prefixes, *file.sources, *file.windows):
        yield declaration.span
    for event in file.events:
        yield event.span
        if isinstance(event, CompositeEvent) and event.partition_by:
            yield event.partition_by[0].span
        if event.guard is not None:
            yield event.guard.span
            if event.guard.own:
                yield event.guard.own[0].span
            for part in (*event.guard.blocks, *event.guard.filters):
                yield part.span
        if event.construct:
            yield event.construct[0].span
    for returned in file.returns:
        yield returned.span


def _base_span(file: QueryFile) -> Span:
    """BASE has no node of its own."""
    found = re.search(r"(?i)^[^#\n]*?\bbase\s*<", file.text, re.MULTILINE)
    start = found.end() if found else 0
    return Span(start, start + 1, 1, 1, 1, 2)


def _comments(text: str) -> Iterator[tuple[str, int, bool]]:
    """Each comment, where it begins, and whether it has its line to itself."""
    for word in _WORDS.finditer(text):
        if word[0].startswith("#"):
            line = text.rfind("\n", 0, word.start()) + 1
            yield word[0].rstrip(), word.start(), not text[line : word.start()].strip(" \t\ufeff")
