/** The content of a venue's list of deposits and withdrawals, in one shape for all kinds of list. */
import type { TransferKind } from "../../../shared/registry/registry.js";
import { plainText } from "../../../shared/text/untrusted-text.js";
import { type FaultOf, mismatch, shownValue } from "../notices/expected-shape.js";

/** `unknown`: the venue says nothing of it, or nothing that we understand. */
export type Declaration = "open" | "paused" | "unknown";

/** What the venue says of one direction. */
export interface Declared {
  state: Declaration;
  /** The venue's words, or what we did not understand; at most 200 characters. Null: none. */
  because: string | null;
}

/** An asset on one network. */
export interface TransferLine {
  /** By the registry. */
  asset: string;
  /** As the venue spells it, at most 60 characters; null: the venue says it by asset alone. */
  network: string | null;
  deposit: Declared;
  withdrawal: Declared;
}

/** An asset whose entry could not be understood. */
export interface UnreadableAsset {
  asset: string;
  because: string;
}

export interface TransferList {
  lines: TransferLine[];
  unreadable: UnreadableAsset[];
}

/** The assets of the registry by the venue's names for them, in small letters. */
export type Wanted = ReadonlyMap<string, string>;

export interface TakenList {
  /** Null: everything was understood. Otherwise the first problem, which names its place. */
  problem: string | null;
  /** Null if nothing was understood. */
  list: TransferList | null;
  /** The list's own time; null if it has none. */
  listAt: Date | null;
}

/** How one kind of list is taken apart. */
export interface TransferFormat {
  /** @param body parsed JSON of any shape */
  takeApart(body: unknown, wanted: Wanted): TakenList;
}

/** A list to be read, and the results of its earlier readings. */
export interface TransferSource {
  kind: TransferKind;
  api: string;
  wanted: Wanted;
  /** The list's own time at the last good reading, and when we last saw it move; null if it has none. */
  listAt: Date | null;
  listMovedAt: Date | null;
}

export interface TransferReading extends TakenList {
  /** Whether there was no answer. The fault may then be in our own network. */
  unanswered: boolean;
  /** For how many milliseconds the list must not be requested again; 0: the venue named no wait. */
  retryAfterMs: number;
}

export function listNotUnderstood(problem: string): TakenList {
  return { problem, list: null, listAt: null };
}

/** An asset has at most some thirty networks. More are not real, and each one is stored. */
const mostNetworks = 60;

/** Collects the lines of the assets that are wanted. Whatever else a list has is not looked at. */
export function makeCollection(wanted: Wanted) {
  const lines: TransferLine[] = [];
  const unreadable: UnreadableAsset[] = [];
  let first: string | null = null;

  function note(problem: string): string {
    first ??= problem;
    return plainText(problem, 200);
  }

  /** The asset of the registry; undefined if this one is not wanted. */
  function assetOf(name: unknown): string | undefined {
    return typeof name === "string" ? wanted.get(name.toLowerCase()) : undefined;
  }

  return {
    assetOf,
    /**
     * Takes the entries of a list that are wanted and have the right shape. An entry that is wrong costs only itself.
     *
     * @param name the property with the venue's name of the asset
     * @param place of the list, such as `data`
     * @param faultOf if it finds no fault, the entry is an `Entry`
     */
    eachWanted<Entry>(
      entries: unknown[],
      name: string,
      place: string,
      faultOf: FaultOf,
      take: (asset: string, entry: Entry, place: string) => void,
    ): void {
      for (const [index, entry] of entries.entries()) {
        const asset = assetOf((entry as Record<string, unknown> | null)?.[name]);
        if (asset === undefined) continue;
        const problem = faultOf(entry, `${place}[${index}]`);
        if (problem === null) take(asset, entry as Entry, `${place}[${index}]`);
        else unreadable.push({ asset, because: note(problem) });
      }
    },
    add(asset: string, network: string | null, deposit: Flag, withdrawal: Flag): void {
      if (lines.filter((line) => line.asset === asset).length >= mostNetworks) {
        note(`${asset}: expected at most ${mostNetworks} networks, got more`);
        return;
      }
      const name = network === null ? null : plainText(network, 60);
      lines.push({ asset, network: name, deposit: declaredBy(deposit), withdrawal: declaredBy(withdrawal) });
    },
    /** @param place of the list, such as `data` */
    taken(place: string, listAt: Date | null = null): TakenList {
      // A list that has lost all of them at once is broken, or another list.
      if (lines.length === 0 && unreadable.length === 0)
        return listNotUnderstood(mismatch(place, "at least one of the assets that are read", "none"));
      return { problem: first, list: { lines, unreadable }, listAt };
    },
  };

  function declaredBy(flag: Flag): Declared {
    if ("problem" in flag) return { state: "unknown", because: note(flag.problem) };
    const { state, words = null } = flag;
    return { state, because: words === null ? null : plainText(words, 200) || null };
  }
}

/** A flag that was understood, perhaps with the venue's words; or what is wrong with it, with its place. */
export type Flag = { state: Declaration; words?: string | null } | { problem: string };

/**
 * Makes the reader of a venue's flags. A value of another type or an unknown word is no flag: it must not read as open.
 *
 * @param open values that mean open
 * @param paused values that mean paused
 */
export function flagReader(open: readonly unknown[], paused: readonly unknown[]) {
  const words = [...open, ...paused].map((value) => shownValue(value)).join(" or ");
  return (value: unknown, place: string, says: string | null = null): Flag => {
    if (open.includes(value)) return { state: "open", words: says };
    if (paused.includes(value)) return { state: "paused", words: says };
    return { problem: mismatch(place, words, value === undefined ? "nothing" : shownValue(value)) };
  };
}
