from __future__ import annotations

import collections
import logging
import threading
from typing import Callable, Union

from ._changes import Change

_log = logging.getLogger("venuewatch")

_MOST_WAITING = 10_000
"""Calls of a slow callback. Older ones are dropped: states are also answered from memory."""

_END_S = 1.0


class Callbacks:
    """Calls what a bot has given, in order, in a thread of its own.

    So no lock of the watch is held meanwhile, and a slow callback delays neither answers nor the stream.
    """

    def __init__(
        self, on_change: Callable[[Change], object] | None, on_problem: Callable[[str], object] | None
    ) -> None:
        self._on_change = on_change
        self._on_problem = on_problem
        self._waiting: collections.deque[Union[Change, str]] = collections.deque(maxlen=_MOST_WAITING)
        self._news = threading.Condition()
        self._ended = False
        self._last_problem = ""
        self._thread = threading.Thread(target=self._run, name="venuewatch-callbacks", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def change(self, change: Change) -> None:
        if self._on_change is not None:
            with self._news:
                self._waiting.append(change)
                self._news.notify()

    def problem(self, problem: str) -> None:
        """The same problem again and again is reported once."""
        with self._news:
            if problem != self._last_problem:
                self._last_problem = problem
                self._waiting.append(problem)
                self._news.notify()

    def drop_changes(self) -> None:
        """Those that are waiting."""
        with self._news:
            problems = [one for one in self._waiting if isinstance(one, str)]
            self._waiting.clear()
            self._waiting.extend(problems)

    def end(self) -> None:
        """Ends the thread after what is waiting, and waits for that, but not for a slow callback."""
        with self._news:
            self._ended = True
            self._news.notify()
        # a daemon that still prints when the interpreter ends may abort the program
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(_END_S)

    def deliver(self) -> None:
        """Calls for all that is waiting."""
        while True:
            with self._news:
                if not self._waiting:
                    return
                one = self._waiting.popleft()
            self._call(one)

    def _run(self) -> None:
        while True:
            self.deliver()
            with self._news:
                if not self._waiting:
                    if self._ended:
                        return
                    self._news.wait()

    def _call(self, one: Change | str) -> None:
        try:
            if not isinstance(one, str):
                if self._on_change is not None:
                    self._on_change(one)
            elif self._on_problem is None:
                _log.warning("%s", one)
            else:
                self._on_problem(one)
        except Exception:  # the watch goes on, whatever the bot does
            _log.exception("%s failed", "on_problem" if isinstance(one, str) else "on_change")
