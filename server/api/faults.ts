import { countsAsAway } from "../../shared/database/away.js";
import type { Log } from "../../shared/log/log.js";
import { makeOutage } from "../../shared/log/outage.js";
import { stackOf } from "../../shared/process/user-error.js";
import { QueueTimeout } from "./query-queue.js";

/** Errors for which a request has no data. */
export interface Faults {
  /**
   * Logs the error.
   *
   * @returns whether it passes without a change of ours, so that the client should ask again; false: it is our bug
   */
  isPassing(error: unknown, path: string): boolean;
}

export function makeFaults(log: Log): Faults {
  const overloaded = makeOutage(
    log,
    {
      begins: "answered 503: too many expensive requests",
      lasts: "still answering 503: too many expensive requests",
      over: "no longer answering 503 because of expensive requests",
    },
    { level: "warn", endsByItself: true },
  );
  const otherSchema = makeOutage(
    log,
    {
      begins: "answered 503: the database does not have this build's schema; run venuewatch migrate",
      lasts: "still answering 503: the database does not have this build's schema",
      over: "no longer answering 503: the database has this build's schema",
    },
    { endsByItself: true },
  );
  return {
    isPassing(error, path) {
      if (error instanceof QueueTimeout) overloaded.failed("answers", { path, error });
      else if (countsAsAway(log, "answers", error)) return true;
      else if (isStatementCancelled(error))
        log.warn("answered 503: the database cancelled a statement", { path, error });
      else if (isOtherSchema(error)) otherSchema.failed("answers", { path, error });
      else {
        log.error("request failed", { path, stack: stackOf(error) });
        return false;
      }
      return true;
    },
  };
}

/**
 * An error of one statement only: it took too long or too much memory, conflicted with a replica's recovery, or
 * deadlocked with a migration.
 */
function isStatementCancelled(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code = "" } = error as NodeJS.ErrnoException;
  return /^(57014|53200|53400|40001|40P01)$/.test(code) || isMigrating(error, code);
}

/** A migration recreates views and functions; a plan over the old ones then fails once. */
function isMigrating({ message }: Error, code: string): boolean {
  return code === "XX000" && /^(cache lookup failed|could not open relation)/.test(message);
}

/** A missing schema, table, column or function: the database was not migrated yet, or by another build. */
function isOtherSchema(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  return /^(3F000|42P01|42703|42883)$/.test(code ?? "");
}
