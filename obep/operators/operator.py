"""The base of all operators."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from typing import Any, ClassVar, Protocol

from obep.operators.candidates import Candidate, Emit, Enter, Parts
from obep.operators.memory import Memory
from obep.operators.row_join import KeyOf
from obep.operators.state_values import Pack, Unpack, dump_fields, load_fields
from obep.plan.nodes import Alias, Node
from obep.query.state_parts import moment_name


class Operator:
    """Takes candidates of its operands during an instant, and emits its own, some when the instant closes.

    Operands are closed before what stands on them. `live` is for views alone (SPEC §4): what they show at
    this moment of the instant's closing.
    """

    field_name: ClassVar[str] = ""
    """What it is called in the field, with its words in the language."""
    emit: Emit
    waits: bool = False
    """Whether it may have something to decide when an instant closes."""
    state: ClassVar[tuple[str, ...]] = ()
    """The fields that a snapshot keeps."""

    def dump(self, pack: Pack) -> list[Any]:
        """The state as plain values."""
        return dump_fields(self, self.state, pack)

    def load(self, data: list[Any], unpack: Unpack) -> None:
        """Go on from a dump."""
        load_fields(self, self.state, data, unpack)

    def close(self, at: int) -> None:
        """Decide what had to wait for the end of the instant."""

    def reach(self, at: int) -> None:
        """Decide what no item of an instant can change, as soon as time has come to it."""

    def pending(self, only: int | None) -> int:
        """The number of deadlines (those at one instant, or all) that would be met if no more items came."""
        return 0

    def live(self) -> Iterable[Candidate]:
        """The candidates that a view shows now."""
        raise NotImplementedError

    def index(self, key: KeyOf) -> Memory | None:
        """The current members of this view by a key, if it keeps such an index."""
        return None

    def watch(self, seen: Callable[[Candidate], None]) -> None:
        """Tell `seen` of every candidate that this view may ever show."""
        raise NotImplementedError

    def memories(self) -> Iterable[Memory]:
        """Its memories, which drop candidates beyond the horizon."""
        return ()

    def prune(self, at: int) -> None:
        """Forget what can have no part in an answer after this instant."""
        for memory in self.memories():
            memory.prune(at)

    def consume(self, gone: Set[int], at: int) -> None:
        """These occurrences (by `id`) take no part in what is done after this instant (SPEC §6)."""
        for memory in self.memories():
            memory.forget(gone)

    def size(self) -> int:
        """The number of kept candidates."""
        return sum(map(len, self.memories()))


class Place(Protocol):
    """Where an operator grows in a tree."""

    emit: Emit
    """Where its candidates go."""
    consumes: bool
    """Whether what is reported is consumed here."""
    states: Any
    """The states that WHILE and UNLESS look at, by name."""

    def grow(self, node: Node, emit: Emit, *, exempt: bool = False) -> Operator | None:
        """Let an operand grow: its operator if it is a view. `exempt`: nothing is consumed there."""
        ...

    def shorten(self, enter: Enter | None) -> None:
        """Give the leaf that has grown last a shorter way in, if there is one."""
        ...

    def add(self, operator: Operator) -> Operator | None:
        """Take up an operator, after its operands: itself if it is a view."""
        ...

    def add_timed(self, operator: Any) -> None:
        """Let an operator meet its deadlines; called before its operands grow."""
        ...

    def add_of_items(self, operator: Any) -> None:
        """Let an operator have the items themselves."""
        ...


Growing = Callable[[Any, Any], Operator | None]
"""From a node and its `Place`."""
GROWN: dict[type[Node], Growing] = {}
"""For each kind of node how its operator grows."""


def grows(*kinds: type[Node]) -> Callable[[Growing], Growing]:
    """Let a function make the operator of a node; it stands beside the operator's class."""

    def register(growing: Growing) -> Growing:
        GROWN.update(dict.fromkeys(kinds, growing))
        return growing

    return register


def clashes(
    left: tuple[Alias, ...], right: tuple[Alias, ...], *, apart: bool
) -> Callable[[Parts, Parts], bool] | None:
    """Whether two candidates share an occurrence (SPEC D11); `None` if they never can.

    `apart`: one lies before the other, so that only a context can be in both.
    """
    pairs = [
        (here, there)
        for here, one in enumerate(left)
        for there, other in enumerate(right)
        if one.event and one.event == other.event and (not apart or one.context or other.context)
    ]
    moments = (
        []
        if apart
        else [
            (here, there)
            for here, one in enumerate(left)
            for there, other in enumerate(right)
            if one.event != other.event and moment_name(one.event) == moment_name(other.event)
        ]
    )
    if moments:

        def same(mine: Parts, others: Parts) -> bool:
            for here, there in (*pairs, *moments):
                one, other = mine[here], others[there]
                if one is not None and other is not None and (one is other or one.id == other.id):
                    return True
            return False

        return same
    if not pairs:
        return None

    def clash(mine: Parts, others: Parts) -> bool:
        return any(mine[here] is not None and mine[here] is others[there] for here, there in pairs)

    return clash
