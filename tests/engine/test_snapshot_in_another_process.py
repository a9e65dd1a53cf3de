"""A snapshot goes on in another process, and an engine can be used from several threads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from random import Random
from threading import Thread

import pytest
from engine_cases import E, engine

from obep.model import SECOND, Item

QUERY = """
EVENT A AS ClassA
EVENT B AS ClassB
EVENT F(?x) MATCH A(?x) SEQ B(?x) WITHIN 10 s
EVENT G MATCH (LAST A) NOT FOLLOWED BY B WITHIN 3 s
EVENT H MATCH OPTIONAL A AS a SEQ F AS f WITHIN 20 s POLICY recent
RETURN F, G, H
"""
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
HERE = Path(__file__).parent


def items(count: int = 40) -> list[Item]:
    random = Random(3)
    return [
        Item("s", n * SECOND, ((f"<{E}x{random.randrange(3)}>", TYPE, f"<{E}Class{random.choice('AB')}>"),))
        for n in range(count)
    ]


def finish(snapshot: bytes, rest: list[Item]) -> list[str]:
    running = engine(QUERY, lateness=2)
    running.restore(snapshot)
    return [hit.id for hit in (*running.push_items(rest), *running.close())]


ELSEWHERE = """
import sys
sys.path[:0] = [sys.argv[1], sys.argv[2]]
from test_snapshot_in_another_process import finish, items
print("\\n".join(finish(sys.stdin.buffer.read(), items()[int(sys.argv[3]):])))
"""


@pytest.mark.slow
def test_restored_in_another_process_is_never_stopped():
    through = engine(QUERY, lateness=2)
    expected = [hit.id for hit in (*through.push_items(items()), *through.close())]
    for cut in (1, 13, 30):
        first = engine(QUERY, lateness=2)
        found = [hit.id for hit in first.push_items(items()[:cut])]
        done = subprocess.run(
            [sys.executable, "-c", ELSEWHERE, str(HERE), str(HERE.parent.parent), str(cut)],
            input=first.snapshot(),
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": str(cut)},
        )
        assert sorted(found + done.stdout.decode().split()) == sorted(expected)
    assert len(expected) > 20


def test_several_threads_lose_nothing():
    running = engine(QUERY, lateness=100)
    parts = [items()[n::4] for n in range(4)]
    threads = [
        Thread(target=lambda part=part: [running.push_items([item]) for item in part]) for part in parts
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    straight = engine(QUERY)
    expected = sorted(hit.id for hit in (*straight.push_items(items()), *straight.close()))
    assert sorted(hit.id for hit in running.close()) == expected
    assert running.counters["processed"] == 40
