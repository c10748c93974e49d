"""What a service says, checked, and what is said of a venue that it does not have."""

from __future__ import annotations

import difflib
import json
from typing import Any, Mapping

from ._http import shown

_MOST_TEXT = 300

_MOST_WORDS = 1_000
"""Both sides of a comparison of words come from outside, and it takes as long as the product of their lengths."""

_MOST_LETTERS = 64


def body_of(data: str) -> dict[str, Any]:
    """What an event says. Its texts are short, since some are kept."""
    body = json.loads(data)
    if not isinstance(body, dict):
        raise ValueError("expected an object as data of an event")
    if any(isinstance(value, str) and len(value) > _MOST_TEXT for value in body.values()):
        raise ValueError("expected short texts, got a long one")
    return body


def stale_of(body: Mapping[str, Any]) -> bool:
    """A service that does not say it clearly is at fault: nothing of it is fresh."""
    stale = body.get("stale")
    if not isinstance(stale, bool):
        raise ValueError(f"expected stale to be true or false, got {shown(str(stale))}")
    return stale


def check_region(region: object, expected: str | None) -> None:
    """An older service would leave the region out, and say what is by quorum."""
    if region != expected:
        raise ValueError(f"expected the view of {expected or 'all regions'}, got that of {shown(str(region))}")


def no_venue(asked: str, known: list[str]) -> str:
    words = [one for one in known[:_MOST_WORDS] if len(one) <= _MOST_LETTERS]
    near = difflib.get_close_matches(asked.lower()[:_MOST_LETTERS], words, 1)
    hint = f"; did you mean {json.dumps(shown(near[0]))}?" if near else ""
    return f"no venue {json.dumps(shown(asked))} is watched{hint}"
