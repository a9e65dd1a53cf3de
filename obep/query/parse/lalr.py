"""The LALR machine: runs the table of the grammar over a text, word by word, and calls back for each rule.

The state decides which words are looked for (a word is reserved only where it means something). A state of
LALR may look for words that only other ways to it allow: before it reduces, the machine asks the whole stack.
Nothing here recurses, and nothing is built but what the callbacks build.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from obep.errors import Span
from obep.query.parse.parse_table import Shape, Table

Callback = Callable[[list[Any]], Any]
END = "$END"
NAMES = ("_WORD", "QUERY_NAME")
"""The endings of terminals that match any name; keywords are names where no keyword is expected."""


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
        self._terminals, self._scanners = table.terminals, table.scanners
        self._narrowed: dict[frozenset[str], re.Pattern[str]] = {}
        self._compiled: list[re.Pattern[str] | None] = [None] * len(table.scanners)
        self._scanner_of = [scanner for scanner, _, _ in table.states]
        self._does = [does for _, does, _ in table.states]
        self._goes = [goes for _, _, goes in table.states]
        self._doubtful: list[frozenset[str] | None] = [None] * len(table.states)
        self._names = {name for name in table.terminals if name.endswith(NAMES)}
        self._rules = [(origin, length, _building(shape, callbacks)) for origin, length, shape in table.rules]
        self._start, self._end = table.start, table.end

    def run(self, text: str, taken: Callable[[Token], None]) -> Any:
        """Parse a text and return the result of the callbacks; `taken` is called with each accepted word."""
        return self._run(text, taken, None)

    def could_follow(self, text: str, until: int | None = None) -> frozenset[str]:
        """The terminals that may follow a text, or stand at a place in it."""
        end = len(text) if until is None else until
        accepts: frozenset[str] = self._run(text, lambda token: None, end)
        return accepts

    def _run(self, text: str, taken: Callable[[Token], None], until: int | None) -> Any:
        does, goes, rules, compiled = self._does, self._goes, self._rules, self._compiled
        scanner_of, doubtful = self._scanner_of, self._doubtful
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
                unsure = doubtful[state]
                if unsure is None:
                    unsure = self._doubt(state)
                if kind in unsure and not self._takes(states, kind):
                    match = self._narrow(states).match(text, at) or match
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
        does, goes, rules = self._does, self._goes, self._rules
        kept, pushed = len(states), list[int]()  # the stack: what is kept of `states`, and what is above it
        while True:
            action = does[pushed[-1] if pushed else states[kept - 1]].get(kind)
            if action is None or action >= 0:
                return action is not None
            origin, length, _ = rules[~action]
            above = min(length, len(pushed))
            del pushed[len(pushed) - above :]
            kept -= length - above
            state = goes[pushed[-1] if pushed else states[kept - 1]][origin]
            pushed.append(state)
            if state == self._end:
                return kind == END

    def _doubt(self, state: int) -> frozenset[str]:
        """The keywords at which a state reduces although they may have to be names there."""
        does = self._does[state]
        found = self._doubtful[state] = frozenset(
            () if self._names.isdisjoint(does) else (k for k in does if does[k] < 0 and k not in self._names)
        )
        return found

    def _narrow(self, states: list[int]) -> re.Pattern[str]:
        """Looks for the words that can stand after this very stack."""
        accepts = self._could_stand(states)
        found = self._narrowed.get(accepts)
        if found is None:
            names = self._scanners[self._scanner_of[states[-1]]]
            found = self._narrowed[accepts] = self._looking_for([name for name in names if name in accepts])
        return found

    def _looking_for(self, names: list[str]) -> re.Pattern[str]:
        words = "|".join(f"(?P<{name}>{self._terminals[name]})" for name in names)
        return re.compile(f"{self._skip.pattern}(?:{words or '(?!)'})")

    def _compile(self, scanner: int) -> re.Pattern[str]:
        """Made when a text first needs it: a small query needs few of them."""
        found = self._compiled[scanner] = self._looking_for(self._scanners[scanner])
        return found


def _as_they_are(children: list[Any]) -> list[Any]:
    return children


def _building(shape: Shape, callbacks: Mapping[str, Callback]) -> Callback | None:
    """Return the function that makes a node of its children; None if its only child is the node."""
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
