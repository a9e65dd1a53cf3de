"""Ask obep: compile a world once, push its items one after the other, as a user would."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import obep
from worlds.drawing import Item, World
from worlds.vocabulary import NS, PREFIXES
from worlds.writing import DECLARED, TURTLE_PREFIXES, manchester, turtle

Triple = tuple[str, str, str]
Pair = tuple[str, str]
EXCLUDED = "OBEP219"
BUDGET = 20.0
"""Seconds of CPU time for the items of one world: a hard one would take the time of hundreds."""


@dataclass(frozen=True)
class Found:
    """What obep says about an item: the code of its dead letter, or explanations by event and individual."""

    code: str | None = None
    reason: str = ""
    explanations: dict[Pair, frozenset[frozenset[Triple]]] = field(default_factory=dict)


@dataclass(frozen=True)
class Said:
    """What obep says about a world: the codes of a refusal, or one answer for each item."""

    codes: tuple[str, ...] = ()
    message: str = ""
    items: tuple[Found, ...] = ()
    """Fewer than were asked, where the first ones took all the time."""
    excluded: frozenset[str] = frozenset()
    """The events that can never happen beside K, by the warnings."""


def query_text(world: World) -> str:
    prefixes = "".join(f"PREFIX {name}: <{iri}>\n" for name, iri in PREFIXES.items())
    events = "".join(f"EVENT {name} AS ({manchester(body)})\n" for name, body in world.events)
    returned = ", ".join(name for name, _ in world.events)
    graph = "FROM GRAPH <k.ttl>\n" if world.k else ""
    return f"{prefixes}VOCAB <t.ttl>\n{graph}FROM STREAM <s>\n{events}RETURN {returned}\n"


def files(world: World) -> dict[str, str]:
    """The files of a world: T, K, the query."""
    return {
        "t.ttl": TURTLE_PREFIXES + DECLARED + turtle(world.axioms),
        "k.ttl": TURTLE_PREFIXES + turtle(world.k),
        "query.obep": query_text(world),
    }


def item_text(item: Item) -> str:
    return TURTLE_PREFIXES + turtle(item)


def ask_obep(world: World, explanations: int = 1) -> Said:
    """Compiles the world and pushes all its items."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files(world).items():
            Path(folder, name).write_text(text, "utf-8")
        try:
            query = obep.load(
                Path(folder, "query.obep"),
                cache_dir=str(Path(folder, "cache")),
                max_explanations=explanations,
            )
            excluded = {f":{one.message.split()[0]}" for one in query.warnings if one.code == EXCLUDED}
            return Said(items=tuple(_push(query, world)), excluded=frozenset(excluded))
        except obep.ObepError as error:
            codes = tuple(sorted({one.code for one in error.diagnostics}))
            return Said(codes, "; ".join(one.message for one in error.diagnostics))
        except Exception as error:  # a crash is a difference, too, and must not end the run
            return Said((type(error).__name__,), str(error))


def _push(query: obep.Query, world: World) -> Iterator[Found]:
    letters: list[obep.DeadLetter] = []
    begin = time.process_time()
    with query.engine(on_dead_letter=letters.append) as engine:
        for at, item in enumerate(world.items, start=1):
            if time.process_time() - begin > BUDGET:
                return
            hits = engine.push(item_text(item), at=at, stream="s")
            hits = [*hits, *engine.advance(at + 0.5)]
            if letters:
                yield Found(letters[0].code, letters[0].reason)
                letters.clear()
                continue
            found: dict[Pair, set[frozenset[Triple]]] = {}
            for hit in hits:
                pair = (short(hit.event), short(hit.individual or ""))
                found.setdefault(pair, set()).add(frozenset(triple for triple, _ in hit.explanation))
            yield Found(explanations={pair: frozenset(sets) for pair, sets in found.items()})


def short(term: str) -> str:
    """`<http://e/C0>` as `:C0`; other names with their prefix where they have one."""
    iri = term.removeprefix("<").removesuffix(">")
    if iri.startswith(NS):
        return ":" + iri[len(NS) :]
    return next((f"{p}:{iri[len(ns) :]}" for p, ns in PREFIXES.items() if iri.startswith(ns)), term)
