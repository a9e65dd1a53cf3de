"""Rules that fit what a field looks like: range, jump, stuck, silence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, floor, log10

from obep.agents.field_profiles import Profile, quantile
from obep.errors import count
from obep.model import local_name

CONTINUOUS = 10
"""Different values from which on a field is measured; one with fewer is a switch or a level."""
READINGS = 30
"""Readings below which nothing is proposed."""
HOLD = 60_000_000
"""Microseconds of a time bound at least."""


@dataclass(frozen=True)
class Rule:
    """An event to return, the definitions that it needs, and why it is proposed."""

    name: str
    text: str
    reason: str


def rules_for(profile: Profile) -> list[Rule]:
    """The rules for one property; none if there are too few readings."""
    if len(profile.values) < READINGS:
        return []
    found = _silence(profile)
    if profile.distinct >= CONTINUOUS:
        found = [*_ranges(profile), *_jump(profile), *_stuck(profile), *found]
    return found


def reading(profile: Profile) -> str:
    """The event that a property was read, which the rules share."""
    return f"EVENT {title(profile)}Reading AS (:{local_name(profile.name)} some number)"


def title(profile: Profile) -> str:
    """The name of a property as the beginning of a name of events: `LevelHigh`, `Flow_l_min_High`."""
    name = local_name(profile.name)
    return f"{name[:1].upper()}{name[1:]}{'_' if '_' in name else ''}"


def duration(micros: float) -> str:
    """A duration as queries write it, rounded up.

    >>> duration(300_000_000), duration(7_000_001), duration(7_300_000_000)
    ('5 min', '8 s', '122 min')
    """
    seconds = ceil(micros / 1_000_000)
    if seconds > 600 or seconds % 60 == 0:
        minutes = ceil(seconds / 60)
        return f"{minutes // 60} h" if minutes % 60 == 0 else f"{minutes} min"
    return f"{seconds} s"


def _ranges(profile: Profile) -> list[Rule]:
    low, high = quantile(profile.values, 0.25), quantile(profile.values, 0.75)
    spread = high - low
    if spread <= 0 or not profile.falls:  # what only rises will leave any range
        return []
    name, word = title(profile), local_name(profile.name)
    found = []
    for side, sign, limit in (
        ("High", ">", _rounded(high + 3 * spread, ceil)),
        ("Low", "<", _rounded(low - 3 * spread, floor)),
    ):
        if side == "Low" and limit < 0 <= profile.values[0]:
            continue  # what is counted or weighed is never below zero
        reason = f"half of the values of {word} lie from {low:g} to {high:g}; {limit:g} is far outside"
        part = f"{name}{'Above' if side == 'High' else 'Below'}"
        within = duration(max(HOLD, 10 * _gap(profile)))
        text = f"EVENT {part} AS (:{word} some number[{sign} {_written(limit)}])\n"
        text += f"EVENT {name}{side}(?x) MATCH (FIRST {part}(?x)) WITHIN {within} PARTITION BY ?x"
        found.append(Rule(f"{name}{side}", text, reason))
    return found


STEP = """EVENT $Step(?x, ?a, ?b) MATCH $Reading(?x) AS early NEXT $Reading(?x) AS late WITHIN {within}
  IF {{ EVENT early {{ ?this :{word} ?a }} EVENT late {{ ?this :{word} ?b }} }}
EVENT $Jump(?x) MATCH $Step(?x, ?a, ?b) IF {{ FILTER(ABS(?b - ?a) > {limit}) }}"""
SAME = """STATE $Same(?x) OVER $Reading(?x) AS r WITHIN {within}
  IF {{ EVENT r {{ ?this :{word} ?v }} }}
  AGGREGATE (MAX(?v) - MIN(?v) AS ?change) (COUNT(*) AS ?n)
  HAVING (?change = 0 && ?n >= {least} && FULL())
EVENT $Stuck(?x) MATCH BEGIN $Same(?x)"""
SILENCE = "EVENT $Silent(?x) MATCH $Reading(?x) NOT FOLLOWED BY $Reading(?x) AS again WITHIN {within}"


def _rule(profile: Profile, kind: str, text: str, reason: str, **parts: object) -> Rule:
    """A rule by its text, in which `$` stands for the name of the property as names of events begin."""
    name, word = title(profile), local_name(profile.name)
    written = text.replace("$", name).format(word=word, **parts)
    return Rule(f"{name}{kind}", written, reason.format(word=word))


def _jump(profile: Profile) -> list[Rule]:
    moved = [step for step in profile.steps if step > 0]
    if len(moved) < READINGS:
        return []
    low, high = quantile(moved, 0.25), quantile(moved, 0.75)
    limit = _rounded(max(high + 4 * (high - low), 2 * quantile(moved, 0.95)), ceil)
    reason = f"95 of 100 steps of {{word}} are at most {quantile(moved, 0.95):g}"
    within = duration(max(HOLD, 3 * _gap(profile)))
    return [_rule(profile, "Jump", STEP, reason, within=within, limit=_written(limit))]


def _stuck(profile: Profile) -> list[Rule]:
    gap, usual = _gap(profile), quantile(profile.runs, 0.99)
    if not gap or quantile(profile.runs, 0.5) > 1 or usual > 20:
        return []
    readings = max(12, 3 * usual)
    reason = f"{{word}} seldom stays the same for more than {count(round(usual), 'reading')}"
    within = duration(max(HOLD, readings * gap))
    return [_rule(profile, "Stuck", SAME, reason, within=within, least=ceil(readings / 2))]


def _silence(profile: Profile) -> list[Rule]:
    gap = _gap(profile)
    if not gap:
        return []
    within = duration(max(5 * gap, 1.5 * quantile(profile.gaps, 0.99)))
    reason = f"a reading of {{word}} mostly comes {duration(gap)} after the last"
    return [_rule(profile, "Silent", SILENCE, reason, within=within)]


def _gap(profile: Profile) -> float:
    """The usual microseconds between two readings; 0 if there are too few to say."""
    return quantile(profile.gaps, 0.5) if len(profile.gaps) >= READINGS else 0


def _rounded(number: float, away: Callable[[float], int]) -> float:
    """Three digits are enough, and none of the usual values falls out by rounding."""
    if number == 0:
        return 0.0
    places = 10.0 ** (floor(log10(abs(number))) - 2)
    return float(f"{away(number / places) * places:.6g}")


def _written(number: float) -> str:
    """A number as queries write it, without an exponent."""
    return f"{number:.10f}".rstrip("0").rstrip(".")
