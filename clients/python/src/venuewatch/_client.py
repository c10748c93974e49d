from __future__ import annotations

import re
import urllib.parse
from typing import Any, Callable, Iterable, Literal, cast

from ._changes import Change
from ._http import read_json
from ._stream import Timing
from ._watch import Watch
from .types import (
    Category,
    ExchangeResponse,
    IncidentDetailResponse,
    IncidentsResponse,
    RegionsResponse,
    ReliabilityResponse,
    StatusResponse,
    TransfersResponse,
    VenueStateResponse,
)


class Venuewatch:
    """A venuewatch service.

    Each method reads one document of its API and raises VenuewatchError if that fails. A program that asks often should
    `watch` instead.
    """

    def __init__(self, url: str, *, timeout_s: float = 10.0, max_bytes: int = 4 * 2**20) -> None:
        """`url` is the base address of a service, such as `https://status.example.org`.

        `timeout_s` is for a whole answer, `max_bytes` for its uncompressed length.
        """
        if not re.match(r"https?://[^/]", url, re.IGNORECASE):
            raise ValueError(f'expected url such as "https://status.example.org", got {url!r}')
        self._base = re.sub(r"[?#].*$", "", url, flags=re.DOTALL).rstrip("/")
        self._timeout_s = timeout_s
        self._max_bytes = max_bytes

    def status(self, *, category: Category | None = None) -> StatusResponse:
        """The board: every venue with its components, and the open incidents."""
        return cast(StatusResponse, self._read("status", category=category))

    def state(self, venue: str, *, region: str | None = None) -> VenueStateResponse:
        """One venue and its components, in about a kilobyte: by quorum, or as one region sees them."""
        return cast(VenueStateResponse, self._read(f"targets/{_quoted(venue)}/state", region=region))

    def venue(
        self, venue: str, *, range: Literal["24h", "7d"] | None = None, region: str | None = None
    ) -> ExchangeResponse:
        """Everything about one venue."""
        return cast(ExchangeResponse, self._read(f"targets/{_quoted(venue)}", range=range, region=region))

    def incidents(
        self,
        *,
        venue: str | None = None,
        category: Category | None = None,
        status: Literal["open", "closed", "all"] | None = None,
        days: int | None = None,
        limit: int | None = None,
        before: str | None = None,
        before_id: int | None = None,
    ) -> IncidentsResponse:
        """Incidents, newest first, by pages."""
        return cast(
            IncidentsResponse,
            self._read(
                "incidents",
                venue=venue,
                category=category,
                status=status,
                days=days,
                limit=limit,
                before=before,
                beforeId=before_id,
            ),
        )

    def incident(self, slug: str) -> IncidentDetailResponse:
        """One incident, with the votes behind it."""
        return cast(IncidentDetailResponse, self._read(f"incidents/{_quoted(slug)}"))

    def reliability(
        self, *, days: int | None = None, category: Category | None = None
    ) -> ReliabilityResponse:
        """The venues compared over a window."""
        return cast(ReliabilityResponse, self._read("reliability", days=days, category=category))

    def regions(self) -> RegionsResponse:
        """The probe fleet and its quorum."""
        return cast(RegionsResponse, self._read("regions"))

    def transfers(
        self, *, venue: str | None = None, asset: str | None = None, paused: Literal["true", "false"] | None = None
    ) -> TransfersResponse:
        """What the venues declare about deposits and withdrawals, by asset and network."""
        return cast(TransfersResponse, self._read("transfers", venue=venue, asset=asset, paused=paused))

    def can_withdraw(self, venue: str, asset: str, network: str | None = None) -> bool | Literal["unknown"]:
        """Whether the venue declares that an asset can be withdrawn: on this network, or on any.

        It is not measured, and "unknown" is never to be taken for yes, though it is true in a condition: compare with
        `is True`. `network` is its id in the service's list, such as `tron`, or the venue's own name for it.
        """
        return self._can("withdrawal", venue, asset, network)

    def can_deposit(self, venue: str, asset: str, network: str | None = None) -> bool | Literal["unknown"]:
        """The same of deposits."""
        return self._can("deposit", venue, asset, network)

    def _can(
        self, direction: Literal["deposit", "withdrawal"], venue: str, asset: str, network: str | None
    ) -> bool | Literal["unknown"]:
        body = self.transfers(venue=venue, asset=asset.upper())
        states: list[str] = []
        for line in body["transfers"]:
            state = line["deposit" if direction == "deposit" else "withdrawal"]["state"]
            if network is None or network in (line["network"], line["venueNetwork"]):
                states.append(state)
            elif line["venueNetwork"] is None:
                # it says it by asset alone, and so of no network that it is open
                states.append("unknown" if state == "open" else state)
        # old data say nothing of the present
        if body["stale"] is not False:
            return "unknown"
        if "open" in states:
            return True
        return False if states and all(state == "paused" for state in states) else "unknown"

    def watch(
        self,
        *,
        venues: Iterable[str] | None = None,
        categories: Iterable[Category] | None = None,
        regions: Iterable[str] | None = None,
        on_change: Callable[[Change], object] | None = None,
        on_problem: Callable[[str], object] | None = None,
        timing: Timing = Timing(),
    ) -> Watch:
        """Follows the states of venues in threads, and answers from memory. Close it at the end.

        `venues`: ids of the venues to watch, also former ones. Absent: all, or those of `categories`.

        `regions`: ids of regions whose own views to watch, too, such as the one that the bot runs in. Each has a
        connection and threads of its own, and each of `venues` is a request: they must be named, at most fifty.

        `on_change` is called with each change, in their order, and `on_problem` with what is wrong, in words for a
        log (absent: the logger "venuewatch"). Both are called in one thread of their own, one call after the other: a
        slow one delays only the next. The watch goes on by itself.
        """
        return Watch(self._url, self._read, venues, categories, on_change, on_problem, timing, regions or ())

    def _read(self, path: str, **query: str | int | None) -> Any:
        given = {name: value for name, value in query.items() if value is not None}
        url = self._url(path) + (f"?{urllib.parse.urlencode(given)}" if given else "")
        return read_json(url, self._timeout_s, self._max_bytes)

    def _url(self, path: str) -> str:
        return f"{self._base}/v1/{path}"


def _quoted(name: str) -> str:
    return urllib.parse.quote(name, safe="")
