"""The lints of a run, on either engine: about its configuration before it, about its streams after it."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence, Set

from obep.engine.query import Query
from obep.formats.timestamps import Style
from obep.lints.rules.stream.wrong_unit import CODE as WRONG_UNIT
from obep.lints.stream_context import ConfigContext, RunContext
from obep.lints.stream_rules import Found, StreamRules
from obep.lints.stream_stats import StreamStats
from obep.model import Term
from obep.run.dead_letters import Letters
from obep.run.progress import Progress
from obep.run.run_spec import Order


class RunLints:
    """Applies the rules to a run and shows what they find, each finding once."""

    def __init__(self, query: Query, order: Order, progress: Progress) -> None:
        self.rules = StreamRules(query, order.config.ignore)
        self._query = query
        self._order = order
        self._progress = progress
        self._before: list[Found] = []
        self._settled = 0
        self._shown: set[str] = set()
        """The sources whose unit was reported."""

    def check_config(self, endless: Sequence[str], ending: Sequence[str]) -> None:
        """Show what there is to say about the configuration and the sources, before anything is read."""
        from obep.lints.stream_rules import apply_config_rules

        order = self._order
        waits = order.idle is not None or bool(order.lateness and not ending)
        context = ConfigContext(self._query.bundle, order.config, tuple(endless), tuple(ending), waits)
        self._before = apply_config_rules(context, order.config.ignore)
        self._show(self._before)

    def turn(self, stats: StreamStats) -> None:
        """Show which units are probably wrong, as soon as the first times are known."""
        settled = sum(times.settled for times in stats.sources.values())
        if settled != self._settled:
            self._settled = settled
            run = RunContext(self._query, lambda stream: None)
            self._show(self.rules.findings(stats, run, only=WRONG_UNIT))

    def end(
        self,
        stats: StreamStats,
        letters: Letters,
        streams: Set[str],
        noted: Mapping[str, int],
        *,
        found: Container[Term],
        style: Style | None,
        taken: int,
        stopped: bool,
        live: bool,
    ) -> None:
        """Show what the streams of a run have shown; `taken` is how many items were not refused."""
        stats.noted.update(noted)
        stats.refused.update(stream for stream, _ in letters.first_of)
        all_read = self._order.checkpoint is None and not stopped
        run = RunContext(
            self._query,
            lambda stream: None,
            streams,
            found,
            style,
            ended=True,
            at_end=all_read and bool(taken or not letters.counts),
            bounded=all_read and not live,
            units_read={name for name, one in self._order.config.sources.items() if "units" in one},
        )
        self._show(self.rules.findings(stats, run, self._before))

    def _show(self, found: Iterable[Found]) -> None:
        for rule, finding in found:
            if rule.code == WRONG_UNIT:
                if finding.stream in self._shown:
                    continue
                self._shown.add(finding.stream)
            self._progress.show(Found(rule, finding).diagnostic)
