"""The law: after any schedule the output is that of the undisturbed run, and every record is in one place."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory

import msgspec
from soak_faults import whole_lines
from soak_runner import SECOND, Play, Ran, query_named, undisturbed
from soak_schedule import QUERIES, Schedule, make_schedule

from obep.engine.snapshots.sealed import unsealed
from obep.run.checkpoint import Checkpoint, Standing

LINE = re.compile(rb',"line":[0-9]+(?=}$)')
ITEM = re.compile(rb"(prov#wasDerivedFrom> <urn:obep:item:([0-9]+)):[0-9a-f]+>")
MEMORY = Path("/dev/shm")


MORE = "more.jsonl"
"""A sink that is not there in every session."""


class Broken(AssertionError):
    """A schedule after which the law does not hold."""


def hold(seed: int, queries: Sequence[str] = QUERIES) -> Schedule:
    """Play a schedule; raises what is wrong with it."""
    schedule = make_schedule(seed, queries)
    with TemporaryDirectory(prefix="obep-soak-", dir=MEMORY if MEMORY.is_dir() else None) as name:
        folder = Path(name)
        ran = undisturbed(schedule, folder / "whole")
        _require_conserved(schedule, ran, folder / "whole", "undisturbed")
        _require_punctual(schedule, folder / "whole")
        ends = _play(schedule, folder / "played")
        _compare(schedule, folder / "whole", folder / "played", ends)
        rmtree(folder)
        folder.mkdir()
    return schedule


def _play(schedule: Schedule, folder: Path) -> list[list[bytes]]:
    """Play the sessions; what the ends of some have decided is left in a sink (`ended_in_left`)."""
    play = Play(schedule, folder)
    kept: set[bytes] = set()
    ends: list[list[bytes]] = []
    for number, session in enumerate(schedule.sessions):
        ran = play.session(session, resumes=True)
        if session is not schedule.sessions[-1]:
            if session.rotate and ran.clean:
                play.input.rotate()
            standing = Checkpoint(folder / "kept").load(query_named(schedule.query).hash)
            if standing is not None:
                _require_standing(schedule, standing, folder, number)
                kept |= _kept(standing, folder) if MORE not in session.sinks else set()
                leaves = MORE in session.sinks and MORE not in schedule.sessions[number + 1].sinks
                if leaves and ran.engine is not None and ran.engine._closed:
                    ends.append(whole_lines(folder / MORE)[len(_counted_lines(standing, folder)) :])
    if lost := kept - set(whole_lines(folder / MORE)) if not play.moved else set():
        raise Broken(f"{MORE} had {len(lost)} lines that are gone: {next(iter(lost))!r}")
    _require_conserved(schedule, ran, folder, "played")
    return ends


def _require_conserved(schedule: Schedule, ran: Ran, folder: Path, where: str) -> None:
    """Every record is taken or a dead letter."""
    dead = len(whole_lines(folder / "dead.jsonl"))
    taken, waiting = ran.engine.counters["processed"], ran.engine.waiting
    if taken + dead + waiting != len(schedule.records):
        raise Broken(
            f"{where}: {taken} records are taken, {dead} are dead letters and {waiting} wait, "
            f"of {len(schedule.records)}"
        )


def _require_punctual(schedule: Schedule, folder: Path) -> None:
    """No record is late that came within the lateness."""
    late = [line for line in whole_lines(folder / "dead.jsonl") if b'"code":"OBEP640"' in line]
    if late and schedule.punctual:
        raise Broken(f"undisturbed: {len(late)} records are late that are not: {late[0]!r}")


def _kept(standing: Standing, folder: Path) -> set[bytes]:
    """What a sink that was left out has of the answers before the checkpoint: nobody will find them again.

    What it was given at the end of a session, and the next one decided anew without it, is not among them.
    """
    before = (folder / "out.jsonl").read_bytes()[
        : standing.outputs[f"file:{(folder / 'out.jsonl').resolve()}"]
    ]
    return set(before.splitlines(keepends=True)) & set(_counted_lines(standing, folder))


def _counted_lines(standing: Standing | None, folder: Path) -> list[bytes]:
    """The lines that the sink had at the last checkpoint that counted them."""
    path = folder / MORE
    counted = 0 if standing is None else standing.outputs.get(f"file:{path.resolve()}", 0)
    return path.read_bytes()[:counted].splitlines(keepends=True) if path.exists() else []


def _require_standing(schedule: Schedule, standing: Standing, folder: Path, number: int) -> None:
    """So it is at a checkpoint with the records before its positions."""
    if any(session.rotate for session in schedule.sessions):
        return
    _, _, _, counters, waiting, *_ = msgspec.msgpack.decode(unsealed(standing.state, "", ""))
    written = (folder / "dead.jsonl").read_bytes()[
        : standing.outputs.get(f"file:{(folder / 'dead.jsonl').resolve()}", 0)
    ]
    dead, read = len(written.splitlines()), _read_so_far(schedule, standing)
    if counters["processed"] + len(waiting) + dead != read:
        raise Broken(
            f"after session {number}: {read} records were read, {counters['processed']} of them are taken, "
            f"{dead} dead letters, {len(waiting)} wait"
        )


def _read_so_far(schedule: Schedule, standing: Standing) -> int:
    if schedule.kind == "log":
        return sum(position.get("0", 0) for position in standing.sources.values())
    return sum(
        count
        for position in standing.sources.values()
        for name, count in position.items()
        if name.rpartition("/")[2] == "records"
    )


def _compare(schedule: Schedule, whole: Path, played: Path, ends: list[list[bytes]]) -> None:
    for name in schedule.base.sinks:
        expected, found = (_output_lines(schedule, folder / name) for folder in (whole, played))
        if not schedule.ordered:
            expected, found = sorted(expected), sorted(found)
        if expected != found:
            raise Broken(f"{name}: {_difference(expected, found)}")
    expected, found = _letters(schedule, whole), _letters(schedule, played)
    if expected != found:
        raise Broken(f"dead.jsonl: {_difference(expected, found)}")
    more = [line for line in _more_lines(schedule, played) if line.endswith(b"\n")]
    answers = Counter(whole_lines(whole / "out.jsonl"))
    if extra := Counter(more) - answers - ended_in_left(ends, answers):
        raise Broken(f"{MORE} has {len(extra)} lines too many: {next(iter(extra))!r}")


def _output_lines(schedule: Schedule, path: Path) -> list[bytes]:
    """The lines of an output. Where several items of one instant show the same, RDF names those of them that
    had come when it was reported: which ones goes by the order of arrival, and by how many came at once."""
    lines = whole_lines(path)
    if path.suffix != ".nq":
        return lines

    def named(found: re.Match[bytes]) -> bytes:
        tied = int(found[2]) // SECOND in schedule.ties
        return found[1] + b">" if tied else found[0]

    return list(dict.fromkeys(ITEM.sub(named, line) for line in lines))


def _more_lines(schedule: Schedule, folder: Path) -> list[bytes]:
    """What the sink has that is not always there. What a session decided at its end, when it took an instant
    for complete to which more came, is cut off when the sink is used again, and not before."""
    if MORE in schedule.sessions[-1].sinks:
        return whole_lines(folder / MORE)
    return _counted_lines(Checkpoint(folder / "kept").load(query_named(schedule.query).hash), folder)


def ended_in_left(ends: list[list[bytes]], answers: Counter[bytes]) -> Counter[bytes]:
    """What a sink that is left out may keep, although it is no answer. `ends` is what the end of a session
    decided in it, when the next session leaves it out. An end takes its last instant for complete. If more
    comes to that instant, an answer may be none any more. A file is continued at one position, and a sink
    that is left out keeps what it has: so such a line stays if an answer comes after it, and only then."""
    left: Counter[bytes] = Counter()
    for lines in ends:
        last = max((number for number, line in enumerate(lines) if line in answers), default=0)
        left.update(line for line in lines[:last] if line not in answers)
    return left


def _letters(schedule: Schedule, folder: Path) -> list[bytes]:
    """The dead letters. Those of one batch stand before those of items that have waited, so the order of all
    goes by where batches end; and a line has another number in a file that was rotated."""
    lines = whole_lines(folder / "dead.jsonl")
    if any(session.rotate for session in schedule.sessions):
        lines = [LINE.sub(b"", line) for line in lines]
    return sorted(lines)


def _difference(expected: list[bytes], found: list[bytes]) -> str:
    missing, extra = Counter(expected) - Counter(found), Counter(found) - Counter(expected)
    if not missing and not extra:
        return "the same lines in another order"
    shown = "".join(f"\n  missing {line!r}" for line in list(missing)[:3])
    shown += "".join(f"\n  extra   {line!r}" for line in list(extra)[:3])
    return f"{missing.total()} lines are missing, {extra.total()} are too many{shown}"
