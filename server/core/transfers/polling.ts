import { Counter } from "prom-client";
import type { Db } from "../../../shared/database/pool.js";
import type { Log } from "../../../shared/log/log.js";
import type { OwnMetrics } from "../../../shared/log/own-metrics.js";
import { makeFeedLog } from "../notices/polling.js";
import { transferKinds } from "./formats/transfer-kinds.js";
import type { TransferReader } from "./reader.js";
import type { TransferReading, TransferSource } from "./transfer-list.js";

const minuteMs = 60_000;

/** Lists have megabytes and seldom change. A pause of a wallet lasts for hours, so minutes later is soon enough. */
const cadenceMs = 5 * minuteMs;
/** The backoff of a list that stays unreadable grows up to this. */
const seldomestMs = 15 * minuteMs;
/** For this long after a reading has begun, no other reader claims the list. A reading ends within two minutes. */
const patienceMs = 5 * minuteMs;
/** A list that is new in the registry is found within this time. */
const longestRestMs = 30_000;

/** One row of `claim_transfers.sql`. */
type Claimed = ClaimedList | { venue_id: null; at: Date; due_at: Date | null };

interface ClaimedList {
  venue_id: number;
  venue: string;
  at: Date;
  due_at: Date;
  kind: TransferSource["kind"];
  api: string;
  wanted: Record<string, string> | null;
  unended_readings: number;
  read_at: Date | null;
  list_at: Date | null;
  list_moved_at: Date | null;
  unreadable_since: Date | null;
}

export interface TransferPollingOptions {
  db: Db;
  reader: TransferReader;
  log: Log;
  metrics?: TransferMetrics | undefined;
  /** The outbox has new alerts. */
  onAlert?: () => void;
  /** Returns 0 to 1; it spreads the readings. */
  random?: () => number;
}

export interface TransferPolling {
  /**
   * Reads the list that has been due for longest, if any is, and stores the result.
   *
   * @param at the present; null: by the database's clock
   * @returns milliseconds until the next call is needed
   * @throws if the database fails; and the signal's reason if it ends the reading
   */
  readNext: (signal: AbortSignal, at?: Date | null) => Promise<number>;
}

/**
 * Reads every list of deposits and withdrawals in the registry, each on its own schedule, which is in the database as
 * that of the feeds is.
 */
export function makeTransferPolling({
  db,
  reader,
  log,
  metrics,
  onAlert = () => {},
  random = Math.random,
}: TransferPollingOptions): TransferPolling {
  const tell = makeFeedLog(log);
  return {
    async readNext(signal, at = null) {
      const [row] = await db.file<Claimed>("claim_transfers", [at, patienceMs, Object.keys(transferKinds)]);
      const claimed = row!;
      if (claimed.venue_id === null) return restMs(claimed);
      try {
        await read(claimed, signal);
      } catch (error) {
        await db.file("release_transfers", [claimed.venue_id, claimed.due_at]);
        throw error;
      }
      return 0;
    },
  };

  async function read(claimed: ClaimedList, signal: AbortSignal) {
    const { venue_id: venueId, venue, kind, api, at, unended_readings: unended } = claimed;
    if (unended > 0)
      log.warn("earlier readings of a list of transfers did not end: programs may have died of its answer", {
        ...{ venue, kind, unended },
      });
    const source: TransferSource = {
      ...{ kind, api, wanted: new Map(Object.entries(claimed.wanted ?? {})) },
      listAt: claimed.list_at,
      listMovedAt: claimed.list_moved_at,
    };
    const startMs = performance.now();
    const reading = await reader.read(source, at, signal);
    const tookMs = performance.now() - startMs;
    const dueAt = new Date(+at + Math.max(pauseMs(claimed), tookMs + reading.retryAfterMs));
    const stored = await storeTransfers(db, venueId, at, reading, dueAt, claimed.due_at);
    if (stored === null) {
      log.warn("a list of transfers was read too late: somebody else has read it since", { venue, kind });
      return;
    }
    const { list, unanswered } = reading;
    const problem = list === null ? reading.problem : null;
    tell({ source: { kind, api }, unreadableSince: claimed.unreadable_since, problem, unanswered });
    const { refused, ...others } = stored;
    if (refused > 0)
      log.warn("a list of transfers has too many networks; the newest are not stored", { venue, refused });
    if (Object.values(others).some((count) => count > 0)) log.info("transfers", { venue, ...others });
    if (stored.alerts > 0) onAlert();
    metrics?.read(problem === null, stored.changed);
  }

  function pauseMs({ at, unreadable_since: since }: ClaimedList): number {
    const brokenMs = since === null ? 0 : +at - +since;
    const usualMs = Math.min(Math.max(cadenceMs, brokenMs / 4), seldomestMs);
    return usualMs * (0.9 + 0.2 * random());
  }
}

function restMs({ at, due_at: dueAt }: { at: Date; due_at: Date | null }): number {
  if (dueAt === null) return longestRestMs;
  return Math.min(Math.max(+dueAt - +at, 1000), longestRestMs);
}

/** How many lines were new, how many states changed, how many lines were too many, and how many alerts are due. */
export interface StoredTransfers {
  added: number;
  changed: number;
  refused: number;
  alerts: number;
}

/**
 * Stores the result of a reading: new lines, states that changed, and then the alerts that are due.
 *
 * @param at when the list was read
 * @param dueAt when it is due again
 * @param claimedTo end of the claim
 * @returns null if the claim had ended
 */
export async function storeTransfers(
  db: Db,
  venueId: number,
  at: Date,
  { problem, list, listAt }: TransferReading,
  dueAt: Date,
  claimedTo: Date,
): Promise<StoredTransfers | null> {
  const lines = list?.lines.map(({ asset, network, deposit, withdrawal }) => ({
    ...{ asset, network, deposit: deposit.state, depositBecause: deposit.because },
    ...{ withdrawal: withdrawal.state, withdrawalBecause: withdrawal.because },
  }));
  const [row] = await db.file<Omit<StoredTransfers, "alerts">>("store_transfers", [
    venueId,
    at,
    problem,
    lines === undefined ? null : JSON.stringify(lines),
    JSON.stringify(list?.unreadable ?? []),
    listAt,
    dueAt,
    claimedTo,
  ]);
  if (row === undefined) return null;
  // a list that was not understood says nothing of the present
  const alerts = list === null ? [] : await db.file("alert_transfers", [venueId, at]);
  return { ...row, alerts: alerts.length };
}

/** Metrics of a core's readings of venues' lists. */
interface TransferMetrics {
  read: (readable: boolean, changed: number) => void;
}

export function makeTransferMetrics(registry: OwnMetrics): TransferMetrics {
  const registers = [registry];
  const readings = new Counter({
    name: "venuewatch_transfer_readings_total",
    help: "Readings of venues' lists of deposits and withdrawals, by whether the list was understood.",
    labelNames: ["result"],
    registers,
  });
  for (const result of ["readable", "unreadable"]) readings.inc({ result }, 0);
  const changes = new Counter({
    name: "venuewatch_transfer_changes_total",
    help: "Deposits and withdrawals of an asset on a network that were opened, paused or became unknown.",
    registers,
  });
  return {
    read(readable, changed) {
      readings.inc({ result: readable ? "readable" : "unreadable" });
      changes.inc(changed);
    },
  };
}
