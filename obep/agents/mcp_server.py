"""`obep mcp`: the tools over the Model Context Protocol, on standard input and output."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal

import anyio
import anyio.to_thread
from mcp.server.fastmcp import FastMCP
from mcp.server.fastmcp.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

from obep.agents.project_sample import Project
from obep.agents.project_tools import Tools, bounded
from obep.errors import ObepError
from obep.resources import resource

Text = Annotated[str, Field(description="The text of a query; or give `path`.")]
File = Annotated[str, Field(description="The path of a query file below the project's folder.")]
Dialect = Annotated[
    Literal["obep", "csparql", "rspql", "rsepql", "epsparql", "sparkwave"] | None,
    Field(description="The language, if the file extension or the text does not show it."),
]
Rows = Annotated[
    list[dict[str, Any]] | dict[str, list[dict[str, Any]]] | None,
    Field(description="Records as JSON objects; or an object of such lists by the names of streams."),
]
Paths = Annotated[
    dict[str, str] | None,
    Field(description="Files of records below the project's folder, by stream; '' is the only stream."),
]
LOOKS = ToolAnnotations(readOnlyHint=True, destructiveHint=False, idempotentHint=True, openWorldHint=False)
ABOUT = """obep finds events in streams of RDF or plain records, by queries over an ontology.
Read the resource obep://guide for the language first. Check every query with `check`, try it with `run` on a
sample, ask `why` and `why_not`, and count with `backtest` before a person puts it live. No tool writes files
or changes anything; paths are relative to the project's folder."""


def make_server(tools: Tools) -> FastMCP:
    """A server with the tools of a project; they run one at a time, beside the protocol."""
    server = FastMCP("obep", instructions=ABOUT, log_level="WARNING")
    turns = anyio.CapacityLimiter(1)

    async def ask(work: Callable[[], str]) -> str:
        try:
            return bounded(await anyio.to_thread.run_sync(work, limiter=turns))
        except ObepError as error:
            raise ToolError(bounded(str(error))) from None

    def tool(function: Callable[..., Any]) -> Callable[..., Any]:
        return server.tool(annotations=LOOKS, structured_output=False)(function)

    @tool
    async def check(query: Text = "", path: File = "", dialect: Dialect = None) -> str:
        """Check a query: syntax, names, patterns, and what the ontology makes of them. Each message has a
        code, a place, a reason and a remedy."""
        return await ask(lambda: tools.check(query, path, dialect))

    @tool
    async def explain(query: Text = "", path: File = "", dialect: Dialect = None) -> str:
        """Show what a query is made of: strata, dependencies, each pattern as a tree."""
        return await ask(lambda: tools.explain(query, path, dialect))

    @tool
    async def translate(query: Text = "", path: File = "", dialect: Dialect = None) -> str:
        """Write a query of C-SPARQL, RSP-QL, RSEP-QL, EP-SPARQL or Sparkwave in OBEP; the same answers."""
        return await ask(lambda: tools.translate(query, path, dialect))

    @tool
    async def run(
        query: Text = "",
        path: File = "",
        records: Rows = None,
        files: Paths = None,
        most: Annotated[int, Field(ge=0, le=500, description="Results that are shown.")] = 20,
        dialect: Dialect = None,
    ) -> str:
        """Run a query on a sample and show what it finds. Plain records without a mapping in obep.toml are
        read by a mapping that is guessed, and shown."""
        return await ask(lambda: tools.run(query, path, records, files, most, dialect))

    @tool
    async def why(
        id: Annotated[str, Field(description="The id, a part of it, or the name of the event.")],
        query: Text = "",
        path: File = "",
        records: Rows = None,
        files: Paths = None,
        output: Annotated[str, Field(description="A file that `obep run` wrote, in place of a sample.")] = "",
    ) -> str:
        """Show why an occurrence was found: a tree of its parts and the facts that made each true."""
        return await ask(lambda: tools.why(id, query, path, records, files, output))

    @tool
    async def why_not(
        event: Annotated[str, Field(description="An event or state, as 'Low' or 'Low(:PenA)'.")],
        query: Text = "",
        path: File = "",
        records: Rows = None,
        files: Paths = None,
    ) -> str:
        """Say why an event did not occur in a sample, or a state did not hold: what came nearest, and which
        condition was not met."""
        return await ask(lambda: tools.why_not(event, query, path, records, files))

    @tool
    async def backtest(
        query: Text = "",
        path: File = "",
        records: Rows = None,
        files: Paths = None,
        against: Annotated[str, Field(description="The text of another version.")] = "",
        against_path: Annotated[str, Field(description="The file of another version.")] = "",
    ) -> str:
        """Count what a query would have found in a history, by event, day and key; with another version also
        what is new, gone or moved."""
        return await ask(lambda: tools.backtest(query, path, records, files, against, against_path))

    @tool
    async def propose_mapping(
        records: list[dict[str, Any]] | None = None,
        file: Annotated[str, Field(description="A file of records below the project's folder.")] = "",
        stream: str = "",
        names: Annotated[str, Field(description="The IRI that names of properties begin with.")] = "",
    ) -> str:
        """Propose the mapping from plain records to RDF for obep.toml, and show what it makes of the first
        records."""
        return await ask(lambda: tools.propose_mapping(records, file, stream, names))

    @server.resource("obep://guide", mime_type="text/markdown")
    def guide() -> str:
        """The language by examples."""
        return resource("docs/llms.md")

    return server


def serve_stdio(folder: Path) -> None:
    """Serves until standard input ends. What a library prints goes to standard error."""
    printed = sys.stdout
    messages = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    with TemporaryDirectory(prefix="obep-mcp-") as cache:
        server = make_server(Tools(Project(folder, Path(cache))))
        sys.stdout = messages  # the SDK takes what is there when it starts, and closes it at the end
        try:
            server.run("stdio")
        finally:
            sys.stdout = printed
