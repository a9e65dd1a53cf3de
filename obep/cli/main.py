"""`obep`: the shell around the library. It only finds commands; each is a module of `obep.cli`.

Whatever a user does wrong ends with a message of ours and exit status 2, never with a traceback.
"""

from __future__ import annotations

import errno
import gc
import os
import sys
from functools import cache
from importlib import import_module
from typing import Annotated, Any, cast

import typer
from typer.core import TyperGroup
from typer.main import get_command

from obep.cli.standard_streams import complete
from obep.errors import ObepError, Stopped, fail
from obep.secrets import Discreet

COMMANDS = (
    "init",
    "suggest",
    "check",
    "fmt",
    "explain",
    "graph",
    "run",
    "serve",
    "studio",
    "mcp",
    "test",
    "backtest",
    "why",
    "why-not",
    "translate",
    "ontology",
    "rule",
    "doctor",
)
"""In the order in which help shows them. A command `why-not` is `command` in obep/cli/why_not.py."""
MODULES = {
    "translate": "translate_query",
    "backtest": "backtest_query",
    "mcp": "agents.mcp",
    "suggest": "agents.suggest",
}
"""Of commands whose own name another module of obep has, or that stand in a folder."""
DEBUG = "OBEP_DEBUG"
"""The environment variable that asks for tracebacks, as --debug does."""
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EBADF)
"""A disk without room, a quota, a limit of the shell's, a closed standard output: no mistake in obep."""


@cache
def _command(name: str) -> Any:
    """Make a command from the signature of its function, once in a process."""
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    module = MODULES.get(name, name.replace("-", "_"))
    app.command(name)(import_module(f"obep.cli.{module}").command)
    return get_command(app)


class Commands(TyperGroup):
    """Imports a command when it is asked for, and turns what may go wrong into an exit status."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return _command(cmd_name) if cmd_name in COMMANDS else None

    def invoke(self, ctx: Any) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except ObepError as error:
            print(error, file=sys.stderr)
            raise typer.Exit(1 if isinstance(error, Stopped) else 2) from None
        except KeyboardInterrupt:
            raise typer.Exit(130) from None
        except BrokenPipeError:  # the reader has seen enough, as in `obep explain … | head`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        except Exception as error:
            ordinary = isinstance(error, typer.Abort) or hasattr(error, "exit_code")  # ends and wrong options
            full = isinstance(error, OSError) and error.errno in FULL
            if not full and (ordinary or os.environ.get(DEBUG) or ctx.params.get("debug")):
                raise
            print(_no_room(error) if full else _unexpected(error), file=sys.stderr)
            raise typer.Exit(1) from None
        finally:
            _let_go()


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _let_go() -> None:
    """Forgets output that found no room: Python would try once more at its end, with a status of its own."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _no_room(error: Exception) -> ObepError:
    """Report a full disk, or a limit, that any write has met."""
    what = getattr(error, "filename", None) or "what obep writes"
    return fail("OBEP554", f"{what} cannot be written: {getattr(error, 'strerror', error)}")


def _unexpected(error: Exception) -> ObepError:
    """Report a bug of obep in a few lines; `--debug` shows the traceback."""
    from traceback import extract_tb

    ours = [frame for frame in extract_tb(error.__traceback__) if "obep" in frame.filename]
    place = f" in {ours[-1].name}, line {ours[-1].lineno} of {ours[-1].filename}" if ours else ""
    return fail(
        "OBEP599",
        "obep met an unexpected error",
        reason=f"{type(error).__name__}: {error}{place}\n"
        "This is a bug in obep. Please report it, with the query and the input if you can.",
        remedy=f"{DEBUG}=1 obep …   (run it again like this to see where it happened)",
    )


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            print(f"obep {version('obep')}")
        except PackageNotFoundError:
            print("obep (not installed)")
        raise typer.Exit


def _guide(wanted: bool) -> None:
    if wanted:
        from obep.resources import resource

        print(resource("docs/llms.md"), end="")
        raise typer.Exit


@app.callback()
def _obep(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version.")
    ] = False,
    llms: Annotated[
        bool,
        typer.Option(
            "--llms", callback=_guide, is_eager=True, help="Print the language in brief, for models."
        ),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help=f"Show the traceback of what obep did not expect (or {DEBUG}=1).")
    ] = False,
) -> None:
    """Ontology-based event processing over RDF streams."""


def main() -> None:
    """The entry point of the command `obep`."""
    gc.set_threshold(20_000)  # imports and queries leave no garbage; looking for it took a tenth of a start
    complete()
    sys.stderr = cast("Any", Discreet(sys.stderr))
    app(prog_name="obep")
