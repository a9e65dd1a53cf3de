"""Write a difference as a program that shows it."""

from __future__ import annotations

from worlds.asking_obep import files, item_text
from worlds.comparing_worlds import Difference
from worlds.judges import theory
from worlds.writing import functional, manchester

_PROGRAM = '''"""{line}"""

import tempfile
from pathlib import Path

import obep

FILES = {{
{files}}}
ITEM = """{item}"""

with tempfile.TemporaryDirectory() as folder:
    for name, text in FILES.items():
        Path(folder, name).write_text(text, "utf-8")
    try:
        query = obep.load(Path(folder, "query.obep"), cache_dir=folder)
    except obep.ObepError as error:
        raise SystemExit("refused: " + "; ".join(f"{{d.code}} {{d.message}}" for d in error.diagnostics))
    with query.engine(on_dead_letter=lambda letter: print(letter.code, letter.reason)) as engine:
        for hit in engine.push(ITEM, at=1, stream="s"):
            print(hit.event, hit.individual, [triple for triple, _ in hit.explanation])

# In functional syntax, for a judge:
{functional}
'''


def program(difference: Difference) -> str:
    """A program that runs the shrunk case on obep, with the axioms for a judge beside it."""
    world = difference.world
    item = world.items[0] if world.items else ()
    listed = "".join(f'    "{name}": """{text}""",\n' for name, text in files(world).items())
    axioms = "\n".join(f"#   {functional(axiom)}" for axiom in (*theory(world), *world.k, *item))
    return _PROGRAM.format(
        line=difference.line().replace('"', "'").replace("\\", "/"),
        files=listed,
        item=item_text(item),
        functional=axioms,
    )


def short_report(difference: Difference) -> str:
    """The case in a few lines."""
    world = difference.world
    lines = [f"## {difference.line()}"]
    for title, nodes in (
        ("T", world.axioms),
        ("K", world.k),
        ("item", world.items[0] if world.items else ()),
    ):
        lines.append(f"- {title}: " + ", ".join(f"`{functional(node)}`" for node in nodes))
    lines.append("- events: " + ", ".join(f"`{name} AS {manchester(body)}`" for name, body in world.events))
    return "\n".join(lines)
