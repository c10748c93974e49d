/** Checks the replica that web reads from. */
import { databaseFault } from "../../../shared/database/fault.js";
import { openPool } from "../../../shared/database/pool.js";
import type { Log } from "../../../shared/log/log.js";
import { replicaCheck, replicaState } from "../../database/replica.js";
import type { Settings } from "../../../shared/config/settings.js";
import { type Finding, failure, ok } from "./finding.js";

/** Null without a replica. */
export async function replicaFound({ databaseReadUrl: url }: Settings, log: Log): Promise<Finding | null> {
  if (url === null) return null;
  const pool = openPool(url, {
    ...{ applicationName: "doctor", log, max: 1, statementTimeoutMs: 5_000 },
    readOnly: true,
  });
  try {
    const check = replicaCheck(await replicaState(pool));
    return check.ok
      ? ok("replica", check.detail)
      : failure(
          "replica",
          check.detail,
          "check on its machine that it receives and replays, and see its log; web is not ready meanwhile",
        );
  } catch (error) {
    const { message } = databaseFault(error, url, "DATABASE_READ_URL") ?? (error as Error);
    return failure("replica", message, "web answers 503 meanwhile");
  } finally {
    await pool.close();
  }
}
