/** Mutants of chapter 3 of the rule book, what a region sees. */
import type { Mutant } from "./mutant.js";

export const ofRegionVerdicts: Record<string, Mutant> = {
  // Verdicts
  "the window is the shorter of the usual one and the cadence's": {
    clause: "greatest(r.window_ms",
    becomes: "least(r.window_ms",
    noticedBy: ["3-slow-cadence"],
  },
  "a vote's greatest age is the shorter of the usual one and the cadence's": {
    clause: "greatest(r.vote_max_age_ms",
    becomes: "least(r.vote_max_age_ms",
    noticedBy: ["3-vote-age-of-a-slow-cadence"],
  },
  "votes never expire": {
    clause: "c.newest_at > c.vote_from as reporting",
    becomes: "true as reporting",
    noticedBy: ["3-vote-age"],
  },
  "a vote of exactly the greatest age still counts": {
    clause: "c.newest_at > c.vote_from as reporting",
    becomes: "c.newest_at >= c.vote_from as reporting",
    noticedBy: ["3-vote-age"],
  },
  "one sample is enough for a verdict": { clause: " or c.samples < r.min_samples", noticedBy: ["3-too-few-samples"] },
  "old and new samples share a window": {
    clause: "where s.ts > g.halfway_at or not s.resumes",
    becomes: "where true",
    noticedBy: ["3-gap-of-a-slow-cadence", "3-gap-before-the-run"],
  },
  "old and new samples that are all well share a window": {
    clause: "case when n.resumed_at - n.paused_at > w.longest_gap then n.later_samples else n.samples end",
    becomes: "n.samples",
    noticedBy: ["3-gap"],
  },
  "the pause after a refusal is a gap like any other": {
    clause: "then engine.ms(r.refusal_pause_ms)\n              else interval '0'",
    becomes: "then interval '0'\n              else interval '0'",
    noticedBy: ["3-no-gap-after-a-refusal"],
  },
  "a share grows while a probe is away": {
    clause: "look.limited + look.blocked > 0, g.cadence_ms, r\n          )",
    becomes: "true, g.cadence_ms, r\n          )",
    noticedBy: ["3-share-does-not-grow", "3-gap-before-the-run"],
  },
  "what fails all the time gets better while a probe is away": {
    clause: "when look.newest_well_at is null then 0",
    becomes: "when false then 0",
    noticedBy: ["5-venue-after-a-gap"],
  },
  "slots are missed while a refused probe pauses": {
    clause: "look.limited + look.blocked > 0, g.cadence_ms, r\n          )",
    becomes: "false, g.cadence_ms, r\n          )",
    noticedBy: ["3-no-slot-is-missed-in-a-pause"],
  },
  "refusals do not stand while a probe pauses": {
    clause: "where look.samples < r.min_samples\n          and s.component_id",
    becomes: "where false\n          and s.component_id",
    noticedBy: ["3-limited-and-paused", "5-blocked-and-paused"],
  },
  "a refusal ages like any other vote": {
    clause: "at - engine.refusal_max_age(c.cadence_ms, r) as refusals_from",
    becomes: "at - engine.vote_max_age(c.cadence_ms, r) as refusals_from",
    noticedBy: ["3-limited-and-paused", "5-blocked-and-paused"],
  },
  "refusals before another answer stand": {
    clause: "a.ts > coalesce(a.other_at, '-infinity')",
    becomes: "engine.is_refusal(a.fault)",
    noticedBy: ["3-refused-and-silent"],
  },
  "half of a few samples is an outage": {
    clause: " * r.outage_bad_share and n.is_clear then",
    becomes: " * r.outage_bad_share then",
    noticedBy: ["3-half-of-a-few"],
  },
  "exactly the share of an outage is not an outage": {
    clause: "c.failed - c.limited >= (c.samples + c.missed) * r.outage_bad_share",
    becomes: "c.failed - c.limited > (c.samples + c.missed) * r.outage_bad_share",
    noticedBy: ["3-a-half-is-an-outage"],
  },
  "exactly the share of a degraded component is not degraded": {
    clause: "c.failed >= greatest((c.samples + c.missed) * r.degraded_bad_share, r.degraded_min_failed)",
    becomes: "c.failed > (c.samples + c.missed) * r.degraded_bad_share and c.failed >= r.degraded_min_failed",
    noticedBy: ["3-a-fifth-is-degraded"],
  },
  "no component is ever slow": {
    clause: "      when c.slow > 0 and c.slow * 2 >= c.samples + c.missed - c.failed then 'degraded'\n",
    noticedBy: ["3-slow-venue", "3-slow-limits"],
  },
  "a component with half of its samples slow is not slow": {
    clause: "c.slow * 2 >= c.samples + c.missed",
    becomes: "c.slow * 2 > c.samples + c.missed",
    noticedBy: ["3-half-of-them-slow"],
  },
  "one slow sample makes a component slow": {
    clause: "c.slow > 0 and c.slow * 2 >= c.samples + c.missed - c.failed",
    becomes: "c.slow > 0",
    noticedBy: ["3-half-of-them-slow"],
  },
  "failed samples count as not slow": {
    clause: "c.samples + c.missed - c.failed then",
    becomes: "c.samples + c.missed then",
    noticedBy: ["3-slow-among-failed"],
  },
  "a sample exactly at the limit is not slow": {
    clause: "s.good and s.latency_us >= g.slow_from_us",
    becomes: "s.good and s.latency_us > g.slow_from_us",
    noticedBy: ["3-slow-limits"],
  },
  "a sample is slow if it exceeds either the multiple or the floor": {
    clause: "greatest(typical_us * r.slow_multiple",
    becomes: "least(typical_us * r.slow_multiple",
    noticedBy: ["3-slow-limits"],
  },
  "no sample is slow until a typical latency is known": {
    clause: "when typical_us is null then r.slow_untypical_ms * 1000",
    becomes: "when typical_us is null then null",
    noticedBy: ["3-slow-untypical"],
  },
  "sockets can be slow, too": { clause: "  when kind <> 'rest' then null\n", noticedBy: ["3-sockets-are-not-slow"] },
  "slow samples end a bad run": {
    clause: "filter (where s.good and (s.latency_us >= g.slow_from_us) is not true)",
    becomes: "filter (where s.good)",
    noticedBy: ["3-slow-venue", "3-slow-among-failed"],
  },
  "good samples do not end a bad run": {
    clause: "count(*) filter (\n            where s.ts > coalesce(look.newest_well_at, look.judged_from) and",
    becomes: "count(*) filter (where s.ts > look.judged_from and",
    noticedBy: ["6-scattered-errors", "6-three-in-a-row"],
  },
  "a region that fell silent still counts as reporting": {
    clause: "where (s.reporting or s.samples > 0)",
    becomes: "where false",
    noticedBy: ["6-witnesses-fall-silent"],
  },
  "a region's state counts as bad only since the newest instant": {
    clause: "then coalesce(k.bad_since, at) end",
    becomes: "then at end",
    noticedBy: ["4-one-block-after-another"],
  },
  "unserved slots count towards a stream's run": {
    clause: `count(*) filter (
            where s.ts > coalesce(look.newest_well_at, look.judged_from) and not (g.streams and s.unserved is true)
          ) as run,`,
    becomes: "count(*) filter (where s.ts > coalesce(look.newest_well_at, look.judged_from)) as run,",
    noticedBy: ["6-stall-before-the-socket-fell"],
  },
  "unserved slots of REST do not count towards a run": {
    clause: "c.kind = 'ws' and c.component <> 'ws:conn' as streams,\n      t.p50_us",
    becomes: "true as streams,\n      t.p50_us",
    noticedBy: ["6-limited-everywhere"],
  },
  "nothing older than the window is examined": {
    clause: "engine.looked_at_span(max(c.cadence_ms), r)",
    becomes: "engine.judged_span(max(c.cadence_ms), r)",
    noticedBy: ["6-fails-in-part"],
  },
  "a component with a partial failure is well while its newest window is": {
    clause: "      when n.in_part then 'degraded'\n",
    noticedBy: ["6-fails-in-part-less-and-less"],
  },
  "two windows of three are enough for a partial failure": {
    clause: "count(*) = r.partial_windows",
    becomes: "count(*) > 0",
    noticedBy: ["6-fails-in-part-too-short"],
  },
  "a window of one sample is enough for a partial failure": {
    clause: "bool_and(w.samples >= r.min_samples and w.failed",
    becomes: "bool_and(w.failed",
    noticedBy: ["6-fails-in-part-too-short"],
  },
  "one bad minute is a partial failure": {
    clause: " and w.failed * 2 >= w.samples * r.degraded_bad_share)",
    becomes: ")",
    noticedBy: ["6-one-bad-minute-of-three"],
  },
  "each window must be as bad as all of them together": {
    clause: "w.failed * 2 >= w.samples",
    becomes: "w.failed >= w.samples",
    noticedBy: ["6-fails-in-part-less-and-less"],
  },
  "half the share is enough for a partial failure": {
    clause: "\n          and sum(w.failed) >= sum(w.samples) * r.degraded_bad_share",
    noticedBy: ["6-fails-in-part-too-little"],
  },
  "three failures are enough for a partial failure": {
    clause: "\n          and sum(w.failed) > r.opening_bad_run",
    noticedBy: ["6-fails-in-part-of-few"],
  },
  "a region's own trouble counts as a partial failure once it is over": {
    clause: "          g.was_impaired\n          and seen.failed",
    becomes: "          false\n          and seen.failed",
    noticedBy: ["6-fails-in-part-after-an-impairment"],
  },
  "a socket's faults count as a stream's partial failure": {
    clause: "not s.good and not (g.streams and s.unserved is true)) as failed",
    becomes: "not s.good) as failed",
    noticedBy: ["6-socket-fails-in-part"],
  },
  "failures of an ended incident count as a partial failure": {
    clause: "and i.last_bad_at > g.part_from",
    becomes: "and false",
    noticedBy: ["6-fails-in-part-after-an-incident"],
  },

  // The effects of a region's own trouble
  "samples of a region's own trouble count once it is over": {
    clause: "and i.ended_at > since and i.ended_at <= at",
    becomes: "and false",
    noticedBy: ["4-impairment-outlasts-a-slow-cadence"],
  },
  "samples of an impairment that turned out to be none are left out": {
    clause: "\n    and not i.seen_elsewhere",
    noticedBy: ["4-outage-reaches-regions-in-turn"],
  },
  "good samples of an impairment are left out, too": {
    clause: "(ours @> ts and (not good or latency_us >= slow_from_us)) is not true",
    becomes: "(ours @> ts) is not true",
    noticedBy: ["4-impairment-outlasts-a-slow-cadence"],
  },
  "samples of a region's own trouble count towards a run": {
    clause: "          and engine.counts(s.ts, s.good, s.latency_us, g.slow_from_us, g.ours)\n        group by 1",
    becomes: "      group by 1",
    noticedBy: ["4-run-after-an-impairment"],
  },
  "an incident starts with samples of a region's own trouble": {
    clause: "and engine.counts(b.ts, b.good, b.latency_us, l.slow_from_us, o.spans)",
    noticedBy: ["4-run-after-an-impairment"],
  },
  "one failed sample makes a component degraded": {
    clause: "greatest((c.samples + c.missed) * r.degraded_bad_share, r.degraded_min_failed)",
    becomes: "(c.samples + c.missed) * r.degraded_bad_share",
    noticedBy: ["3-one-failed-of-five"],
  },
};
