/**
 * Faults of ours, injected into the production code on purpose: some seed must find each. A mutant that survives shows
 * what the checkers do not see.
 */

export interface Mutant {
  name: string;
  /** A compiled module below `dist/`. */
  file: string;
  /** Occurs once in it. */
  from: string;
  to: string;
}

export const mutants: readonly Mutant[] = [
  // the way of a sample
  {
    name: "a sample counts as delivered before the database has it",
    file: "probe/delivery/recorder.js",
    from: "const { stored, duplicates, refused, unknown = [], timeline } = await",
    to: "done(); const { stored, duplicates, refused, unknown = [], timeline } = await",
  },
  {
    name: "a failed delivery is not repeated",
    file: "probe/delivery/recorder.js",
    from: "if (!isDataError(error))\n                    throw error;",
    to: "batch.done(); if (!isDataError(error))\n                    throw error;",
  },
  {
    name: "the spool forgets its last line at a restart",
    file: "probe/delivery/spool-segment.js",
    from: "segment.bytes = at + i + 1;",
    to: "if (lines.indexOf(newline, i + 1) >= 0) segment.bytes = at + i + 1; else segment.samples -= 1;",
  },
  {
    name: "samples that the disk refused are forgotten",
    file: "probe/delivery/spool-writer.js",
    from: "if (!(await makeRoom(error)))",
    to: "done(); if (!(await makeRoom(error)))",
  },
  {
    name: "a file is truncated while samples of it wait",
    file: "probe/delivery/spool-files.js",
    from: "if (place.backlog.samples() > 0 || place.backlog.segments[0] !== segment)",
    to: "if (place.backlog.segments[0] !== segment)",
  },
  {
    name: "a sample too many leaves memory",
    file: "probe/delivery/spool-memory.js",
    from: "memory.splice(0, samples);",
    to: "memory.splice(0, samples + 1);",
  },
  {
    name: "a sample too many leaves the backlog",
    file: "probe/delivery/backlog.js",
    from: "segment.read.splice(0, samples.length);",
    to: "segment.read.splice(0, samples.length + 1);",
  },
  {
    name: "a connection is not returned after an error",
    file: "shared/database/pool.js",
    from: 'broken = error;\n        throw error;\n    }\n    finally {\n        client.off("error", lost);\n        client.release(broken);',
    to: 'broken = error;\n        throw error;\n    }\n    finally {\n        client.off("error", lost);\n        if (!broken) client.release(broken);',
  },
  // leases and slots
  {
    name: "nobody takes over the venues of a dead probe",
    file: "probe/lease/venue-lease.js",
    from: "await keep(startMs - steadySinceMs >= leaseMs);",
    to: "await keep(false);",
  },
  {
    name: "a probe that cannot renew its lease stops measuring",
    file: "probe/lease/venue-lease.js",
    from: 'if (countsAsAway(log, "lease renewals", error))',
    to: 'watch([]); if (countsAsAway(log, "lease renewals", error))',
  },
  {
    name: "slots drift",
    file: "probe/schedule/schedule.js",
    from: "running = measure(new Date(slotMs),",
    to: "running = measure(new Date(nowMs + 1),",
  },
  // whose fault it is
  {
    name: "silence of all venues is theirs",
    file: "probe/network/own-network.js",
    from: 'return "shut";',
    to: 'return "open";',
  },
  {
    name: "a standstill of the probe is not noticed",
    file: "probe/schedule/event-loop-watch.js",
    from: "return standstills.some(",
    to: "return [].some(",
  },
  // alerts
  {
    name: "a refused alert counts as delivered",
    file: "server/alerts/delivery/classify-exchange.js",
    from: "if (hundreds === 2)",
    to: "if (hundreds > 0)",
  },
  {
    name: "an alert without an answer counts as delivered",
    file: "server/alerts/delivery/classify-exchange.js",
    from: 'return { result: "timeout", error: `${expected}, got none`',
    to: 'return { result: "delivered", error: `${expected}, got none`',
  },
  {
    name: "every attempt counts as delivered",
    file: "server/alerts/delivery/attempts.js",
    from: "const outcome = await sent(claimed, claim);",
    to: 'const outcome = { ...(await sent(claimed, claim)), result: "delivered" };',
  },
  // upkeep
  {
    name: "the newest minutes are not rolled up",
    file: "server/engine/upkeep.js",
    from: "await pool.query(sql `call upkeep.refresh_newest(${at})`);",
    to: "",
  },
  {
    name: "late samples are not rolled up",
    file: "server/engine/upkeep.js",
    from: "await pool.query(sql `call upkeep.refresh_late(${at})`);",
    to: "",
  },
];
