/**
 * Bitget's list of coins, whose flags are the texts "true" and "false". `congestion` is a word about the chain, not
 * about what Bitget allows.
 *
 * Documented at https://www.bitget.com/api-doc/spot/market/Get-Coin-List (read in November 2026); an answer is recorded
 * in ccxt 4.5.90 (2026-10-23).
 */
import { makeChainList } from "./chain-list.js";

export const bitget = makeChainList({
  success: "00000",
  listTime: "requestTime",
  asset: "coin",
  network: "chain",
  deposit: "rechargeable",
  withdrawal: "withdrawable",
  open: ["true", true],
  paused: ["false", false],
  words: "congestion",
  usualWords: "normal",
});
