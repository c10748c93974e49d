from __future__ import annotations

import time
from typing import NamedTuple


class Instant(NamedTuple):
    """An instant by both clocks, in seconds."""

    monotonic: float
    wall: float


def now() -> Instant:
    return Instant(time.monotonic(), time.time())


def is_older(instant: Instant, seconds: float) -> bool:
    """Whether more time has passed since then, by either clock.

    The monotonic one may stand still while a machine sleeps, and the other one may be set back. An error is on the
    side of doubt.
    """
    return time.monotonic() - instant.monotonic > seconds or time.time() - instant.wall > seconds
