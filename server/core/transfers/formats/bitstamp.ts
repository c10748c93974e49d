/**
 * Bitstamp's currencies, with the words `Enabled` and `Disabled` for each network. A currency has the same two words,
 * of all of its networks together; those of money have no networks.
 *
 * Documented at https://www.bitstamp.net/api/#tag/Market-info/operation/GetCurrencies (read in November 2026). That
 * networks are listed, and their names (`bitcoin`, `xrpl`), is from programs of 2026 that read it.
 */
import * as shape from "../../notices/expected-shape.js";
import { flagReader, listNotUnderstood, makeCollection, type TransferFormat } from "../transfer-list.js";

interface Currency {
  networks: Network[];
}

interface Network {
  network: string;
  deposit?: unknown;
  withdrawal?: unknown;
}

const bodyFault = shape.faultFinder(shape.list("a list of currencies"));

const currencyFault = shape.faultFinder(
  shape.object("a currency", {
    networks: shape.list("a list of networks", shape.object("a network", { network: shape.text })),
  }),
);

const enabled = flagReader(["Enabled"], ["Disabled"]);

export const bitstamp: TransferFormat = {
  takeApart(body, wanted) {
    const fault = bodyFault(body);
    if (fault !== null) return listNotUnderstood(fault);
    const collection = makeCollection(wanted);
    collection.eachWanted<Currency>(body as unknown[], "currency", "", currencyFault, (asset, { networks }, place) => {
      for (const [at, { network, deposit, withdrawal }] of networks.entries()) {
        const inside = `${place}.networks[${at}]`;
        collection.add(
          asset,
          network,
          enabled(deposit, `${inside}.deposit`),
          enabled(withdrawal, `${inside}.withdrawal`),
        );
      }
    });
    return collection.taken("the list");
  },
};
