import type { Db } from "../../shared/database/pool.js";
import type { Readiness } from "../health/health.js";

/** How a replica stands to its primary; one row of `replica.sql`. */
export interface ReplicaState {
  /** False: it is a primary itself, and nothing else here says anything. */
  is_replica: boolean;
  /** Whether its primary sends to it now. */
  receiving: boolean;
  /** Whether an operator has stopped it from replaying what it receives. */
  paused: boolean;
  /** What the primary has, as far as is known, and this has not replayed; null before anything was received. */
  behind_bytes: number | null;
  /** At the most. Null where it cannot be known: nothing was ever replayed. */
  behind_seconds: number | null;
  /** Since the newest transaction that it has replayed. */
  silent_seconds: number | null;
}

/**
 * Beyond this a web program calls itself not ready, so that a proxy asks another one. Caches may show for as long what
 * they have (`stale-while-revalidate`), so nobody expects fresher answers; after five minutes of an older tick every
 * state reads unknown in any case.
 */
export const replicaMayLagSeconds = 30;

export async function replicaState(db: Db): Promise<ReplicaState> {
  const [state] = await db.file<ReplicaState>("replica");
  return state!;
}

export function replicaCheck(state: ReplicaState): Readiness["checks"][string] {
  if (!state.is_replica) return { ok: true, detail: "is a primary, and behind nobody" };
  const { behind_seconds: behind, silent_seconds: silent } = state;
  const ok = behind !== null && behind <= replicaMayLagSeconds;
  return {
    ok,
    detail: [
      behind === null
        ? "nobody knows how far it is behind"
        : `${behind.toFixed(1)} s behind${ok ? "" : `, more than ${replicaMayLagSeconds}`}`,
      state.receiving ? null : "it receives nothing from its primary",
      state.paused ? "its replay is paused" : null,
      state.behind_bytes ? `${state.behind_bytes} bytes are not replayed yet` : null,
      // the engine's own check says whose silence it is
      ok && silent !== null && silent > replicaMayLagSeconds ? `nothing was written for ${Math.floor(silent)} s` : null,
    ]
      .filter((part) => part !== null)
      .join("; "),
  };
}
