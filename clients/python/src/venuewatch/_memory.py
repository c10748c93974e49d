from __future__ import annotations

import collections
import datetime
from dataclasses import dataclass
from typing import Any, Mapping, NamedTuple, Sequence

from .types import Category, State

_MOST_RECENT = 5_000
"""A storm of all venues and components several times over, a few megabytes."""


@dataclass
class Row:
    """What the memory keeps of a venue."""

    id: str
    name: str
    category: Category
    state: State
    components: dict[str, State]
    as_of: float
    """Changes until this instant are in it."""


class _Event(NamedTuple):
    """A change of a state. No more of it is kept, since whatever else an event has may be long."""

    venue: str
    component: str | None
    """None: the venue as a whole."""
    state: str


class Document(NamedTuple):
    """The states of some venues at one instant, as they were read."""

    generated_at: str
    stale: bool
    rows: Sequence[Mapping[str, Any]]


class Memory:
    """The states of venues: what was read, and the changes since.

    A document shows an instant, not an event, and may come from a cache or from a slower server than the stream's. So
    the events are kept that it may lack: all that happened after its instant are applied to it, and a document from
    before the start of the stream is of no use.
    """

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}
        """Replaced as a whole by each reading, so that other threads never see half of one."""
        self._since = float("-inf")
        """A document must show this instant or a later one, or what happened in between is missing."""
        self._recent: collections.deque[tuple[float, _Event]] = collections.deque()

    def begin(self, at: str | None) -> None:
        """Starts again with a stream that sends all changes after this instant. None: after any.

        The rows stay until the next reading.
        """
        self._since = float("-inf") if at is None else _instant(at)
        self._recent.clear()

    def load(self, documents: Sequence[Document]) -> bool:
        """False if they are too old to continue with the events of the stream."""
        instants = [_instant(document.generated_at) for document in documents]
        oldest = min(instants)
        if oldest < self._since:
            return False
        rows = {
            row["id"]: Row(
                id=str(row["id"]),
                name=str(row["name"]),
                category=row["category"],
                state=_state_of(row["state"]),
                components={one["component"]: _state_of(one["state"]) for one in row["components"]},
                as_of=as_of,
            )
            for as_of, document in zip(instants, documents)
            for row in document.rows
        }
        self._recent = collections.deque((at, event) for at, event in self._recent if at > oldest)
        for at, event in self._recent:
            _apply(rows, at, event)
        self._since = oldest
        self.rows = rows
        return True

    def apply(self, event: Mapping[str, Any]) -> bool:
        """Whether the venue and the component are known."""
        at = _instant(event["at"])
        kept = _Event(event["venue"], event.get("component"), event["state"])
        if not all(isinstance(one, str) for one in (kept.venue, kept.component or "", kept.state)):
            raise ValueError("expected texts as venue, component and state of an event")
        self._recent.append((at, kept))
        if len(self._recent) > _MOST_RECENT:
            # a document that is still being read must be newer than what is forgotten
            self._since = max(self._since, self._recent.popleft()[0])
        return _apply(self.rows, at, kept)


def _apply(rows: dict[str, Row], at: float, event: _Event) -> bool:
    row = rows.get(event.venue)
    component = event.component
    if row is None or (component is not None and component not in row.components):
        return False
    if at > row.as_of:
        if component is None:
            row.state = _state_of(event.state)
        else:
            row.components[component] = _state_of(event.state)
    return True


def _state_of(word: object) -> State:
    """A word that is new in a later version is not understood, so the state is unknown."""
    if word == "operational":
        return "operational"
    if word == "degraded":
        return "degraded"
    if word == "outage":
        return "outage"
    return "unknown"


def _instant(text: str) -> float:
    # until 3.11, Python does not read the Z
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
