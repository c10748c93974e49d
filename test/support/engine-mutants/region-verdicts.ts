/** Mutants of chapter 3 of the rule book, what a region sees. */
import type { Mutant } from "./mutant.js";

export const ofRegionVerdicts: Mutant[] = [
  // Verdicts
  {
    breaks: "the window is the shorter of the usual one and the cadence's",
    file: "engine/010-rules.sql",
    found: "greatest(r.window_ms",
    becomes: "least(r.window_ms",
    noticedBy: ["3-slow-cadence"],
  },
  {
    breaks: "a vote's greatest age is the shorter of the usual one and the cadence's",
    file: "engine/010-rules.sql",
    found: "greatest(r.vote_max_age_ms",
    becomes: "least(r.vote_max_age_ms",
    noticedBy: ["3-vote-age-of-a-slow-cadence"],
  },
  {
    breaks: "votes never expire",
    file: "engine/030-region-verdicts.sql",
    found: "c.newest_at > c.votes_from as reporting",
    becomes: "true as reporting",
    noticedBy: ["3-vote-age"],
  },
  {
    breaks: "a vote of exactly the greatest age still counts",
    file: "engine/030-region-verdicts.sql",
    found: "c.newest_at > c.votes_from as reporting",
    becomes: "c.newest_at >= c.votes_from as reporting",
    noticedBy: ["3-vote-age"],
  },
  {
    breaks: "one sample is enough for a verdict",
    file: "engine/030-region-verdicts.sql",
    found: " or c.samples < r.min_samples",
    becomes: "",
    noticedBy: ["3-too-few-samples"],
  },
  {
    breaks: "exactly the share of an outage is not an outage",
    file: "engine/030-region-verdicts.sql",
    found: "c.failed >= c.samples * r.outage_bad_share",
    becomes: "c.failed > c.samples * r.outage_bad_share",
    noticedBy: ["3-a-half-is-an-outage"],
  },
  {
    breaks: "exactly the share of a degraded component is not degraded",
    file: "engine/030-region-verdicts.sql",
    found: "c.failed >= greatest(c.samples * r.degraded_bad_share, r.degraded_min_failed)",
    becomes: "c.failed > c.samples * r.degraded_bad_share and c.failed >= r.degraded_min_failed",
    noticedBy: ["3-a-fifth-is-degraded"],
  },
  {
    breaks: "no component is ever slow",
    file: "engine/030-region-verdicts.sql",
    found: "      when c.slow > 0 and c.slow * 2 >= c.samples - c.failed then 'degraded'\n",
    becomes: "",
    noticedBy: ["3-slow-venue", "3-slow-limits"],
  },
  {
    breaks: "a component with half of its samples slow is not slow",
    file: "engine/030-region-verdicts.sql",
    found: "c.slow * 2 >= c.samples",
    becomes: "c.slow * 2 > c.samples",
    noticedBy: ["3-half-of-them-slow"],
  },
  {
    breaks: "one slow sample makes a component slow",
    file: "engine/030-region-verdicts.sql",
    found: "c.slow > 0 and c.slow * 2 >= c.samples - c.failed",
    becomes: "c.slow > 0",
    noticedBy: ["3-half-of-them-slow"],
  },
  {
    breaks: "failed samples count as not slow",
    file: "engine/030-region-verdicts.sql",
    found: "c.samples - c.failed then",
    becomes: "c.samples then",
    noticedBy: ["3-slow-among-failed"],
  },
  {
    breaks: "a sample exactly at the limit is not slow",
    file: "engine/030-region-verdicts.sql",
    found: "s.good and s.latency_us >= g.slow_from_us",
    becomes: "s.good and s.latency_us > g.slow_from_us",
    noticedBy: ["3-slow-limits"],
  },
  {
    breaks: "a sample is slow if it exceeds either the multiple or the floor",
    file: "engine/020-typical-latency.sql",
    found: "greatest(typical_us * r.slow_multiple",
    becomes: "least(typical_us * r.slow_multiple",
    noticedBy: ["3-slow-limits"],
  },
  {
    breaks: "no sample is slow until a typical latency is known",
    file: "engine/020-typical-latency.sql",
    found: "when typical_us is null then r.slow_untypical_ms * 1000",
    becomes: "when typical_us is null then null",
    noticedBy: ["3-slow-untypical"],
  },
  {
    breaks: "sockets can be slow, too",
    file: "engine/020-typical-latency.sql",
    found: `  when kind <> 'rest' then null
`,
    becomes: "",
    noticedBy: ["3-sockets-are-not-slow"],
  },
  {
    breaks: "slow samples end a bad run",
    file: "engine/030-region-verdicts.sql",
    found: "filter (where s.good and (s.latency_us >= g.slow_from_us) is not true)",
    becomes: "filter (where s.good)",
    noticedBy: ["3-slow-venue", "3-slow-among-failed"],
  },
  {
    breaks: "good samples do not end a bad run",
    file: "engine/030-region-verdicts.sql",
    found: `count(*) filter (
            where s.ts > coalesce(look.newest_well_at, g.judged_from) and`,
    becomes: "count(*) filter (where s.ts > g.judged_from and",
    noticedBy: ["6-scattered-errors", "6-three-in-a-row"],
  },
  {
    breaks: "a region that fell silent still counts as reporting",
    file: "engine/030-region-verdicts.sql",
    found: "where (s.reporting or s.samples > 0)",
    becomes: "where false",
    noticedBy: ["6-witnesses-fall-silent"],
  },
  {
    breaks: "a region's state counts as bad only since the newest instant",
    file: "engine/030-region-verdicts.sql",
    found: "then coalesce(k.bad_since, at) end",
    becomes: "then at end",
    noticedBy: ["4-one-block-after-another"],
  },
  {
    breaks: "unserved slots count towards a stream's run",
    file: "engine/030-region-verdicts.sql",
    found: `count(*) filter (
            where s.ts > coalesce(look.newest_well_at, g.judged_from) and not (g.streams and s.unserved is true)
          ) as run,`,
    becomes: "count(*) filter (where s.ts > coalesce(look.newest_well_at, g.judged_from)) as run,",
    noticedBy: ["6-stall-before-the-socket-fell"],
  },
  {
    breaks: "unserved slots of REST do not count towards a run",
    file: "engine/030-region-verdicts.sql",
    found: "c.kind = 'ws' and c.component <> 'ws:conn' as streams",
    becomes: "true as streams",
    noticedBy: ["6-limited-everywhere"],
  },
  {
    breaks: "nothing older than the window is examined",
    file: "engine/010-rules.sql",
    found: "engine.looked_at_span(max(c.cadence_ms), r)",
    becomes: "engine.judged_span(max(c.cadence_ms), r)",
    noticedBy: ["6-fails-in-part"],
  },
  {
    breaks: "a component with a partial failure is well while its newest window is",
    file: "engine/030-region-verdicts.sql",
    found: `      when n.in_part then 'degraded'
`,
    becomes: "",
    noticedBy: ["6-fails-in-part-less-and-less"],
  },
  {
    breaks: "two windows of three are enough for a partial failure",
    file: "engine/030-region-verdicts.sql",
    found: "count(*) = r.partial_windows",
    becomes: "count(*) > 0",
    noticedBy: ["6-fails-in-part-too-short"],
  },
  {
    breaks: "a window of one sample is enough for a partial failure",
    file: "engine/030-region-verdicts.sql",
    found: "bool_and(w.samples >= r.min_samples and w.failed",
    becomes: "bool_and(w.failed",
    noticedBy: ["6-fails-in-part-too-short"],
  },
  {
    breaks: "one bad minute is a partial failure",
    file: "engine/030-region-verdicts.sql",
    found: " and w.failed * 2 >= w.samples * r.degraded_bad_share)",
    becomes: ")",
    noticedBy: ["6-one-bad-minute-of-three"],
  },
  {
    breaks: "each window must be as bad as all of them together",
    file: "engine/030-region-verdicts.sql",
    found: "w.failed * 2 >= w.samples",
    becomes: "w.failed >= w.samples",
    noticedBy: ["6-fails-in-part-less-and-less"],
  },
  {
    breaks: "half the share is enough for a partial failure",
    file: "engine/030-region-verdicts.sql",
    found: `
          and sum(w.failed) >= sum(w.samples) * r.degraded_bad_share
`,
    becomes: `
`,
    noticedBy: ["6-fails-in-part-too-little"],
  },
  {
    breaks: "three failures are enough for a partial failure",
    file: "engine/030-region-verdicts.sql",
    found: `
          and sum(w.failed) > r.opening_bad_run`,
    becomes: "",
    noticedBy: ["6-fails-in-part-of-few"],
  },
  {
    breaks: "a region's own trouble counts as a partial failure once it is over",
    file: "engine/030-region-verdicts.sql",
    found: " and not g.was_impaired",
    becomes: "",
    noticedBy: ["6-fails-in-part-after-an-impairment"],
  },
  {
    breaks: "a socket's faults count as a stream's partial failure",
    file: "engine/030-region-verdicts.sql",
    found: "not s.good and not (g.streams and s.unserved is true)) as failed",
    becomes: "not s.good) as failed",
    noticedBy: ["6-socket-fails-in-part"],
  },
  {
    breaks: "failures of an ended incident count as a partial failure",
    file: "engine/030-region-verdicts.sql",
    found: "and i.last_bad_at > g.part_from",
    becomes: "and false",
    noticedBy: ["6-fails-in-part-after-an-incident"],
  },

  // The effects of a region's own trouble
  {
    breaks: "samples of a region's own trouble count once it is over",
    file: "engine/030-region-verdicts.sql",
    found: "and i.ended_at > since and i.ended_at <= at",
    becomes: "and false",
    noticedBy: ["4-impairment-outlasts-a-slow-cadence"],
  },
  {
    breaks: "samples of an impairment that turned out to be none are left out",
    file: "engine/030-region-verdicts.sql",
    found: `and i.ended_at > since and i.ended_at <= at
    and not i.seen_elsewhere`,
    becomes: "and i.ended_at > since and i.ended_at <= at",
    noticedBy: ["4-outage-reaches-regions-in-turn"],
  },
  {
    breaks: "good samples of an impairment are left out, too",
    file: "engine/030-region-verdicts.sql",
    found: "(ours @> ts and (not good or latency_us >= slow_from_us)) is not true",
    becomes: "(ours @> ts) is not true",
    noticedBy: ["4-impairment-outlasts-a-slow-cadence"],
  },
  {
    breaks: "samples of a region's own trouble count towards a run",
    file: "engine/030-region-verdicts.sql",
    found: `          and engine.counts(s.ts, s.good, s.latency_us, g.slow_from_us, g.ours)
        group by 1`,
    becomes: "      group by 1",
    noticedBy: ["4-run-after-an-impairment"],
  },
  {
    breaks: "an incident starts with samples of a region's own trouble",
    file: "engine/065-confirmed-trouble.sql",
    found: "and engine.counts(b.ts, b.good, b.latency_us, l.slow_from_us, o.spans)",
    becomes: "",
    noticedBy: ["4-run-after-an-impairment"],
  },
  {
    breaks: "one failed sample makes a component degraded",
    file: "engine/030-region-verdicts.sql",
    found: "greatest(c.samples * r.degraded_bad_share, r.degraded_min_failed)",
    becomes: "c.samples * r.degraded_bad_share",
    noticedBy: ["3-one-failed-of-five"],
  },
];
