from __future__ import annotations

import random
import threading
import time
import urllib.parse
from dataclasses import dataclass
from typing import Callable

from ._clocks import is_older, now
from ._http import Call, as_venuewatch_error, open_url
from ._sse import Parser, StreamEvent

_PROVEN_S = 10.0
"""A connection that lived so long has worked: after it, the backoff starts again."""

_MOST_AT_ONCE = 48 * 2**20
"""What a connection may receive at first. A resumed stream begins with up to 60,000 events."""
_MOST_PER_SECOND = 2**20
_PART_COST = 64
"""A line or a piece costs as much time as this many bytes more."""


@dataclass(frozen=True)
class Timing:
    """How long things may take, in seconds."""

    silence_s: float = 40.0
    """A connection on which nothing came for so long is dead: the service sends something every 15 s."""
    connect_s: float = 10.0
    """How soon an answer has to begin."""
    retry_least_s: float = 1.0
    """The pause before it connects again, at first. It grows, and is spread."""
    retry_most_s: float = 30.0
    reread_s: float = 600.0
    """How often all states are read again, to notice venues that are new or gone."""
    oldest_s: float = 1_800.0
    """Without a reading for so long, all is unknown."""


class Stream:
    """Keeps a stream of events open, and continues it after the last one, until it is closed. Runs in a thread."""

    def __init__(
        self,
        url: str,
        timing: Timing,
        on_event: Callable[[StreamEvent], None],
        on_down: Callable[[str], None],
    ) -> None:
        """What `on_event` raises is a fault of the service, and the stream starts again.

        `on_down` receives the reason why the connection is lost.
        """
        self._url = url
        self._timing = timing
        self._on_event = on_event
        self._on_down = on_down
        self._retry_s = timing.retry_least_s
        self._call = Call()
        self._closing = threading.Event()
        self.last_id = ""
        """Where the stream would continue; empty: it would start again."""
        self.received_at = now()
        """When something came last, be it a comment."""

    @property
    def is_silent(self) -> bool:
        """Whether nothing has come for too long."""
        return is_older(self.received_at, self._timing.silence_s)

    def cut_if_silent(self) -> None:
        if self.is_silent:
            self._call.cut(f"nothing came for {self._timing.silence_s:g} s")

    def close(self) -> None:
        self._closing.set()
        self._call.cut("closed")

    def run(self) -> None:
        failures = 1
        while not self._closing.is_set():
            since = now()
            because, wait_s = self._connection()
            if self._closing.is_set():
                return
            if is_older(since, _PROVEN_S):
                failures = 1
            self._on_down(because)
            growing_s = min(self._timing.retry_most_s, self._retry_s * 2.0 ** min(failures - 1, 30))
            failures += 1
            self._closing.wait(max(wait_s, growing_s * random.uniform(0.5, 1)))

    def _connection(self) -> tuple[str, float]:
        """Returns when it has ended: why, and how long the service wants to be left alone."""
        url = self._url
        if self.last_id != "":
            url += ("&" if "?" in url else "?") + urllib.parse.urlencode({"lastEventId": self.last_id})
        self.received_at = now()
        self._call = call = Call()
        if self._closing.is_set():
            return "closed", 0.0
        timer = threading.Timer(self._timing.connect_s, call.cut, [f"no answer within {self._timing.connect_s:g} s"])
        timer.daemon = True
        timer.start()
        try:
            response = open_url(url, "text/event-stream", self._timing.connect_s, call)
            timer.cancel()
            call.set_timeout(self._timing.silence_s)
            try:
                parser = Parser(self._receive, self._retry)
                self.received_at = now()
                begun_s, cost = time.monotonic(), 0
                while piece := response.read1(65_536):
                    self.received_at = now()
                    try:
                        cost += len(piece) + _PART_COST * (1 + parser.feed(piece))
                        if cost > _MOST_AT_ONCE + (time.monotonic() - begun_s) * _MOST_PER_SECOND:
                            raise ValueError("expected a stream of at most a mebibyte a second, got more")
                    except Exception:
                        # it would come again
                        self.last_id = ""
                        raise
            finally:
                response.close()
        except Exception as error:  # whatever it is, the bot must not lose its watch by it
            silence = f"nothing came for {self._timing.silence_s:g} s" if isinstance(error, TimeoutError) else None
            failed = as_venuewatch_error(url, error, call.reason or silence)
            if failed.status == 400:
                # an id that this service cannot know
                self.last_id = ""
            return str(failed), failed.retry_after_s or 0.0
        finally:
            timer.cancel()
        return f"GET {url}: {call.reason or 'the service ended the stream'}", 0.0

    def _receive(self, event: StreamEvent) -> None:
        self._on_event(event)
        if event.id != "":
            self.last_id = event.id

    def _retry(self, seconds: float) -> None:
        self._retry_s = min(max(seconds, self._timing.retry_least_s), self._timing.retry_most_s)
