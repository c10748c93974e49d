"""What a watch answers from memory. Its stream and its readings are tested with those of the other clients."""

from __future__ import annotations

import json
import threading
import time
import unittest
from typing import Any
from unittest import mock

from venuewatch import Timing, Venuewatch, Watch
from venuewatch._sse import StreamEvent

AT = "2026-01-31T12:00:00.000Z"

OUTAGE = {"at": "2026-01-31T12:00:02.000Z", "venue": "okx", "category": "exchange", "state": "outage"}

INCIDENT = {
    **{"at": AT, "category": "exchange", "component": "rest:ticker", "change": "opened", "severity": "outage"},
    **{"slug": "okx-1", "startedAt": AT},
}


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
        self.watch._callbacks.deliver()
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
        venue = self.watch.venue("okx")
        self.assertEqual(venue and venue.state, "unknown")
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
        send(self.watch, 2, "venue", **OUTAGE)
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

        self.watch._callbacks._on_change = fail
        self.begin()
        with self.assertLogs("venuewatch", "ERROR"):
            self.watch._callbacks.deliver()
        self.assertEqual(self.watch.state_of("okx"), "operational")

    def test_a_slow_callback_blocks_neither_answers_nor_the_end(self) -> None:
        went_in, may_leave = threading.Event(), threading.Event()
        self.addCleanup(may_leave.set)

        def be_slow(_change: object) -> None:
            went_in.set()
            may_leave.wait(60)

        self.watch._callbacks._on_change = be_slow
        self.watch._callbacks.start()
        self.begin()
        self.assertTrue(went_in.wait(60))

        def use() -> None:
            send(self.watch, 2, "venue", **OUTAGE)
            self.assertEqual([self.watch.state_of("okx"), self.watch.state_of("okxx")], ["outage", "unknown"])
            self.watch.close()

        user = threading.Thread(target=use, daemon=True)
        user.start()
        user.join(30)
        self.assertFalse(user.is_alive())

    def test_a_callback_may_close_the_watch_and_all_is_unknown_from_then_on(self) -> None:
        seen: list[tuple[str, str | None]] = []

        def close_at_okx(change: Any) -> None:
            seen.append((change.type, getattr(change, "state", change.type)))
            if change.type == "venue" and change.state == "operational":
                self.watch.close()

        self.watch._callbacks._on_change = close_at_okx
        self.begin()
        self.watch._callbacks.deliver()
        self.assertEqual(seen[:2], [("doubt", "doubt"), ("venue", "operational")])
        self.assertEqual({state for _type, state in seen[2:]}, {"doubt", "unknown"})
        send(self.watch, 3, "incident", **{**INCIDENT, "venue": "okx"})
        self.watch._callbacks.deliver()
        self.assertNotIn("incident", [kind for kind, _state in seen])

    def test_of_an_event_only_the_state_is_kept(self) -> None:
        self.begin()
        send(self.watch, 2, "venue", **OUTAGE, more=["x"] * 10_000)
        self.assertEqual([event for _at, event in self.watch._memory._recent], [("okx", None, "outage")])
        with self.assertRaisesRegex(ValueError, "expected texts"):
            send(self.watch, 3, "venue", **{**OUTAGE, "state": ["x"] * 10_000})

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


class TestTransfers(unittest.TestCase):
    def test_what_is_not_said_to_be_open_cannot_be_withdrawn(self) -> None:
        def line(network: str | None, state: str) -> dict[str, Any]:
            return {"network": network, "venueNetwork": network and network.upper(), "withdrawal": {"state": state}}

        both = [line("tron", "paused"), line("ethereum", "open")]
        cases: list[tuple[bool, list[dict[str, Any]], str | None, object]] = [
            (False, both, None, True),
            (False, both, "tron", False),
            (False, both, "ETHEREUM", True),
            (False, [line("tron", "paused"), line("ethereum", "unknown")], None, "unknown"),
            (False, [line("tron", "open")], "solana", "unknown"),
            (False, [line(None, "open")], None, True),
            (False, [line(None, "open")], "solana", "unknown"),
            (False, [line(None, "paused")], "solana", False),
            (False, [], None, "unknown"),
            (True, both, None, "unknown"),
        ]
        client = Venuewatch("http://127.0.0.1:1")
        for stale, transfers, network, expected in cases:
            with mock.patch.object(client, "_read", return_value={"stale": stale, "transfers": transfers}):
                self.assertEqual(client.can_withdraw("kraken", "usdt", network), expected)

if __name__ == "__main__":
    unittest.main()
