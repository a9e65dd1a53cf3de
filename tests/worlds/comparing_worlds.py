"""Compare what obep says about a world with what the judges say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from worlds.asking_obep import Found, Pair, Said, ask_obep
from worlds.drawing import Item, World
from worlds.judges import Answer, Judges, Question, Request, agreed, theory
from worlds.vocabulary import FRESH, KNOWN, Expression

IMPOSSIBLE, CONTRADICTORY, EMPTY = "OBEP344", "OBEP345", "OBEP312"
REFUSALS = {IMPOSSIBLE, CONTRADICTORY, EMPTY}
"""Right refusals of a world that contradicts itself or has an impossible event: the first found is named."""
DEAD = "OBEP620"
PANEL = ("hermit", "openllet")
ARBITERS = (*PANEL, "jfact")
ARBITRATED = 10
"""Items of a world that the arbiters see: what two judges see apart in one item they see apart in many."""
"""JFact is slow and often fails, so it is only asked where the others differ, and to confirm."""


@dataclass(frozen=True)
class Difference:
    """A world with at most one item on which obep and the judges, or two judges, differ."""

    kind: str
    """missed, invented (an occurrence), missed clash, invented clash (of an item), missed refusal, invented
    refusal (of a world), refused (for a reason that no judge can know), explanations, judges (they differ)"""
    world: World
    pair: Pair | None
    obep: str
    judges: str

    def line(self) -> str:
        about = f" {self.pair[0]}({self.pair[1]})" if self.pair else ""
        name = f"world {self.world.seed}/{self.world.number}"
        return f"{name}: {self.kind}{about}: obep {self.obep}; judges {self.judges}"


def individuals(nodes: Iterable[Expression]) -> list[str]:
    """The individuals that some axioms and expressions name."""
    found: set[str] = set()

    def look(node: Expression) -> None:
        if isinstance(node, tuple):
            for part in node[1:] if node[0] != "Literal" else ():
                look(part)
        elif isinstance(node, str) and node[:2] in (":a", ":b", ":n") and node[2:].isdigit():
            found.add(node)

    for node in nodes:
        look(node)
    return sorted(found)


def goals_of(world: World, item: Item = ()) -> tuple[Pair, ...]:
    bodies = (body for _, body in world.events)
    names = individuals((*world.axioms, *world.k, *bodies, *item))
    return tuple((event, name) for event, _ in world.events for name in names)


class Comparison:
    """Compares worlds one after the other and counts what was compared."""

    def __init__(self, judges: Judges, panel: tuple[str, ...] = PANEL, least: int = 1) -> None:
        """`least`: how many judges must say the same."""
        self.judges = judges
        self.panel = panel
        self.least = least
        self.count: Counter[str] = Counter()
        self.pairs: set[tuple[str, str]] = set()
        self._left = ARBITRATED

    def compare(self, world: World) -> list[Difference]:
        """Every difference about a world: whether it can be compiled, then each of its items."""
        base = self._base(world)
        if base is None:
            self.count["worlds without a verdict"] += 1
            return []
        if base == "inconsistent":
            self.count["contradictory worlds"] += 1
            return self._refusal(world, CONTRADICTORY, set())
        possible = dict(zip((name for name, _ in world.events), base, strict=True))
        if not all(possible.values()):
            self.count["worlds with an impossible event"] += 1
            gone = {name for name, can in possible.items() if not can}
            if differences := self._refusal(world, IMPOSSIBLE, gone):
                return differences
            world = replace(world, events=tuple(_kept(world, possible)))
            if not world.events:
                return []
        return self._items(world)

    def _base(self, world: World) -> Answer:
        question = Question(possible=tuple(name for name, _ in world.events))
        request = Request((*theory(world), *world.k), (question,), self.panel)
        answers = [one[0] for one in self.judges.ask(request).values()]
        answer, same = agreed(answers, self.least)
        if not same:
            self.count["worlds on which judges differ"] += 1
        return answer

    def _refusal(self, world: World, code: str, gone: set[str]) -> list[Difference]:
        """A world that contradicts itself or has impossible events: of those that K excludes it may warn."""
        said = ask_obep(replace(world, items=()))
        if REFUSALS & {*said.codes} or (gone and gone == said.excluded):
            return []
        alone = replace(world, items=())
        says = f"refuses with {said.codes}: {said.message}" if said.codes else "accepts it"
        kind = "refused" if said.codes else "missed refusal"
        return [Difference(kind, alone, None, says, f"expect {code}")]

    def _items(self, world: World) -> list[Difference]:
        """Sends all items to the judges, asks obep meanwhile, and compares."""
        questions = [self._before(world)]
        questions += [Question(item, goals_of(world, item)) for item in world.items]
        request = Request((*theory(world), *world.k), tuple(questions), self.panel)
        self.judges.send(request)
        said = ask_obep(world)
        answers = self.judges.receive(request)
        self.count["worlds"] += 1
        if said.codes:
            self.count["refused " + " ".join(said.codes)] += 1
            if EMPTY in said.codes:  # an empty facet in a definition is refused, whatever else it says
                return []
            kind = "invented refusal" if {IMPOSSIBLE, CONTRADICTORY} & {*said.codes} else "refused"
            text = f"refuses with {said.codes}: {said.message}"
            crashed = not all(code.startswith("OBEP") for code in said.codes)  # the items may be why
            return [Difference(kind, world if crashed else replace(world, items=()), None, text, "accept it")]
        if said.excluded:
            text = f"says that {', '.join(sorted(said.excluded))} can never happen"
            return [Difference("invented refusal", replace(world, items=()), None, text, "accept it")]
        self.pairs |= world.pairs()
        known = self._known(answers, questions[0])
        self.count["items that obep had no time for"] += len(world.items) - len(said.items)
        self._left = ARBITRATED
        return [
            difference
            for index, item in enumerate(world.items[: len(said.items)])
            for difference in self._item(
                replace(world, items=(item,)),
                said.items[index],
                {judge: given[index + 1] for judge, given in answers.items()},
                questions[index + 1].goals,
                known,
            )
        ]

    def _before(self, world: World) -> Question:
        """What holds before any item, also of names that only items bring: it may hold of everything."""
        declared = tuple(("Declaration", ("NamedIndividual", name)) for name in (*KNOWN, *FRESH))
        return Question(
            declared, goals_of(world, tuple(("ClassAssertion", "", name) for name in (*KNOWN, *FRESH)))
        )

    def _known(self, answers: dict[str, list[Answer]], question: Question) -> frozenset[Pair]:
        """What some judge takes to follow from T and K alone: it is not news."""
        return frozenset(
            goal
            for given in answers.values()
            if isinstance(given[0], tuple)
            for goal, yes in zip(question.goals, given[0], strict=True)
            if yes
        )

    def _item(
        self,
        world: World,
        found: Found,
        answers: dict[str, Answer],
        goals: tuple[Pair, ...],
        known: frozenset[Pair],
    ) -> Iterator[Difference]:
        self.count["items"] += 1
        answer, same = agreed(answers.values(), self.least)
        if not same:
            self.count["items on which judges differ"] += 1
            given = {judge: _words(one, goals) for judge, one in answers.items()}
            says = found.code or str(sorted(found.explanations))
            yield Difference("judges", world, None, says, str(given))
        if not same and len(self.panel) < len(ARBITERS):
            self._left -= 1
            if self._left < 0:
                self.count["of these left aside"] += 1
                return
            answer, _ = agreed(judged_alone(self.judges, world, ARBITERS).values(), least=2)
            self.count["of these decided by a third judge"] += answer is not None
        if answer is None:
            self.count["items without a verdict"] += 1
            return
        yield from self._against(world, found, answer, goals, known)

    def _against(
        self, world: World, found: Found, answer: Answer, goals: tuple[Pair, ...], known: frozenset[Pair]
    ) -> Iterator[Difference]:
        if answer == "inconsistent":
            self.count["inconsistent items"] += 1
            if found.code != DEAD:
                yield Difference(
                    "missed clash", world, None, f"finds {sorted(found.explanations)}", "inconsistent"
                )
            return
        if found.code is not None:
            kind = "invented clash" if found.code == DEAD else f"dead letter {found.code}"
            yield Difference(kind, world, None, f"{found.code} {found.reason}", "consistent")
            return
        assert answer is not None
        entailed = {goal for goal, yes in zip(goals, answer, strict=True) if yes}
        self.count["entailed"] += len(entailed - known)
        for pair in sorted(set(found.explanations) - entailed):
            yield Difference("invented", world, pair, "reports it", "not entailed")
        for pair in sorted(entailed - known - set(found.explanations)):
            yield Difference("missed", world, pair, "does not report it", "entailed")


def _kept(world: World, possible: dict[str, bool]) -> Iterator[tuple[str, Expression]]:
    """The events that can occur, without those that speak of an event that cannot."""
    gone = {name for name, can in possible.items() if not can}
    for name, body in world.events:
        if name not in gone and not any(other in str(body) for other in gone):
            yield name, body


def _words(answer: Answer, goals: tuple[Pair, ...]) -> str:
    if isinstance(answer, tuple):
        return str([goal for goal, yes in zip(goals, answer, strict=True) if yes])
    return str(answer)


def judged_alone(judges: Judges, world: World, panel: tuple[str, ...]) -> dict[str, Answer]:
    """What each judge says about the only item of a world, with a reasoner of its own."""
    item = world.items[0] if world.items else ()
    question = Question(goals=goals_of(world, item))
    request = Request((*theory(world), *world.k, *item), (question,), panel, anew=True)
    return {judge: given[0] for judge, given in judges.ask(request).items()}


__all__ = ["Comparison", "Difference", "Said", "goals_of", "individuals", "judged_alone"]
