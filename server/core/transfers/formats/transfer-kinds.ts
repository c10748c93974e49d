import type { TransferKind } from "../../../../shared/registry/registry.js";
import type { TransferFormat } from "../transfer-list.js";
import { bitfinex } from "./bitfinex.js";
import { bitget } from "./bitget.js";
import { bitstamp } from "./bitstamp.js";
import { coinbase } from "./coinbase.js";
import { gate } from "./gate.js";
import { htx } from "./htx.js";
import { kraken } from "./kraken.js";
import { kucoin } from "./kucoin.js";

/** By the kind that the registry names. */
export const transferKinds: Record<TransferKind, TransferFormat> = {
  "gate-currencies": gate,
  "kucoin-currencies": kucoin,
  "bitget-coins": bitget,
  "coinbase-currencies": coinbase,
  "bitfinex-methods": bitfinex,
  "kraken-assets": kraken,
  "bitstamp-currencies": bitstamp,
  "htx-currencies": htx,
};
