/**
 * Kraken's assets, each with one word for both directions and all networks. Entries such as `ETH.M` are balances that
 * earn something; their names are not wanted.
 *
 * Documented at https://docs.kraken.com/api-reference/market-data/get-asset-info (read in November 2026); an answer is
 * recorded in ccxt 4.5.90 (2026-10-23). `altname` is the name that people use: `XBT`, where the key is `XXBT`.
 */
import * as shape from "../../notices/expected-shape.js";
import { errorAnswer } from "../../notices/feed.js";
import { type Flag, listNotUnderstood, makeCollection, type TransferFormat } from "../transfer-list.js";

const envelopeFault = shape.faultFinder(
  shape.object("an object with error and result", { error: shape.list("a list of errors") }),
);

const bodyFault = shape.faultFinder(
  shape.object("an object with error and result", {
    result: { description: "an object of assets", type: "object" },
  }),
);

/** By status: what is open, deposits first. */
const meanings: ReadonlyMap<unknown, [boolean, boolean]> = new Map([
  ["enabled", [true, true]],
  ["deposit_only", [true, false]],
  ["withdrawal_only", [false, true]],
  ["funding_temporarily_disabled", [false, false]],
  ["disabled", [false, false]],
]);

export const kraken: TransferFormat = {
  takeApart(body, wanted) {
    const fault = envelopeFault(body);
    if (fault !== null) return listNotUnderstood(fault);
    const { error } = body as { error: unknown[] };
    if (error.length > 0) return listNotUnderstood(errorAnswer(error[0], null));
    const problem = bodyFault(body);
    if (problem !== null) return listNotUnderstood(problem);
    const { result } = body as { result: Record<string, { altname?: unknown; status?: unknown } | null> };
    const collection = makeCollection(wanted);
    for (const [key, entry] of Object.entries(result)) {
      const asset = collection.assetOf(entry?.altname);
      if (asset === undefined) continue;
      const { status } = entry!;
      const [deposit, withdrawal] = flagsOf(status, `result.${key}.status`);
      collection.add(asset, null, deposit, withdrawal);
    }
    return collection.taken("result");
  },
};

function flagsOf(status: unknown, place: string): [Flag, Flag] {
  const meaning = meanings.get(status);
  if (meaning === undefined) {
    const got = status === undefined ? "nothing" : shape.shownValue(status);
    const flag = { problem: shape.mismatch(place, [...meanings.keys()].join(" or "), got) };
    return [flag, flag];
  }
  const words = status === "enabled" ? null : (status as string);
  const [deposit, withdrawal] = meaning.map((open): Flag => ({ state: open ? "open" : "paused", words }));
  return [deposit!, withdrawal!];
}
