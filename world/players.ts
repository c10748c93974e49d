/** The player of each venue. A venue without one is played from its registry entry alone. */
import type { Venue } from "../shared/registry/registry.js";
import type { VenuePlayer } from "./player.js";
import { anyVenue } from "./venues/any.js";
import { binance, binanceFutures } from "./venues/binance.js";
import { bitfinex } from "./venues/bitfinex.js";
import { bitget } from "./venues/bitget.js";
import { bitstamp } from "./venues/bitstamp.js";
import { bybit } from "./venues/bybit.js";
import { coinbase } from "./venues/coinbase.js";
import { cryptoCom } from "./venues/crypto-com.js";
import { deribit } from "./venues/deribit.js";
import { gate } from "./venues/gate.js";
import { gemini } from "./venues/gemini.js";
import { htx } from "./venues/htx.js";
import { krakenFutures } from "./venues/kraken-futures.js";
import { kraken } from "./venues/kraken.js";
import { kucoin, kucoinFutures } from "./venues/kucoin.js";
import { okx } from "./venues/okx.js";
import { bithumb, upbit } from "./venues/upbit.js";

const players: Record<string, VenuePlayer> = {
  binance,
  coinbase,
  kraken,
  okx,
  bybit,
  kucoin,
  gate,
  bitget,
  bitfinex,
  bitstamp,
  gemini,
  deribit,
  "binance-futures": binanceFutures,
  "kraken-futures": krakenFutures,
  "kucoin-futures": kucoinFutures,
  "crypto-com": cryptoCom,
  htx,
  upbit,
  bithumb,
};

export function playerOf(venue: Venue): VenuePlayer {
  return players[venue.id] ?? anyVenue(venue);
}
