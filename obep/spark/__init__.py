"""obep on Spark: `obep.spark.detect` finds events in a DataFrame of items.

from obep.spark import detect
found = detect(obep.load("rooms.obep"), items).occurrences
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from obep.spark.driver.detection import Detection, detect
    from obep.spark.driver.spark_errors import reason

__all__ = ["Detection", "detect", "reason"]


def __getattr__(name: str) -> Any:
    """What a name needs is imported when it is first used."""
    if name not in __all__:
        raise AttributeError(f"module 'obep.spark' has no attribute {name!r}")
    if name == "reason":
        from obep.spark.driver.spark_errors import reason

        return reason
    from obep.spark.driver import detection

    return getattr(detection, name)
