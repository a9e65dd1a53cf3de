"""Zones of texts that name none: `zone` in obep.toml, for devices that write what the clock on the wall says.

An hour that comes twice (clocks go back) is the first of the two; one that never comes (clocks go forward) is
moved on by as much as they are, as zoneinfo does.
"""

from __future__ import annotations

import re
from datetime import UTC, timedelta, timezone, tzinfo
from difflib import get_close_matches
from functools import lru_cache

_OFFSET = re.compile(r"([+-])(\d\d):?(\d\d)\Z", re.ASCII)
_LIKE_OFFSET = re.compile(r"(?:UTC|GMT)?\s*([+-])\s*(\d{1,2}):?(\d\d)?\Z", re.ASCII | re.IGNORECASE)


@lru_cache(64)
def zone_named(name: str) -> tzinfo:
    """The zone of a name such as `Europe/Berlin`, or of an offset. Raises ValueError.

    >>> zone_named("+02:00"), zone_named("Europe/Berlin")
    (datetime.timezone(datetime.timedelta(seconds=7200)), zoneinfo.ZoneInfo(key='Europe/Berlin'))
    """
    if name in ("Z", "UTC"):
        return UTC
    if offset := _OFFSET.match(name):
        minutes = int(offset[2]) * 60 + int(offset[3])
        return timezone(timedelta(minutes=-minutes if offset[1] == "-" else minutes))
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (KeyError, OSError):  # a folder of zones, such as Europe, is an OSError
        raise ValueError(f"{name!r} is no zone") from None


def nearest_zone(name: str) -> str:
    """The zone that was probably meant, or nothing.

    >>> nearest_zone("UTC+2"), nearest_zone("Berlin"), nearest_zone("Asia/Tokio"), nearest_zone("CEST")
    ('+02:00', 'Europe/Berlin', 'Asia/Tokyo', '')
    """
    if offset := _LIKE_OFFSET.match(name.strip()):
        return f"{offset[1]}{int(offset[2]):02}:{offset[3] or '00'}"
    from zoneinfo import available_timezones

    zones = {zone.lower(): zone for zone in sorted(available_timezones())}
    meant = name.strip().lower().replace(" ", "_")
    if meant in zones:
        return zones[meant]
    if len(meant) <= 4:  # an abbreviation: CEST, IST and their like are one thing here and another there
        return ""
    cities: dict[str, str] = {}
    for low, zone in zones.items():
        cities.setdefault(low.rpartition("/")[2], zone)
    for known, sought in ((zones, meant), (cities, meant.rpartition("/")[2])):
        if near := get_close_matches(sought, known, 1, 0.8):
            return known[near[0]]
    return ""


def has_no_zone(form: str) -> bool:
    """Whether texts of a `time_format` have no zone: neither an offset nor the name of UTC at their end.

    >>> [has_no_zone(form) for form in ("%d.%m.%Y %H:%M", "%Y%m%dT%H%M%SZ", "%d.%m.%Y %H:%M %z")]
    [True, False, False]
    """
    return "%z" not in form and not form.rstrip().endswith(("Z", "UTC", "GMT"))
