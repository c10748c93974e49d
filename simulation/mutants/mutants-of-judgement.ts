/** Faults of ours in judging what is good or bad, whose fault it is, and what the engine makes of it. */

import type { Mutant } from "./mutant.js";

export const mutantsOfJudgement: readonly Mutant[] = [
  // whose fault it is
  {
    name: "a wrong clock is not noticed",
    file: "probe/measure/clock-error.js",
    from: "return certainErrorMs(clockError) > tolerableClockErrorMs;",
    to: "return false;",
    faults: "00:01:30.000 clock region-1-1 by 20000 ms for 90000 ms",
  },
  {
    name: "silence of all venues is theirs",
    file: "probe/network/own-network.js",
    from: 'return "shut";',
    to: 'return "open";',
    faults: `00:01:30.000 cut region-1-1 for 40000 ms`,
  },
  {
    name: "a time that cannot be true is remembered",
    file: "probe/measure/rest/checks.js",
    from: "return ms >= earliestMs && ms <= nowMs + probeLimits.future_time_ms ? ms : null;",
    to: "return ms >= earliestMs ? ms : null;",
    faults: `
00:01:30.000 time in microseconds venue-2 for 5000 ms
00:01:40.000 quiet market venue-2 for 29000 ms
`,
  },
  {
    name: "pings of a closed socket go on",
    file: "probe/measure/stream/keepalive.js",
    from: "clearInterval(pinger);",
    to: "",
    faults: Array.from({ length: 60 }, (_, n) => {
      const seconds = String((n % 12) * 5).padStart(2, "0");
      return `00:0${1 + Math.floor(n / 12)}:${seconds}.000 reconnect region-1-1 from venue-${1 + (n % 4)} for 1 ms`;
    }).join("\n"),
  },
  {
    name: "a chain that stands is the fault of its providers",
    file: "probe/measure/chain.js",
    from: "const stands = oldMs > limitMs && isOfChain(named);",
    to: "const stands = false;",
    faults: "00:01:10.000 stand chain-chain for 100000 ms",
  },
  // the rule book
  {
    name: "an impaired region has a vote",
    file: "sql/engine/050-quorum.sql",
    from: "and k.region_id <> all (array(select engine.impaired_regions(at, at)))",
    to: "",
    faults: `
00:01:30.000 part region-1-1 from venue-1 for 90000 ms
00:01:30.000 part region-1-1 from venue-2 for 90000 ms
00:01:30.000 part region-1-1 from venue-3 for 90000 ms
`,
  },
  {
    name: "a limit pauses nothing",
    file: "probe/measure/pauses.js",
    from: "return onLimited(askedMs);",
    to: "return;",
    faults: "00:01:10.000 limit venue-1 for 60000 ms",
  },
  {
    name: "a ban pauses nothing",
    file: "probe/measure/pauses.js",
    from: "return onRefused(refusalsBeforePause);",
    to: "return;",
    faults: "00:01:10.000 ban venue-1 for 90000 ms",
  },
  {
    name: "a pause of ours is the venue's fault",
    file: "probe/measure/pauses.js",
    from: 'return isChosen() ? { unmeasured: "paused" } : null;',
    to: 'return isChosen() ? unservedBy("limited") : null;',
    faults: "00:01:10.000 limit venue-1 for 35000 ms",
  },
  {
    name: "a rate limit is an outage",
    file: "sql/engine/030-region-verdicts.sql",
    from: "when c.failed - c.limited >= (c.samples + c.missed) * r.outage_bad_share and n.is_clear then 'outage'",
    to: "when c.failed >= c.samples * r.outage_bad_share then 'outage'",
    faults: "00:01:10.000 limit venue-1 for 60000 ms",
  },
  {
    name: "a new venue is judged before it was seen good",
    file: "sql/engine/037-unproven.sql",
    from: "or c.component_id in (",
    to: "or false and c.component_id in (",
    faults: "00:01:10.000 migrate operator for 1000 ms",
  },
  {
    name: "unmeasured is healthy",
    file: "sql/engine/050-quorum.sql",
    from: "when operational + bad + uncounted < quorum then 'unknown'",
    to: "when operational + bad + uncounted = 0 then 'operational'",
    faults: "00:01:10.000 kill region-1-1 for 100 ms",
  },
  {
    name: "a minority of its components speaks for a venue",
    file: "sql/engine/050-quorum.sql",
    from: "when sum(k.known) = 0 or sum(k.known) * 2 < sum(k.components) then 'unknown'",
    to: "when sum(k.known) = 0 then 'unknown'",
    faults: "00:01:10.000 pause web-1 for 100 ms",
  },
  {
    name: "one bad sample confirms trouble",
    file: "sql/engine/074-openings.sql",
    from: "and (s.bad_run >= r.opening_bad_run or s.in_part)",
    to: "and (s.bad_run >= 1 or s.in_part)",
    // two bad samples, a good one, and two bad ones
    faults: `
00:01:30.000 errors venue-1 for 9000 ms
00:01:45.000 errors venue-1 for 9000 ms
`,
  },
  {
    name: "an incident closes without a hold",
    file: "sql/engine/070-incidents.sql",
    from: "and since <= at - engine.ms(case when flapping then r.flap_hold_ms else r.recovery_hold_ms end)",
    to: "and since <= at",
    faults: "00:01:30.000 errors venue-1 for 60000 ms",
  },
  {
    name: "a late sample is not received late",
    file: "sql/probe/010-record-samples.sql",
    from: "greatest(0, ceil(extract(epoch from clock_timestamp() - a.slot_at)))",
    to: "0",
    faults: "00:01:10.000 part region-1-1 from database for 40000 ms",
  },
  {
    name: "escalations are not alerted",
    file: "sql/engine/070-incidents.sql",
    from: "select unnest(escalated), 'escalated', 2",
    to: "select unnest(escalated), 'escalated', 2 where false",
    faults: "00:01:30.000 errors venue-1 for 60000 ms",
  },
  // what is green
  {
    name: "an answer that proves nothing is good",
    file: "probe/measure/rest/rest.js",
    from: "const { said, good, head } = checked;",
    to: "const { said, head } = checked; const good = true;",
    faults: "00:01:30.000 nonsense venue-1 for 40000 ms",
  },
  {
    name: "a node that is far behind is good",
    file: "probe/measure/chain.js",
    from: "const agreed = farAbove.filter(",
    to: "const agreed = [].filter(",
    faults: "00:01:30.000 lag venue-1 for 29000 ms",
  },
  {
    name: "a chain that stands is good",
    file: "probe/measure/chain.js",
    from: "if (standing.length > 1 && !outweigh(fresh.filter(goOn).length, standing.length))",
    to: "if (standing.length > 1) return true; if (false)",
    faults: "00:01:10.000 stand chain-chain for 100000 ms",
  },
  {
    name: "a late answer is good",
    file: "probe/measure/rest/rest.js",
    from: "only.ask({ signal, fresh, timeoutMs, isLast: true })",
    to: "only.ask({ signal, fresh, timeoutMs: 3 * timeoutMs, isLast: true })",
    faults: "00:01:30.000 slow venue-1 for 40000 ms",
  },
  {
    name: "an error of a server is good",
    file: "probe/measure/rest/rest.js",
    from: "if (status === null || status === expectStatus)",
    to: "if (status === null || status >= expectStatus)",
    faults: "00:01:30.000 errors venue-1 for 40000 ms",
  },
  {
    name: "a silent stream is good",
    file: "probe/measure/stream/stream-verdict.js",
    from: "if (quietMs <= afterMs)",
    to: "if (quietMs <= 100 * afterMs)",
    faults: "00:01:30.000 quiet stream venue-1 for 60000 ms",
  },
];
