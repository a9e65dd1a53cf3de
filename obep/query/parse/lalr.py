"""The LALR machine: runs the table of the grammar over a text, word by word, and calls back for each rule.

The state decides which words are looked for (a word is reserved only where it means something). Nothing here
recurses, and nothing is built but what the callbacks build.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from obep.errors import Span
from obep.query.parse.parse_table import Shape, Table

Callback = Callable[[list[Any]], Any]
END = "$END"


class Token:
    """A word of the text: the terminal that it is, its letters, its place."""

    __slots__ = ("span", "type", "value")

    def __init__(self, type: str, value: str, span: Span) -> None:
        self.type, self.value, self.span = type, value, span


class Stuck(Exception):
    """The machine cannot go on: where, and what it would have taken there."""

    def __init__(self, start: int, accepts: frozenset[str]) -> None:
        super().__init__(start)
        self.start = start
        self.accepts = accepts


class Machine:
    """A table with its callbacks. It keeps nothing of a text, so that threads can share it."""

    def __init__(self, table: Table, callbacks: Mapping[str, Callback]) -> None:
        skipped = "|".join(table.terminals[name] for name in table.skipped)
        self._skip = re.compile(f"(?>(?:{skipped})*)")
        self._words = [self._looked_for(table, names) for names in table.scanners]
        self._compiled: list[re.Pattern[str] | None] = [None] * len(table.scanners)
        self._scanner_of = [scanner for scanner, _, _ in table.states]
        self._does = [does for _, does, _ in table.states]
        self._goes = [goes for _, _, goes in table.states]
        self._rules = [(origin, length, _building(shape, callbacks)) for origin, length, shape in table.rules]
        self._start, self._end = table.start, table.end

    def run(self, text: str, taken: Callable[[Token], None]) -> Any:
        """What the callbacks make of a text; `taken` is called with each accepted word."""
        return self._run(text, taken, None)

    def could_follow(self, text: str, until: int | None = None) -> frozenset[str]:
        """What could stand after a text, or at a place in it (some words are known by what follows)."""
        end = len(text) if until is None else until
        accepts: frozenset[str] = self._run(text, lambda token: None, end)
        return accepts

    def _run(self, text: str, taken: Callable[[Token], None], until: int | None) -> Any:
        does, goes, rules, compiled = self._does, self._goes, self._rules, self._compiled
        scanner_of = self._scanner_of
        state = self._start
        states = [state]
        values: list[Any] = []
        at, line, begin = 0, 1, 0  # the offset, its line, and where that line begins
        while True:
            scanner = compiled[scanner_of[state]] or self._compile(scanner_of[state])
            match = scanner.match(text, at)
            if match is None:
                at = self._skip.match(text, at).end()  # type: ignore[union-attr]  # it matches nothing, too
                if at < len(text) and (until is None or at < until):
                    raise Stuck(at, self._could_stand(states))
                if until is not None:
                    return self._could_stand(states)
                kind = END
            else:
                kind = match.lastgroup or ""
                start, end = match.span(kind)
                if until is not None and start >= until:
                    return self._could_stand(states)
                if start != at and (lines := text.count("\n", at, start)):
                    line += lines
                    begin = text.rfind("\n", at, start) + 1
                at = end
            while (action := does[state].get(kind)) is not None and action < 0:
                origin, length, build = rules[~action]
                if build is None:  # only another name for the same thing
                    states.pop()
                elif length:
                    children = values[-length:]
                    del values[-length:], states[-length:]
                    values.append(build(children))
                else:
                    values.append(build([]))
                state = goes[states[-1]][origin]
                states.append(state)
                if kind == END and state == self._end:
                    return values[0]
            if action is None or match is None:
                raise Stuck(len(text) if match is None else start, self._could_stand(states))
            value = text[start:end]
            column = start - begin + 1
            if "\n" in value:
                first = line
                line += value.count("\n")
                begin = text.rfind("\n", start, end) + 1
                token = Token(kind, value, Span(start, end, first, column, line, end - begin + 1))
            else:
                token = Token(kind, value, Span(start, end, line, column, line, column + end - start))
            states.append(action)
            values.append(token)
            state = action
            taken(token)

    def _could_stand(self, states: list[int]) -> frozenset[str]:
        """The terminals that would be shifted after some reductions, or end the text."""
        return frozenset(kind for kind in self._does[states[-1]] if self._takes(states, kind))

    def _takes(self, states: list[int], kind: str) -> bool:
        stack = states
        while True:
            action = self._does[stack[-1]].get(kind)
            if action is None:
                return False
            if action >= 0:
                return True
            origin, length, _ = self._rules[~action]
            stack = stack[: len(stack) - length]
            stack.append(self._goes[stack[-1]][origin])
            if stack[-1] == self._end:
                return kind == END

    def _looked_for(self, table: Table, names: list[str]) -> str:
        words = "|".join(f"(?P<{name}>{table.terminals[name]})" for name in names)
        return f"{self._skip.pattern}(?:{words or '(?!)'})"

    def _compile(self, scanner: int) -> re.Pattern[str]:
        """Made when a text first needs it: a small query needs few of them."""
        found = self._compiled[scanner] = re.compile(self._words[scanner])
        return found


def _as_they_are(children: list[Any]) -> list[Any]:
    return children


def _building(shape: Shape, callbacks: Mapping[str, Callback]) -> Callback | None:
    """What makes a node of its children; none if its one child is the node."""
    parts, blanks, single = shape.parts, [None] * shape.blanks, shape.single
    callback = callbacks.get(shape.callback)
    if parts is None:
        return None if single else callback or _as_they_are

    def build(children: list[Any]) -> Any:
        found: list[Any] = []
        for place, inlined, before in parts:
            if before:
                found += [None] * before
            if not inlined:
                found.append(children[place])
            elif found:
                found += children[place]
            else:  # a list that grows from the left is not copied
                found = children[place]
        found += blanks
        if single and len(found) == 1:
            return found[0]
        return found if callback is None else callback(found)

    return build
