"""Watches a service for a test, and prints what it sees as lines of JSON. Ends with its input."""

from __future__ import annotations

import dataclasses
import json
import sys
import threading

from venuewatch import Timing, Venuewatch


def say(what: dict[str, object]) -> None:
    # one write for a line, since several threads say something
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def main(asked: dict[str, object]) -> None:
    timing = asked["timing"]
    assert isinstance(timing, dict)
    ready_s = timing.pop("ready") / 1000
    names = {"retryLeast": "retry_least_s", "retryMost": "retry_most_s"}
    seconds = {names.get(name, f"{name}_s"): ms / 1000 for name, ms in timing.items()}
    venues = asked["venues"]
    regions = asked["regions"]
    assert venues is None or isinstance(venues, list)
    assert regions is None or isinstance(regions, list)
    watch = Venuewatch(str(asked["url"])).watch(
        venues=venues,
        regions=regions,
        timing=Timing(**seconds),
        on_change=lambda change: say({"change": dataclasses.asdict(change)}),
        on_problem=lambda problem: say({"problem": problem}),
    )

    def wait() -> None:
        try:
            watch.wait_until_ready(ready_s)
            say({"outcome": ""})
        except (LookupError, RuntimeError, TimeoutError) as error:
            say({"outcome": str(error.args[0])})

    with watch:
        threading.Thread(target=wait, daemon=True).start()
        sys.stdin.read()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
