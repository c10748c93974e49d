/**
 * Bitfinex's methods of transfer, from two parts of its configuration that one request answers: which method is for
 * which currency, `["TETHERUSE", ["UST"]]`, and the state of each, `["TETHERUSE", 1, 0, …]`, deposits first. 1 is
 * active, 0 maintenance. A method stands for a network: `TETHERUSX` is Tether's dollar on Tron.
 *
 * Documented at https://docs.bitfinex.com/reference/rest-public-conf (read in November 2026); answers are recorded in
 * ccxt 4.5.90 (2026-10-23). Its methods of Tether are listed at https://docs.bitfinex.com/reference/rest-auth-withdraw.
 */
import * as shape from "../../notices/expected-shape.js";
import { errorAnswer } from "../../notices/feed.js";
import { flagReader, listNotUnderstood, makeCollection, type TransferFormat } from "../transfer-list.js";

const pairsFault = shape.faultFinder(
  shape.list("a list of methods and their states", shape.list("a list of methods", shape.list("a method"))),
);

const active = flagReader([1], [0]);

export const bitfinex: TransferFormat = {
  takeApart(body, wanted) {
    // errors are lists, too: ["error", 10020, "conf: invalid"]
    if (Array.isArray(body) && body[0] === "error") return listNotUnderstood(errorAnswer(body[1], body[2]));
    const fault = pairsFault(body);
    if (fault !== null) return listNotUnderstood(fault);
    if ((body as unknown[]).length !== 2)
      return listNotUnderstood(shape.mismatch("", "two lists", String((body as unknown[]).length)));
    const [methods, states] = body as [unknown[][], unknown[][]];
    const placeOf = new Map(states.map(([method], index) => [method, index]));
    const collection = makeCollection(wanted);
    for (const [method, currencies] of methods) {
      for (const currency of Array.isArray(currencies) ? currencies : []) {
        const asset = collection.assetOf(currency);
        const at = placeOf.get(method);
        // A method without a state is an old one, which nobody can use.
        if (asset === undefined || at === undefined || typeof method !== "string") continue;
        const [, deposit, withdrawal] = states[at]!;
        collection.add(asset, method, active(deposit, `[1][${at}][1]`), active(withdrawal, `[1][${at}][2]`));
      }
    }
    return collection.taken("the list");
  },
};
