"""What a watch answers from memory. Its stream and its readings are tested with those of the other clients."""

from __future__ import annotations

import json
import time
import unittest
from typing import Any
from unittest import mock

from venuewatch import Timing, Venuewatch, Watch
from venuewatch._sse import StreamEvent

AT = "2026-01-31T12:00:00.000Z"


def document(**states: str) -> dict[str, Any]:
    rows = [
        {
            **{"id": venue, "name": venue, "category": "exchange", "state": state},
            "components": [{"component": "rest:ticker", "state": state}],
        }
        for venue, state in states.items()
    ]
    return {"generatedAt": AT, "stale": False, "venues": rows}


def send(watch: Watch, event_id: int, event: str, **body: Any) -> None:
    watch._receive(StreamEvent(str(event_id), event, json.dumps(body)))


class TestAnswers(unittest.TestCase):
    def setUp(self) -> None:
        self.problems: list[str] = []
        self.board = document(okx="operational", kraken="outage", bybit="degraded", gate="unknown")
        # neither thread finds a service; the test plays it
        with mock.patch("threading.Thread.start"):
            self.watch = Venuewatch("http://127.0.0.1:1").watch(on_problem=self.problems.append)
        self.addCleanup(self.watch.close)

    def begin(self) -> None:
        send(self.watch, 1, "start", at=AT, stale=False)
        self.watch._read_path = lambda _path: self.board
        documents, unknown = self.watch._documents(False)
        self.watch._loaded(documents, unknown, self.watch._beginnings)

    def test_unknown_is_never_taken_for_up(self) -> None:
        for is_known in (False, True):
            if is_known:
                self.begin()
            paused = {venue for venue in ("okx", "kraken", "bybit", "gate", "okxx") if self.watch.is_down(venue)}
            self.assertEqual(paused, {"kraken", "gate", "okxx"} | (set() if is_known else {"okx", "bybit"}))
        self.assertEqual(
            [self.watch.is_down(venue) for venue in ("okx", "kraken", "bybit", "gate", "okxx")],
            [False, True, False, "unknown", "unknown"],
        )
        self.assertEqual(self.watch.is_down("okx", "rest:ticker"), False)
        self.assertEqual(self.watch.is_down("okx", "rest:no"), "unknown")

    def test_a_misspelt_venue_is_reported_once(self) -> None:
        self.begin()
        for _ in range(3):
            self.assertEqual(self.watch.state_of("OKX"), "unknown")
        self.assertEqual(self.problems, ['no venue "OKX" is watched; did you mean "okx"?'])

    def test_each_doubt_makes_all_unknown(self) -> None:
        self.assertEqual(self.watch.doubt, "not connected yet")
        self.begin()
        self.assertIsNone(self.watch.doubt)
        send(self.watch, 1, "freshness", stale=True)
        self.assertEqual(self.watch.state_of("okx"), "unknown")
        self.assertIn("stale", self.watch.doubt or "")
        send(self.watch, 1, "freshness", stale=False)
        self.assertIn("not been read", self.watch.doubt or "")
        self.begin()
        self.watch._down("the service ended the stream")
        self.assertEqual(self.watch.venue("okx") and self.watch.venue("okx").state, "unknown")  # type: ignore[union-attr]
        self.begin()
        self.assertEqual(self.watch.state_of("okx"), "operational")
        self.watch.close()
        self.assertEqual((self.watch.doubt, self.watch.is_down("okx")), ("the watch is closed", "unknown"))

    def test_clocks_that_jump_make_doubt_and_no_trust(self) -> None:
        self.begin()
        monotonic, wall = time.monotonic(), time.time()
        for jump_s in (-86_400, 3_600):
            with mock.patch("time.time", lambda: wall + jump_s):
                is_doubted = self.watch.doubt is not None
            self.assertEqual(is_doubted, jump_s > 0, "set by somebody, or the machine slept")
        with mock.patch("time.monotonic", lambda: monotonic + 41), mock.patch("time.time", lambda: wall - 86_400):
            self.assertEqual(self.watch.is_down("okx"), "unknown", "although the wall clock was set back")
        self.assertEqual(self.watch.is_down("okx"), False)

    def test_changes_are_what_is_answered_otherwise(self) -> None:
        changes = self.watch.changes()
        self.begin()
        send(self.watch, 2, "venue", at="2026-01-31T12:00:02.000Z", venue="okx", category="exchange", state="outage")
        self.watch.close()
        self.watch.close()
        seen = [(change.type, getattr(change, "venue", None), getattr(change, "state", None)) for change in changes]
        venues = [one for one in seen if one[0] == "venue"]
        self.assertEqual(seen[0], ("doubt", None, None))
        self.assertEqual(
            venues,
            [
                *[("venue", "okx", "operational"), ("venue", "kraken", "outage"), ("venue", "bybit", "degraded")],
                *[("venue", "okx", "outage")],
                *[("venue", venue, "unknown") for venue in ("okx", "kraken", "bybit")],
            ],
        )
        self.assertEqual(list(self.watch.changes()), [], "a closed watch has none")

    def test_a_callback_that_fails_stops_nothing(self) -> None:
        def fail(_change: object) -> None:
            raise RuntimeError("a mistake of the bot")

        self.watch._on_change = fail
        with self.assertLogs("venuewatch", "ERROR"):
            self.begin()
        self.watch._on_change = None
        self.assertEqual(self.watch.state_of("okx"), "operational")

    def test_waiting_ends(self) -> None:
        with self.assertRaisesRegex(TimeoutError, "not connected yet"):
            self.watch.wait_until_ready(0.01)
        self.begin()
        self.watch.wait_until_ready(0.01)

    def test_an_answer_takes_no_time(self) -> None:
        self.begin()
        is_down = self.watch.is_down
        best = min(self.many(is_down) for _ in range(5))
        self.assertLess(best / 10_000, 20e-6)

    def many(self, is_down: Any) -> float:
        began = time.perf_counter()
        for _ in range(10_000):
            is_down("okx")
        return time.perf_counter() - began

    def test_timing_has_the_documented_defaults(self) -> None:
        self.assertEqual(Timing(), Timing(40, 10, 1, 30, 600, 1_800))


if __name__ == "__main__":
    unittest.main()
