from __future__ import annotations

import collections
import threading
from dataclasses import dataclass
from typing import Callable, Iterator, Literal, Union

from .types import Severity, State

_MOST_WAITING = 10_000
"""Changes for a slow reader. Older ones are dropped: states are also answered from memory."""


@dataclass(frozen=True)
class StateChange:
    """The state of a venue or a component, as the watch answers it, has changed: also to and from `unknown`."""

    type: Literal["venue", "component"]
    venue: str
    component: str | None
    """None: the venue as a whole."""
    state: State
    before: State
    region: str | None = None
    """The region that sees it so. None: it is by quorum."""


@dataclass(frozen=True)
class IncidentChange:
    """An incident was opened, or changed. `slug` leads to it."""

    type: Literal["incident"]
    venue: str
    component: str
    change: Literal["opened", "escalated", "closed", "retracted"]
    severity: Severity
    slug: str
    started_at: str
    at: str


@dataclass(frozen=True)
class DoubtChange:
    """From now on all states are unknown, for this reason; None: no longer. The changes of states follow."""

    type: Literal["doubt"]
    because: str | None
    region: str | None = None
    """The region whose view is in doubt. None: what is by quorum."""


Change = Union[StateChange, IncidentChange, DoubtChange]


class ChangeQueue(Iterator[Change]):
    """Hands changes to one reader, in their order."""

    def __init__(self, on_end: Callable[[ChangeQueue], None]) -> None:
        self._waiting: collections.deque[Change] = collections.deque(maxlen=_MOST_WAITING)
        self._news = threading.Condition()
        self._ended = False
        self._on_end = on_end

    def add(self, change: Change) -> None:
        with self._news:
            self._waiting.append(change)
            self._news.notify()

    def close(self) -> None:
        """Ends the iteration."""
        with self._news:
            self._ended = True
            self._news.notify_all()
        self._on_end(self)

    def __next__(self) -> Change:
        with self._news:
            while not self._waiting:
                if self._ended:
                    raise StopIteration
                self._news.wait()
            return self._waiting.popleft()
