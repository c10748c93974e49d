"""Reading documents, also from servers that mean harm."""

from __future__ import annotations

import gzip
import http.server
import json
import threading
import time
import unittest
from typing import Any, Callable, ClassVar

from venuewatch import Venuewatch, VenuewatchError

Handle = Callable[[http.server.BaseHTTPRequestHandler], None]


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    handle_get: Handle


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        assert isinstance(self.server, Server)
        try:
            self.server.handle_get(self)
        except OSError:
            # the client has left
            self.close_connection = True

    def log_message(self, *_args: Any) -> None:
        pass


def answering(status: int, body: bytes, **headers: str) -> Handle:
    def handle(request: http.server.BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        for name, value in {"Content_Type": "application/json", **headers}.items():
            request.send_header(name.replace("_", "-"), value)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    return handle


class TestReading(unittest.TestCase):
    server: ClassVar[Server]
    url: ClassVar[str]

    @classmethod
    def setUpClass(cls) -> None:
        cls.server = Server(("127.0.0.1", 0), Handler)
        cls.url = f"http://127.0.0.1:{cls.server.server_port}"
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()

    @classmethod
    def tearDownClass(cls) -> None:
        cls.server.shutdown()
        cls.server.server_close()

    def refused(self, handle: Handle, **limits: Any) -> VenuewatchError:
        self.server.handle_get = handle
        with self.assertRaises(VenuewatchError) as caught:
            Venuewatch(self.url, **limits).status()
        return caught.exception

    def test_paths_and_parameters(self) -> None:
        asked: list[str] = []

        def handle(request: http.server.BaseHTTPRequestHandler) -> None:
            asked.append(request.path)
            answering(200, b"{}")(request)

        self.server.handle_get = handle
        client = Venuewatch(self.url + "/behind/a/path/?x=1")
        client.state("a/b?")
        client.incidents(venue="okx", before_id=7)
        client.status()
        client.venue("okx", range="7d")
        client.incident("okx-1")
        client.reliability(days=30)
        client.regions()
        self.assertEqual(
            asked,
            [
                "/behind/a/path/v1/targets/a%2Fb%3F/state",
                "/behind/a/path/v1/incidents?venue=okx&beforeId=7",
                "/behind/a/path/v1/status",
                "/behind/a/path/v1/targets/okx?range=7d",
                "/behind/a/path/v1/incidents/okx-1",
                "/behind/a/path/v1/reliability?days=30",
                "/behind/a/path/v1/regions",
            ],
        )

    def test_compressed(self) -> None:
        self.server.handle_get = answering(200, gzip.compress(b'{"venues": []}'), Content_Encoding="gzip")
        self.assertEqual(Venuewatch(self.url).status()["venues"], [])

    def test_an_error_says_what_came(self) -> None:
        problem = {"detail": "Invalid parameter: days.", "errors": [{"parameter": "days", "message": "expected 1"}]}
        error = self.refused(answering(400, json.dumps(problem).encode(), Content_Type="application/problem+json"))
        self.assertEqual(str(error), f"GET {self.url}/v1/status: 400, Invalid parameter: days. days: expected 1.")
        self.assertEqual((error.status, error.problem), (400, problem))

    def test_a_malformed_error_keeps_its_status(self) -> None:
        for body in (b'{"detail":"x","errors":"no list"}', b'{"detail":"x","errors":[null,5]}', b"[null]", b"[" * 60_000):
            error = self.refused(answering(404, body))
            self.assertEqual((error.status, error.problem), (404, None), body[:40])

    def test_a_wait_is_reported_and_bounded(self) -> None:
        for said, expected in (("7", 7), ("99999999999", 600), ("Wed, 21 Oct 2015 07:28:00 GMT", None), ("soon", None)):
            error = self.refused(answering(429, b"<h1>Slow down</h1>", Retry_After=said))
            self.assertEqual(error.retry_after_s, expected, said)
            self.assertIsNone(error.problem)

    def test_what_is_no_answer_of_the_service(self) -> None:
        for handle, words in (
            (answering(200, b"<h1>Log in</h1>", Content_Type="text/html"), "expected application/json, got text/html"),
            (answering(302, b"", Location="http://login.example.org/"), "a redirect to http://login.example.org/"),
            (answering(200, b"{"), "Expecting"),
            (answering(200, b"no gzip", Content_Encoding="gzip"), "incorrect header"),
            (answering(200, gzip.compress(b"{}" * 99)[:-9], Content_Encoding="gzip"), "cut short"),
            (lambda request: request.connection.close(), "closed"),
        ):
            self.assertIn(words, str(self.refused(handle)))

    def test_long_answers_are_cut(self) -> None:
        for handle in (
            answering(200, b" " * 2_000_000),
            answering(200, gzip.compress(b" " * 50_000_000), Content_Encoding="gzip"),
        ):
            self.assertIn("at most 1000000 bytes", str(self.refused(handle, max_bytes=1_000_000)))

    def test_slow_answers_are_cut_wherever_they_are_slow(self) -> None:
        def drip(request: http.server.BaseHTTPRequestHandler) -> None:
            for piece in (b"HTTP/1.1 200 OK\r\n", b"X: ", *[b"y"] * 10_000):
                request.wfile.write(piece)
                time.sleep(0.02)

        def hang(request: http.server.BaseHTTPRequestHandler) -> None:
            request.send_response(200)
            request.send_header("Content-Type", "application/json")
            request.send_header("Content-Length", "10")
            request.end_headers()
            for _ in range(500):
                time.sleep(0.02)
                request.wfile.write(b"")

        for handle in (drip, hang):
            began = time.monotonic()
            error = self.refused(handle, timeout_s=0.3)
            self.assertLess(time.monotonic() - began, 5)
            self.assertRegex(str(error), "no whole answer within 0.3 s|timed out")

    def test_urls_are_checked(self) -> None:
        for url in ("status.example.org", "ftp://status.example.org", "https://"):
            with self.assertRaisesRegex(ValueError, "expected url"):
                Venuewatch(url)


if __name__ == "__main__":
    unittest.main()
