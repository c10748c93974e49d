/** A web program's report about its replica. topology.test.ts tests the lag of real replicas. */
import t from "tap";
import { makeReplicaMetrics } from "../../../server/web/web.js";
import { makeOwnMetrics } from "../../../shared/log/own-metrics.js";
import { replicaCheck, type ReplicaState, replicaState } from "../../../server/database/replica.js";
import { serve } from "../../support/api.js";
import { migratedDatabase } from "../../support/database.js";
import { ownFamilies } from "../../support/own-families.js";

const well: ReplicaState = {
  is_replica: true,
  receiving: true,
  paused: false,
  behind_bytes: 0,
  behind_seconds: 0,
  silent_seconds: 1.2,
};

void t.test("a replica is good while it lags for half a minute", (t) => {
  for (const [state, ok, detail] of [
    [{}, true, "0.0 s behind"],
    [{ behind_seconds: 1.26, behind_bytes: 320 }, true, "1.3 s behind; 320 bytes are not replayed yet"],
    // a primary without writes is no lag, for any length of time
    [{ behind_seconds: 4.2, silent_seconds: 3_600.5 }, true, "4.2 s behind; nothing was written for 3600 s"],
    [{ receiving: false, behind_seconds: 30 }, true, "30.0 s behind; it receives nothing from its primary"],
    [
      { receiving: false, behind_seconds: 30.1 },
      false,
      "30.1 s behind, more than 30; it receives nothing from its primary",
    ],
    [
      { paused: true, behind_seconds: 99, behind_bytes: 4_096 },
      false,
      "99.0 s behind, more than 30; its replay is paused; 4096 bytes are not replayed yet",
    ],
    [
      { receiving: false, behind_seconds: null, behind_bytes: null },
      false,
      "its lag is unknown; it receives nothing from its primary",
    ],
    [{ is_replica: false }, true, "is a primary, not a replica"],
  ] satisfies [Partial<ReplicaState>, boolean, string][])
    t.same(replicaCheck({ ...well, ...state }), { ok, detail });
  t.end();
});

void t.test("only a web program that reads from a replica has its metrics", async (t) => {
  const metricsOf = async (state: ReplicaState | null) => {
    const own = makeOwnMetrics("web");
    makeReplicaMetrics(own, () => Promise.resolve(state));
    return Object.values(await ownFamilies(own))
      .filter(({ name }) => name.startsWith("venuewatch_replica_"))
      .flatMap(({ series }) => series.map(({ name, value }) => [name, value]));
  };
  t.same(await metricsOf({ ...well, behind_seconds: 2, behind_bytes: 7 }), [
    ["venuewatch_replica_lag_seconds", 2],
    ["venuewatch_replica_lag_bytes", 7],
    ["venuewatch_replica_receiving", 1],
  ]);
  t.same(await metricsOf({ ...well, receiving: false, behind_seconds: null }), [
    ["venuewatch_replica_lag_bytes", 0],
    ["venuewatch_replica_receiving", 0],
  ]);
  t.same(await metricsOf({ ...well, is_replica: false }), []);
  t.same(await metricsOf(null), []);
});

void t.test("a primary in a replica's place is accepted", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  t.match(await replicaState(pool), { is_replica: false });
  const api = await serve(t, { pool, registry, ofReplica: true });
  const { body } = await api.ask<object>("/readyz");
  t.match(body, { checks: { replica: { ok: true, detail: "is a primary, not a replica" } } });
});
