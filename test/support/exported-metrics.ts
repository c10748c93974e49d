/** Collects the exported metrics from the programs' own code: each series' name with its labels. */
import { makeBackupMetrics } from "../../server/core/backup-metrics.js";
import { makeProbeMetrics } from "../../probe/probe-metrics.js";
import { unmeasuredReasons, type UnmeasuredReason } from "../../shared/measurement/sample.js";
import { makeAlertMetrics } from "../../server/core/alerts/alert-metrics.js";
import { makeReplicaMetrics, makeWebMetrics } from "../../server/web/web.js";
import type { Pool } from "../../shared/database/pool.js";
import { makeEngineMetrics } from "../../server/core/metrics.js";
import type { Log } from "../../shared/log/log.js";
import { makeOwnMetrics } from "../../shared/log/own-metrics.js";
import { addChannel } from "./alerts.js";
import { parseExposition } from "./exposition.js";

export type Exported = Map<string, Set<string>>;

/** The status of a probe that has measured nothing yet. */
export const idleProbe: ReturnType<Parameters<typeof makeProbeMetrics>[2]> = {
  ...{ taken: 0, shipped: 0, duplicates: 0, restored: 0, refused: 0, waiting: 0, dropped: 0, corrupt: 0 },
  ...{ spoolBytes: 0, spoolUsed: 0, trouble: null, newestSlotAt: null, socketsOpen: 0, watching: [], troubles: [] },
  ...{ clock: null, renewedAt: null, certificates: [] },
  unmeasured: Object.fromEntries(unmeasuredReasons.map((reason) => [reason, 0])) as Record<UnmeasuredReason, number>,
};

/** @param text an exposition in which every family has a series */
export function exportedBy(text: string): Exported {
  const exported: Exported = new Map();
  for (const { name, labels } of parseExposition(text).flatMap(({ series }) => series)) {
    const known = exported.get(name) ?? new Set();
    for (const label of Object.keys(labels)) known.add(label);
    exported.set(name, known);
  }
  return exported;
}

/** Returns the expositions of core, probe and web, with everything counted once. Adds a channel to the database. */
export async function ownExpositions(pool: Pool, log: Log): Promise<string[]> {
  const core = makeOwnMetrics("core");
  const engine = makeEngineMetrics(core, pool, log);
  engine.leads(true);
  engine.decided({ at: "", opened: ["one"], escalated: [], closed: [], retracted: [] }, 20);
  engine.choresBegin([{ name: "compressing", everyMs: 60_000 }]);
  engine.choreDone("compressing", true, 20);
  const archive = { archive_failing: false, archived_at: new Date() };
  const sizes = { database_bytes: 1, wal_bytes: 1, slots: [{ slot: "replica", bytes: 1 }] };
  makeBackupMetrics(core, () => Promise.resolve({ ...archive, ...sizes }), ".", log);
  await addChannel(pool);
  const alerts = makeAlertMetrics(core, pool, log, true);
  alerts.sent("native", { result: "delivered", durationMs: 20 });
  alerts.settled({ format: "native", channel_off: "gone", first_sent_after_ms: 20, delivered_after_ms: 40 });

  const probe = makeOwnMetrics("probe", { region: "us-east" });
  const meter = makeProbeMetrics(probe, new Date(), () => ({
    ...idleProbe,
    ...{ taken: 9, shipped: 5, duplicates: 1, refused: 1, waiting: 2, dropped: 1, corrupt: 1 },
    ...{ spoolBytes: 1, spoolUsed: 0.5, socketsOpen: 1, watching: ["kraken"] },
    ...{ newestSlotAt: new Date(), renewedAt: new Date(), clock: { errorMs: -12, withinMs: 35 } },
    certificates: [{ venue: "a", component: "rest:book", expiresAt: new Date() }],
  }));
  meter.slotBegun(3);
  await meter.timed(() => Promise.resolve({ stored: 1, duplicates: 0, refused: 0 }))([]);

  const web = makeOwnMetrics("web");
  const state = { is_replica: true, receiving: true, paused: false };
  const lag = { behind_bytes: 0, behind_seconds: 0, silent_seconds: 1 };
  makeReplicaMetrics(web, () => Promise.resolve({ ...state, ...lag }));
  makeWebMetrics(web)({ route: "/v1/status", status: "200", tookMs: 2 });
  return Promise.all([core, probe, web].map((own) => own.metrics()));
}
