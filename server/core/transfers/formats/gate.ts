/**
 * Gate's list of currencies, with flags of the whole currency and of each chain, which are true where something is
 * disabled.
 *
 * Documented at https://www.gate.com/docs/developers/apiv4/en/#query-all-currency-information (read in November 2026);
 * an answer is recorded in ccxt 4.5.90 (2026-10-23). Until 2025 each chain of a currency had an entry of its own, named
 * `USDT_TRX`; such names are not wanted, so such an entry is skipped.
 */
import * as shape from "../../notices/expected-shape.js";
import { flagReader, listNotUnderstood, makeCollection, type TransferFormat } from "../transfer-list.js";

interface Currency {
  delisted?: unknown;
  deposit_disabled?: unknown;
  withdraw_disabled?: unknown;
  chains: Chain[];
}

interface Chain {
  name: string;
  deposit_disabled?: unknown;
  withdraw_disabled?: unknown;
  withdraw_delayed?: unknown;
}

const bodyFault = shape.faultFinder(shape.list("a list of currencies"));

const currencyFault = shape.faultFinder(
  shape.object("a currency", { chains: shape.list("a list of chains", shape.object("a chain", { name: shape.text })) }),
);

const disabled = flagReader([false, "false"], [true, "true"]);

/** A currency that is disabled as a whole has chains that say nothing of it. */
const isSet = (flag: unknown) => flag === true || flag === "true";

export const gate: TransferFormat = {
  takeApart(body, wanted) {
    const fault = bodyFault(body);
    if (fault !== null) return listNotUnderstood(fault);
    const collection = makeCollection(wanted);
    collection.eachWanted<Currency>(body as unknown[], "currency", "", currencyFault, (asset, currency, place) => {
      const isDelisted = isSet(currency.delisted);
      const whole = isDelisted ? "delisted" : "the whole currency is disabled";
      for (const [at, chain] of currency.chains.entries()) {
        const inside = `${place}.chains[${at}]`;
        const delayed = chain.withdraw_delayed === true ? "withdrawals are delayed" : null;
        collection.add(
          asset,
          chain.name,
          isDelisted || isSet(currency.deposit_disabled)
            ? { state: "paused", words: whole }
            : disabled(chain.deposit_disabled, `${inside}.deposit_disabled`),
          isDelisted || isSet(currency.withdraw_disabled)
            ? { state: "paused", words: whole }
            : disabled(chain.withdraw_disabled, `${inside}.withdraw_disabled`, delayed),
        );
      }
    });
    return collection.taken("the list");
  },
};
