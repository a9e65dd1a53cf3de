"""Queries written in every way that the grammar allows: older words, free order, spare brackets, odd cases.

`written(file)` gives texts that must all parse to the same file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from hypothesis import strategies as st
from loose_groups import GroupWriter

from obep.formats.timestamps import show_instant
from obep.query import ast
from obep.query.parse.spelling import escape, show_micros
from obep.query.print.print_conditions import condition_text
from obep.query.print.printer import show, show_alias

FULL_DAYS = {
    "Mon": "Monday", "Tue": "tuesday", "Wed": "Wednesday", "Thu": "Thursday", "Fri": "Friday",
    "Sat": "saturday", "Sun": "Sunday",
}  # fmt: skip


class Writer:
    """Writes nodes with choices drawn by hypothesis."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.groups = GroupWriter(self)

    def choose(self, *options: str) -> str:
        return self.draw(st.sampled_from(options))

    def flip(self) -> bool:
        return self.draw(st.booleans())

    def word(self, word: str) -> str:
        return self.choose(word.upper(), word.lower(), word.title())

    def bracket(self, text: str) -> str:
        return f"({text})" if self.draw(st.integers(0, 9)) == 0 else text

    # --- values ---

    def duration(self, node: ast.Duration) -> str:
        plain = show_micros(node.micros)
        seconds = f"PT{node.micros // 1_000_000}.{node.micros % 1_000_000:06d}S"
        quoted = self.choose(f'"{seconds}"', f'"{seconds}"^^xsd:dayTimeDuration')
        text = self.choose(plain, plain.replace(" ", ""), plain.upper(), seconds, quoted)
        return f"({text})" if self.flip() else text

    def literal(self, node: ast.Literal) -> str:
        text = show(ast.TriplePattern(node, ast.Name("p", ""), node)).split(" p ")[0]
        if node.datatype is None and not node.language and self.flip():
            quote = self.choose("'", '"""', "'''")
            return quote + escape(node.lexical).replace("'", "\\'") + quote
        return text

    def class_literal(self, node: ast.Literal) -> str:
        name = node.datatype.text if node.datatype else ""
        if name == "xsd:float" and re.fullmatch(r"[0-9]+(\.[0-9]+)?", node.lexical) and self.flip():
            return node.lexical + self.choose("f", "F")
        return self.literal(node)

    # --- class expressions ---

    def description(self, node: ast.Description) -> str:
        return self.bracket(self._description(node))

    def _description(self, node: ast.Description) -> str:
        if isinstance(node, ast.Intersection | ast.Union):
            words = ("and", "that") if isinstance(node, ast.Intersection) else ("or",)
            text = self.simple(node.operands[0])
            for operand in node.operands[1:]:
                text += f" {self.choose(*words)} {self.simple(operand)}"
            return text
        if isinstance(node, ast.Complement):
            return f"not {self.simple(node.operand)}"
        if isinstance(node, ast.Some | ast.Only):
            word = "some" if isinstance(node, ast.Some) else "only"
            filler = self.simple(node.filler) if node.filler is not None else ""
            return f"{self.property(node.property)} {word} {filler}"
        if isinstance(node, ast.Cardinality):
            filler = self.simple(node.filler) if node.filler is not None else ""
            return f"{self.property(node.property)} {node.bound} {node.count} {filler}"
        if isinstance(node, ast.Value):
            return f"{self.property(node.property)} value {self.member(node.value)}"
        if isinstance(node, ast.HasSelf):
            return f"{self.property(node.property)} Self"
        if isinstance(node, ast.OneOf):
            return "{" + ", ".join(self.member(member) for member in node.members) + "}"
        if isinstance(node, ast.Restriction):
            return f"{node.datatype.text}[{', '.join(self.facet(facet) for facet in node.facets)}]"
        return show(node)

    def facet(self, node: ast.Facet) -> str:
        datatype = node.value.datatype
        if node.unit is None and datatype is not None and datatype.text == "xsd:float":
            return f"{node.facet} {self.class_literal(node.value)}"
        return show(node)

    def simple(self, node: ast.Description) -> str:
        loose = isinstance(node, ast.Intersection | ast.Union)
        return f"({self._description(node)})" if loose else self.description(node)

    def property(self, node: ast.Property) -> str:
        if isinstance(node, ast.Name):
            return node.text
        return self.choose(f"inverse {node.property.text}", f"inverse ({node.property.text})")

    def member(self, node: ast.Name | ast.Literal) -> str:
        return node.text if isinstance(node, ast.Name) else self.class_literal(node)

    # --- patterns ---

    def pattern(self, node: ast.Pattern) -> str:
        """Where a whole pattern may stand."""
        if isinstance(node, ast.Within):
            return f"{self.operand(node.operand)} {self.word('within')} {self.duration(node.within)}"
        if isinstance(node, ast.Seq | ast.Next):
            words = ("seq", "->", "followed by", "FOLLOWED_BY") if isinstance(node, ast.Seq) else ("next",)
            return self.chain(node.operands, *words)
        if isinstance(node, ast.And | ast.Join | ast.Or):
            words = {ast.And: ("and", "equals"), ast.Join: ("join",), ast.Or: ("or",)}[type(node)]
            return self.chain(node.operands, *words)
        if isinstance(node, ast.Allen):
            return self.chain((node.left, node.right), node.relation)
        if isinstance(node, ast.Without):
            return self.chain((node.left, node.right), "without")
        if isinstance(node, ast.NotFollowedBy):
            text = self.chain((node.left, node.right), "not followed by", "not_followed_by")
            return text if node.within is None else f"{text} WITHIN {self.duration(node.within)}"
        if isinstance(node, ast.Times):
            inner = node.operand
            text = self.pattern(inner)
            if not isinstance(inner, ast.Leaf | ast.GroupLeaf):
                text = f"({text})"
            return f"{text} {self.word('times')} {node.count}"
        if isinstance(node, ast.Leaf | ast.GroupLeaf):
            alias = f" {self.word('as')} {self.alias(node.alias)}" if node.alias is not None else ""
            return (self.leaf(node) if isinstance(node, ast.Leaf) else self.groups.braced(node.group)) + alias
        if isinstance(node, ast.While | ast.Unless):
            return f"{self.operand(node.left)} {self.word(type(node).__name__)} {self.use(node.state)}"
        if isinstance(node, ast.Repeated):
            until = f" {self.word('until')} {self.operand(node.until)}" if node.until is not None else ""
            most = f" AT MOST {node.at_most} {self.word('times')}" if node.at_most is not None else ""
            every = self.choose("repeated every", "REPEATED EVERY", "repeated_every")
            return f"{self.operand(node.operand)} {every} {self.duration(node.every)}{until}{most}"
        word = type(node).__name__
        return f"{self.word(word)} {self.operand(node.operand)}"

    def operand(self, node: ast.Pattern) -> str:
        unary = ast.Not | ast.First | ast.Last | ast.Every | ast.Optional
        simple = isinstance(node, ast.Leaf | ast.GroupLeaf | ast.Times | unary)
        return self.bracket(self.pattern(node)) if simple else f"({self.pattern(node)})"

    def chain(self, operands: Iterable[ast.Pattern], *words: str) -> str:
        first, *rest = operands
        loosest = words[0].lower() in ("seq", "next", "without", "not followed by")
        left = self.operand(first)
        if loosest and isinstance(first, ast.Without | ast.NotFollowedBy) and self.flip():
            left = self.pattern(first)  # all of them associate to the left
        return left + "".join(
            f" {self.word(self.choose(*words))} {self.operand(operand)}" for operand in rest
        )

    def leaf(self, node: ast.Leaf) -> str:
        moment = f"{self.word(node.moment)} " if node.moment != "event" else ""
        lasting = f" {self.word('for')} {self.duration(node.lasting)}" if node.lasting else ""
        window = f" {self.word('in')} <{node.window}>" if node.window is not None else ""
        return moment + show(ast.Leaf(node.event)) + self.parameters(node.parameters) + lasting + window

    def parameters(self, found: tuple[ast.Var, ...]) -> str:
        comma = self.choose(", ", " ")
        variables = comma.join(self.variable(v) for v in found)
        return f" ({variables})" if variables else ""

    def use(self, node: ast.StateUse) -> str:
        return show(ast.StateUse(node.state)) + self.parameters(node.parameters)

    def alias(self, alias: str) -> str:
        text = show_alias(alias)
        return f":{text}" if ":" not in text and self.flip() else text

    def variable(self, node: ast.Var) -> str:
        return show(node) if node.name.startswith("_:") else self.choose("?", "$") + node.name

    # --- guards ---

    def triples(self, triples: tuple[ast.TriplePattern, ...]) -> str:
        """With `;` and `,` where neighbours share what they may."""
        text = ""
        previous: ast.TriplePattern | None = None
        for triple in triples:
            if previous is not None and triple.subject == previous.subject and self.flip():
                if triple.predicate == previous.predicate:
                    text += f", {self.term(triple.object)}"
                else:
                    text += f"{self.choose(';', '; ;')} {show(triple.predicate)} {self.term(triple.object)}"
            else:
                text += " . " if previous is not None else ""
                text += f"{self.term(triple.subject)} {show(triple.predicate)} {self.term(triple.object)}"
            previous = triple
        return text + (self.choose(" . ", " ; . ", " ") if triples else "")

    def term(self, node: ast.Var | ast.Name | ast.Literal) -> str:
        if isinstance(node, ast.Literal):
            return self.literal(node)
        return self.variable(node) if isinstance(node, ast.Var) else node.text

    def filter(self, node: ast.Filter) -> str:
        condition = node.condition
        if isinstance(condition, ast.Call) and isinstance(condition.function, str) and self.flip():
            return f"{self.word('filter')} {show(condition)} {self.choose('.', '')}"
        spare = self.flip() and isinstance(condition, ast.Comparison | ast.Conjunction | ast.Var)
        text = f"({show(condition)})" if spare else show(condition)
        return f"{self.word('filter')} ({text}) {self.choose('.', '')}"

    def block(self, node: ast.Block) -> str:
        names = ", ".join(self.alias(alias) for alias in node.aliases) or "*"
        filters = " ".join(self.filter(one) for one in node.filters)
        return f"EVENT {names} {{ {self.triples(node.triples)} {filters} }}"

    def guard(self, node: ast.Guard) -> str:
        blocks = [self.block(block) for block in node.blocks]
        if node.blocks and not node.filters and not node.own and self.flip():
            return f"IF {' '.join(blocks)}"
        filters = [self.filter(one) for one in node.filters]
        dotted = " ".join(block + self.choose("", " .") for block in blocks)
        own = self.triples(node.own)
        return f"{self.word('if')} {{ {own} {dotted} {' '.join(filters)} }}"

    # --- the file ---

    def event(self, node: ast.Event) -> str:
        clauses = []
        if node.guard is not None:
            clauses.append(self.guard(node.guard))
        if node.construct:
            clauses.append(f"{self.word('construct')} {{ {self.triples(node.construct)} }}")
        head = f"{'NAMED ' if node.named else ''}EVENT {show(ast.Leaf(node.name))}"
        if isinstance(node, ast.LogicalEvent):
            if node.on is not None:
                clauses.append(f"ON <{node.on}>")
            main = f"{self.choose('AS', 'as', 'subClassOf')} {self.description(node.description)}"
        elif isinstance(node, ast.GraphEvent):
            head += self.parameters(node.parameters)
            if node.on is not None:
                clauses.append(f"ON <{node.on}>")
            main = f"{self.word('as')} {self.groups.braced(node.group)}"
        else:
            comma = self.choose(", ", " ")
            if node.parameters:
                head += f"({comma.join(self.variable(v) for v in node.parameters)})"
            if node.partition_by:
                clauses.append(
                    f"{self.choose('PARTITION BY', 'partition_by')} "
                    + comma.join(self.variable(v) for v in node.partition_by)
                )
            if node.policy != "unrestricted" or self.flip():
                clauses.append(f"{self.word('policy')} {self.word(node.policy)}")
            main = f"{self.word('match')} {self.bracket(self.pattern(node.pattern))}"
        clauses = list(self.draw(st.permutations(clauses)))
        clauses.insert(self.draw(st.integers(0, len(clauses))), main)
        body = " ".join(clauses) + self.choose("", " .")
        return f"{head} {{ {body} }}{self.choose('', ' .')}" if self.flip() else f"{head} {body}"

    def state(self, node: ast.State) -> str:
        head = f"{self.word('state')} {show(ast.StateUse(node.name))}{self.parameters(node.parameters)}"
        clauses = []
        if not isinstance(node, ast.GroupState) and node.guard is not None:
            clauses.append(self.guard(node.guard))
        if isinstance(node, ast.ClassState | ast.GroupState) and node.on is not None:
            head += f" {self.word('on')} <{node.on}>"
        if isinstance(node, ast.EventState):
            main = f"FROM {self.pattern(node.start)} {self.word('to')} {self.pattern(node.end)}"
            clauses += self.bounds(timeout=node.timeout, limit=node.limit)
        elif isinstance(node, ast.OverState):
            over = node.over
            text = f"STATE {self.use(over)}" if isinstance(over, ast.StateUse) else self.operand(over)
            main = f"{self.word('over')} {text} {self.word('within')} {self.duration(node.within)}"
            clauses += [*self.bounds(step=node.step), *self.over_clauses(node)]
        elif isinstance(node, ast.ClassState):
            main = f"{self.word('as')} ({self.description(node.description)})"
        elif isinstance(node, ast.GroupState):
            main = f"{self.word('as')} {self.groups.braced(node.group)}"
        else:
            main = f"{self.word('daily')} FROM {self.clock(node.start)} TO {self.clock(node.end)}"
            clauses += self.daily_clauses(node)
        clauses = list(self.draw(st.permutations(clauses)))
        return " ".join([head, main, *clauses]) + self.choose("", " .")

    def bounds(self, **found: ast.Duration | None) -> list[str]:
        return [f"{self.word(word)} {self.duration(one)}" for word, one in found.items() if one is not None]

    def over_clauses(self, node: ast.OverState) -> list[str]:
        found = [f"{self.choose('FOR EACH', 'for_each')} {self.use(node.each)}"] if node.each else []
        if node.group_by:
            found.append("GROUP BY " + self.choose(", ", " ").join(self.variable(v) for v in node.group_by))
        if node.aggregates:
            found.append(f"{self.word('aggregate')} {' '.join(show(one) for one in node.aggregates)}")
        if node.having is not None:
            found.append(f"{self.word('having')} ({condition_text(node.having)})")
        return found

    def daily_clauses(self, node: ast.DailyState) -> list[str]:
        found = []
        if isinstance(node.days, ast.Var):
            found.append(f"{self.word('on')} {self.variable(node.days)}")
        elif node.days:
            days = [self.choose(day, day.upper(), FULL_DAYS[day]) for day in node.days]
            found.append(f"{self.word('on')} {self.choose(', ', ',').join(days)}")
        if isinstance(node.zone, ast.Var):
            found.append(f"{self.word('zone')} {self.variable(node.zone)}")
        elif node.zone is not None:
            found.append(f"{self.word('zone')} {self.literal(ast.Literal(node.zone))}")
        return found

    def clock(self, clock: int | ast.Var) -> str:
        if isinstance(clock, ast.Var):
            return self.variable(clock)
        return f"{clock // 60:{self.choose('02d', 'd')}}:{clock % 60:02d}"

    def window(self, node: ast.Window) -> str:
        head = f"FROM NAMED WINDOW <{node.name}> ON <{node.stream}>"
        if node.event is not None:
            head = f"FROM NAMED WINDOW <{node.name}> ON EVENT {show(ast.StateUse(node.event))}"
        if node.kind == "latest":
            found = " ".join([self.duration(node.range) if node.range else "", *self.bounds(step=node.step)])
            by = f"{self.word('by')} {{ {self.triples(node.by)} }}" if node.by or self.flip() else ""
            return f"{head} [{self.word('latest')} {found} {by}]"
        if node.kind == "triples":
            return f"{head} [RANGE {self.word('triples')} {node.rows}]"
        if node.kind == "now":
            assert node.range is not None
            assert node.until is not None
            until = f"- {self.duration(node.until)}" if node.until.micros or self.flip() else ""
            step = " ".join(self.bounds(step=node.step))
            return f"{head} [FROM {self.word('now')}-{self.duration(node.range)} TO NOW {until} {step}]"
        if node.kind == "range":
            assert node.range is not None
            step = f" STEP {self.duration(node.step)}" if node.step else ""
            if node.step == node.range and self.flip():
                step = f" {self.word('tumbling')}"
            return f"{head} [{self.word('range')} {self.duration(node.range)}{step}]"
        if node.kind == "rows":
            step = f" STEP {node.rows_step}" if node.rows_step is not None else ""
            return f"{head} [{self.word('rows')} {node.rows}{step}]"
        if node.kind == "landmark":
            return f"{head} [{self.word('landmark')} {self.instant(node.start)}]"
        return f"{head} [FROM {self.instant(node.start)} TO {self.instant(node.end)}]"

    def instant(self, micros: int | None) -> str:
        assert micros is not None
        text = f'"{show_instant(micros)}"'
        number = [str(micros // 1_000_000)] if micros % 1_000_000 == 0 else []
        return self.choose(text, f"{text}^^xsd:dateTime", *number)

    def returned(self, node: ast.Return) -> str:
        what = self.word(node.which)
        if node.which == "listed":
            what = self.choose(", ", " ").join(show(name) for name in node.events)
        if node.lasting is not None:
            what += f" {self.word('for')} {self.duration(node.lasting)}"
        stream = f" {self.word('stream')}" if node.form in ("event", "rdf") else ""
        form = f" AS {self.word(node.form)}{stream}"
        if node.form == ("event" if node.lasting is None else "alerts") and self.flip():
            form = ""
        return f"{self.word('return')} {what}{form}{self.choose('', ' .')}"

    def file(self, file: ast.QueryFile) -> str:
        kinds = [
            [f"{self.word('base')} <{file.base}>"] if file.base is not None else [],
            [show(node) for node in file.prefixes],
            [show(node).replace("VOCAB", self.choose("VOCAB", "TBOX", "tbox")) for node in file.sources],
        ]
        prologue = []
        while any(kinds):  # in any order, but each kind keeps its own
            prologue.append(self.draw(st.sampled_from([kind for kind in kinds if kind])).pop(0))
        prologue += [self.window(node) for node in file.windows]  # their names need the prefixes
        rest = [self.event(node) for node in file.events]
        at = 0
        for state in file.states:  # in order, anywhere among the events
            at = self.draw(st.integers(at, len(rest)))
            rest.insert(at, self.state(state))
            at += 1
        at = 0
        for node in file.returns:  # in order, anywhere among the events
            at = self.draw(st.integers(at, len(rest)))
            rest.insert(at, self.returned(node))
            at += 1
        return self.choose("\n", "\r\n", "\t").join([*prologue, *rest])


@st.composite
def written(draw: st.DrawFn, files: st.SearchStrategy[ast.QueryFile]) -> tuple[ast.QueryFile, str]:
    """A file without comments, and a text for it."""
    file = draw(files)
    return file, Writer(draw).file(file)
