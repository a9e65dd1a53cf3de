"""Draws a picture for each operator: what comes in on a time line, and what the engine finds in it.

In: `FIGURES`, a pattern and a stream each. Out: docs/pictures/*.svg, which docs/operators.md shows. The
answers are those of the engine itself, so a picture cannot say what is not so.

    python docs/scripts/timelines.py            write the pictures
    python docs/scripts/timelines.py --check    say which of them are not what the engine gives today

A stream is words such as `A1` (an A at 1), `A1x` (the same, of the individual x), `A1-3` (an A from 1 to 3),
`|9` (time has come to 9).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from typing import NamedTuple

import obep
from obep.model import SECOND, Occurrence

PICTURES = Path(__file__).parents[1] / "pictures"


class Figure(NamedTuple):
    """A pattern, and what it is shown on."""

    pattern: str
    stream: str


FIGURES = {
    "seq": Figure("A SEQ B", "A1 B2 A3 B4"),
    "next": Figure("A NEXT B", "A1 A2 B3 B4"),
    "next-by-variable": Figure("A(?v) NEXT B(?v)", "A1x A2y B3y B4x"),
    "and": Figure("A AND B", "A1 B2 A3 B3"),
    "equals": Figure("A EQUALS B", "A1-3 B1-3 A5 B6"),
    "join": Figure("A JOIN B", "B1 A2 A4 B4"),
    "or": Figure("A OR B", "A1 B3"),
    "times": Figure("A TIMES 3", "A1 A2 A4 A5"),
    "within": Figure("A SEQ B WITHIN 3 s", "A1 A2 B4"),
    "first": Figure("(FIRST A) SEQ B", "A1 A2 B3 B5"),
    "every": Figure("EVERY (A SEQ B)", "A1 A2 B3 B5"),
    "last": Figure("(LAST A) SEQ B", "A1 A2 B3 A4 B5"),
    "optional": Figure("OPTIONAL(A) SEQ B", "B1 A2 B4"),
    "not": Figure("NOT A", "A1 B2 A3 C4"),
    "without": Figure("(A SEQ B) WITHOUT C", "A1 C2 B3 A4 B5"),
    "not-followed-by": Figure("A NOT FOLLOWED BY B WITHIN 3 s", "A1 B3 A5 |9"),
    "timer": Figure("(LAST A) NOT FOLLOWED BY B WITHIN 3 s", "A1 A2 A4 |9"),
    "during": Figure("A DURING B", "A1 B2-5 A4 A6"),
    "contains": Figure("A CONTAINS B", "A1-4 B3 B5"),
    "before": Figure("A BEFORE B", "A1-2 B4-5"),
    "after": Figure("A AFTER B", "B1-2 A4-5"),
    "meets": Figure("A MEETS B", "A1-3 B3-5"),
    "metby": Figure("A METBY B", "B1-3 A3-5"),
    "overlaps": Figure("A OVERLAPS B", "A1-3 B2-5"),
    "overlappedby": Figure("A OVERLAPPEDBY B", "B1-3 A2-5"),
    "starts": Figure("A STARTS B", "A1-3 B1-5"),
    "startedby": Figure("A STARTEDBY B", "A1-5 B1-3"),
    "finishes": Figure("A FINISHES B", "A3-5 B1-5"),
    "finishedby": Figure("A FINISHEDBY B", "A1-5 B3-5"),
    "in-window": Figure("A IN <recent> SEQ B", "A1 A2 B3 B4"),
    "partition": Figure("(FIRST A(?v)) SEQ B(?v) PARTITION BY ?v", "A1x A2y B3y B4x"),
    "policy-unrestricted": Figure("A SEQ B", "A1 A2 B3 B5"),
    "policy-chronological": Figure("A SEQ B POLICY chronological", "A1 A2 B3 B5"),
    "policy-recent": Figure("A SEQ B POLICY recent", "A1 A2 B3 B5"),
    "policy-naive": Figure("A SEQ B POLICY naive", "A1 A2 B3 B5"),
}


class Seen(NamedTuple):
    """One word of a stream: an event with its individual and its interval."""

    event: str
    individual: str
    start: int
    end: int


class Drawn(NamedTuple):
    """An answer: its interval, when it was decided, and the intervals of its parts."""

    start: int
    end: int
    detected: int
    parts: tuple[tuple[str, int, int, bool], ...]


_WORD = re.compile(r"([A-Z])(\d+)(?:-(\d+))?([a-z]?)")


def read_stream(text: str) -> tuple[list[Seen], int | None]:
    """The words of a stream, and how far time goes on without items."""
    seen, until = [], None
    for word in text.split():
        if word.startswith("|"):
            until = int(word[1:])
        elif match := _WORD.fullmatch(word):
            event, start, end, individual = match.groups()
            name = individual or f"{event.lower()}{start}"
            seen.append(Seen(event, name, int(start), int(end or start)))
        else:
            raise ValueError(f"{word} is no word of a stream")
    return seen, until


def answers(figure: Figure) -> list[Drawn]:
    """What the engine finds, in the order in which it finds it."""
    seen, until = read_stream(figure.stream)
    long = {one.event for one in seen if one.end > one.start}
    events = {one.event for one in seen} | set(re.findall(r"\b[A-C]\b", figure.pattern))
    query = obep.load(text=_query(figure.pattern, events, long), java=False)
    found: list[Occurrence] = []
    with query.engine() as engine:
        for at, triple in sorted(_triples(seen, long)):
            found += engine.push(triple, at=at)
        if until is not None:
            found += engine.advance(until)
        found += engine.close()
    return [_drawn(one) for one in found]


def _query(pattern: str, events: set[str], long: set[str]) -> str:
    lines = ["PREFIX : <http://example.org/pictures#>"]
    if "IN <recent>" in pattern:
        lines.append("FROM NAMED WINDOW <recent> ON <s> [RANGE 3 s]")
    for event in sorted(events):
        if event in long:
            lines += [f"EVENT {event}Begins AS Begun{event}", f"EVENT {event}Ends AS Ended{event}"]
            lines.append(f"EVENT {event}(?v) MATCH {event}Begins(?v) SEQ {event}Ends(?v)")
        else:
            lines.append(f"EVENT {event} AS Seen{event}")
    return "\n".join([*lines, f"EVENT H MATCH {pattern}", "RETURN H"])


def _triples(seen: Iterable[Seen], long: set[str]) -> Iterator[tuple[int, str]]:
    for event, individual, start, end in seen:
        words = ((start, "Begun"), (end, "Ended")) if event in long else ((start, "Seen"),)
        for at, word in words:
            yield at, f"@prefix : <http://example.org/pictures#> . :{individual} a :{word}{event} ."


def _drawn(one: Occurrence) -> Drawn:
    parts = [
        (part.alias[0], part.occurrence.start // SECOND, part.occurrence.end // SECOND, part.context)
        for part in one.parts
    ]
    return Drawn(one.start // SECOND, one.end // SECOND, one.detected // SECOND, tuple(parts))


# --- drawing

COLOURS = {"A": "#2563eb", "B": "#d97706", "C": "#059669"}
ANSWER, LINE, WORDS, PAPER = "#6d28d9", "#cbd5e1", "#334155", "#ffffff"
LEFT, STEP, LANE, TOP = 96, 62, 28, 34


def draw(figure: Figure) -> str:
    """The picture, as SVG."""
    seen, until = read_stream(figure.stream)
    found = answers(figure)
    ends = [one.end for one in seen] + [one.detected for one in found] + [until or 0]
    last = max(ends)
    lanes = sorted({one.event for one in seen} | set(re.findall(r"\b[A-C]\b", figure.pattern)))
    below = TOP + LANE * len(lanes)
    height = below + 16 + LANE * max(1, len(found)) + 26
    width = LEFT + STEP * last + 100
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="Helvetica, Arial, sans-serif" font-size="13" fill="{WORDS}">',
        f"<title>{escape(figure.pattern)}</title>",
        f'<rect width="{width}" height="{height}" rx="6" fill="{PAPER}"/>',
        f'<text x="14" y="20" font-family="monospace" font-size="14" font-weight="bold">'
        f"{escape(figure.pattern)}</text>",
    ]
    for at in range(1, last + 1):
        x = _x(at)
        parts.append(
            f'<line x1="{x}" y1="{TOP}" x2="{x}" y2="{height - 24}" stroke="{LINE}" stroke-width="1"/>'
        )
        parts.append(f'<text x="{x}" y="{height - 8}" text-anchor="middle" font-size="11">{at}</text>')
    for number, lane in enumerate(lanes):
        y = TOP + LANE * number + LANE // 2
        parts.append(f'<text x="14" y="{y + 5}" font-weight="bold" fill="{COLOURS[lane]}">{lane}</text>')
        for one in seen:
            if one.event == lane:
                name = one.individual if len(one.individual) == 1 else ""
                parts += _event(one.start, one.end, y, COLOURS[lane], name)
    parts.append(
        f'<line x1="10" y1="{below + 8}" x2="{width - 10}" y2="{below + 8}" stroke="{WORDS}" '
        'stroke-width="1"/>'
    )
    parts.append(
        f'<text x="14" y="{below + 16 + LANE // 2 + 5}" fill="{ANSWER}" font-weight="bold">found</text>'
    )
    if not found:
        parts.append(f'<text x="{LEFT}" y="{below + 16 + LANE // 2 + 5}" font-style="italic">nothing</text>')
    for number, answer in enumerate(found):
        parts += _answer(answer, below + 16 + LANE * number + LANE // 2)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _x(at: int) -> int:
    return LEFT + STEP * (at - 1) + 20


def _event(start: int, end: int, y: int, colour: str, name: str) -> Iterator[str]:
    if end > start:
        yield (
            f'<line x1="{_x(start)}" y1="{y}" x2="{_x(end)}" y2="{y}" stroke="{colour}" stroke-width="8" '
            'stroke-linecap="round"/>'
        )
    else:
        yield f'<circle cx="{_x(start)}" cy="{y}" r="6.5" fill="{colour}"/>'
    if name:
        yield f'<text x="{_x(start) + 11}" y="{y + 4}" font-size="11">{name}</text>'


def _answer(answer: Drawn, y: int) -> Iterator[str]:
    """A bar over its interval, a mark for each of its parts (hollow: a context)."""
    start, end = _x(answer.start), _x(answer.end)
    yield (
        f'<rect x="{start - 10}" y="{y - 10}" width="{end - start + 20}" height="20" rx="10" fill="{ANSWER}" '
        f'fill-opacity="0.16" stroke="{ANSWER}" stroke-width="1.5"/>'
    )
    bars = [part for part in answer.parts if part[2] > part[1]]
    for alias, at, until, context in answer.parts:
        colour = COLOURS.get(alias, WORDS)
        paint = f'fill="{PAPER}" stroke="{colour}" stroke-width="2"' if context else f'fill="{colour}"'
        if until > at:
            middle = y if len(bars) == 1 else y - 4 + 8 * bars.index((alias, at, until, context))
            yield (
                f'<rect x="{_x(at) - 4}" y="{middle - 3}" width="{_x(until) - _x(at) + 8}" height="6" rx="3" '
                f'{paint} fill-opacity="{0 if context else 1}"/>'
            )
        else:
            yield f'<circle cx="{_x(at)}" cy="{y}" r="5" {paint}/>'
    words = f"[{answer.start}, {answer.end}]" if answer.end > answer.start else f"[{answer.start}]"
    reach = max([end, *(_x(until) for *_, until, _ in answer.parts)])
    if answer.detected != answer.end:
        words += f" decided at {answer.detected}"
    yield f'<text x="{reach + 15}" y="{y + 4}" font-size="11" fill="{ANSWER}">{words}</text>'


def main(arguments: list[str]) -> int:
    """Write the pictures, or compare them."""
    stale = []
    PICTURES.mkdir(exist_ok=True)
    for name, figure in FIGURES.items():
        file, text = PICTURES / f"{name}.svg", draw(figure)
        if not file.exists() or file.read_text("utf-8") != text:
            stale.append(name)
            if "--check" not in arguments:
                file.write_text(text, "utf-8")
    said = "stale" if "--check" in arguments else "written"
    print(f"{len(FIGURES)} pictures, {said}: {', '.join(stale) or 'none'}")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
