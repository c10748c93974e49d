/**
 * Faults of ours, injected into the production code on purpose: some seed must find each. A mutant that survives shows
 * a gap in the checkers.
 */

import { mutantsOfJudgement } from "./mutants-of-judgement.js";
import type { Mutant } from "./mutant.js";

/** @throws Error that names a mutant that does not exist */
export function mutantNamed(name: string | undefined): Mutant | null {
  if (!name) return null;
  const mutant = mutants.find((one) => one.name === name);
  if (!mutant) throw new Error(`expected the name of a mutant of simulation/mutants/mutants.ts, got ${name}`);
  return mutant;
}

/** Some of them interrupt a delivery of each probe. */
const databaseKills = Array.from(
  { length: 8 },
  (_, n) => `00:01:${10 + 5 * n}.${100 + 110 * n} kill database for 700 ms`,
).join("\n");

/** Each interrupts what is under way, more often than the pool of a probe has connections. */
const interruptions = Array.from({ length: 30 }, (_, n) => {
  const second = String(10 + n).padStart(2, "0");
  return `00:01:${second}.100 stall database for 700 ms\n00:01:${second}.500 reconnect region-1-1 from database for 1 ms`;
}).join("\n");

export const mutants: readonly Mutant[] = [
  // the way of a sample
  {
    name: "a sample counts as delivered before the database has it",
    file: "probe/delivery/recorder.js",
    from: "const { stored, duplicates, refused, unknown = [], timeline } = await",
    to: "done(); const { stored, duplicates, refused, unknown = [], timeline } = await",
    faults: databaseKills,
  },
  {
    name: "a failed delivery is not repeated",
    file: "probe/delivery/recorder.js",
    from: "if (!isDataError(error))\n                    throw error;",
    to: "batch.done(); if (!isDataError(error))\n                    throw error;",
    faults: databaseKills,
  },
  {
    name: "the spool forgets its last line at a restart",
    file: "probe/delivery/spool-segment.js",
    from: "segment.bytes = at + i + 1;",
    to: "if (lines.indexOf(newline, i + 1) >= 0) segment.bytes = at + i + 1; else segment.samples -= 1;",
    faults: `
00:01:10.000 part region-1-1 from database for 29000 ms
00:01:35.000 kill region-1-1 for 1000 ms
`,
  },
  {
    name: "samples that the disk refused are forgotten",
    file: "probe/delivery/spool-writer.js",
    from: "if (!(await makeRoom(error)))",
    to: "done(); if (!(await makeRoom(error)))",
    faults: `
00:01:10.000 full region-1-1 for 29000 ms
00:01:12.000 part region-1-1 from database for 20000 ms
`,
  },
  {
    name: "a sample too many leaves memory",
    file: "probe/delivery/spool-writer.js",
    from: "memory.splice(0, samples);",
    to: "memory.splice(0, samples + 1);",
    faults: `
00:01:10.000 stall region-1-1 for 4000 ms
00:01:20.000 stall region-1-1 for 4000 ms
00:01:30.000 stall region-1-1 for 4000 ms
`,
  },
  {
    name: "a sample too many leaves the backlog",
    file: "probe/delivery/backlog.js",
    // in small batches, so that more waits than a batch has
    from: `const samples = segment.read.slice(0, size);
        flying = { segment, samples: samples.length };
        return {
            samples,
            done() {
                segment.read.splice(0, samples.length);`,
    to: `const samples = segment.read.slice(0, 20);
        flying = { segment, samples: samples.length };
        return {
            samples,
            done() {
                segment.read.splice(0, samples.length + 1);`,
    faults: `
00:01:10.000 part region-1-1 from database for 29000 ms
00:01:35.000 kill region-1-1 for 1000 ms
`,
  },
  {
    name: "a connection is not returned after an error",
    file: "shared/database/pool.js",
    from: 'broken = error;\n        throw error;\n    }\n    finally {\n        client.off("error", lost);\n        client.release(broken);',
    to: 'broken = error;\n        throw error;\n    }\n    finally {\n        client.off("error", lost);\n        if (!broken) client.release(broken);',
    faults: interruptions,
  },
  // leases and slots
  {
    name: "nobody takes over the venues of a dead probe",
    file: "probe/venue-lease.js",
    from: "await keep(startMs - steadySinceMs >= leaseMs);",
    to: "await keep(false);",
    shape: "pairs",
    faults: "00:01:10.000 kill region-1-1 for 60000 ms",
  },
  {
    name: "a probe with a wrong clock keeps its venues",
    file: "sql/probe/020-renew-probe.sql",
    from: "return coalesce(abs(clock_error_ms) - clock_error_within_ms > 2000, false);",
    to: "return false;",
    shape: "pairs",
    faults: "00:01:30.000 clock region-1-1 by 20000 ms for 60000 ms",
  },
  {
    name: "a probe that cannot renew its lease stops measuring",
    file: "probe/venue-lease.js",
    from: 'if (countsAsAway(log, "lease renewals", error))',
    to: 'watch([]); if (countsAsAway(log, "lease renewals", error))',
    faults: "00:01:10.000 part region-1-1 from database for 40000 ms",
  },
  {
    name: "streams are not measured",
    file: "probe/measure/stream/stream.js",
    from: "...subscriptions.map((subscription) => {",
    to: "...subscriptions.slice(1).map((subscription) => {",
    faults: "00:01:30.000 errors venue-1 for 20000 ms",
  },
  {
    name: "slots drift",
    file: "probe/schedule/schedule.js",
    from: "running = measure(new Date(slotMs),",
    to: "running = measure(new Date(nowMs + 1),",
    faults: "00:01:10.000 kill region-1-1 for 100 ms",
  },
  ...mutantsOfJudgement,
  // the leader
  {
    name: "a lease without its fence",
    file: "sql/engine/080-tick.sql",
    from: "and l.holder = tick.holder and l.fence = tick.fence",
    to: "",
    profile: "partitions",
  },
  {
    name: "a lease that has not expired is taken",
    file: "sql/engine/005-leadership.sql",
    from: "or (l.expires_at = was_over and l.expires_at <= now())",
    to: "or l.expires_at <= now() + interval '1510 milliseconds'",
    faults: "00:01:10.000 pause web-1 for 100 ms",
  },
  {
    name: "a core that was away decides only the newest instant",
    file: "server/core/engine/tick.js",
    from: 'return db.file("due_instants", [upTo, JSON.stringify(rules)]);',
    to: 'return (await db.file("due_instants", [upTo, JSON.stringify(rules)])).slice(-1);',
    profile: "crashes",
  },
  // alerts
  {
    name: "a refused alert counts as delivered",
    file: "server/core/alerts/post.js",
    from: "if (hundreds === 2)",
    to: "if (hundreds > 0)",
    faults: `
00:01:30.000 errors venue-1 for 60000 ms
00:01:31.000 refuse channel-1 for 90000 ms
`,
  },
  {
    name: "an alert without an answer counts as delivered",
    file: "server/core/alerts/endings.js",
    from: 'return { result: "timeout", error: `${expected}, got none`',
    to: 'return { result: "delivered", error: `${expected}, got none`',
    faults: `
00:01:30.000 errors venue-1 for 60000 ms
00:01:31.000 hang channel-1 for 90000 ms
`,
  },
  {
    name: "every attempt counts as delivered",
    file: "server/core/alerts/attempts.js",
    from: "const outcome = await sent(claimed, claim);",
    to: 'const outcome = { ...(await sent(claimed, claim)), result: "delivered" };',
    faults: `
00:01:30.000 errors venue-1 for 60000 ms
00:01:31.000 reset channel-1 for 90000 ms
`,
  },
  {
    name: "a dispatcher that stood still sends what it had claimed",
    file: "server/core/alerts/attempts.js",
    from: "const leaveByMs = askedAtMs + leaseMs / 2;",
    to: "const leaveByMs = Infinity;",
    faults: `
00:01:00.000 kill core-1 for 10000 ms
00:01:30.000 errors venue-1 for 30000 ms
00:01:30.000 errors venue-2 for 40000 ms
00:01:31.000 freeze core-2 for 80000 ms
`,
  },
  {
    name: "the newest alert is sent first",
    file: "sql/alerts/030-next-deliveries.sql",
    from: "order by d.event_id",
    to: "order by d.event_id desc",
    profile: "crashes",
  },
  {
    name: "nobody takes over what another dispatcher was sending",
    file: "sql/alerts/020-claim-deliveries.sql",
    from: "(d.claimed_until is null or d.claimed_until <= n.now)",
    to: "d.claimed_until is null",
    faults: `
00:01:30.000 errors venue-1 for 29000 ms
00:01:31.000 hang channel-1 for 29000 ms
00:01:47.000 kill core-1 for 1000 ms
00:01:47.000 kill core-2 for 1000 ms
00:01:57.000 kill core-1 for 1000 ms
00:01:57.000 kill core-2 for 1000 ms
`,
  },
  {
    name: "a claim of a delivery does not last",
    file: "server/core/alerts/dispatcher.js",
    from: "const values = [null, holder, rules.lease_ms,",
    to: "const values = [null, holder, 500,",
    faults: `
00:01:30.000 errors venue-1 for 60000 ms
00:01:31.000 hang channel-1 for 60000 ms
`,
  },
  {
    name: "a channel that hangs holds up the others",
    file: "sql/alerts/020-claim-deliveries.sql",
    from: "where u.channel_id = f.channel_id",
    to: "where true",
    faults: `
00:01:30.000 errors venue-1 for 60000 ms
00:01:31.000 hang channel-1 for 90000 ms
`,
  },
  // the API
  {
    name: "a body shows heartbeats after its instant",
    file: "sql/board/020-states.sql",
    from: "where n.seen_at <= k.generated_at",
    to: "where true",
    faults: "00:01:30.000 kill region-1-1 for 100 ms",
  },
  {
    name: "a body claims to be older than what it shows",
    file: "sql/board/010-clock.sql",
    from: "when f.fresh then s.changed_at",
    to: "when f.fresh then s.changed_at - interval '1 minute'",
    faults: "00:01:30.000 errors venue-1 for 20000 ms",
  },
  // notices, migrations
  {
    name: "several readers claim the same page",
    file: "server/core/notices/polling.js",
    from: 'db.file("claim_feed", [at, patienceMs,',
    to: 'db.file("claim_feed", [at, 0,',
    faults: "00:01:30.000 errors venue-1 for 20000 ms",
  },
  {
    name: "a page that changed counts as unchanged",
    file: "server/core/notices/reader.js",
    from: "unchanged: parts.every(({ unchanged }) => unchanged),",
    to: "unchanged: true,",
    faults: "00:01:30.000 errors venue-1 for 20000 ms",
  },
  {
    name: "what a page no longer lists stays listed",
    file: "server/core/notices/formats/statuspage.js",
    from: "listedFrom: problem !== null ? null : isWhole ? new Date(0) : reachOf(posted, at),",
    to: "listedFrom: null,",
    faults: "00:01:30.000 errors venue-1 for 20000 ms",
  },
  {
    name: "a migration leaves out the registry",
    file: "server/database/migrate.js",
    from: 'await step("the registry", (tx) => syncAsCore(tx, registry));',
    to: "",
    faults: "00:01:00.050 migrate operator for 3000 ms",
  },
  // upkeep
  {
    name: "the newest minutes are not rolled up",
    file: "server/core/rollups/upkeep.js",
    from: "await pool.query(sql `call upkeep.refresh_newest(${at})`);",
    to: "",
    faults: "00:04:30.000 kill region-1-1 for 100 ms",
  },
  {
    name: "late samples are not rolled up",
    file: "sql/rollups/050-refresh.sql",
    from: "when 1 then call upkeep.refresh('sample_minute', minute_start, minute_end);",
    to: "when 1 then null;",
    faults: `00:01:00.000 part region-1-1 from database for 400000 ms`,
  },
  {
    name: "samples are dropped that late ones may still be rolled up with",
    file: "sql/rollups/010-retention-periods.sql",
    from: "create function upkeep.raw_kept() returns interval language sql immutable return interval '8 days';",
    to: "create function upkeep.raw_kept() returns interval language sql immutable return interval '1 day';",
    days: 2,
  },
];
