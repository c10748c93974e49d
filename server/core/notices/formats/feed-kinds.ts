import type { FeedFormat, FeedSource } from "../feed.js";
import { betterstack } from "./betterstack.js";
import { binance } from "./binance.js";
import { bitget } from "./bitget.js";
import { bybit } from "./bybit.js";
import { gate } from "./gate.js";
import { instatus } from "./instatus.js";
import { kucoin } from "./kucoin.js";
import { okx } from "./okx.js";
import { statuspage } from "./statuspage.js";

/** By the kind that the registry names. */
export const feedKinds: Record<FeedSource["kind"], FeedFormat> = {
  statuspage,
  "binance-system-status": binance,
  "okx-system-status": okx,
  "bybit-system-status": bybit,
  "kucoin-service-status": kucoin,
  betterstack,
  instatus,
  "bitget-announcements": bitget,
  "gate-announcements": gate,
};
