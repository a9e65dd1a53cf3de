"""a window on a stream that is probably misspelt

What it does: Finds a window on a stream that no FROM STREAM declares, while one with almost the same name
is declared.

Why: The window would read a stream without a source.

Example:

    FROM STREAM <doors>
    FROM NAMED WINDOW <recent> ON <door> [RANGE 10 s]

Fix:

    FROM NAMED WINDOW <recent> ON <doors> [RANGE 10 s]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from obep.errors import Diagnostic
from obep.lints.context import QueryContext, declared_windows
from obep.query.diagnostics import listed, quote, say
from obep.query.nearest_name import alike

CODE = "OBEP218"
NAME = "misspelt-window-stream"
SEVERITY = "warning"


def check(context: QueryContext) -> Iterator[Diagnostic]:
    definitions = context.definitions
    sources = [source for file in definitions.linked.files for source in file.sources]
    declared = list(dict.fromkeys(source.iri for source in sources if source.kind == "stream"))
    for window, file in declared_windows(definitions):
        near = [] if window.stream in declared else [one for one in declared if alike(window.stream, one)]
        if near:
            yield say(
                CODE,
                file,
                window.span,
                f"no FROM STREAM declares <{window.stream}>",
                f"The window reads a stream without a source. FROM STREAM has {_listed(declared)}.",
                quote(replace(window, stream=near[0])),
            )


def _listed(streams: list[str]) -> str:
    return listed([f"<{stream}>" for stream in streams])
