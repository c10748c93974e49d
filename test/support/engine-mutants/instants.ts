/** Mutants of chapter 1 of the rule book, instants. */
import type { Mutant } from "./mutant.js";

export const ofInstants: Record<string, Mutant> = {
  "after an absence only the newest instant is decided": {
    clause: "      from generate_series(first_at, newest_at, step) i (instant);\n  else",
    becomes: "      from generate_series(newest_at, newest_at, step) i (instant);\n  else",
    noticedBy: ["1-engine-away-for-minutes", "1-noticed-a-minute-later"],
  },
  "after a long absence only the newest instant is decided": {
    clause: "exists (select from spans s where s.span @> i.instant)",
    becomes: "false",
    noticedBy: ["1-engine-away-for-hours"],
  },
  "after a long absence an entry ends only when the engine is back": {
    clause: "\n        or i.instant in (select e.instant from ends e)",
    noticedBy: ["1-entry-ends-while-away"],
  },
  "after a long absence an incident that nobody measured closes only when the engine is back": {
    clause:
      "\n          union all" +
      "\n          select greatest(s.not_bad_since, i.opened_at) + engine.ms(r.unmeasured_close_ms)" +
      "\n          from engine.open_incidents_of(null) i" +
      "\n          join component_state s using (component_id)",
    noticedBy: ["1-unmeasured-while-away"],
  },
  "states survive a period without decisions": {
    clause: "if from_scratch then",
    becomes: "if false then",
    noticedBy: ["1-states-begin-anew"],
  },
  "samples are used before they are known": {
    clause: "      and (s.received_after_s = 0 or s.ts <= at - s.received_after_s * interval '1 second')\n",
    noticedBy: ["6-silent-regions-were-well"],
  },
  "for components that are not healthy, samples are used before they are known": {
    clause: `          and s.ts
            <= engine.known_by(at, known_at, s.received_after_s, g.cadence_ms, r)
              - s.received_after_s * interval '1 second'
          and engine.counts(s.ts, s.good, s.latency_us, g.slow_from_us, g.ours)
        window`,
    becomes: `          and engine.counts(s.ts, s.good, s.latency_us, g.slow_from_us, g.ours)
        window`,
    noticedBy: ["6-late-trouble"],
  },
  "bad runs include samples that are not known yet": {
    clause: `          and s.ts
            <= engine.known_by(at, known_at, s.received_after_s, g.cadence_ms, r)
              - s.received_after_s * interval '1 second'
          and engine.counts(s.ts, s.good, s.latency_us, g.slow_from_us, g.ours)
        group by 1`,
    becomes: `          and engine.counts(s.ts, s.good, s.latency_us, g.slow_from_us, g.ours)
        group by 1`,
    noticedBy: ["6-three-that-hung"],
  },
  "the slowest cadence sets the window of all components": {
    clause: "      and s.ts > at - engine.ms(r.window_ms)\n",
    noticedBy: ["3-window-of-its-own"],
  },
  "endpoints with a slow cadence are judged by the usual window": {
    clause: "        or not w.usual\n",
    noticedBy: ["3-slow-cadence"],
  },
  "components with failed samples are not examined": {
    clause: "(n.failed or n.slowest_us >= w.slow_from_us) is true",
    becomes: "(n.slowest_us >= w.slow_from_us) is true",
    noticedBy: ["5-two-regions-of-three"],
  },
  "components with slow samples are not examined": {
    clause: " or n.slowest_us >= w.slow_from_us)",
    becomes: ")",
    noticedBy: ["3-slow-venue"],
  },
  "components with samples exactly at the slow limit are not examined": {
    clause: " or n.slowest_us >= w.slow_from_us)",
    becomes: " or n.slowest_us > w.slow_from_us)",
    noticedBy: ["3-slow-limits"],
  },
};
