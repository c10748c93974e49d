"""Follows the states of venues in memory.

The stream is opened first and the states are read then, so that nothing is missed in between; `Memory` puts the two
together.

A state is answered only while there is no doubt about it. There is doubt until the first reading, while the stream is
not connected or silent, while the service says that its data is stale, and when nothing could be read for long.
"""

from __future__ import annotations

import json
import random
import threading
import time
import urllib.parse
from dataclasses import dataclass
from typing import Any, Callable, Iterable, Literal, Mapping

from ._callbacks import Callbacks
from ._changes import Change, ChangeQueue, DoubtChange, IncidentChange, StateChange
from ._clocks import is_older, now
from ._http import VenuewatchError, shown
from ._memory import Document, Memory, Row
from ._said import body_of, check_region, no_venue, stale_of
from ._sse import StreamEvent
from ._stream import Stream, Timing
from .types import Category, State

_MOST_REPORTED = 1_000
"""So many misspelt names are reported once each, and others perhaps again."""

_LOOK_S = 1.0

_MOST_VIEWED = 50
"""Venues of which regions' views are watched."""


@dataclass(frozen=True)
class WatchedVenue:
    """A venue as it is in memory. While there is doubt, its states are unknown."""

    id: str
    name: str
    category: Category
    state: State
    components: Mapping[str, State]


class Watch:
    """Made by `Venuewatch.watch`. Its three threads are daemons; `close` ends them, as leaving a `with` block does.

    The threads do not survive a fork: in the new process, all becomes unknown.
    """

    def __init__(
        self,
        url_of: Callable[[str], str],
        read: Callable[[str], Any],
        venues: Iterable[str] | None,
        categories: Iterable[Category] | None,
        on_change: Callable[[Change], object] | None,
        on_problem: Callable[[str], object] | None,
        timing: Timing,
        regions: Iterable[str] = (),
        region: str | None = None,
    ) -> None:
        """`region`: whose view this is. None: by quorum, and the views of `regions` are watches of their own."""
        self._read_path = read
        self._venues = None if venues is None else list(venues)
        self._region = region
        watched = list(dict.fromkeys(regions))
        if watched and not 0 < len(self._venues or ()) <= _MOST_VIEWED:
            raise ValueError(f"expected venues beside regions, at most {_MOST_VIEWED}, got {len(self._venues or ())}")
        self._categories = None if categories is None else list(categories)
        self._callbacks = Callbacks(on_change, on_problem)
        self._timing = timing
        self._memory = Memory()
        self._queues: set[ChangeQueue] = set()
        self._present: dict[str, str] = {}
        """The present ids of venues that are watched under a former one."""
        self._reported: set[str] = set()
        # guards all that follows; answers from memory do without it
        self._lock = threading.RLock()
        self._news = threading.Condition(self._lock)
        self._closed = False
        self._fault: str | None = "not connected yet"
        """Why there is no stream; None while there is one, and it has said where it begins."""
        self._stale = True
        self._must_read = True
        self._read_at = now()
        self._last_change = -1
        self._beginnings = 0
        """Of the stream. A document that was asked for before one is of no use after it."""
        self._next_read: float | None = None
        """By the monotonic clock; None: not before the next beginning."""
        self._failures = 0
        self._read_for_new = False
        self._outcome: list[str] | None = None
        """Of the first reading: what is wrong with the ids of `venues`."""
        self._shown: dict[tuple[str, str | None], State] = {}
        self._was_doubted = True

        url = url_of(_path("events", {} if region is None else {"region": region}))
        self._stream = Stream(url, timing, self._receive, self._down)
        self._callbacks.start()
        self._views = {
            one: Watch(url_of, read, self._venues, None, self._emit, self._problem_of(one), timing, (), one)
            for one in watched
        }
        """The views of regions. Their changes are this watch's."""
        for name, run in (("stream", self._stream.run), ("reader", self._run)):
            threading.Thread(target=run, name=f"venuewatch-{name}", daemon=True).start()

    def is_down(
        self, venue: str, component: str | None = None, *, region: str | None = None
    ) -> bool | Literal["unknown"]:
        """Whether a venue, or one of its components, is down: by quorum, or as one of the watched regions sees it.

        True: a quorum of regions says so. False: it works, perhaps badly (`degraded`). Else "unknown", which counts as
        true: `if is_down(…)` takes it for down, and `if not is_down(…)` never takes it for up. So do not compare with
        `is True` or `== True`.
        """
        state = self.state_of(venue, component, region=region)
        return "unknown" if state == "unknown" else state == "outage"

    def state_of(self, venue: str, component: str | None = None, *, region: str | None = None) -> State:
        """`unknown` also for a venue or a component that does not exist; a venue is then reported, once."""
        if region is not None and region != self._region:
            view = self._views.get(region)
            if view is not None:
                return view.state_of(venue, component)
            self._report(f"region {region}", f"region {json.dumps(shown(region))} is not watched: name it in regions")
            return "unknown"
        # The doubt first: a row that is read before could be an old one, of which there is doubt no longer.
        is_doubted = self.doubt is not None
        row = self._row(venue)
        if row is None or is_doubted:
            return "unknown"
        return row.state if component is None else row.components.get(component, "unknown")

    @property
    def doubt(self) -> str | None:
        """Why all states are unknown, in words for a log; None while they are not."""
        fault = self._fault
        if self._closed:
            return "the watch is closed"
        if fault is not None:
            return fault
        if self._stream.is_silent:
            return f"nothing came for {self._timing.silence_s:g} s"
        if self._stale:
            return "the service says that its data is stale"
        if self._must_read:
            return "the states have not been read yet"
        if is_older(self._read_at, self._timing.oldest_s):
            return f"the states could not be read again for {self._timing.oldest_s:g} s"
        return None

    def venue(self, venue: str) -> WatchedVenue | None:
        """None if the venue is not known."""
        is_doubted = self.doubt is not None
        row = self._row(venue)
        return None if row is None else _watched(row, is_doubted)

    def venues(self) -> list[WatchedVenue]:
        """All watched venues that the service has. Empty before the first reading."""
        is_doubted = self.doubt is not None
        return [_watched(row, is_doubted) for row in self._memory.rows.values()]

    def wait_until_ready(self, timeout_s: float | None = 30.0) -> None:
        """Returns when the states are known for the first time. None: without a limit.

        Raises TimeoutError after that time, with the doubt; LookupError if a venue of `venues` does not exist; and
        RuntimeError if the watch is closed. Without waiting, everything is "unknown" until then.
        """
        until = None if timeout_s is None else time.monotonic() + timeout_s
        for view in self._views.values():
            view.wait_until_ready(None if until is None else max(0.0, until - time.monotonic()))
        with self._news:
            self._news.wait_for(lambda: self._closed or self._outcome is not None, timeout_s)
            if self._outcome is None and not self._closed:
                raise TimeoutError(f"no states within {timeout_s:g} s: {self.doubt}")
            if self._outcome:
                raise LookupError("; ".join(self._outcome))
            if self._closed:
                raise RuntimeError("the watch is closed")

    def changes(self) -> ChangeQueue:
        """All changes from now on, to iterate over. Ends when the watch is closed."""
        queue = ChangeQueue(self._queues.discard)
        with self._lock:
            if not self._closed:
                self._queues.add(queue)
                return queue
        queue.close()
        return queue

    def close(self) -> None:
        """Changes that wait for `on_change` are dropped; the last ones are that all is unknown.

        Waits for a callback, but at most a second.
        """
        for view in self._views.values():
            view.close()
        self._stream.close()
        with self._news:
            if self._closed:
                return
            self._closed = True
            self._callbacks.drop_changes()
            self._publish()
            self._news.notify_all()
            queues = list(self._queues)
        for queue in queues:
            queue.close()
        self._callbacks.end()

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _receive(self, received: StreamEvent) -> None:
        if received.data == "":
            return
        body = body_of(received.data)
        number = int(received.id)
        event = received.event
        with self._lock:
            if self._closed:
                return
            if event in ("start", "reset"):
                stale = stale_of(body)
                self._memory.begin(body.get("at"))
                self._last_change = number
                self._stale = True
                self._freshness(stale, 0.0 if event == "start" else self._spread())
            elif event == "freshness":
                self._freshness(stale_of(body), self._spread())
            elif event in ("venue", "component", "incident"):
                # a service that repeats itself must not bring back an old state
                if number <= self._last_change:
                    return
                self._last_change = number
                if event == "incident":
                    self._report_incident(body)
                else:
                    check_region(body.get("region"), self._region)
                    if not self._memory.apply(body) and self._wants(body["venue"], body["category"]):
                        self._read_new()
            else:
                return
            self._publish()

    def _freshness(self, stale: bool, spread_s: float) -> None:
        """After a beginning, and after the data was stale, the states have to be read."""
        if self._stale and not stale:
            self._beginnings += 1
            self._must_read = True
            self._failures = 0
            self._read_soon(spread_s)
        # in this order: an answer from memory must not see the end of one doubt before the beginning of another
        self._stale = stale
        self._fault = None

    def _down(self, because: str) -> None:
        with self._lock:
            if self._closed:
                return
            self._fault = because
            self._callbacks.problem(because)
            self._publish()

    def _spread(self) -> float:
        """So that all clients of a service do not ask at once."""
        return random.uniform(0, self._timing.retry_least_s)

    def _report_incident(self, body: Mapping[str, Any]) -> None:
        if self._wants(body["venue"], body["category"]):
            names = ("venue", "component", "change", "severity", "slug", "at")
            self._emit(
                IncidentChange(type="incident", started_at=body["startedAt"], **{name: body[name] for name in names})
            )

    def _wants(self, venue: str, category: str) -> bool:
        if self._venues is not None:
            return any(self._present.get(one, one) == venue for one in self._venues)
        return self._categories is None or category in self._categories

    def _read_new(self) -> None:
        """A venue or a component that is new: its state is in what is read, perhaps a moment later."""
        if not self._read_for_new and not self._must_read:
            self._read_for_new = True
            self._read_soon(self._timing.retry_least_s)

    def _read_soon(self, wait_s: float) -> None:
        self._next_read = time.monotonic() + wait_s
        self._news.notify_all()

    def _run(self) -> None:
        """Reads when it is time to, and looks at the clocks in between."""
        look_s = min(_LOOK_S, self._timing.silence_s / 4)
        while True:
            with self._news:
                if self._closed:
                    return
                self._stream.cut_if_silent()
                self._publish()
                due_s = look_s if self._next_read is None else self._next_read - time.monotonic()
                if due_s > 0:
                    self._news.wait(min(due_s, look_s))
                    continue
                self._next_read = None
                self._read_for_new = False
                beginnings = self._beginnings
                is_again = self._failures > 0
            try:
                documents, unknown = self._documents(is_again)
            except Exception as error:  # whatever it is, the bot must not lose its watch by it
                self._failed(error, beginnings)
            else:
                self._loaded(documents, unknown, beginnings)

    def _loaded(self, documents: list[Document], unknown: list[str], beginnings: int) -> None:
        with self._news:
            if self._closed or beginnings != self._beginnings:
                return
            try:
                if any(document.stale for document in documents):
                    raise ValueError("what was read is stale, and is read again")
                if not self._memory.load(documents):
                    raise ValueError("what was read is older than the stream, and is read again")
            except Exception as error:
                self._failed(error, beginnings)
                return
            self._failures = 0
            # before the doubt ends: see state_of
            self._read_at = now()
            self._must_read = False
            if self._next_read is None:
                self._next_read = time.monotonic() + self._timing.reread_s * random.uniform(0.9, 1.1)
            if self._outcome is None:
                self._outcome = unknown
            for problem in unknown:
                self._callbacks.problem(problem)
            self._publish()
            self._news.notify_all()

    def _failed(self, error: Exception, beginnings: int) -> None:
        with self._news:
            if self._closed or beginnings != self._beginnings:
                return
            problem = error if isinstance(error, (VenuewatchError, ValueError)) else f"{type(error).__name__}: {error}"
            self._callbacks.problem(str(problem))
            wait_s = (isinstance(error, VenuewatchError) and error.retry_after_s) or 0.0
            growing_s = min(self._timing.retry_most_s, self._timing.retry_least_s * 2.0 ** min(self._failures, 30))
            self._failures += 1
            self._read_soon(max(wait_s, growing_s * random.uniform(0.5, 1)))
            self._publish()

    def _documents(self, is_again: bool) -> tuple[list[Document], list[str]]:
        """`is_again`: what was read before was of no use.

        A cache in between may have it still, and has not for another address.
        """
        query = {"after": self._stream.last_id or "0"} if is_again else {}
        documents: list[Document] = []
        unknown: list[str] = []
        venues = self._venues or []
        if self._region is not None:
            unknown = [no_venue(one, []) for one in venues if not self._add_state(documents, one, query)]
            return documents, unknown
        if len(venues) == 1 and self._add_state(documents, venues[0], query):
            return documents, unknown
        if self._categories is not None and len(self._categories) == 1:
            query = {"category": self._categories[0], **query}
        board = self._read_path(_path("status", query))
        rows = [row for row in board["venues"] if self._wants(row["id"], row["category"])]
        documents.append(Document(board["generatedAt"], stale_of(board), rows))
        known = [str(row["id"]) for row in board["venues"]]
        for asked in venues:
            if asked not in known and not self._add_state(documents, asked, query):
                unknown.append(no_venue(asked, known))
        return documents, unknown

    def _add_state(self, documents: list[Document], asked: str, query: dict[str, str]) -> bool:
        """False if there is no such venue, also not under a former id."""
        try:
            asking = query if self._region is None else {"region": self._region, **query}
            body = self._read_path(_path(f"targets/{urllib.parse.quote(asked, safe='')}/state", asking))
        except VenuewatchError as error:
            if error.status == 404 and error.problem is not None:
                return False
            raise
        check_region((body.get("region") or {}).get("region"), self._region)
        if body["id"] != asked:
            self._present[asked] = body["id"]
        documents.append(Document(body["generatedAt"], stale_of(body), [body]))
        return True

    def _row(self, asked: str) -> Row | None:
        rows = self._memory.rows
        row = rows.get(asked) or rows.get(self._present.get(asked, asked))
        if row is None and not self._must_read:
            self._report(asked, no_venue(asked, list(rows)))
        return row

    def _report(self, asked: str, problem: str) -> None:
        """Each misspelt name once."""
        if asked not in self._reported:
            if len(self._reported) < _MOST_REPORTED:
                self._reported.add(asked)
            self._callbacks.problem(problem)

    def _problem_of(self, region: str) -> Callable[[str], None]:
        return lambda problem: self._callbacks.problem(f"as {region} sees it: {problem}")

    def _publish(self) -> None:
        """Reports what is answered otherwise than before."""
        because = self.doubt
        shown_now: dict[tuple[str, str | None], State] = {}
        for row in self._memory.rows.values():
            shown_now[(row.id, None)] = "unknown" if because is not None else row.state
            for component, state in row.components.items():
                shown_now[(row.id, component)] = "unknown" if because is not None else state
        before, self._shown = self._shown, shown_now
        if (because is not None) != self._was_doubted:
            self._was_doubted = because is not None
            self._emit(DoubtChange("doubt", because, self._region))
        for key in [*shown_now, *(key for key in before if key not in shown_now)]:
            was, state = before.get(key, "unknown"), shown_now.get(key, "unknown")
            if was != state:
                kind: Literal["venue", "component"] = "venue" if key[1] is None else "component"
                self._emit(StateChange(kind, *key, state, was, self._region))

    def _emit(self, change: Change) -> None:
        for queue in list(self._queues):
            queue.add(change)
        self._callbacks.change(change)


def _path(path: str, query: Mapping[str, str]) -> str:
    return path if not query else f"{path}?{urllib.parse.urlencode(query)}"


def _watched(row: Row, is_doubted: bool) -> WatchedVenue:
    components: dict[str, State] = {name: "unknown" if is_doubted else state for name, state in row.components.items()}
    return WatchedVenue(row.id, row.name, row.category, "unknown" if is_doubted else row.state, components)
