"""The map of ccxt's exchanges, compared with ccxt and with the registry."""

from __future__ import annotations

import json
import pathlib
import unittest
import urllib.parse
from typing import Any

from venuewatch.ccxt_ids import CCXT_VENUES, FORMER_CCXT_IDS, venue_of

try:
    import ccxt  # type: ignore[import-not-found,import-untyped,unused-ignore]
except ImportError:
    ccxt = None

REGISTRY = pathlib.Path(__file__).parents[3] / "registry"

OTHER_SERVERS = {"okx", "okx-swap"}
"""ccxt asks www.okx.com, the registry openapi.okx.com: two names of one API."""


def venues() -> dict[str, Any]:
    listed = json.loads((REGISTRY / "all.json").read_text())["venues"]
    entries = {one: json.loads((REGISTRY / "venues" / f"{one}.json").read_text()) for one in listed}
    return {one: entry for one, entry in entries.items() if entry.get("category") == "exchange"}


class TestCcxtIds(unittest.TestCase):
    def test_types_of_markets(self) -> None:
        for asked, expected in (
            (("binance",), "binance"),
            (("binance", "spot"), "binance"),
            (("binance", "future"), "binance-futures"),
            (("binance", "delivery"), None),
            (("binanceusdm",), "binance-futures"),
            (("okx", "margin"), "okx"),
            (("okx", "swap"), "okx-swap"),
            (("okx", "option"), None),
            (("htx", "swap"), None),
            (("gateio",), "gate"),
            (("coinbase",), "coinbase-advanced"),
            (("mtgox",), None),
        ):
            self.assertEqual(venue_of(*asked), expected, asked)

    @unittest.skipUnless(REGISTRY.exists(), "the registry is not part of the package")
    def test_every_venue_exists(self) -> None:
        mapped = {venue for markets in CCXT_VENUES.values() for venue in markets.values()}
        # all of the registry's exchanges are in ccxt
        self.assertEqual(mapped, set(venues()))

    @unittest.skipIf(ccxt is None, "ccxt is not installed")
    def test_every_exchange_exists_in_ccxt(self) -> None:
        self.assertEqual([one for one in CCXT_VENUES if one not in ccxt.exchanges], [])
        self.assertEqual([one for one in FORMER_CCXT_IDS if one in ccxt.exchanges], [])
        self.assertLessEqual(set(FORMER_CCXT_IDS.values()), set(CCXT_VENUES))

    @unittest.skipIf(ccxt is None or not REGISTRY.exists(), "ccxt is not installed")
    def test_ccxt_asks_the_servers_that_are_measured(self) -> None:
        registry = venues()
        for one, markets in CCXT_VENUES.items():
            exchange = getattr(ccxt, one)()
            urls = json.dumps(exchange.urls["api"]).replace("{hostname}", exchange.hostname or "")
            for venue in set(markets.values()) - OTHER_SERVERS:
                hosts = {urllib.parse.urlsplit(rest["url"]).hostname for rest in registry[venue]["rest"]}
                self.assertTrue(any(f"//{host}" in urls for host in hosts), (one, venue, hosts))


if __name__ == "__main__":
    unittest.main()
