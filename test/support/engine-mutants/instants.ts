/** Mutants of chapter 1 of the rule book, instants. */
import type { Mutant } from "./mutant.js";

export const ofInstants: Mutant[] = [
  {
    breaks: "after an absence only the newest instant is decided",
    file: "engine/010-rules.sql",
    found: `      from generate_series(first_at, newest_at, step) i (instant);
  else`,
    becomes: `      from generate_series(newest_at, newest_at, step) i (instant);
  else`,
    noticedBy: ["1-engine-away-for-minutes", "1-noticed-a-minute-later"],
  },
  {
    breaks: "after a long absence only the newest instant is decided",
    file: "engine/010-rules.sql",
    found: "exists (select from spans s where s.span @> i.instant)",
    becomes: "false",
    noticedBy: ["1-engine-away-for-hours"],
  },
  {
    breaks: "states survive a period without decisions",
    file: "engine/080-tick.sql",
    found: "if anew then",
    becomes: "if false then",
    noticedBy: ["1-states-begin-anew"],
  },
  {
    breaks: "samples are used before they are known",
    file: "engine/030-region-verdicts.sql",
    found: `      and (s.received_after_s = 0 or s.ts <= at - s.received_after_s * interval '1 second')
    group by`,
    becomes: "    group by",
    noticedBy: ["6-silent-regions-were-well"],
  },
  {
    breaks: "for components that are not healthy, samples are used before they are known",
    file: "engine/030-region-verdicts.sql",
    found: `        and s.ts
          <= engine.known_by(at, known_at, s.received_after_s, g.cadence_ms, r)
            - s.received_after_s * interval '1 second'
        and engine.counts(s.ts, s.good, s.latency_us, g.slow_from_us, g.ours)
      having`,
    becomes: `        and engine.counts(s.ts, s.good, s.latency_us, g.slow_from_us, g.ours)
      having`,
    noticedBy: ["6-late-trouble"],
  },
  {
    breaks: "bad runs include samples that are not known yet",
    file: "engine/030-region-verdicts.sql",
    found: `          and s.ts
            <= engine.known_by(at, known_at, s.received_after_s, g.cadence_ms, r)
              - s.received_after_s * interval '1 second'
          and engine.counts(s.ts, s.good, s.latency_us, g.slow_from_us, g.ours)
        group by 1`,
    becomes: `          and engine.counts(s.ts, s.good, s.latency_us, g.slow_from_us, g.ours)
        group by 1`,
    noticedBy: ["6-three-that-hung"],
  },
  {
    breaks: "the slowest cadence sets the window of all components",
    file: "engine/030-region-verdicts.sql",
    found: "      and s.ts > at - engine.ms(r.window_ms)\n",
    becomes: "",
    noticedBy: ["3-window-of-its-own"],
  },
  {
    breaks: "endpoints with a slow cadence are judged by the usual window",
    file: "engine/030-region-verdicts.sql",
    found: "not w.usual or ",
    becomes: "",
    noticedBy: ["3-slow-cadence"],
  },
  {
    breaks: "components with failed samples are not examined",
    file: "engine/030-region-verdicts.sql",
    found: "(n.failed or n.slowest_us >= w.slow_from_us) is true",
    becomes: "(n.slowest_us >= w.slow_from_us) is true",
    noticedBy: ["5-two-regions-of-three"],
  },
  {
    breaks: "components with slow samples are not examined",
    file: "engine/030-region-verdicts.sql",
    found: " or n.slowest_us >= w.slow_from_us)",
    becomes: ")",
    noticedBy: ["3-slow-venue"],
  },
  {
    breaks: "components with samples exactly at the slow limit are not examined",
    file: "engine/030-region-verdicts.sql",
    found: " or n.slowest_us >= w.slow_from_us)",
    becomes: " or n.slowest_us > w.slow_from_us)",
    noticedBy: ["3-slow-limits"],
  },
];
