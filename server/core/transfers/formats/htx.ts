/**
 * HTX's list of currencies, whose flags are the words "allowed" and "prohibited". `displayName` names the network as
 * people know it; `chain` repeats the currency, as in `trc20usdt`.
 *
 * Documented at https://huobiapi.github.io/docs/spot/v1/en/#apiv2-currency-amp-chains (read in November 2026); an
 * answer is recorded in ccxt 4.5.90 (2026-10-23).
 */
import { makeChainList } from "./chain-list.js";

export const htx = makeChainList({
  success: "200",
  asset: "currency",
  network: "displayName",
  deposit: "depositStatus",
  withdrawal: "withdrawStatus",
  open: ["allowed"],
  paused: ["prohibited"],
  status: "instStatus",
  usualStatus: "normal",
});
