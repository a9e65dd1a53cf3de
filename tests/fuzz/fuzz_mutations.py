"""Mutations of bytes: by byte, by token, by splice. Everything follows from the random generator."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

LONGEST = 1 << 16
"""Bytes of a mutated input; the bounds on time and memory hold for inputs up to this size."""
_TOKEN = re.compile(rb"\w+|\s+|.", re.DOTALL)
NUMBERS = (
    *("0", "-1", "1e308", "-1e309", "1e99999999999", "5e-324", "9" * 20, "9" * 300, "1" * 5000, "NaN", "INF"),
    *("4294967296", "-9223372036854775809", "253402300800", "1767261600000", "0.1", "-0.0", "1_0", "\u0663"),
    *(
        "9999-12-31T24:00:00Z",
        "0001-01-01T00:00:00+14:00",
        "2026-02-30",
        "-0001-01-01",
        "PT1e5S",
        "P99999999Y",
    ),
)
"""Numbers and times that some machine cannot hold."""
ODD = (
    *(b"\0", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\r", b"\n", b"\t", b"\xc2\x85", b"\xe2\x80\xa8"),
    *(b"\\", b"\\u0000", b"\\uD800", b"\\U00110000", b'"', b"'", b'"""', b"<", b">", b"{", b"}", b"[", b"]"),
    *(b"(", b")", b"&", b";", b",", b".", b":", b"::", b"@", b"^^", b"_:", b"%00", b"#", b"\xf0\x9f\x94\xa5"),
)
"""Bytes that some reader takes for something else."""


def mutated(rng: Random, corpus: Sequence[bytes], tokens: Sequence[bytes]) -> bytes:
    """One of the corpus, changed in one to six places; half of the time only whole terms are changed, so that
    what reads it gets past its syntax."""
    data = rng.choice(corpus)
    changes, most = rng.choice(((_CHANGES, 6), (_OF_TERMS, 3)))
    for _ in range(min(most, rng.choice((1, 1, 1, 2, 2, 3, 6)))):
        data = rng.choice(changes)(rng, data, corpus, tokens)[:LONGEST]
    return data


def _place(rng: Random, data: bytes, most: int = 40) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.randrange(1, most))


def _flip(rng: Random, data: bytes, *_: object) -> bytes:
    if not data:
        return data
    at = rng.randrange(len(data))
    return data[:at] + bytes((data[at] ^ (1 << rng.randrange(8)),)) + data[at + 1 :]


def _insert_odd(rng: Random, data: bytes, *_: object) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(ODD) + data[at:]


def _delete(rng: Random, data: bytes, *_: object) -> bytes:
    start, end = _place(rng, data)
    return data[:start] + data[end:]


def _cut(rng: Random, data: bytes, *_: object) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _repeat(rng: Random, data: bytes, *_: object) -> bytes:
    """A piece many times: long lines, deep nesting."""
    start, end = _place(rng, data)
    times = rng.choice((2, 2, 3, 10, 100, 2000))
    return data[:start] + data[start:end] * times + data[end:]


NESTS = (
    *(
        (b"[", b"]"),
        (b"(", b")"),
        (b"{", b"}"),
        (b'{"a":', b"}"),
        (b"{a=", b"}"),
        (b"[ :p ", b"]"),
        (b"<a>", b"</a>"),
    ),
    *((b"not ", b""), (b"( not ", b")"), (b"-", b""), (b"!", b"")),
)
"""What may stand in itself."""


def _nest(rng: Random, data: bytes, *_: object) -> bytes:
    """A piece in many parentheses."""
    start, end = _place(rng, data)
    opening, closing = rng.choice(NESTS)
    depth = rng.choice((3, 30, 300, 3000))
    return data[:start] + opening * depth + data[start:end] + closing * depth + data[end:]


def _splice(rng: Random, data: bytes, corpus: Sequence[bytes], _: object) -> bytes:
    """The head of one and the tail of another, or a piece of another inside."""
    other = rng.choice(corpus)
    start, end = _place(rng, other, 200)
    at = rng.randrange(len(data) + 1)
    return data[:at] + (other[start:] if rng.random() < 0.4 else other[start:end] + data[at:])


def _on_tokens(change: Callable[[Random, list[bytes], list[int], Sequence[bytes]], None]) -> Any:
    def apply(rng: Random, data: bytes, _: object, tokens: Sequence[bytes]) -> bytes:
        parts = _TOKEN.findall(data)
        words = [place for place, part in enumerate(parts) if not part.isspace()]
        if words:
            change(rng, parts, words, tokens)
        return b"".join(parts)

    return apply


def _replace_token(rng: Random, parts: list[bytes], words: list[int], tokens: Sequence[bytes]) -> None:
    parts[rng.choice(words)] = rng.choice(tokens)


def _insert_token(rng: Random, parts: list[bytes], words: list[int], tokens: Sequence[bytes]) -> None:
    parts.insert(rng.choice(words), rng.choice(tokens) + b" ")


def _swap_tokens(rng: Random, parts: list[bytes], words: list[int], _: Sequence[bytes]) -> None:
    one, other = rng.choice(words), rng.choice(words)
    parts[one], parts[other] = parts[other], parts[one]


def _copy_token(rng: Random, parts: list[bytes], words: list[int], _: Sequence[bytes]) -> None:
    parts[rng.choice(words)] = parts[rng.choice(words)]


def _drop_token(rng: Random, parts: list[bytes], words: list[int], _: Sequence[bytes]) -> None:
    parts[rng.choice(words)] = b""


def _replace_number(rng: Random, parts: list[bytes], words: list[int], _: Sequence[bytes]) -> None:
    numbers = [place for place in words if parts[place][:1].isdigit()]
    parts[rng.choice(numbers or words)] = rng.choice(NUMBERS).encode()


_CHANGES = (
    *(_flip, _insert_odd, _delete, _cut, _repeat, _nest, _splice, _splice),
    *map(_on_tokens, (_replace_token, _replace_token, _insert_token, _swap_tokens)),
    *map(_on_tokens, (_copy_token, _copy_token, _drop_token, _replace_number, _replace_number)),
)


_TERM = re.compile(rb'"(?:[^"\\\n]|\\.)*"|<[^<>\s]*>|[^\W\d][\w:.-]*\w|[?$@:]\w+|[\d.+-]+\w*')
_GROUP = re.compile(rb"\[[^\[\]]*\]|\([^()]*\)|\{[^{}]*\}")
_VALUE = re.compile(rb'"(?:[^"\\\n]|\\.)*"|(?<!\w)[\d.+-]*\d\w*')
"""Names, variables, literals and numbers; what stands in brackets without others in it; values alone."""


def _on_terms(pattern: re.Pattern[bytes], take: Callable[..., bytes]) -> Any:
    """Replaces what the pattern finds at one place; `take` gives what comes instead."""

    def apply(rng: Random, data: bytes, _: object, tokens: Sequence[bytes]) -> bytes:
        found = list(pattern.finditer(data))
        if not found:
            return data
        place = rng.choice(found)
        return data[: place.start()] + take(rng, place[0], found, tokens) + data[place.end() :]

    return apply


def _kind(term: bytes) -> bytes:
    """What may stand for what: literals, IRIs, names with a prefix, local names, words, numbers."""
    return b"a:" if term[:1].isalpha() and b":" in term else b"a" if term[:1].isalpha() else term[:1]


def _alike(rng: Random, old: bytes, others: Sequence[bytes]) -> bytes:
    """One of the others, most often of the same kind."""
    new = rng.choice(others)
    for _ in range(rng.choice((0, 5, 20))):
        if _kind(new) == _kind(old):
            break
        new = rng.choice(others)
    return new


def _other(rng: Random, old: bytes, found: Sequence[re.Match[bytes]], _: object) -> bytes:
    return _alike(rng, old, [one[0] for one in found])


def _word(rng: Random, old: bytes, _: object, tokens: Sequence[bytes]) -> bytes:
    return _alike(rng, old, tokens)


def _number(rng: Random, old: bytes, *_: object) -> bytes:
    number = rng.choice(NUMBERS).encode()
    return b'"%b"' % number if old[:1] == b'"' else number


_OF_TERMS = (
    *(_on_terms(_TERM, _other),) * 4,
    *(_on_terms(_TERM, _word),) * 2,
    *(_on_terms(_GROUP, _other),) * 2,
    _on_terms(_VALUE, _number),
)


def mutated_tree(rng: Random, tree: Any) -> Any:
    """A decoded state with one to three places of it replaced, removed or copied over another."""
    for _ in range(rng.choice((1, 1, 2, 3))):
        tree = _with_change(rng, tree)
    return tree


STRANGE = (
    None,
    "x",
    "",
    -1,
    0,
    1 << 62,
    -(1 << 62),
    0.5,
    float("nan"),
    [],
    {},
    [[]],
    {"x": 1},
    True,
    b"",
    "<a>",
)


def _with_change(rng: Random, tree: Any) -> Any:
    """A copy with one change; the place is found by a walk that ends at random."""
    if isinstance(tree, dict) and tree and rng.random() < 0.93:
        key = rng.choice(list(tree))
        return {k: _with_change(rng, v) if k == key else v for k, v in tree.items()}
    if isinstance(tree, list) and tree and rng.random() < 0.93:
        at = rng.randrange(len(tree))
        if rng.random() < 0.1:
            return tree[:at] + tree[at + 1 :]
        if rng.random() < 0.1:
            return [*tree[:at], tree[rng.randrange(len(tree))], *tree[at:]]
        return [_with_change(rng, one) if place == at else one for place, one in enumerate(tree)]
    if isinstance(tree, str) and rng.random() < 0.3:
        return tree[: rng.randrange(len(tree) + 1)]
    if isinstance(tree, int) and not isinstance(tree, bool) and rng.random() < 0.5:
        return tree + rng.choice((-1, 1, 1000, -(10**9), 10**15))
    return rng.choice(STRANGE)
