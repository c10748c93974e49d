/**
 * Coinbase Exchange's list of currencies. A currency has a status, and each of its networks one for both directions. A
 * currency may have a message: `Delayed sends` and the like.
 *
 * Documented at https://docs.cdp.coinbase.com/exchange/reference/exchangerestapi_getcurrencies (read in November 2026);
 * an answer is recorded in ccxt 4.5.90 (2026-10-23).
 */
import * as shape from "../../notices/expected-shape.js";
import { type Flag, listNotUnderstood, makeCollection, type TransferFormat } from "../transfer-list.js";

interface Currency {
  status: string;
  message?: string | null;
  supported_networks: Network[];
}

interface Network {
  id: string;
  status: string;
}

const bodyFault = shape.faultFinder(shape.list("a list of currencies"));

const currencyFault = shape.faultFinder(
  shape.object("a currency", {
    status: shape.text,
    message: shape.textOrNull,
    supported_networks: shape.list(
      "a list of networks",
      shape.object("a network", { id: shape.text, status: shape.text }),
    ),
  }),
);

export const coinbase: TransferFormat = {
  takeApart(body, wanted) {
    const fault = bodyFault(body);
    if (fault !== null) return listNotUnderstood(fault);
    const collection = makeCollection(wanted);
    collection.eachWanted<Currency>(body as unknown[], "id", "", currencyFault, (asset, currency) => {
      for (const network of currency.supported_networks) {
        const flag = flagOf(currency, network);
        collection.add(asset, network.id, flag, flag);
      }
    });
    return collection.taken("the list");
  },
};

/** Every status but `online` keeps transfers from being made; new words must not read as open. */
function flagOf({ status: ofCurrency, message }: Currency, { status }: Network): Flag {
  const words = message ?? "";
  if (ofCurrency === "online" && status === "online") return { state: "open", words };
  return { state: "paused", words: words === "" ? `status ${status === "online" ? ofCurrency : status}` : words };
}
