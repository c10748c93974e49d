"""The parser of the event stream."""

from __future__ import annotations

import unittest

from venuewatch._sse import Parser, StreamEvent


def parsed(pieces: list[bytes]) -> tuple[list[StreamEvent], list[float]]:
    events: list[StreamEvent] = []
    retries: list[float] = []
    parser = Parser(events.append, retries.append)
    for piece in pieces:
        parser.feed(piece)
    return events, retries


class TestParser(unittest.TestCase):
    TEXT = (
        "\ufeff: ☂ a comment\nretry: 1500\n\nid: 7\nevent: venue\ndata: {\ndata:  \"ö\"}\n\n: beat\nid: 8\n\n"
        "id: 9\0\nretry: soon\ndata\n\nid: 10\ndata: unfinished"
    )
    EXPECTED = (
        [("", "message", ""), ("7", "venue", '{\n "ö"}'), ("8", "message", ""), ("8", "message", "")],
        [1.5],
    )

    def test_each_kind_of_line_end_and_of_piece(self) -> None:
        for end in ("\n", "\r\n", "\r"):
            text = self.TEXT.replace("\n", end).encode()
            for length in (1, 2, 3, 7, len(text)):
                pieces = [text[at : at + length] for at in range(0, len(text), length)]
                events, retries = parsed(pieces)
                # a lone return may be the first half of a line end, so the last event waits for what follows
                self.assertEqual(([tuple(event) for event in events], retries), self.EXPECTED, (end, length))

    def test_what_does_not_end_is_refused(self) -> None:
        for pieces in ([b"x" * 70_000], [b"data: y\n"] * 70_000, [b"x" * 1_000] * 70, [b"data:\n", b"data\n"] * 10_000):
            with self.assertRaisesRegex(ValueError, "longer"):
                parsed(pieces)

    def test_bytes_that_are_no_text_do_no_harm(self) -> None:
        events, _ = parsed([b"data: \xff\xfe\n\n"])
        self.assertEqual(events[0].data, "\ufffd\ufffd")


if __name__ == "__main__":
    unittest.main()
