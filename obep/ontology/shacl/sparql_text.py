"""The text of SPARQL in shapes: what it may not use, and `$this` bound in every group of it.

SHACL binds `$this` before a query runs. Here each group that mentions `$this` begins with a VALUES clause for
it, which means the same: it is bound in each filter, sub-select and NOT EXISTS.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from obep.model import Term
from obep.ontology.owl.axioms import OWL, RDF, RDFS, XSD
from obep.ontology.owl.literals import parts
from obep.ontology.shacl.shacl_terms import SH, RefusedQuery, UnreadableShape, sh
from obep.ontology.shacl.triple_index import TripleIndex

_TOKEN = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"""|\'\'\'(?:[^\'\\]|\\.|\'(?!\'\'))*\'\'\''
    r'|"(?:[^"\\\n\r]|\\.)*"|\'(?:[^\'\\\n\r]|\\.)*\''
    r'|<[^<>"{}|^`\\\x00-\x20]*>|\#[^\n]*|[?$]\w+|@[A-Za-z][\w-]*|[A-Za-z_]\w*(?:[\w.-]*\w)?(?::\S*?(?=[\s;,.)(\[\]{}|/^*+?]|$))?'
    r"|\s+|.",
    re.DOTALL,
)
_FORBIDDEN = {
    "SERVICE": "obep sends no requests to other servers",
    "FROM": "a rule reads K and the ontology, and no other graph",
    "GRAPH": "a rule reads K and the ontology, and no other graph",
    "RAND": "its value is random",
    "NOW": "its value depends on the clock",
}
_ENDS_TRIPLES = {"BIND", "FILTER", "OPTIONAL", "MINUS", "VALUES", "UNION", "SELECT", "EXISTS"}
_FRESH = {"STRUUID", "UUID"}
FRESH = "urn:obep:fresh:"
"""The prefix of names that STRUUID() or UUID() has made."""
_DEFAULTS = {"rdf": RDF, "rdfs": RDFS, "owl": OWL, "xsd": XSD, "sh": SH}
_PLACE = "\x00"
"""Where the VALUES clauses go."""
_MOST_PATTERNS = 100
"""What the store's planner takes for so many patterns of one query grows with their fourth power: half a
second for 100, minutes for 500, and nothing can end it."""
_MOST_ALTERNATIVES = 20
"""Each alternative in an alternative of a path doubles what the planner takes."""
_NOT_CLOSED = "a { of the query is not closed"
_AS_FUNCTION = "BIND(<urn:obep:this>() AS ?this) "


@dataclass(frozen=True)
class Query:
    """A query with places for `$this`."""

    text: str
    prefixes: Mapping[str, str]
    at_once: bool
    """Whether many nodes can be asked about in one run: nothing in it counts, orders or groups."""
    fresh: bool
    """Whether it makes names."""

    def about(self, nodes: list[Term]) -> str:
        """The query for some nodes, none of them blank."""
        return self.text.replace(_PLACE, f"VALUES ?this {{ {' '.join(nodes)} }} ")

    def about_blank(self) -> str:
        """The query for a node that the function `urn:obep:this` gives."""
        return self.text.replace(_PLACE, _AS_FUNCTION)


def read_query(shapes: TripleIndex, node: Term, text: Term, form: str) -> Query:
    """The text of a query of a rule, target or constraint; `form` is CONSTRUCT or SELECT."""
    if not text.startswith('"'):
        raise RefusedQuery(f"sh:{form.lower()} is no text")
    tokens = _tokens(parts(text)[0])
    fresh = False
    for number, token in enumerate(tokens):
        word = token.upper()
        if word in _FORBIDDEN and not (word in ("RAND", "NOW") and not _calls(tokens, number)):
            raise RefusedQuery(f"it uses {word}: {_FORBIDDEN[word]}")
        if word in _FRESH and _calls(tokens, number):
            tokens[number], fresh = f"<{FRESH}{word.lower()}>", True
        fresh = fresh or (word == "BNODE" and _calls(tokens, number))
    words = [token.upper() for token in tokens if token[0].isalpha()]
    if form not in words:
        raise RefusedQuery(f"the query is not a {form}")
    if _patterns(tokens) > _MOST_PATTERNS:
        raise RefusedQuery(f"it has more than {_MOST_PATTERNS} triple patterns")
    if _alternatives(tokens) > _MOST_ALTERNATIVES:
        raise RefusedQuery(f"its paths have more than {_MOST_ALTERNATIVES} alternatives")
    prefixes = _prefixes(shapes, node)
    _check_prefixes(tokens, prefixes)
    if form == "CONSTRUCT":
        tokens = _binds_last(_long_form(tokens))
    return Query(
        _with_places(tokens, form),
        prefixes,
        words.count("SELECT") == (form == "SELECT") and "LIMIT" not in words and form == "CONSTRUCT",
        fresh,
    )


def _calls(tokens: list[str], number: int) -> bool:
    rest = (token for token in tokens[number + 1 :] if not token.isspace())
    return next(rest, "") == "("


def _tokens(text: str) -> list[str]:
    if _PLACE in text:
        raise RefusedQuery("the query has a character that no text may have")
    return [token for token in _TOKEN.findall(text) if not token.startswith("#")]


def _patterns(tokens: list[str]) -> int:
    """How many triple patterns a query may have: it has about as many signs that end or begin one.

    Of those in parentheses, commas separate arguments; terms without one make a collection, a pattern each.
    """
    found = depth = 0
    words = [token for token in tokens if not token.isspace()]
    for before, token, then in zip(["", *words], words, [*words[1:], ""], strict=False):
        depth += (token == "(") - (token == ")")
        if token in ("{", "[", "/", ";") or (token == "." and not (before.isdigit() and then.isdigit())):
            found += 1
        elif depth == 0:
            found += token == ","
        else:
            found += _is_term(before) and _is_term(token)
    return found


def _alternatives(tokens: list[str]) -> int:
    """How many `|` a query has; `||` is another sign."""
    words = [token for token in tokens if not token.isspace()]
    around = zip(["", *words], words, [*words[1:], ""], strict=False)
    return sum(token == "|" and "|" not in (before, then) for before, token, then in around)


def _is_term(token: str) -> bool:
    """Whether a token is a variable, a name or a text."""
    return token == ":" or (len(token) > 1 and token[0] in "?$<\"'")


def _group_end(tokens: list[str], begin: int) -> int:
    depth = 0
    for number in range(begin, len(tokens)):
        depth += (tokens[number] == "{") - (tokens[number] == "}")
        if depth == 0:
            return number
    raise RefusedQuery(_NOT_CLOSED)


def _long_form(tokens: list[str]) -> list[str]:
    """`CONSTRUCT WHERE { … }` as `CONSTRUCT { … } WHERE { … }`."""
    at = next(number for number, token in enumerate(tokens) if token.upper() == "CONSTRUCT")
    where = next((n for n in range(at + 1, len(tokens)) if not tokens[n].isspace()), at)
    if tokens[where].upper() != "WHERE" or "{" not in tokens[where:]:
        return tokens
    begin = tokens.index("{", where)
    group = tokens[begin : _group_end(tokens, begin) + 1]
    return [*tokens[: at + 1], *group, *tokens[where:]]


def _binds_last(tokens: list[str]) -> list[str]:
    """Moves a BIND behind the triples that follow it to the end of its group: the store joins those sooner.

    Only where the triples do not use what it binds, and the variables that it reads stand before it.
    """
    words = [token.upper() for token in tokens]
    closed = _ends(tokens, "(", ")")
    visible = _next(not token.isspace() for token in tokens)
    ending = _next(token in "{}" or word in _ENDS_TRIPLES for token, word in zip(tokens, words, strict=True))
    found: list[str] = []
    taken = opened = 0
    for number, token in enumerate(tokens):
        if token == "{":
            opened = number
        begin = visible[number + 1]
        end = closed.get(begin, len(tokens))
        if words[number] != "BIND" or end == len(tokens) or tokens[ending[end] : ending[end] + 1] != ["}"]:
            continue
        rest = tokens[end + 1 : ending[end]]
        before = {_plain(one) for one in tokens[opened:number]}
        inside = [_plain(one) for one in tokens[begin:end] if one[0] in "?$"]
        after = {_plain(one) for one in rest if one[0] in "?$"}
        if after and inside and inside[-1] not in after and before.issuperset(inside[:-1]):
            stop = () if "".join(rest).rstrip().endswith(".") else (" . ",)
            found += (*tokens[taken:number], *rest, *stop, *tokens[number : end + 1])
            taken = ending[end]
    return [*found, *tokens[taken:]]


def _ends(tokens: list[str], opening: str, closing: str) -> dict[int, int]:
    """For each opening bracket that is closed, where it is."""
    found: dict[int, int] = {}
    waiting: list[int] = []
    for number, token in enumerate(tokens):
        if token == opening:
            waiting.append(number)
        elif token == closing and waiting:
            found[waiting.pop()] = number
    return found


def _next(marked: Iterable[bool]) -> list[int]:
    """For each place the first one from there on that is marked; one beyond the last if there is none."""
    found = list(marked)
    at: list[int] = [len(found)] * (len(found) + 1)
    for number in reversed(range(len(found))):
        at[number] = number if found[number] else at[number + 1]
    return at


def _plain(token: str) -> str:
    return f"?{token[1:]}" if token[0] == "$" else token


def _with_places(tokens: list[str], form: str) -> str:
    """Marks the beginnings of the groups that mention `$this`, and the outermost one."""
    skipped = -1
    if form == "CONSTRUCT":
        at = next(number for number, token in enumerate(tokens) if token.upper() == "CONSTRUCT")
        if "{" not in tokens[at:]:
            raise RefusedQuery("the query has no template")
        skipped = _group_end(tokens, tokens.index("{", at))
    ends = _ends(tokens, "{", "}")
    this = _next(token in ("$this", "?this") for token in tokens)
    visible = _next(not token.isspace() for token in tokens)
    found: list[str] = []
    outermost = True
    for number, token in enumerate(tokens):
        found.append("?this" if token == "$this" else token)
        if token != "{" or number <= skipped or _is_data(tokens, number):
            continue
        if number not in ends:
            raise RefusedQuery(_NOT_CLOSED)
        is_select = tokens[visible[number + 1]].upper() == "SELECT"
        if not is_select and (this[number] < ends[number] or outermost):
            found.append(_PLACE)
            outermost = False
    return "".join(found)


def _is_data(tokens: list[str], number: int) -> bool:
    """Whether a { begins the rows of a VALUES clause."""
    before = [token for token in tokens[max(0, number - 40) : number] if not token.isspace()]
    while before and (before[-1][0] in "?$" or before[-1] in "()"):
        before.pop()
    return bool(before) and before[-1].upper() == "VALUES"


def _prefixes(shapes: TripleIndex, node: Term) -> dict[str, str]:
    """The prefixes of sh:prefixes, and of the ontologies that these import."""
    found = dict(_DEFAULTS)
    waiting = shapes.objects(node, sh("prefixes"))
    seen: set[Term] = set()
    while waiting:
        ontology = waiting.pop()
        if ontology in seen:
            continue
        seen.add(ontology)
        waiting += shapes.objects(ontology, f"<{OWL}imports>")
        for declared in shapes.objects(ontology, sh("declare")):
            prefix, namespace = shapes.one(declared, sh("prefix")), shapes.one(declared, sh("namespace"))
            if prefix is None or namespace is None:
                raise RefusedQuery(f"sh:declare of {ontology} lacks sh:prefix or sh:namespace")
            found[parts(prefix)[0]] = parts(namespace)[0] if namespace.startswith('"') else namespace[1:-1]
    return found


def _check_prefixes(tokens: list[str], declared: Mapping[str, str]) -> None:
    """Raises a prefix that neither sh:prefixes nor the query itself declares."""
    words = [token for token in tokens if not token.isspace()]
    own = {then[:-1] for word, then in pairwise(words) if word.upper() == "PREFIX" and then.endswith(":")}
    for word in words:
        name, colon, _ = word.partition(":")
        if colon and (not name or name[0].isalpha()) and name not in declared and name not in own:
            raise UnreadableShape(f"its SPARQL uses the prefix {name}: which sh:prefixes does not declare")
