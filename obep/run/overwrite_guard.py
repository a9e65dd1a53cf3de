"""Refuse outputs of a run that are its inputs, or each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from obep.config.toml_file import Config
from obep.errors import fail
from obep.run.run_spec import Order
from obep.streams.stream_uri import parse_address


def require_apart(order: Order, read: Mapping[Path, str]) -> None:
    """Refuse an output that lies where something is read; `read` says what the query itself reads."""
    taken = {path.resolve(): what for path, what in read.items()}
    folders: dict[Path, str] = {}
    for inlet in order.inlets:
        address = parse_address(inlet.uri)
        if address.scheme in ("file", "dir") and not inlet.uri.startswith("-"):
            where = taken if address.scheme == "file" else folders
            where[_path(address.path, inlet.trusted, order.config)] = f"the source {inlet.shown}"
    for option, path in outputs_of(order):
        if path.exists() and not path.is_file() and not path.is_dir():  # /dev/null takes anything
            continue
        unread = path.name.startswith((".", "_")) or path.name.endswith(".tmp")
        what = taken.get(path) or (None if unread else folders.get(path.parent))
        if what is not None:
            raise fail(
                "OBEP568",
                f"{option} would write over {what}" if path in taken else f"{option} would be read by {what}",
                reason=f"It is {path}.",
                remedy="another file",
            )
        taken[path] = option


def outputs_of(order: Order) -> Iterator[tuple[str, Path]]:
    """The files that a run writes, each with what names it."""
    for target in order.targets:
        address = parse_address(target.uri)
        if address.scheme == "file" and target.uri != "-":
            yield f"the sink {target!r}", _path(address.path, target.trusted, order.config)
    if order.dead_letters is not None:
        yield f"--dead-letters {order.dead_letters}", order.dead_letters.resolve()


def _path(path: str, trusted: bool, config: Config) -> Path:
    return (Path(path) if trusted else config.file(path)).resolve()
