"""`obep run QUERY`: items in, occurrences out."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from obep.cli.options import AllowedFolders, ConfigFile, Dialect, allowed
from obep.config.output_forms import ASKED
from obep.errors import ObepError, fail
from obep.query.languages import dialect_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from obep.config.toml_file import Config
    from obep.query.ast import Language
    from obep.run.run_spec import Order


class EngineName(StrEnum):
    """The engines that run a query."""

    spark = "spark"
    embedded = "embedded"


def _known_form(form: str | None) -> str | None:
    """Refuse a form that is none."""
    if form is not None and form not in ASKED:
        raise typer.BadParameter(f"{form!r} is not one of {', '.join(map(repr, ASKED))}.")
    return form


class Log(StrEnum):
    """The forms of messages on standard error."""

    text = "text"
    json = "json"


def command(
    query: Annotated[Path, typer.Argument(metavar="QUERY", help="The query file.", show_default=False)],
    source: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[NAME=]URI",
            help="Where a stream comes from: a path (.jsonl .json .nq .trig .nt .ttl .csv .parquet, also "
            ".gz), -, dir:PATH, tcp://host:port, mqtt://host/topic, kafka://host/topic. Repeatable.",
        ),
    ] = None,
    sink: Annotated[
        list[str] | None,
        typer.Option(
            metavar="URI",
            help="Where occurrences go: -, a path (.jsonl .nq .trig .csv, on Spark .parquet), mqtt://, "
            "kafka://, https:// (a webhook), alertmanager://, exec:COMMAND, or the name of a sink in "
            "obep.toml. Repeatable.",
        ),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--as",
            metavar=f"[{'|'.join(ASKED)}]",
            callback=_known_form,
            help="JSON lines; ids alone; RDF as N-Quads (a sink .trig: TriG), where bindings need CONSTRUCT; "
            "or rows of bindings, as JSON lines, CSV or SPARQL results. Otherwise as RETURN "
            "says.",
        ),
    ] = None,
    engine: Annotated[EngineName | None, typer.Option(help="What runs the query. [default: spark]")] = None,
    master: Annotated[str, typer.Option(metavar="URL", help="Spark's master.")] = "",
    lateness: Annotated[
        str,
        typer.Option(
            metavar="DURATION",
            help="How long items may come after later ones, say 5s; a bare number is one of seconds.",
        ),
    ] = "",
    idle: Annotated[
        str, typer.Option(metavar="DURATION", help="How long a stream may be silent before others go on.")
    ] = "",
    checkpoint: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep the state here, and go on from it.")
    ] = None,
    dead_letters: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write refused records here, as JSON lines.")
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Guards only see their events' vocabulary.")
    ] = False,
    require_complete: Annotated[
        bool, typer.Option("--require-complete", help="Refuse events that need a Java which is not there.")
    ] = False,
    why: Annotated[bool, typer.Option("--why", help="Show the causes of each occurrence on stderr.")] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No progress, summary or warnings; only why a run failed.")
    ] = False,
    no_lints: Annotated[
        bool,
        typer.Option(
            "--no-lints", help="Look for no warnings about the query, its ontology, settings and streams."
        ),
    ] = False,
    metrics: Annotated[
        str, typer.Option(metavar="[HOST]:PORT", help="Serve /metrics and /health; on loopback by default.")
    ] = "",
    log_format: Annotated[Log, typer.Option(help="How the run speaks on stderr.")] = Log.text,
    conf: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="A setting of Spark. Repeatable.")
    ] = None,
    drop_state: Annotated[
        bool,
        typer.Option("--drop-state", help="Begin anew where the checkpoint is of another query (Spark)."),
    ] = False,
    watch: Annotated[
        bool,
        typer.Option(
            "--watch",
            help="Replace the query while it runs when its files change; a wrong one changes nothing.",
        ),
    ] = False,
    workers: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            help="Split the keys of the query over so many processes (embedded only, from files to files).",
        ),
    ] = 1,
    config: ConfigFile = None,
    allow_path: AllowedFolders = None,
    dialect: Dialect = None,
    allow_exec: Annotated[
        bool,
        typer.Option(
            "--allow-exec",
            help="Run programs that obep.toml names as sinks, and take its options of Kafka and settings of "
            "Spark that may load or run something.",
        ),
    ] = False,
) -> None:
    """Run a query over its streams.

    Occurrences go to standard output, or to the sinks; everything else to standard error. Exit status 0 at
    the end of the input, 2 for what you can mend in the query or the configuration, 1 for a failure while
    running or if nothing of the input could be read, 130 after Ctrl-C.
    """
    from obep.config.toml_file import load_config
    from obep.config.toml_values import duration
    from obep.run.progress import Progress
    from obep.run.run_spec import Order, aim, bind, unread_sources

    settings = load_config(config, query.parent, allowed(allow_path), allow_exec=allow_exec)
    chosen = settings.engine
    name = engine or EngineName(chosen.get("name", "spark"))

    def length(given: str, key: str) -> int | None:
        return duration(given, f"--{key}") if given else chosen.get(key)

    language = dialect_of(dialect)
    streams = streams_of(query, settings.allowed, settings.catalogue, language)
    order = Order(
        query,
        settings,
        bind(source or (), streams, settings),
        aim(sink or (), form or "", settings),
        lateness=length(lateness, "lateness") or 0,
        idle=length(idle, "idle"),
        future=chosen.get("future"),
        checkpoint=checkpoint or _below(settings, "checkpoint"),
        dead_letters=dead_letters or _below(settings, "dead_letters"),
        strict=strict or chosen.get("strict", False),
        require_complete=require_complete or chosen.get("require_complete", False),
        why=why,
        quiet=quiet,
        lints=not (quiet or no_lints),
        log_json=log_format is Log.json,
        metrics=metrics,
        master=master or settings.spark.get("master", ""),
        conf=_conf(conf or (), settings) if name is EngineName.spark else {},
        drop_state=drop_state,
        watch=watch,
        workers=workers,
        dialect=language,
    )
    for one in unread_sources(query, streams, settings) if order.lints else ():
        Progress(quiet=quiet, as_json=order.log_json).warn(one.code, one.message, one.remedy)
    if name is EngineName.embedded:
        _refuse_of_spark(order, drop_state=drop_state, master=master, conf=bool(conf))
    elif workers > 1:
        raise fail(
            "OBEP518",
            "--workers is for the embedded engine; Spark splits by itself",
            remedy="--engine embedded, or --master 'local[N]'",
        )
    raise typer.Exit(_run_on_spark(order) if name is EngineName.spark else _run_embedded(order))


def _refuse_of_spark(order: Order, *, drop_state: bool, master: str, conf: bool) -> None:
    """Options that would be without effect on the embedded engine."""
    if drop_state:
        raise fail(
            "OBEP518",
            "--drop-state is for Spark, which has a state for each group of events",
            remedy=f"rm -r {order.checkpoint}" if order.checkpoint is not None else "",
        )
    if master or conf:
        option = "--master" if master else "--conf"
        raise fail(
            "OBEP518",
            f"{option} is for Spark, and this run is on the embedded engine",
            remedy=f"--engine spark, or leave {option} out",
        )


def streams_of(
    query: Path, allowed: tuple[Path, ...], catalogue: Mapping[str, Path], language: Language | None
) -> tuple[str, ...]:
    """The streams that a query reads, windows' too; its syntax is checked before anything is opened."""
    from obep.query.link import link
    from obep.query.parse.parser import read_query

    file = read_query(query, language)
    return link(file, query.parent, allowed=allowed, catalogue=catalogue).streams


def _run_embedded(order: Order) -> int:
    from obep.engine.bulk import uncollected

    with uncollected():
        from obep.run.embedded import run_embedded

    return run_embedded(order)


def _run_on_spark(order: Order) -> int:
    from importlib.util import find_spec

    if find_spec("pyspark") is None:
        raise fail(
            "OBEP551",
            "the Spark engine needs pyspark",
            remedy='pip install "obep[spark]", or --engine embedded',
        )
    from obep.spark.driver.allowed_settings import is_local
    from obep.spark.driver.console_run import run_on_spark
    from obep.spark.driver.start_errors import require_master

    if order.master:
        written = order.config.spark.get("master") == order.master
        require_master(order.master, f"spark.master in {order.config.path}" if written else "--master")
        if written and not (is_local(order.master) or order.config.allow_exec):
            raise _may_run(order.config, "master", f"--master {order.master}")
    return run_on_spark(order)


def _conf(given: list[str] | tuple[()], settings: Config) -> dict[str, str]:
    """The settings of Spark: those of obep.toml if they are harmless, and what was typed."""
    from obep.spark.driver.allowed_settings import is_harmless

    found = {key: value.reveal() for key, value in settings.spark.get("conf", {}).items()}
    typed = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals:
            raise fail("OBEP518", f"--conf {text}: KEY=VALUE is needed")
        typed[key] = value
    for key, value in found.items():
        if not (key in typed or settings.allow_exec or is_harmless(key, value)):
            raise _may_run(settings, f"conf.{key}", f"--conf {key}=…")
    return found | typed


def _may_run(settings: Config, key: str, typed: str) -> ObepError:
    """The error about a setting of Spark in obep.toml that is not known to be harmless."""
    return fail(
        "OBEP516",
        f"spark.{key}: this setting may load or run something",
        reason="What obep.toml sets for Spark is taken if it is known to be harmless.",
        remedy=f"{typed}   (or --allow-exec, if you know what it does)",
        file=str(settings.path or ""),
    )


def _below(settings: Config, key: str) -> Path | None:
    path = settings.engine.get(key)
    return settings.file(path) if path else None
