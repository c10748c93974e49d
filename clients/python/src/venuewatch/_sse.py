from __future__ import annotations

import codecs
import re
from typing import Callable, NamedTuple

_MOST_CHARS = 65_536
"""Longer than any event of the service."""

_LINE_END = re.compile(r"[\r\n]")


class StreamEvent(NamedTuple):
    """An event of a stream of Server-Sent Events."""

    id: str
    """The newest id of the stream, this event's or an earlier one's."""
    event: str
    data: str
    """Empty: an event that only moves the id on, as a heartbeat does."""


class Parser:
    """Parses the bytes of a stream, which may come in pieces that end anywhere.

    An unfinished event at the end is none.
    """

    def __init__(self, on_event: Callable[[StreamEvent], None], on_retry: Callable[[float], None]) -> None:
        """`on_retry` receives the seconds after which the service wants its clients to come back."""
        self._on_event = on_event
        self._on_retry = on_retry
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._at_start = True
        self._rest = ""
        self._searched = 0
        self._after_return = False
        self._id = ""
        self._event = ""
        self._data: list[str] = []
        self._length = 0

    def feed(self, piece: bytes) -> int:
        """Returns how many lines have ended. Raises ValueError for a line or an event that does not end."""
        text = self._decoder.decode(piece)
        if text == "":
            return 0
        if self._at_start:
            text = text.removeprefix("\ufeff")
            self._at_start = False
        # the rest of a line end that a piece has cut in two
        if self._after_return and text.startswith("\n"):
            text = text[1:]
        self._after_return = False
        rest = self._rest + text
        start, lines = 0, 0
        search = self._searched
        while end := _LINE_END.search(rest, search):
            self._line(rest[start : end.start()])
            lines += 1
            start = end.end()
            if end.group() == "\r":
                if rest.startswith("\n", start):
                    start += 1
                else:
                    self._after_return = start == len(rest)
            search = start
        self._rest = rest[start:]
        self._searched = len(self._rest)
        if len(self._rest) > _MOST_CHARS:
            raise _endless()
        return lines

    def _line(self, line: str) -> None:
        if line == "":
            event = StreamEvent(self._id, self._event or "message", "\n".join(self._data))
            self._event, self._data, self._length = "", [], 0
            self._on_event(event)
            return
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        # also of lines without a value, or they would fill the memory
        self._length += len(line) + 1
        if self._length > _MOST_CHARS:
            raise _endless()
        if field == "data":
            self._data.append(value)
        elif field == "event":
            self._event = value
        elif field == "id" and "\0" not in value:
            self._id = value
        elif field == "retry" and re.fullmatch(r"[0-9]{1,9}", value):
            self._on_retry(int(value) / 1000)


def _endless() -> ValueError:
    return ValueError(f"expected events of at most {_MOST_CHARS} characters, got a longer one")
