"""What a checkpoint was made with, so that a run that cannot go on from it is refused before it starts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from os import SEEK_END
from pathlib import Path
from typing import Any

import msgspec

from obep.engine.query import Query
from obep.engine.snapshots.sealed import damaged
from obep.errors import ObepError, fail
from obep.spark.stages.state_identity import changed_state, identity, surroundings, what_changed
from obep.spark.stages.worker import components_of

NAME = "obep.json"
HEAD = 1 << 16
"""Bytes of an input file that its digest is made of."""
GONE = "it is gone, or other events now depend on it"


class InputFile(msgspec.Struct, frozen=True):
    """The identity of a file, to see whether it is still the one that was read."""

    size: int
    head: str
    """A digest of how it begins."""


class Manifest(msgspec.Struct):
    """Partitions of the state, buckets, sources (and whether a heartbeat is one), and each component by the
    names of its events; input files by their paths."""

    partitions: int
    buckets: int
    sources: list[str]
    components: dict[str, dict[str, Any]]
    beats: bool | None = None
    files: dict[str, InputFile] = {}
    graphs: list[str] = []
    """Digests of static graphs whose state goes on under this one (`--watch`)."""
    replaced: bool = False
    """Whether the query was replaced while it ran: state of the one before may still be there."""


def manifest(
    query: Query,
    partitions: int,
    buckets: int,
    sources: Sequence[str],
    beats: bool | None = None,
    files: Iterable[Path] = (),
    capped: bool = False,
) -> Manifest:
    """That of a run; `capped`: with `max_keys`."""
    around = surroundings(query)
    components = {
        " ".join(sorted(component.name)): msgspec.to_builtins(identity(query, component, around, buckets))
        for component in components_of(query, capped)
    }
    there = {str(path): input_file(path) for path in files if path.is_file()}
    return Manifest(partitions, buckets, list(sources), components, beats, there)


def input_file(path: Path) -> InputFile:
    """A file as it is now."""
    try:
        with path.open("rb") as file:
            head = blake2b(file.read(HEAD), digest_size=16).hexdigest()
            return InputFile(file.seek(0, SEEK_END), head)
    except OSError as error:
        raise fail("OBEP550", f"{path} cannot be read: {error.strerror or error}") from None


def read_manifest(checkpoint: Path) -> Manifest | None:
    """That of a checkpoint, if there is one."""
    path = checkpoint / NAME
    if not path.exists():
        return None
    try:
        return msgspec.json.decode(path.read_bytes(), type=Manifest)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        remedy = "put a copy of it back, or begin with a new checkpoint"
        raise damaged(str(path), f"It is cut short, or was changed ({error}).", remedy) from None


def write_manifest(checkpoint: Path, made: Manifest) -> None:
    """Keep it beside the state."""
    checkpoint.mkdir(parents=True, exist_ok=True)
    whole = checkpoint / f".{NAME}.tmp"
    whole.write_bytes(msgspec.json.format(msgspec.json.encode(made)) + b"\n")
    whole.replace(checkpoint / NAME)


def require_same(before: Manifest, now: Manifest) -> None:
    """Refuse a run whose checkpoint holds the state of something else."""
    changed: dict[tuple[str, ...], list[str]] = {}
    for name, there in before.components.items():
        here = now.components.get(name)
        why = what_changed(there, here) if here is not None else [GONE]
        if why:
            changed.setdefault(tuple(why), []).extend(name.split(" "))
    if changed:
        errors = [changed_state(events, why) for why, events in changed.items()]
        raise ObepError(*(said for error in errors for said in error.diagnostics))
    if before.sources != now.sources:
        raise fail(
            "OBEP558",
            "the checkpoint was made with other sources",
            reason=f"It read {', '.join(before.sources)}.",
            remedy="give the same sources again, in the same order",
        )
    if None not in (before.beats, now.beats) and before.beats != now.beats:
        raise fail(
            "OBEP558",
            f"the checkpoint was made {'with' if before.beats else 'without'} idle",
            reason="With idle a run has one more source, its heartbeat. Spark needs the same sources.",
            remedy=f"{'give it again' if before.beats else 'leave it out'}, or begin with a new checkpoint",
        )


def require_same_files(before: Manifest, now: Manifest) -> None:
    """Refuse an input file that is not as it was: Spark reads none twice, so what is new would be lost."""
    for path, here in now.files.items():
        there = before.files.get(path)
        if there is None or there == here:
            continue
        grew = here.size > there.size and (there.head == here.head or there.size < HEAD)
        what = "has grown" if grew else "is not the file that was read (rotated, replaced or written anew)"
        raise fail(
            "OBEP558",
            f"{path} {what} since the checkpoint was made",
            reason="Spark reads a file once, so what is new in it would never be read.",
            remedy="give what is new as a file of another name, or begin with a new checkpoint",
        )
