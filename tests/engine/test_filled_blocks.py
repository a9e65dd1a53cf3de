"""A block says of each stream when its items came, and nothing of streams that it has no item of."""

from __future__ import annotations

from array import array

from obep.engine.blocks import Filling, decode_block


def test_a_stream_without_items_in_a_bucket_is_not_there() -> None:
    filling = Filling()
    filling.arrive_all("doors", array("q", [3, 1]).tobytes())
    filling.arrive_all("lamps", b"")  # all of its items are other buckets' to account for
    block = decode_block(filling.encode({"doors": 3, "lamps": 5}, {}))
    assert {stream: list(instants) for stream, instants in block.arrived()} == {"doors": [3, 1]}
    assert block.maxima == {"doors": 3, "lamps": 5}
