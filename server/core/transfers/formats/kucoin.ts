/**
 * KuCoin's list of currencies, with a flag for each chain that is true where something is enabled.
 *
 * Documented at https://www.kucoin.com/docs-new/rest/spot-trading/market-data/get-all-currencies (read in November
 * 2026); an answer is recorded in ccxt 4.5.90 (2026-10-23). `chainId` is the name that does not change; `chainName` is
 * for people.
 */
import { makeChainList } from "./chain-list.js";

export const kucoin = makeChainList({
  success: "200000",
  asset: "currency",
  network: "chainId",
  deposit: "isDepositEnabled",
  withdrawal: "isWithdrawEnabled",
  open: [true, "true"],
  paused: [false, "false"],
});
