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
    "binanceusdm": {_ANY: "binance-futures"},
    "bitfinex": {_ANY: "bitfinex"},
    "bitget": {_ANY: "bitget"},
    "bitstamp": {_ANY: "bitstamp"},
    "bybit": {_ANY: "bybit"},
    # ccxt's "coinbase" is Advanced Trade, another API on another server
    "coinbaseexchange": {_ANY: "coinbase"},
    "deribit": {_ANY: "deribit"},
    "gate": {_ANY: "gate"},
    "gemini": {_ANY: "gemini"},
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
    "okx": {_ANY: "okx"},
}
"""Ids of venues by ids of ccxt 4.5 and by type of market.

Services may have other venues; these are of `registry/exchanges.json`.
"""

FORMER_CCXT_IDS: Mapping[str, str] = {
    "bitfinex2": "bitfinex",
    "coinbasepro": "coinbaseexchange",
    "gateio": "gate",
}
"""Ids of earlier versions of ccxt, and what they are now."""


def venue_of(ccxt_id: str, market_type: str | None = None) -> str | None:
    """The venue that an exchange of ccxt is; None if venuewatch does not measure its servers.

    `market_type` is ccxt's: `venue_of(exchange.id, exchange.options.get("defaultType"))`. None is "spot".
    """
    venues = CCXT_VENUES.get(FORMER_CCXT_IDS.get(ccxt_id, ccxt_id), {})
    return venues.get(_ANY) or venues.get(market_type or "spot")
