"""Numbers for the buckets, chosen so that Spark's hash spreads them evenly over its partitions.

Spark sends the key k to the partition pmod(murmur3(k, seed 42), partitions). Consecutive numbers fall badly
(0 and 1 both on the second of two), so each bucket takes the first number that falls where it should. The
numbers of a component begin at a place of its own, so that they stay when others come beside it: the state of
a bucket is found by its number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from zlib import crc32

_MASK = 0xFFFFFFFF
_APART = 1_000_003


def component_numbers(components: Iterable[tuple[Sequence[str], int]], partitions: int) -> tuple[int, ...]:
    """The keys of the buckets of all components, each given by the names of its events and its width."""
    numbers: list[int] = []
    for names, width in components:
        start = crc32("\n".join(sorted(names)).encode()) & 0x3FFFFFFF
        own = bucket_numbers(width, partitions, start)
        while not set(own).isdisjoint(numbers):
            start += _APART
            own = bucket_numbers(width, partitions, start)
        numbers.extend(own)
    return tuple(numbers)


def bucket_numbers(buckets: int, partitions: int, start: int = 0) -> tuple[int, ...]:
    """The key of each bucket; bucket i runs in partition `start` + i modulo `partitions`.

    >>> [partition_of(n, 2) for n in bucket_numbers(4, 2)]
    [0, 1, 0, 1]
    """
    numbers: list[int] = []
    candidate = start
    spare: dict[int, list[int]] = {}
    for bucket in range(buckets):
        wanted = (start + bucket) % partitions
        while not spare.get(wanted):
            spare.setdefault(partition_of(candidate, partitions), []).append(candidate)
            candidate += 1
        numbers.append(spare[wanted].pop(0))
    return tuple(numbers)


def partition_of(number: int, partitions: int) -> int:
    """Where Spark's hash partitioning sends an int key."""
    return _murmur3(number) % partitions


def _murmur3(value: int, seed: int = 42) -> int:
    """Spark's Murmur3 of one int, as a signed 32-bit number (Python's % then is pmod)."""
    k = (value * 0xCC9E2D51) & _MASK
    k = ((k << 15) | (k >> 17)) & _MASK
    k = (k * 0x1B873593) & _MASK
    h = seed ^ k
    h = ((h << 13) | (h >> 19)) & _MASK
    h = (h * 5 + 0xE6546B64) & _MASK
    h ^= 4
    h ^= h >> 16
    h = (h * 0x85EBCA6B) & _MASK
    h ^= h >> 13
    h = (h * 0xC2B2AE35) & _MASK
    h ^= h >> 16
    return h - (1 << 32) if h >> 31 else h
