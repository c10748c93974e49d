/** Lists that several venues have in common: an envelope with a code, and for each asset its chains with two flags. */
import * as shape from "../../notices/expected-shape.js";
import { errorAnswer } from "../../notices/feed.js";
import { type Flag, flagReader, listNotUnderstood, makeCollection, type TransferFormat } from "../transfer-list.js";

export interface ChainListNames {
  /** The `code` of an answer that is no error. */
  success: string;
  /** The property of the envelope with the list's own time, in milliseconds; absent: it has none. */
  listTime?: string;
  /** The properties of an entry, and of its chains. */
  asset: string;
  network: string;
  deposit: string;
  withdrawal: string;
  /** The values of both flags. */
  open: readonly unknown[];
  paused: readonly unknown[];
  /** The property of an entry with its status, and the word with which its flags count; absent: it has none. */
  status?: string;
  usualStatus?: string;
  /** The property of a chain with a word of the venue, and the word that says nothing. */
  words?: string;
  usualWords?: string;
}

type Fields = Record<string, unknown>;

interface Entry {
  chains: Fields[];
}

const envelopeFault = shape.faultFinder(shape.object("an object with code and data", { code: shape.code }));

const bodyFault = shape.faultFinder(
  shape.object("an object with code and data", { data: shape.list("a list of currencies") }),
);

export function makeChainList(names: ChainListNames): TransferFormat {
  const entryFault = shape.faultFinder(
    shape.object("a currency", {
      chains: shape.list("a list of chains", shape.object("a chain", { [names.network]: shape.text })),
    }),
  );
  const flag = flagReader(names.open, names.paused);

  return {
    takeApart(body, wanted) {
      const fault = envelopeFault(body);
      if (fault !== null) return listNotUnderstood(fault);
      const envelope = body as Fields;
      if (String(envelope["code"]) !== names.success)
        return listNotUnderstood(errorAnswer(envelope["code"], envelope["msg"] ?? envelope["message"]));
      const problem = bodyFault(body);
      if (problem !== null) return listNotUnderstood(problem);
      const collection = makeCollection(wanted);
      collection.eachWanted<Entry>(
        envelope["data"] as unknown[],
        names.asset,
        "data",
        entryFault,
        (asset, entry, place) => {
          for (const [at, chain] of entry.chains.entries()) {
            const inside = `${place}.chains[${at}]`;
            const words = wordsOf(chain);
            const closed = closedBy(entry as unknown as Fields);
            collection.add(
              asset,
              chain[names.network] as string,
              closed ?? flag(chain[names.deposit], `${inside}.${names.deposit}`, words),
              closed ?? flag(chain[names.withdrawal], `${inside}.${names.withdrawal}`, words),
            );
          }
        },
      );
      return collection.taken("data", timeOf(envelope));
    },
  };

  /** A currency that is not traded any more has chains that say nothing of it. */
  function closedBy(entry: Fields): Flag | null {
    const status = names.status === undefined ? undefined : entry[names.status];
    if (typeof status !== "string" || status === names.usualStatus) return null;
    return { state: "paused", words: `${names.status}: ${status}` };
  }

  function wordsOf(chain: Fields): string | null {
    const words = names.words === undefined ? null : chain[names.words];
    return typeof words === "string" && words !== names.usualWords ? `${names.words}: ${words}` : null;
  }

  /** A time that cannot be read is no reason to refuse the list: the states in it are readable. */
  function timeOf(envelope: Fields): Date | null {
    const ms = names.listTime === undefined ? undefined : envelope[names.listTime];
    return shape.isMilliseconds(String(ms)) ? new Date(Number(ms)) : null;
  }
}
