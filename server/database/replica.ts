import type { Db } from "../../shared/database/pool.js";

/** The state of a replica in relation to its primary; one row of `replica.sql`. */
export interface ReplicaState {
  /** False: it is a primary itself, and the other fields have no meaning. */
  is_replica: boolean;
  /** Whether it is receiving from its primary now. */
  receiving: boolean;
  /** Whether an operator has paused the replay. */
  paused: boolean;
  /** Known bytes of the primary's WAL that are not replayed yet; null before anything was received. */
  behind_bytes: number | null;
  /** Upper bound of the lag. Null if it is unknown, because nothing was ever replayed. */
  behind_seconds: number | null;
  /** Seconds since the newest replayed transaction. */
  silent_seconds: number | null;
}

/**
 * With a larger lag a web program is not ready, so that a proxy chooses another one. Caches may serve stale answers for
 * as long (`stale-while-revalidate`), so nobody expects fresher ones. When the last tick is five minutes old, every
 * state reads unknown in any case.
 */
export const replicaMayLagSeconds = 30;

export async function replicaState(db: Db): Promise<ReplicaState> {
  const [state] = await db.file<ReplicaState>("replica");
  return state!;
}

export function replicaCheck(state: ReplicaState): { ok: boolean; detail: string } {
  if (!state.is_replica) return { ok: true, detail: "is a primary, not a replica" };
  const { behind_seconds: behind, silent_seconds: silent } = state;
  const ok = behind !== null && behind <= replicaMayLagSeconds;
  return {
    ok,
    detail: [
      behind === null
        ? "its lag is unknown"
        : `${behind.toFixed(1)} s behind${ok ? "" : `, more than ${replicaMayLagSeconds}`}`,
      state.receiving ? null : "it receives nothing from its primary",
      state.paused ? "its replay is paused" : null,
      state.behind_bytes ? `${state.behind_bytes} bytes are not replayed yet` : null,
      // the engine's check shows whether the engine is silent
      ok && silent !== null && silent > replicaMayLagSeconds ? `nothing was written for ${Math.floor(silent)} s` : null,
    ]
      .filter((part) => part !== null)
      .join("; "),
  };
}
