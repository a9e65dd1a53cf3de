"""The lines of a query, with the comments that stand before and beside them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from obep.query.ast import Comment
from obep.query.print.canonical_text import INDENT, WIDTH


class Lines:
    """Lines on their way to the text. Some are places, with comments before or beside them; they are counted.

    What fits on one line is written so, unless a comment stands inside it. `obep.query.print.comments` counts
    the same places in the same order.
    """

    def __init__(self, comments: Iterable[Comment] = ()) -> None:
        self.written: list[str] = []
        self._comments: dict[int, list[Comment]] = {}
        for comment in comments:
            self._comments.setdefault(comment.before, []).append(comment)
        self._next = 0

    def place(self, indent: int, text: str, *, inner: int = 0) -> None:
        """A line before and beside which comments may stand; `inner` places in it have none."""
        beside = self._remarks(indent)
        self._write(indent, text + beside)
        self._next += inner

    def close(self, indent: int, text: str) -> None:
        """A closing bracket; comments before it still stand inside."""
        beside = self._remarks(indent + 1)
        self._write(indent, text + beside)

    def space(self) -> None:
        """An empty line between parts."""
        if self.written:
            self.written.append("")

    def rest(self) -> None:
        """The comments after all places."""
        if self._next in self._comments:
            self.space()
        self._remarks(0)

    def folded(self, indent: int, head: str, segments: Sequence[str]) -> None:
        """A head and its segments, each of which is a place."""
        line = " ".join([head, *segments])
        commented = self.commented(1, len(segments))
        if not commented and (len(line) <= WIDTH or len(segments) == 1):
            self.place(indent, line, inner=len(segments))
            return
        self.place(indent, head)
        for segment in segments:
            self.place(indent + 2, segment)

    def block(self, indent: int, head: str, parts: Sequence[str]) -> None:
        """A head and parts in braces. The parts and the closing brace are places."""
        line = " ".join([head, "{", *parts, "}"])
        if not self.commented(1, len(parts) + 1) and len(line) <= WIDTH:
            self.place(indent, line, inner=len(parts) + 1)
            return
        self.place(indent, f"{head} {{")
        for part in parts:
            self.place(indent + 1, part)
        self.close(indent, "}")

    def side_by_side(self, indent: int, parts: Sequence[str]) -> None:
        """Parts on one line, if they fit and no comment stands between them."""
        line = " ".join(parts)
        if parts and len(line) <= WIDTH and not self.commented(1, len(parts) - 1):
            self.place(indent, line, inner=len(parts) - 1)
        else:
            for part in parts:
                self.place(indent, part)

    def commented(self, after: int, count: int) -> bool:
        """Whether comments stand before some of the next places; `after` of these are left out."""
        first = self._next + after
        return any(number in self._comments for number in range(first, first + count))

    def _remarks(self, indent: int) -> str:
        """Writes the comments before the next place; the one that stands beside it is the answer."""
        beside = ""
        for comment in self._comments.get(self._next, ()):
            if comment.beside:
                beside = f"  {comment.text}"
                continue
            self.written.append(INDENT * indent + comment.text)
            if comment.apart:
                self.written.append("")
        self._next += 1
        return beside

    def _write(self, indent: int, text: str) -> None:
        self.written += [INDENT * indent + line for line in text.split("\n")]
