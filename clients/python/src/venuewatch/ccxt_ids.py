"""Which venue of venuewatch a ccxt exchange is."""

from __future__ import annotations

from typing import Mapping

_ANY = "*"

CCXT_VENUES: Mapping[str, Mapping[str, str]] = {
    # COIN-M futures and options have servers of their own, which venuewatch does not measure
    "binance": {
        "spot": "binance",
        "margin": "binance",
        "swap": "binance-futures",
        "future": "binance-futures",
    },
    "binanceus": {_ANY: "binance-us"},
    "binanceusdm": {_ANY: "binance-futures"},
    "bitfinex": {_ANY: "bitfinex"},
    "bitget": {
        "spot": "bitget",
        "margin": "bitget",
        "swap": "bitget-futures",
        "future": "bitget-futures",
    },
    "bithumb": {_ANY: "bithumb"},
    "bitstamp": {_ANY: "bitstamp"},
    "bitvavo": {_ANY: "bitvavo"},
    "bybit": {
        "spot": "bybit",
        "margin": "bybit",
        "swap": "bybit-linear",
        "future": "bybit-linear",
    },
    # Advanced Trade is another API, on another server, than Coinbase Exchange
    "coinbase": {_ANY: "coinbase-advanced"},
    "coinbaseexchange": {_ANY: "coinbase"},
    "cryptocom": {_ANY: "crypto-com"},
    "deribit": {_ANY: "deribit"},
    "gate": {
        "spot": "gate",
        "margin": "gate",
        "swap": "gate-futures",
        "future": "gate-futures",
    },
    "gemini": {_ANY: "gemini"},
    # its swaps have a server of their own, which venuewatch does not measure
    "htx": {"spot": "htx", "margin": "htx"},
    "hyperliquid": {_ANY: "hyperliquid"},
    "kraken": {_ANY: "kraken"},
    "krakenfutures": {_ANY: "kraken-futures"},
    "kucoin": {
        "spot": "kucoin",
        "margin": "kucoin",
        "swap": "kucoin-futures",
        "future": "kucoin-futures",
        "contract": "kucoin-futures",
    },
    "kucoinfutures": {_ANY: "kucoin-futures"},
    "mexc": {"spot": "mexc", "margin": "mexc", "swap": "mexc-futures"},
    "okx": {
        "spot": "okx",
        "margin": "okx",
        "swap": "okx-swap",
        "future": "okx-swap",
    },
    "upbit": {_ANY: "upbit"},
}
"""Ids of venues by ids of ccxt 4.5 and by type of market.

These are the exchanges of `registry/all.json`. A service may watch only some
of them, and others too: its `/v1/status` lists what it watches.
"""

FORMER_CCXT_IDS: Mapping[str, str] = {
    "bitfinex2": "bitfinex",
    "coinbasepro": "coinbaseexchange",
    "gateio": "gate",
    "huobi": "htx",
}
"""Ids of earlier versions of ccxt, and what they are now."""


def venue_of(ccxt_id: str, market_type: str | None = None) -> str | None:
    """The venue that an exchange of ccxt is; None if venuewatch does not measure its servers.

    `market_type` is ccxt's: `venue_of(exchange.id, exchange.options.get("defaultType"))`. None is "spot".
    """
    venues = CCXT_VENUES.get(FORMER_CCXT_IDS.get(ccxt_id, ccxt_id), {})
    return venues.get(_ANY) or venues.get(market_type or "spot")
