"""Writes docs/language.md from the grammar: its rules in reading order, with the words that they stand for.

In: grammar/*.lark; a section begins with `// --- title ---`, a comment above a rule is its prose. Out: the
page. What is not in the grammar is in `SECTIONS`: an example for each section, which the tests check.

    python docs/scripts/language.py            write the page
    python docs/scripts/language.py --check    say whether it is what the grammar gives today
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
GRAMMAR, PAGE = ROOT / "grammar", ROOT / "docs" / "language.md"


class Section(NamedTuple):
    """What a section of the grammar is called on the page, what is said first, and an example."""

    title: str
    words: str
    example: str = ""


HEAD = "PREFIX : <http://example.org/building#>\n"
SECTIONS = {
    "the file": Section(
        "A file",
        "A file has a prologue, then events, states and RETURNs. `VOCAB` names the ontology, `FROM GRAPH` "
        "the static graph, and `FROM STREAM` a stream of items. `INCLUDE` reads the events of another file. "
        "`FROM NAMED WINDOW` declares a [window](operators.md#windows).",
        f"{HEAD}VOCAB <ontology.ttl>\nFROM GRAPH <static.ttl>\nFROM STREAM <doors>\n\n"
        "EVENT Busy AS (Room and armedWith some (Sensor and observesPerson some Thing))\n\n"
        "RETURN Busy AS RDF STREAM\n",
    ),
    "windows": Section(
        "Windows and durations",
        "The frame of a [window](operators.md#windows) selects its items.",
    ),
    "events": Section(
        "Events",
        "`AS` defines a logical event by a class expression. `MATCH` defines a composite event by a pattern. "
        "`ON <stream>` restricts a logical event to one stream.",
        f"{HEAD}FROM STREAM <doors>\n\nEVENT Seen ON <doors> AS (observesPerson some Thing)\n\n"
        "EVENT Twice(?sensor) MATCH Seen(?sensor) AS one SEQ Seen(?sensor) AS two WITHIN 5 min\n"
        "  POLICY recent\n  IF { EVENT one, two { ?this :observesPerson ?who . } }\n"
        "  CONSTRUCT { ?this :about ?sensor . }\n\nRETURN Twice\n",
    ),
    "states": Section(
        "States",
        "A [state](states.md) holds from one instant to another. It is defined by events that begin and end "
        "it (`FROM … TO …`), by aggregates over the last minutes (`OVER … WITHIN …`), by the content of a "
        "window or the static graph (`AS`), or by a calendar (`DAILY`). Patterns use `BEGIN S`, `END S`, "
        "`S FOR d`, `WHILE S` and `UNLESS S`. `RETURN S AS ALERTS` reports its beginning and its end.",
        f"{HEAD}FROM STREAM <doors>\nFROM NAMED WINDOW <now> ON <points> [LATEST 5 min]\n\n"
        "EVENT Presence AS (Sensor and observesPerson some Thing)\n"
        "EVENT Absence AS (Sensor and observesPerson exactly 0 Thing)\n\n"
        "STATE Occupied(?s) FROM Presence(?s) TO Absence(?s) TIMEOUT 30 min\n"
        'STATE Closed DAILY FROM 20:00 TO 06:00 ON Mon-Fri ZONE "Europe/Rome"\n'
        "STATE Busy(?s) OVER Presence(?s) WITHIN 1 h AGGREGATE (COUNT(*) AS ?n) HAVING (?n > 6)\n"
        "STATE TooHot(?z) ON <now> AS { ?z :temperature ?t FILTER(?t > 30) }\n\n"
        "EVENT Intruder(?s) MATCH BEGIN Occupied(?s) WHILE Closed\n"
        "EVENT Overheated(?z) MATCH TooHot(?z) FOR 10 min REPEATED EVERY 1 h AT MOST 24 TIMES\n\n"
        "RETURN Intruder, Overheated\nRETURN Busy AS ALERTS\n",
    ),
    "queries over windows": Section("Queries", "A query over windows. It returns rows or graphs."),
    "prologue and queries": Section("SELECT, CONSTRUCT, ASK", "The forms of SPARQL 1.1."),
    "patterns": Section(
        "Patterns",
        "[Operators](operators.md) explains each operator with a picture.",
    ),
    "guards": Section("Guards", "[Guards](guards.md) explains them."),
    "triples of templates": Section("Triples", "The triples of guards and templates."),
    "groups": Section(
        "Groups",
        "Groups of SPARQL 1.1, in braces. They stand in a state, in a graph event (`EVENT H(?v) AS { … }`) "
        "or as a leaf of a MATCH. `S(?k)` in a group asks for a state that holds; without parameters it is "
        "`S()`. After `AS`, `{a, b}` is a class expression, and any other brace begins a group.",
        f"{HEAD}FROM STREAM <doors>\n\n"
        "EVENT Warm(?z, ?t) AS { ?z a :Zone ; :temperature ?t . OPTIONAL { ?z :name ?n } FILTER(?t > 25) }\n"
        "EVENT Both(?z) MATCH Warm(?z, ?t) SEQ { ?z :window/:open true } WITHIN 5 min\n\n"
        "RETURN Warm AS ROWS\n",
    ),
    "sub-selects": Section("Sub-selects", "With aggregates and modifiers, as in SPARQL 1.1."),
    "triples of groups": Section(
        "Triples and paths", "The triples of groups. Guards have no paths or lists."
    ),
    "terms": Section("Terms", "Names, variables and literals of groups, guards and templates."),
    "conditions": Section("Conditions", "[FILTER](guards.md#filter) lists functions, errors and limits."),
    "classes": Section(
        "Class expressions",
        "[Reasoning](reasoning.md) explains how they are decided.",
        f"{HEAD}\nEVENT Warm AS (celsius some number[> 25 degC])\n"
        "EVENT Crowded AS (Room and armedWith some (Sensor and observesPerson min 2 Person))\n"
        'EVENT Lab AS (Room and (label value "lab" or inverse partOf some Lab2))\n'
        "EVENT Lab2 AS {cellar, attic}\n\n"
        "RETURN Warm, Crowded, Lab\n",
    ),
}
PICTURES = {
    "SEQ": "seq", "NEXT": "next", "WITHOUT": "without", "NOT FOLLOWED BY": "not-followed-by",
    "WITHIN": "within", "OR": "or", "AND": "and", "JOIN": "join", "DURING": "during", "CONTAINS": "contains",
    "BEFORE": "before", "AFTER": "after", "MEETS": "meets", "METBY": "metby", "OVERLAPS": "overlaps",
    "OVERLAPPEDBY": "overlappedby", "STARTS": "starts", "STARTEDBY": "startedby", "FINISHES": "finishes",
    "FINISHEDBY": "finishedby", "EQUALS": "equals", "NOT": "not", "FIRST": "first", "LAST": "last",
    "OPTIONAL": "optional", "EVERY": "every", "TIMES": "times",
}  # fmt: skip
WORDS = {
    "IRI": ("an IRI in angle brackets", "<http://example.org/building#Room>"),
    "PREFIX_NAME": ("a prefix with its colon", "sosa:"),
    "VAR": ("a variable", "?room"),
    "BLANK": ("a blank node: matches anything and is not shown", "_:x"),
    "EVENT_WORD": ("the name of an event or alias: bare, prefixed, or an IRI", "Busy"),
    "RETURN_WORD": ("the name of an event", "Busy"),
    "CLASS_WORD": ("the name of a class, property, datatype or individual", "Room"),
    "GUARD_WORD": ("a name in a guard", ":armedWith"),
    "CONDITION_WORD": ("a name in a condition", "xsd:integer"),
    "INTEGER": ("digits", "3"),
    "NUMBER": ("an integer, decimal or double", "-2.5"),
    "UNSIGNED": ("a number without a sign", "2.5"),
    "FLOAT": ("a float, in class expressions", "2.5f"),
    "STRING": ("text in quotes, as in SPARQL", '"open"'),
    "LANGUAGE": ("a language tag", "@en"),
    "DURATION": ("a duration", "5 min"),
    "FUNCTION": ("a function of SPARQL", "regex"),
    "CLOCK": ("a time of day, up to 24:00", "18:00"),
    "DAY": ("a day of the week", "Mon"),
    "ATOM_WORD": ("the name of a state before (", "TooHot"),
}
SPELT = {
    "BOOLEAN": '"true" | "false"',
    "GROUP_BRACE": '"{"',
    "PATH_OR": '"|"',
    "PATH_INVERSE": '"^"',
    "PATH_TIMES": '"*" | "+" | "?"',
    "SEPARATOR": '"SEPARATOR" "="',
    "COMPUTE_EVERY": '"COMPUTE EVERY" | "COMPUTED EVERY"',
    "TIME_FUNCTION": '"getSTARTTIME" | "getENDTIME" | "getDURATION"',
}
"""Terminals that are not spelt as they are meant to be written."""
NAMED = {
    "_block": "block_body", "_days": "day_list", "_values": "value_list", "_groups": "grouping",
    "_havings": "conditions", "_triples": "triple_list",
}  # fmt: skip
"""Rules that the parser hides, under names that no other rule has."""
INTRODUCTION = """# The language

This page is generated from the grammar (`grammar/*.lark`) by `docs/scripts/language.py`. Words in quotes
are written as they are. UPPER_CASE names are the [words](#words) at the end. Other names are rules. `[x]` may
be left out, `x*` and `x+` repeat, `|` is a choice.

- Keywords are case-insensitive, except those of class expressions, which are lower case as in the W3C note.
- A keyword is reserved only where the grammar allows it. With a colon it is always a name: `:First`.
- A name without a prefix takes the prefix `:`. Without `PREFIX :`, that is BASE; without BASE it is
  `http://example.org/obep#`. `rdf:`, `rdfs:`, `owl:` and `xsd:` need no declaration.
- Comments begin with `#`. Nesting deeper than 100 is an error.
- `obep fmt` writes a query in its canonical form.
"""

_RULE = re.compile(r"^[?!]?([a-z_]+): ?(.*)$")
_TERMINAL = re.compile(r"^([A-Z_]+)(?:\.\d+)?: (.*)$")
_LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"(i?)')


def terminals() -> dict[str, str]:
    """What stands for itself, by the name of its terminal: `SEQ` is "SEQ" | "FOLLOWED BY" | "->"."""
    found: dict[str, str] = {}
    for line in _joined(_read("terminals.lark")):
        match = _TERMINAL.match(line)
        if match is None or match[1] in WORDS:
            continue
        words = _spelt(match[1], match[2])
        if words:
            found[match[1]] = words
    return found


def _spelt(name: str, definition: str) -> str:
    if name in SPELT:
        return SPELT[name]
    choices = []
    for choice in definition.split(" | "):
        pieces = [text.upper() if caseless else text for text, caseless in _LITERAL.findall(choice)]
        if not pieces:
            return ""
        choices.append('"' + " ".join(pieces) + '"')
    return " | ".join(choices)


class Rule(NamedTuple):
    """A rule with the comment above it."""

    name: str
    body: str
    prose: str


def rules(file: str) -> dict[str, list[Rule]]:
    """The rules of a file by the title of their section."""
    found: dict[str, list[Rule]] = {}
    section = "classes"
    prose: list[str] = []
    for line in _joined(_read(file)):
        if heading := re.match(r"^// --- (\w[\w -]*\w)", line):
            section, prose = heading[1], []
        elif line.startswith("//"):
            prose.append(line.removeprefix("//").strip())
        elif match := _RULE.match(line):
            found.setdefault(section, []).append(Rule(match[1], match[2], " ".join(prose)))
            prose = []
        elif not line.strip():
            prose = []
    return found


def _read(file: str) -> list[str]:
    return (GRAMMAR / file).read_text("utf-8").splitlines()


def _joined(lines: list[str]) -> list[str]:
    """Each rule on one line."""
    found: list[str] = []
    for line in lines:
        if line[:1].isspace() and line.strip() and found:
            found[-1] += " " + line.strip()
        else:
            found.append(line)
    return found


def shown(rule: Rule, words: dict[str, str]) -> str:
    """A rule as it is shown: node names dropped, terminals spelt out, a line for each choice."""
    body = re.sub(r"\s*->\s*\w+", "", rule.body)
    for hidden, name in NAMED.items():
        body = re.sub(rf"(?<!\w){hidden}\b", name, body)
    body = re.sub(r"\b_(?=[a-z])", "", body.replace("EVENT | EVENT_BLOCK", "EVENT"))
    choices = [choice.strip() for choice in _choices(body)]

    def spell(match: re.Match[str]) -> str:
        text = words.get(match[0])
        if text is None:
            return match[0]
        return f"({text})" if " | " in text else text

    spelt = [re.sub(r"\b[A-Z][A-Z_]+\b|\bA\b", spell, choice) or "(nothing)" for choice in choices]
    name = NAMED.get(rule.name, rule.name.removeprefix("_"))
    return f"{name} ::= " + f"\n{' ' * (len(name) + 3)}| ".join(spelt)


def _choices(body: str) -> list[str]:
    """Splits at the bars outside of all brackets."""
    found, depth = [""], 0
    for letter in body:
        depth += letter in "(["
        depth -= letter in ")]"
        if letter == "|" and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return found


def section(of: Section, its_rules: list[Rule], words: dict[str, str]) -> list[str]:
    """A section of the page."""
    lines = ["", f"## {of.title}", "", of.words, ""]
    if of.title == "Patterns":
        lines += ["| | |", "|---|---|"]
        lines += [f"| `{word}` | ![{word}](pictures/{name}.svg) |" for word, name in PICTURES.items()]
        lines.append("")
    if of.example:
        lines += ["```obep", of.example.rstrip("\n"), "```", ""]
    block: list[str] = []
    for rule in its_rules:
        if rule.prose and not rule.prose.startswith("Words in conditions"):
            if block:
                lines += ["```text", *block, "```", ""]
            lines += [rule.prose, ""]
            block = []
        block.append(shown(rule, words))
    return [*lines, "```text", *block, "```"]


def page() -> str:
    """The whole page."""
    words = terminals()
    by_section = {title.split(":")[0]: found for title, found in rules("obep.lark").items()}
    by_section |= {title.split(":")[0]: found for title, found in rules("sparql.lark").items()}
    by_section |= rules("manchester.lark") | rules("windows.lark")
    lines = [INTRODUCTION.rstrip("\n")]
    for name, of in SECTIONS.items():
        title = next(title for title in by_section if title.startswith(name))
        lines += section(of, by_section[title], words)
    lines += ["", "## Words", "", "| | | example |", "|---|---|---|"]
    lines += [f"| {name} | {meaning} | `{example}` |" for name, (meaning, example) in WORDS.items()]
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    """Write the page, or compare it."""
    text = page()
    same = PAGE.exists() and PAGE.read_text("utf-8") == text
    if "--check" in arguments:
        print("docs/language.md is what the grammar gives" if same else "docs/language.md is stale")
        return 0 if same else 1
    PAGE.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
