from __future__ import annotations

import email.utils
import functools
import http.client
import json
import re
import socket
import threading
import time
import urllib.error
import urllib.request
import zlib
from typing import Any, Callable, Mapping, Protocol

_MOST_ERROR_BYTES = 65_536
_MOST_PIECES = 16_384
"""Each piece of a body costs as much as hundreds of bytes."""
_MOST_PARTS = 400_000
"""Brackets, commas and colons: parsed, they take up to thirty times as much memory as their text."""


class VenuewatchError(Exception):
    """A request that failed: what was expected, what came, and what to do."""

    def __init__(
        self,
        message: str,
        status: int | None = None,
        problem: Mapping[str, Any] | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        """Of the answer; None without one."""
        self.problem = problem
        """What the service says about it; None where something else answered."""
        self.retry_after_s = retry_after_s
        """How long to wait before asking again; None if nothing is said."""


class Call:
    """One request. Another thread may cut it, whatever it waits for, except for the resolution of a name."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._reason: str | None = None

    def cut(self, reason: str) -> None:
        with self._lock:
            self._reason = self._reason or reason
            if self._socket is not None:
                _shut(self._socket)

    @property
    def reason(self) -> str | None:
        """Why it was cut; None if it was not."""
        return self._reason

    def set_timeout(self, seconds: float) -> None:
        """How long each further reading may wait."""
        with self._lock:
            if self._socket is not None:
                self._socket.settimeout(seconds)

    def connected(self, connection: socket.socket) -> None:
        with self._lock:
            self._socket = connection
            if self._reason is not None:
                _shut(connection)


class Answer(Protocol):
    """The part of a response that is used, of a good one and of an error."""

    @property
    def headers(self) -> Any: ...

    def read1(self, n: int = ..., /) -> bytes: ...

    def close(self) -> None: ...


def read_json(url: str, timeout_s: float, max_bytes: int) -> Any:
    """Reads a JSON document. Raises VenuewatchError."""
    call = Call()
    timer = threading.Timer(timeout_s, call.cut, [f"no whole answer within {timeout_s:g} s"])
    timer.daemon = True
    timer.start()
    try:
        response = open_url(url, "application/json", timeout_s, call)
        try:
            return _parsed(_body_of(response, max_bytes))
        finally:
            response.close()
    except Exception as error:
        raise as_venuewatch_error(url, error, call.reason) from error
    finally:
        timer.cancel()


def open_url(url: str, accept: str, timeout_s: float, call: Call) -> Answer:
    """Asks, and checks status and type of the answer.

    A redirect is not followed: it may lead to the login page of a network. Raises VenuewatchError for an answer that
    is not this type's, and whatever urllib raises.
    """
    encoding = "identity" if accept == "text/event-stream" else "gzip"
    headers = {"Accept": accept, "Accept-Encoding": encoding, "User-Agent": "venuewatch-python"}
    opener = urllib.request.build_opener(_NoRedirect(), _Http(call), _Https(call))
    try:
        response: http.client.HTTPResponse = opener.open(
            urllib.request.Request(url, headers={**headers, "Cache-Control": "no-cache"}), timeout=timeout_s
        )
    except urllib.error.HTTPError as error:
        with error:
            raise _refusal(url, accept, error) from None
    got = response.headers.get_content_type() if response.headers["Content-Type"] else "no type"
    if response.status == 200 and got == accept:
        return response
    response.close()
    raise VenuewatchError(
        f"GET {url}: expected {accept}, got {shown(got)} ({response.status}). "
        "Is this the address of a venuewatch service?",
        response.status,
    )


def as_venuewatch_error(url: str, error: Exception, cut_because: str | None) -> VenuewatchError:
    # what a cut connection left may look like another fault
    if isinstance(error, VenuewatchError) and cut_because is None:
        return error
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    text = cut_because or str(reason) or type(reason).__name__
    return VenuewatchError(f"GET {url}: {shown(text)}")


def shown(text: str) -> str:
    """Text from outside, on one line and short."""
    return re.sub("[\0-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]", " ", text)[:300]


def _body_of(response: Answer, max_bytes: int) -> bytes:
    is_packed = response.headers["Content-Encoding"] == "gzip"
    unpack = zlib.decompressobj(31) if is_packed else None
    body = bytearray()
    pieces = 0
    while piece := response.read1(65_536):
        # a piece of a kilobyte may unpack to a megabyte
        body += unpack.decompress(piece, max_bytes + 1 - len(body)) if unpack else piece
        if len(body) > max_bytes:
            raise ValueError(f"expected at most {max_bytes} bytes, got more")
        pieces += 1
        if pieces > _MOST_PIECES:
            raise ValueError(f"expected at most {_MOST_PIECES} pieces, got more")
    if unpack and not unpack.eof:
        raise ValueError("the answer is cut short")
    return bytes(body)


def _parsed(body: bytes) -> Any:
    # one by one only where it may be needed; a list of them would take more memory than what it prevents
    if sum(body.count(part) for part in (b"[", b"{", b",", b":")) > _MOST_PARTS:
        parts = 0
        text = body.replace(b"\\\\", b"").replace(b'\\"', b"")
        for found in re.finditer(rb'[\[{,:]|"[^"]*"', text):
            parts += text[found.start()] != 0x22  # not a string
            if parts > _MOST_PARTS:
                raise ValueError(f"expected JSON of at most {_MOST_PARTS} brackets, commas and colons, got more")
    return json.loads(body)


def _refusal(url: str, accept: str, error: urllib.error.HTTPError) -> VenuewatchError:
    if 300 <= error.code < 400:
        target = shown(error.headers["Location"] or "another address")
        return VenuewatchError(
            f"GET {url}: expected {accept}, got a redirect to {target}. If it is the service's, give it as url.",
            error.code,
        )
    problem = _problem_in(error)
    details = [] if problem is None else problem.get("errors") or []
    more = "".join(f" {one['parameter']}: {one['message']}." for one in details)
    said = "an answer that is not from venuewatch's API" if problem is None else shown(f"{problem['detail']}{more}")
    wait_s = _wait_of(error.headers["Retry-After"])
    advice = "" if wait_s is None else f" Wait for {wait_s:.0f} s."
    return VenuewatchError(f"GET {url}: {error.code}, {said}{advice}", error.code, problem, wait_s)


def _problem_in(error: urllib.error.HTTPError) -> Mapping[str, Any] | None:
    try:
        body = json.loads(_body_of(error, _MOST_ERROR_BYTES))
    except (ValueError, OSError, http.client.HTTPException, zlib.error, RecursionError):
        return None
    if not isinstance(body, dict) or not isinstance(body.get("detail"), str):
        return None
    errors = body.get("errors", [])
    return body if isinstance(errors, list) and all(map(_is_error, errors)) else None


def _is_error(one: object) -> bool:
    return isinstance(one, dict) and isinstance(one.get("parameter"), str) and isinstance(one.get("message"), str)


def _wait_of(retry_after: str | None) -> float | None:
    """Seconds, or an HTTP date. At most ten minutes, so that no answer silences a client for good."""
    if retry_after is None:
        return None
    if re.fullmatch(r"[0-9]{1,20}", retry_after):
        return min(float(retry_after), 600.0)
    try:
        wait_s = email.utils.parsedate_to_datetime(retry_after).timestamp() - time.time()
    except (ValueError, TypeError, OverflowError):
        return None
    return min(wait_s, 600.0) if wait_s >= 0 else None


def _shut(connection: socket.socket) -> None:
    try:
        # not the method of a TLS socket, which would leave the reading thread with a socket of another kind
        socket.socket.shutdown(connection, socket.SHUT_RDWR)
    except OSError:
        # it is gone already
        pass


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_args: Any) -> None:
        return None


class _HttpConnection(http.client.HTTPConnection):
    def __init__(self, *args: Any, call: Call, **more: Any) -> None:
        super().__init__(*args, **more)
        self._call = call

    def connect(self) -> None:
        super().connect()
        self._call.connected(self.sock)


class _HttpsConnection(http.client.HTTPSConnection):
    def __init__(self, *args: Any, call: Call, **more: Any) -> None:
        super().__init__(*args, **more)
        self._call = call

    def connect(self) -> None:
        super().connect()
        self._call.connected(self.sock)


class _Http(urllib.request.HTTPHandler):
    def __init__(self, call: Call) -> None:
        super().__init__()
        self._maker: Callable[..., _HttpConnection] = functools.partial(_HttpConnection, call=call)

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(self._maker, req)


class _Https(urllib.request.HTTPSHandler):
    def __init__(self, call: Call) -> None:
        super().__init__()
        self._maker: Callable[..., _HttpsConnection] = functools.partial(_HttpsConnection, call=call)

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(self._maker, req)
