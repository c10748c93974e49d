"""A bot that pauses trading while its exchange is down, or while nobody knows, and resumes by itself.

    python pausing_bot.py https://status.example.org okx

The second argument is the id of the exchange in ccxt.
"""

from __future__ import annotations

import sys
import time

from venuewatch import Venuewatch, venue_of


def main(url: str, ccxt_id: str, every_s: float = 1.0) -> None:
    venue = venue_of(ccxt_id)
    if venue is None:
        sys.exit(f"venuewatch does not measure the servers of {ccxt_id}")
    trading = False
    print("paused: not started yet", flush=True)
    with Venuewatch(url).watch(venues=[venue]) as watch:
        while True:
            # a question to memory, so it may be asked before every order; "unknown" pauses, too
            if watch.is_down(venue):
                if trading:
                    trading = False
                    print(f"paused: {watch.doubt or watch.state_of(venue)}", flush=True)
                    # exchange.cancel_all_orders()
            else:
                if not trading:
                    trading = True
                    print(f"trading: {venue} is {watch.state_of(venue)}", flush=True)
                # exchange.create_order(…)
            time.sleep(every_s)


if __name__ == "__main__":
    url, ccxt_id, *every_s = sys.argv[1:]
    try:
        main(url, ccxt_id, *map(float, every_s))
    except KeyboardInterrupt:
        pass
