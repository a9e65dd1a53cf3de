"""The grammar as a table: what the LALR machine does in each state, and which words it looks for there.

lark makes the table of a language out of `grammar/*.lark`; `python -m obep.query.parse.parse_table` writes it
to `grammar/obep.json`, `grammar/csparql.json`, …, so that no run waits for lark. It carries the hash of the
grammar that it was made of: a table that is out of date is not used, but made again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from obep.query.ast import Language
from obep.query.languages import LANGUAGES
from obep.resources import resource


def place_of(language: Language = "obep") -> str:
    """Where the table of a language is kept."""
    return f"grammar/{language}.json"


class Shape(NamedTuple):
    """How the children of a reduction become those of its node."""

    callback: str
    single: bool
    """One child stands for the node (`?rule`)."""
    parts: list[tuple[int, bool, int]] | None
    """Which children, whether theirs are taken instead, how many blanks come before; none: all of them."""
    blanks: int
    """The number of blanks that follow (a missing optional part is a blank)."""


class Table(NamedTuple):
    """States are numbers; a shift is the next state, a reduction the complement of its rule's number."""

    made_of: str
    terminals: dict[str, str]
    """The regular expressions of the words."""
    skipped: list[str]
    scanners: list[list[str]]
    """The words that are looked for together, in this order."""
    states: list[tuple[int, dict[str, int], dict[str, int]]]
    """Scanner, what to do at a word, and where to go after a reduction."""
    rules: list[tuple[str, int, Shape]]
    """For each rule: its name, the number of children, and their shape."""
    start: int
    end: int


def load_table(language: Language = "obep") -> Table:
    """The table that ships with obep, unless the grammar has been changed since."""
    try:
        stored = read_table(resource(place_of(language)))
    except (OSError, ValueError, TypeError):
        return make_table(language)
    return stored if stored.made_of == _hash(language) else make_table(language)


def read_table(text: str) -> Table:
    """A table out of JSON."""
    table = Table(**json.loads(text))
    rules = [(origin, length, Shape(*shape)) for origin, length, shape in table.rules]
    rows = table.states
    return table._replace(rules=rules, states=rows)


def write_table(table: Table) -> str:
    """A table as JSON, a line for each of its rows."""

    def rows(values: Iterator[Any]) -> str:
        return ",\n".join(json.dumps(value, separators=(",", ":")) for value in values)

    fields = []
    for name, value in table._asdict().items():
        if name in ("scanners", "states", "rules"):
            fields.append(f'"{name}": [\n{rows(iter(value))}\n]')
        else:
            fields.append(f'"{name}": {json.dumps(value)}')
    return "{\n" + ",\n".join(fields) + "\n}\n"


def _texts(language: Language) -> list[str]:
    return [resource(f"grammar/{name}.lark") for name in LANGUAGES[language].grammar]


def _hash(language: Language) -> str:
    return blake2b("\0".join(_texts(language)).encode(), digest_size=16).hexdigest()


# --- made by lark ---------------------------------------------------------------------------------------


def lark_parser(language: Language = "obep") -> Any:
    """The grammar as lark reads it."""
    from lark import Lark

    return Lark("\n".join(_texts(language)), start="query_file", parser="lalr", maybe_placeholders=True)


def make_table(language: Language = "obep") -> Table:
    """The table of the grammar. Its numbers do not depend on how lark numbers things."""
    from lark.parsers.lalr_analysis import Shift

    made = lark_parser(language)
    parse_table = made.parser.parser.parser.parse_table
    lexers = made.parser.lexer.lexers
    rules = lark_rules(made)
    rule_numbers = {rule: number for number, rule in enumerate(rules)}
    start, end = parse_table.start_states["query_file"], parse_table.end_states["query_file"]
    numbers = _numbered(parse_table.states, start, Shift)
    scanners: dict[tuple[str, ...], int] = {}
    states = []
    for state in numbers:
        scanner = scanners.setdefault(_looked_for(lexers[state], made.ignore_tokens), len(scanners))
        does: dict[str, int] = {}
        goes: dict[str, int] = {}
        for symbol, (action, argument) in sorted(parse_table.states[state].items()):
            if action is not Shift:
                does[symbol] = ~rule_numbers[argument]
            else:
                (does if symbol.isupper() or symbol == "$END" else goes)[symbol] = numbers[argument]
        states.append((scanner, does, goes))
    return Table(
        _hash(language),
        {
            terminal.name: terminal.pattern.to_regexp()
            for terminal in sorted(made.terminals, key=lambda t: t.name)
        },
        sorted(made.ignore_tokens),
        [list(names) for names in scanners],
        states,
        [(str(rule.origin.name), len(rule.expansion), _shape(rule)) for rule in rules],
        numbers[start],
        numbers[end],
    )


def lark_rules(made: Any = None) -> list[Any]:
    """The alternatives of all rules, in the order of the table."""

    def order(rule: Any) -> tuple[str, list[str], str]:
        return str(rule.origin.name), [str(symbol.name) for symbol in rule.expansion], str(rule.alias)

    return sorted((made or lark_parser()).rules, key=order)


def _numbered(states: Any, start: int, shift: Any) -> dict[int, int]:
    """The states in the order in which they are reached."""
    numbers = {start: 0}
    waiting = [start]
    for state in waiting:
        for _, (action, argument) in sorted(states[state].items(), key=lambda entry: str(entry[0])):
            if action is shift and argument not in numbers:
                numbers[argument] = len(numbers)
                waiting.append(argument)
    return numbers


def _looked_for(lexer: Any, skipped: list[str]) -> tuple[str, ...]:
    """The words of a state in lark's order; those that are skipped come first anyway."""
    names = [terminal.name for terminal in lexer.scanner.terminals]
    assert not lexer.callback, "a word that is two words at once"
    assert set(names[: len(skipped)]) == set(skipped), "what is skipped has to come first"
    return tuple(names[len(skipped) :])


def _shape(rule: Any) -> Shape:
    blanks = [0] * (len(rule.expansion) + 1)
    if rule.options.empty_indices:
        place = 0
        for is_blank in rule.options.empty_indices:
            blanks[place] += is_blank
            place += not is_blank
    parts = [
        (number, not symbol.is_term and symbol.name.startswith("_"), blanks[number])
        for number, symbol in enumerate(rule.expansion)
    ]
    assert not any(symbol.is_term and symbol.filter_out for symbol in rule.expansion), "a word without a name"
    plain = not any(inlined or before for _, inlined, before in parts) and not blanks[-1]
    return Shape(
        rule.alias or str(rule.origin.name),
        bool(rule.options.expand1 and not rule.alias),
        None if plain else parts,
        blanks[-1],
    )


if __name__ == "__main__":
    for one in LANGUAGES:
        target = Path(__file__).resolve().parents[3] / place_of(one)
        target.write_text(write_table(make_table(one)), encoding="utf-8")
        print(f"{target}: written")
