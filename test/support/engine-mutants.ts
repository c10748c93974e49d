/**
 * The engine with one clause of the rule book removed or reversed: the file, the text that is replaced, its replacement,
 * and the scenarios whose outcome must change.
 */
export interface Mutant {
  /** The wrong behaviour that results. */
  breaks: string;
  /** Path below `sql/`. */
  file: string;
  found: string;
  becomes: string;
  noticedBy: string[];
  /** The constraint by which the table itself rejects the result, where it does. */
  refusedBy?: string;
}

const withoutImpaired = "and k.region_id <> all (array(select engine.impaired_regions(at, at)))";

export const mutants: Mutant[] = [
  // 1. Instants
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

  // 2. Typical latency
  {
    breaks: "a typical latency applies from its boundary instead of ten minutes later",
    file: "engine/020-typical-latency.sql",
    found: "return date_bin('6 hours', at - interval '10 minutes', 'epoch')",
    becomes: "return date_bin('6 hours', at, 'epoch')",
    noticedBy: ["2-from-ten-past"],
  },
  {
    breaks: "the typical latency is computed twice a day",
    file: "engine/020-typical-latency.sql",
    found: "date_bin('6 hours'",
    becomes: "date_bin('12 hours'",
    noticedBy: ["2-from-ten-past"],
  },
  {
    breaks: "the typical latency is a mean",
    file: "engine/020-typical-latency.sql",
    found: "percentile_cont(0.5) within group (order by h.p50_us)",
    becomes: "avg(h.p50_us)",
    noticedBy: ["2-six-hours"],
  },

  // 3. What a region sees
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

  // 4. Impaired regions
  {
    breaks: "no region is ever impaired",
    file: "engine/080-tick.sql",
    found: "  perform engine.keep_impairments(at, r);\n",
    becomes: "",
    noticedBy: ["4-only-region", "4-impaired-in-hindsight"],
  },
  {
    breaks: "regions become impaired one instant too late",
    file: "engine/080-tick.sql",
    found: `  perform engine.keep_impairments(at, r);
  perform engine.keep_outliers(at, r);
  perform engine.keep_component_states(at, r);
`,
    becomes: `  perform engine.keep_outliers(at, r);
  perform engine.keep_component_states(at, r);
  perform engine.keep_impairments(at, r);
`,
    noticedBy: ["4-only-region"],
  },
  {
    breaks: "an impaired region votes",
    file: "engine/050-quorum.sql",
    found: withoutImpaired,
    becomes: "",
    noticedBy: ["4-outage-beside-an-impaired-region", "4-only-region"],
  },
  {
    breaks: "an impaired region determines when an incident began",
    file: "engine/065-confirmed-trouble.sql",
    found: `    and s.reporting
    and s.region_id <> all (array(select engine.impaired_regions(at, at)))
    and not exists (
      select from engine.outliers`,
    becomes: `    and s.reporting
    and not exists (
      select from engine.outliers`,
    noticedBy: ["4-outage-beside-an-impaired-region"],
  },
  {
    breaks: "an impaired region can be the witness that an incident is over",
    file: "engine/070-incidents.sql",
    found: "and g.region_id <> all (array(select engine.impaired_regions(at, at)))",
    becomes: "",
    noticedBy: ["6-impaired-witness"],
  },
  {
    breaks: "an outage that other regions see counts as one region's trouble",
    file: "engine/040-impaired-regions.sql",
    found: " and (bool_or(s.lately_bad) filter (where not i.inside)) is not true",
    becomes: "",
    noticedBy: ["4-outage-everywhere", "4-outage-seen-from-two-machines"],
  },
  {
    breaks: "an impaired region is not considered when others are checked for the same trouble",
    file: "engine/040-impaired-regions.sql",
    found: "filter (where not i.inside)",
    becomes: "filter (where not i.inside and s.region_id <> all (array(select engine.impaired_regions(at, at))))",
    noticedBy: ["4-impaired-region-is-asked"],
  },
  {
    breaks: "an impairment continues although another region sees the same",
    file: "engine/040-impaired-regions.sql",
    found: "count(*) filter (where a.bad_alone) as alone",
    becomes: "count(*) filter (where a.bad) as alone",
    noticedBy: ["4-outage-in-a-cascade"],
  },
  {
    breaks: "components that have long been bad are a sign of a bad network",
    file: "engine/040-impaired-regions.sql",
    found: "bool_and(s.freshly_bad) filter (where i.inside)",
    becomes: "bool_and(s.bad) filter (where i.inside)",
    noticedBy: ["4-one-block-after-another"],
  },
  {
    breaks: "a venue with half of its components freshly bad is not freshly bad",
    file: "engine/040-impaired-regions.sql",
    found: "engine.ms(r.impaired_within_ms)) * 2 >= count(*)",
    becomes: "engine.ms(r.impaired_within_ms)) * 2 > count(*)",
    noticedBy: ["4-half-of-a-venue"],
  },
  {
    breaks: "a venue with one freshly bad component is freshly bad",
    file: "engine/040-impaired-regions.sql",
    found: "engine.ms(r.impaired_within_ms)) * 2 >= count(*)",
    becomes: "engine.ms(r.impaired_within_ms)) > 0",
    noticedBy: ["4-a-third-of-a-venue"],
  },
  {
    breaks: "a venue with half of its components bad is not bad",
    file: "engine/040-impaired-regions.sql",
    found: "count(*) filter (where engine.is_bad(s.state)) * 2 >= count(*)",
    becomes: "count(*) filter (where engine.is_bad(s.state)) * 2 > count(*)",
    noticedBy: ["4-half-of-a-venue"],
  },
  {
    breaks: "an impairment continues while half of its venues are bad",
    file: "engine/040-impaired-regions.sql",
    found: "      <= cardinality(i.venues)",
    becomes: "      < cardinality(i.venues)",
    noticedBy: ["4-impaired-region"],
  },
  {
    breaks: "an impairment never ends",
    file: "engine/040-impaired-regions.sql",
    found: "where n.ended_at is null and",
    becomes: "where false and",
    noticedBy: ["4-impaired-region", "6-impaired-witness"],
  },
  {
    breaks: "an impairment starts when it is recognised",
    file: "engine/040-impaired-regions.sql",
    found: "g.region_id, n.started_at, at, c.venues",
    becomes: "g.region_id, at, at, c.venues",
    noticedBy: ["4-impaired-in-hindsight"],
  },
  {
    breaks: "regions on one machine are judged separately",
    file: "engine/040-impaired-regions.sql",
    found: "where v.regions > 1 group by",
    becomes: "where false group by",
    noticedBy: ["4-one-machine"],
  },
  {
    breaks: "regions on unknown machines count as one machine",
    file: "engine/040-impaired-regions.sql",
    found: "partition by coalesce(m.machine, 'region ' || m.region_id)",
    becomes: "partition by m.machine",
    noticedBy: ["4-outage-from-three-machines"],
  },
  {
    breaks: "one bad region makes its machine impaired",
    file: "engine/040-impaired-regions.sql",
    found: `    bool_and(s.bad) filter (where i.inside) and (bool_or(s.lately_bad) filter (where not i.inside)) is not true,
    bool_and(s.freshly_bad) filter`,
    becomes: `    bool_or(s.bad) filter (where i.inside) and (bool_or(s.lately_bad) filter (where not i.inside)) is not true,
    bool_or(s.freshly_bad) filter`,
    noticedBy: ["4-regions-of-a-machine-fail-apart"],
  },
  {
    breaks: "trouble that is fresh in one region is fresh for its machine",
    file: "engine/040-impaired-regions.sql",
    found: "bool_and(s.freshly_bad) filter",
    becomes: "bool_or(s.freshly_bad) filter",
    noticedBy: ["4-what-is-not-fresh-in-one-region"],
  },
  {
    breaks: "a machine's impairment starts with the last of its regions",
    file: "engine/040-impaired-regions.sql",
    found: "min(least(s.bad_since, s.run_from))",
    becomes: "max(least(s.bad_since, s.run_from))",
    noticedBy: ["4-one-machine-in-hindsight"],
  },
  {
    breaks: "trouble that others see starts an impairment",
    file: "engine/040-impaired-regions.sql",
    found: "where e.component_id = s.component_id and e.region_id <> all (c.regions)",
    becomes: "where false",
    noticedBy: ["4-impairment-starts-with-what-is-its-own"],
  },
  {
    breaks: "the trouble that a silent region last saw is forgotten",
    file: "engine/040-impaired-regions.sql",
    found: "  where (\n      engine.is_bad(s.state)\n      or s.bad_until",
    becomes: "  where s.state <> 'unknown' and (\n      engine.is_bad(s.state)\n      or s.bad_until",
    noticedBy: ["4-impairment-beside-a-silent-witness"],
  },
  {
    breaks: "an impairment starts with trouble that has long been bad",
    file: "engine/040-impaired-regions.sql",
    found: `      and s.bad_since > at - engine.ms(r.impaired_within_ms)
      and not exists`,
    becomes: "      and not exists",
    noticedBy: ["4-impairment-starts-with-what-is-new"],
  },
  {
    breaks: "trouble that a region of the group sees counts as seen elsewhere",
    file: "engine/040-impaired-regions.sql",
    found: "where e.component_id = s.component_id and e.region_id <> all (c.regions)",
    becomes: "where e.component_id = s.component_id",
    noticedBy: ["4-impaired-in-hindsight"],
  },
  {
    breaks: "a machine's impairment ends when one region recovers",
    file: "engine/040-impaired-regions.sql",
    found: "a.regions = coalesce(n.beside, array[n.region_id])",
    becomes: "a.regions = array[n.region_id]",
    noticedBy: ["4-one-machine"],
  },
  {
    breaks: "a machine's impairment ends when a region leaves",
    file: "engine/040-impaired-regions.sql",
    found: "i.ended_at is null and i.beside is not null",
    becomes: "false",
    noticedBy: ["4-one-machine-loses-a-region"],
  },

  // 5. What the quorum says
  {
    breaks: "half of the regions are a majority",
    file: "engine/050-quorum.sql",
    found: "return greatest(counted / 2 + 1,",
    becomes: "return greatest((counted + 1) / 2,",
    noticedBy: ["5-two-of-four"],
  },
  {
    breaks: "a quorum takes all regions",
    file: "engine/050-quorum.sql",
    found: "return greatest(counted / 2 + 1,",
    becomes: "return greatest(counted,",
    noticedBy: ["5-two-regions-of-three", "5-three-of-four"],
  },
  {
    breaks: "one region is enough for a quorum",
    file: "engine/050-quorum.sql",
    found: "return greatest(counted / 2 + 1, least(coalesce(r.quorum_min_regions, 1), published))::int",
    becomes: "return 1",
    noticedBy: ["5-one-region-of-three", "5-one-region-flaps"],
  },
  {
    breaks: "one region alone confirms",
    file: "engine/050-quorum.sql",
    found: "return greatest(counted / 2 + 1, least(coalesce(r.quorum_min_regions, 1), published))::int",
    becomes: "return counted / 2 + 1",
    noticedBy: ["5-one-region-is-never-enough"],
  },
  {
    breaks: "the only region confirms nothing",
    file: "engine/050-quorum.sql",
    found: "least(coalesce(r.quorum_min_regions, 1), published)",
    becomes: "coalesce(r.quorum_min_regions, 1)",
    noticedBy: ["5-one-region-alone"],
  },
  {
    breaks: "regions that have left are published",
    file: "engine/050-quorum.sql",
    found: "select count(*) from region g where g.published",
    becomes: "select count(*) from region g",
    noticedBy: ["5-one-region-alone"],
  },
  {
    breaks: "a quorum takes a majority of the regions in the registry",
    file: "engine/050-quorum.sql",
    found: "count(s.state) filter (where not s.outlier) as counted",
    becomes: "(select count(*) from region g where g.published) as counted",
    noticedBy: ["5-ties-at-two"],
  },
  {
    breaks: "regions that do not report are counted",
    file: "engine/050-quorum.sql",
    found: "where k.reporting\n        and",
    becomes: "where",
    noticedBy: ["6-witnesses-fall-silent"],
  },
  {
    breaks: "one region that sees an outage turns the others' trouble into an outage",
    file: "engine/050-quorum.sql",
    found: "when outage >= quorum then 'outage'",
    becomes: "when outage > 0 and bad >= quorum then 'outage'",
    noticedBy: ["5-degraded-and-outage"],
  },
  {
    breaks: "an outage and a degraded component do not add up to trouble",
    file: "engine/050-quorum.sql",
    found: "when bad >= quorum then 'degraded'",
    becomes: "when bad - outage >= quorum then 'degraded'",
    noticedBy: ["5-degraded-and-outage"],
  },
  {
    breaks: "a component is healthy without a quorum of witnesses",
    file: "engine/050-quorum.sql",
    found: "when operational + bad + outliers < quorum then 'unknown'",
    becomes: "when false then 'unknown'",
    noticedBy: ["5-health-needs-witnesses"],
  },
  {
    breaks: "a state begins again when other regions report",
    file: "engine/050-quorum.sql",
    found: "since = case when k.state = v.state then k.since else at end",
    becomes: "since = at",
    noticedBy: ["6-hold-as-regions-leave"],
  },
  {
    breaks: "a state's beginning never changes",
    file: "engine/050-quorum.sql",
    found: "since = case when k.state = v.state then k.since else at end",
    becomes: "since = k.since",
    noticedBy: ["6-relapse-within-the-hold"],
  },
  {
    breaks: "a venue with half of its components in outage is not in outage",
    file: "engine/050-quorum.sql",
    found: `count(*) filter (where s.state = 'outage' and c.kind = 'rest') * 2
        >= nullif(count(*) filter (where s.state <> 'unknown' and c.kind = 'rest'), 0)`,
    becomes: `count(*) filter (where s.state = 'outage' and c.kind = 'rest') * 2
        > nullif(count(*) filter (where s.state <> 'unknown' and c.kind = 'rest'), 0)`,
    noticedBy: ["5-state-of-a-venue"],
  },
  {
    breaks: "unknown components make a venue's outage harder",
    file: "engine/050-quorum.sql",
    found: `count(*) filter (where s.state = 'outage' and c.kind = 'rest') * 2
        >= nullif(count(*) filter (where s.state <> 'unknown' and c.kind = 'rest'), 0)`,
    becomes: `count(*) filter (where s.state = 'outage' and c.kind = 'rest') * 2
        >= nullif(count(*) filter (where c.kind = 'rest'), 0)`,
    noticedBy: ["5-state-of-a-venue"],
  },
  {
    breaks: "one component in outage puts its venue in outage",
    file: "engine/050-quorum.sql",
    found: `count(*) filter (where s.state = 'outage' and c.kind = 'rest') * 2
        >= nullif(count(*) filter (where s.state <> 'unknown' and c.kind = 'rest'), 0)`,
    becomes: "count(*) filter (where s.state = 'outage') > 0",
    noticedBy: ["5-state-of-a-venue"],
  },
  {
    breaks: "half of the venues in outage are not an outage",
    file: "views/020-states.sql",
    found: "when outage * 2 >= known then 'outage'",
    becomes: "when outage * 2 > known then 'outage'",
    noticedBy: ["5-state-of-a-venue"],
  },

  // 6. Retraction
  {
    breaks: "nothing is retracted",
    file: "engine/080-tick.sql",
    found: "retracted := engine.retract_incidents(at, r)",
    becomes: "retracted := '{}'",
    noticedBy: ["6-opens-anew-after-retraction", "6-silent-regions-were-well"],
  },
  {
    breaks: "samples that arrive later are not considered",
    file: "engine/060-evidence.sql",
    found: "engine.region_verdicts(of_components, since, at, known_at, r)",
    becomes: "engine.region_verdicts(of_components, since, at, at, r)",
    noticedBy: ["6-opens-anew-after-retraction", "6-silent-regions-were-well"],
  },
  {
    breaks: "impairments recognised later are not considered",
    file: "engine/060-evidence.sql",
    found: "engine.impaired_regions_in_hindsight(at, known_at, r)",
    becomes: "engine.impaired_regions(at, at)",
    noticedBy: ["4-impaired-in-hindsight"],
  },
  {
    breaks: "where there is new evidence, a change of the registry retracts, too",
    file: "engine/073-retractions.sql",
    found: " and was.confirmed",
    becomes: "",
    noticedBy: ["6-registry-change-retracts-nothing"],
  },
  {
    breaks: "late samples are not new evidence",
    file: "engine/073-retractions.sql",
    found: "            limit 1\n          ) late",
    becomes: "            limit 0\n          ) late",
    noticedBy: ["6-opens-anew-after-retraction"],
  },
  {
    breaks: "an impairment recognised since is not new evidence",
    file: "engine/073-retractions.sql",
    found: "where m.recognised_at > i.opened_at and",
    becomes: "where false and",
    noticedBy: ["4-impaired-in-hindsight"],
  },
  {
    breaks: "regions without a run still support an opening",
    file: "engine/060-evidence.sql",
    found: " and (e.bad_run >= r.opening_bad_run or e.in_part)",
    becomes: "",
    noticedBy: ["6-opens-anew-after-retraction"],
  },
  {
    breaks: "late samples from before the last window are not new evidence",
    file: "engine/073-retractions.sql",
    found: "i.opened_at - engine.looked_at_span(c.cadence_ms, r)",
    becomes: "i.opened_at - engine.judged_span(c.cadence_ms, r)",
    noticedBy: ["6-fails-in-part-retracted"],
  },
  {
    breaks: "a partial failure is not judged again",
    file: "engine/060-evidence.sql",
    found: "(e.bad_run >= r.opening_bad_run or e.in_part)",
    becomes: "e.bad_run >= r.opening_bad_run",
    noticedBy: ["6-fails-in-part-retracted"],
  },
  {
    breaks: "openings are judged again at every instant",
    file: "engine/073-retractions.sql",
    found: "date_bin(engine.ms(r.retraction_every_ms), at, 'epoch') <> at",
    becomes: "false",
    noticedBy: ["6-late-samples-retract"],
  },
  {
    breaks: "closed incidents are not retracted",
    file: "engine/073-retractions.sql",
    found: "and i.opened_at = j.opened_at and i.retracted_at is null",
    becomes: "and i.opened_at = j.opened_at and i.retracted_at is null and i.closed_at is null",
    noticedBy: ["6-retraction-has-an-end"],
  },
  {
    breaks: "alerts of a retracted incident are not dropped",
    file: "engine/073-retractions.sql",
    found: "where e.incident_id = u.incident_id and e.dispatched_at is null",
    becomes: "where false",
    noticedBy: ["6-opens-anew-after-retraction"],
  },
  {
    breaks: "alerts that are already dispatched are dropped",
    file: "engine/073-retractions.sql",
    found: "where e.incident_id = u.incident_id and e.dispatched_at is null",
    becomes: "where e.incident_id = u.incident_id",
    noticedBy: ["6-alert-that-has-left"],
  },
  {
    breaks: "a retracted incident reopens only at the next instant",
    file: "engine/080-tick.sql",
    found: `  retracted := engine.retract_incidents(at, r);
  closed := engine.close_incidents(at, r);
  escalated := engine.follow_open_incidents(at, r);
  perform engine.end_dismissals(at);
  opened := engine.open_incidents(at, r);`,
    becomes: `  opened := engine.open_incidents(at, r);
  escalated := engine.follow_open_incidents(at, r);
  closed := engine.close_incidents(at, r);
  retracted := engine.retract_incidents(at, r);`,
    noticedBy: ["6-opens-anew-after-retraction"],
  },

  // 6. Closing
  {
    breaks: "closing needs no hold",
    file: "engine/070-incidents.sql",
    found: `    and since <= at - engine.ms(case when flapping then r.flap_hold_ms else r.recovery_hold_ms end)
`,
    becomes: "",
    noticedBy: ["6-relapse-within-the-hold"],
  },
  {
    breaks: "an incident closes while its component is unknown",
    file: "engine/070-incidents.sql",
    found: `when state = 'operational'
    and since`,
    becomes: `when not engine.is_bad(state)
    and since`,
    noticedBy: ["6-unknown-is-not-well"],
  },
  {
    breaks: "closing needs no witness",
    file: "engine/070-incidents.sql",
    found: `    and engine.seen_to_end(of_component, evidence, at)
`,
    becomes: "",
    noticedBy: ["6-witnesses-fall-silent", "6-blocked-witness"],
  },
  {
    breaks: "a region that saw it escalate is no witness",
    file: "engine/070-incidents.sql",
    found: "coalesce(evidence -> 'escalation' -> 'votes', '[]')",
    becomes: "'[]'",
    noticedBy: ["6-witness-of-the-escalation"],
  },
  {
    breaks: "a region that saw it open is no witness",
    file: "engine/070-incidents.sql",
    found: "(evidence -> 'opening' -> 'votes') ||",
    becomes: "'[]' ||",
    noticedBy: ["6-fails-in-part"],
  },
  {
    breaks: "without a witness an incident never closes",
    file: "engine/070-incidents.sql",
    found: "when state = 'operational' and since <= at - engine.ms(r.flap_hold_ms)",
    becomes: "when false",
    noticedBy: ["6-witnesses-leave-the-registry", "6-blocked-witness"],
  },
  {
    breaks: "without a witness the usual hold is enough",
    file: "engine/070-incidents.sql",
    found: "when state = 'operational' and since <= at - engine.ms(r.flap_hold_ms)",
    becomes: "when state = 'operational' and since <= at - engine.ms(r.recovery_hold_ms)",
    noticedBy: ["6-blocked-witness"],
  },
  {
    breaks: "an incident of a component that is no longer measured stays open",
    file: "engine/070-incidents.sql",
    found: "when not_bad_since <= at",
    becomes: "when false and not_bad_since <= at",
    noticedBy: ["6-nobody-measures-for-a-day", "6-flips-for-a-day"],
  },
  {
    breaks: "an incident of a component that is no longer measured closes after the usual hold",
    file: "engine/070-incidents.sql",
    found: "engine.ms(r.unmeasured_close_ms)",
    becomes: "engine.ms(r.recovery_hold_ms)",
    noticedBy: ["6-silence-closes-nothing"],
  },
  {
    breaks: "an incident of a component that is no longer watched stays open",
    file: "engine/070-incidents.sql",
    found: "when not watched then",
    becomes: "when false then",
    noticedBy: ["6-no-longer-watched"],
  },
  {
    breaks: "a component that is no longer watched keeps its state",
    file: "engine/080-tick.sql",
    found: "  perform engine.forget_unwatched();\n",
    becomes: "",
    noticedBy: ["6-no-longer-watched"],
  },

  // 6. Following
  {
    breaks: "severity never falls",
    file: "engine/070-incidents.sql",
    found: "set severity = s.state,",
    becomes: "set severity = greatest(i.severity, s.state),",
    noticedBy: ["6-relapse-within-the-hold", "6-recovery-of-the-majority"],
  },
  {
    breaks: "the peak severity falls with the severity",
    file: "engine/070-incidents.sql",
    found: "set severity = s.state,",
    becomes: "set severity = s.state, peak_severity = s.state,",
    noticedBy: ["6-recovery-of-the-majority"],
    refusedBy: "refuse_rewriting",
  },
  {
    breaks: "an incident escalates with every relapse",
    file: "engine/070-incidents.sql",
    found: "where i.severity > i.peak_severity",
    becomes: "where i.severity = 'outage'",
    noticedBy: ["6-relapse-within-the-hold", "6-opens-as-an-outage"],
    refusedBy: "refuse_rewriting",
  },
  {
    breaks: "an incident is over only when the last region sees its end",
    file: "engine/065-confirmed-trouble.sql",
    found: "where n.place = c.quorum",
    becomes: "where n.place = 1",
    noticedBy: ["6-recovery-of-the-majority"],
  },
  {
    breaks: "a quorum is counted from the region that saw the end first",
    file: "engine/065-confirmed-trouble.sql",
    found: "order by s.newest_bad_at desc",
    becomes: "order by s.newest_bad_at",
    noticedBy: ["6-end-not-before-the-start"],
  },
  {
    breaks: "the end of an incident moves back",
    file: "engine/070-incidents.sql",
    found: `      last_bad_at = greatest(i.last_bad_at, n.last_bad_at)
  from component_state s
  left join engine.last_bad_at(open, at) n using (component_id)
  where s.component_id = i.component_id
    and i.closed_at is null and i.retracted_at is null
    and engine.is_bad(s.state)
    and (i.severity <> s.state or n.last_bad_at > i.last_bad_at)`,
    becomes: `      last_bad_at = n.last_bad_at
  from component_state s
  left join engine.last_bad_at(open, at) n using (component_id)
  where s.component_id = i.component_id
    and i.closed_at is null and i.retracted_at is null
    and engine.is_bad(s.state)`,
    noticedBy: ["6-end-never-goes-back"],
    refusedBy: "refuse_rewriting",
  },
  {
    breaks: "an incident ends before it began",
    file: "engine/070-incidents.sql",
    found: "greatest(n.started_at, b.last_bad_at) as last_bad_at",
    becomes: "b.last_bad_at as last_bad_at",
    noticedBy: ["6-end-not-before-the-start"],
  },
  {
    breaks: "a slow answer does not extend an incident",
    file: "engine/030-region-verdicts.sql",
    found: "filter (where not s.good or s.latency_us >= g.slow_from_us) as newest_bad_at",
    becomes: "filter (where not s.good) as newest_bad_at",
    noticedBy: ["3-slow-venue"],
  },

  // 6. Opening
  {
    breaks: "an incident starts with the first region's trouble",
    file: "engine/065-confirmed-trouble.sql",
    found: "where p.place = p.quorum",
    becomes: "where p.place = 1",
    noticedBy: ["6-old-local-trouble", "6-each-has-its-run"],
  },
  {
    breaks: "regions without a run confirm",
    file: "engine/065-confirmed-trouble.sql",
    found: `  where engine.is_bad(s.state)
    and (s.bad_run >= r.opening_bad_run or s.in_part)`,
    becomes: "  where engine.is_bad(s.state)",
    noticedBy: ["6-short-run-dates-nothing"],
  },
  {
    breaks: "a partial failure confirms nothing",
    file: "engine/065-confirmed-trouble.sql",
    found: "    and (s.bad_run >= r.opening_bad_run or s.in_part)",
    becomes: "    and s.bad_run >= r.opening_bad_run",
    noticedBy: ["6-fails-in-part"],
  },
  {
    breaks: "a region that sees the component well confirms by its run",
    file: "engine/065-confirmed-trouble.sql",
    found: `  where engine.is_bad(s.state)
    and (s.bad_run`,
    becomes: "  where (s.bad_run",
    noticedBy: ["6-three-of-twenty"],
  },
  {
    breaks: "a partial failure began within the window",
    file: "engine/065-confirmed-trouble.sql",
    found: "else at - engine.partial_span(c.cadence_ms, r)",
    becomes: "else at - engine.judged_span(c.cadence_ms, r)",
    noticedBy: ["6-fails-in-part"],
  },
  {
    breaks: "a partial failure begins with a good sample",
    file: "engine/065-confirmed-trouble.sql",
    found: `        and (s.in_a_row or not b.good)
`,
    becomes: "",
    noticedBy: ["6-fails-in-part"],
  },
  {
    breaks: "a region with a partial failure has no run",
    file: "engine/065-confirmed-trouble.sql",
    found: `s.bad_run >= r.opening_bad_run
  from engine.counted_states`,
    becomes: `s.bad_run >= r.opening_bad_run and not s.in_part
  from engine.counted_states`,
    noticedBy: ["6-in-part-and-in-a-row"],
  },
  {
    breaks: "a run spans a silence",
    file: "engine/065-confirmed-trouble.sql",
    found: "where n.after > u.max_age and n.ts > u.ts",
    becomes: "where false",
    noticedBy: ["6-run-does-not-reach-over-silence"],
  },
  {
    breaks: "a gap of exactly a vote's greatest age is a silence",
    file: "engine/065-confirmed-trouble.sql",
    found: "where n.after > u.max_age and",
    becomes: "where n.after >= u.max_age and",
    noticedBy: ["6-run-reaches-over-a-gap"],
  },
  {
    breaks: "a silence cuts a partial failure",
    file: "engine/065-confirmed-trouble.sql",
    found: `        where u.in_a_row
          and b.component_id`,
    becomes: "        where b.component_id",
    noticedBy: ["6-fails-in-part-over-a-silence"],
  },
  {
    breaks: "unserved slots begin a stream's run",
    file: "engine/065-confirmed-trouble.sql",
    found: `        and not (l.streams and b.unserved is true)
`,
    becomes: "",
    noticedBy: ["6-stall-beside-the-socket"],
  },
  {
    breaks: "unserved slots fill a stream's silence",
    file: "engine/065-confirmed-trouble.sql",
    found: `          and not (u.streams and b.unserved is true)
`,
    becomes: "",
    noticedBy: ["6-stall-beside-the-socket"],
  },
  {
    breaks: "a machine's own network opens incidents",
    file: "engine/070-incidents.sql",
    found: `  due := array(select unnest(due) except select engine.suspect_components(due, at, r));
`,
    becomes: "",
    noticedBy: ["6-suspect-waits"],
  },
  {
    breaks: "half of a machine's venues make it suspect",
    file: "engine/040-impaired-regions.sql",
    found: "count(*) filter (where v.fails_alone) > count(*) * r.impaired_venue_share",
    becomes: "count(*) filter (where v.fails_alone) >= count(*) * r.impaired_venue_share",
    noticedBy: ["6-half-of-the-venues-is-not-suspect"],
  },
  {
    breaks: "three venues make a machine suspect",
    file: "engine/040-impaired-regions.sql",
    found: `  having count(*) >= r.impaired_min_venues
    and count(*) filter (where v.fails_alone)`,
    becomes: "  having count(*) filter (where v.fails_alone)",
    noticedBy: ["6-three-venues-are-not-suspect"],
  },
  {
    breaks: "a machine is suspect for as long as its venues are bad",
    file: "engine/040-impaired-regions.sql",
    found: `
      and (s.bad_since <= at - engine.ms(r.impaired_within_ms)) is not true
  ),
  of_component`,
    becomes: `
  ),
  of_component`,
    noticedBy: ["6-blocked-by-most-is-not-suspect"],
  },
  {
    breaks: "one region makes its machine suspect",
    file: "engine/040-impaired-regions.sql",
    found: "bool_and(s.failing)",
    becomes: "bool_or(s.failing)",
    noticedBy: ["6-well-from-one-of-its-regions"],
  },
  {
    breaks: "a registry's only region is suspect",
    file: "engine/040-impaired-regions.sql",
    found: "  where (select count(*) from region g where g.published) > 1\n",
    becomes: "",
    noticedBy: ["6-only-region-is-not-suspect"],
  },
  {
    breaks: "a machine with one region is not suspect",
    file: "engine/040-impaired-regions.sql",
    found: "    where s.newest_at >= s.trouble_from\n",
    becomes:
      "    join engine.vantages(at) g on g.vantage = s.vantage and g.regions > 1\n    where s.newest_at >= s.trouble_from\n",
    noticedBy: ["6-cut-beside-a-block"],
  },
  {
    breaks: "a machine is suspect for trouble that another one sees, too",
    file: "engine/040-impaired-regions.sql",
    found: "left join fails_at f using (component_id)",
    becomes: "left join fails_at f on false",
    noticedBy: ["6-two-machines-are-not-suspect"],
  },
  {
    breaks: "a vantage's own trouble counts in favour of its network",
    file: "engine/040-impaired-regions.sql",
    found: "(f.first <> o.vantage or f.last <> o.vantage)",
    becomes: "f.first is not null",
    noticedBy: ["6-cut-beside-a-block"],
  },
  {
    breaks: "only a vantage that sorts before another counts as seeing the same trouble",
    file: "engine/040-impaired-regions.sql",
    found: "(f.first <> o.vantage or f.last <> o.vantage)",
    becomes: "f.first <> o.vantage",
    noticedBy: ["6-two-machines-are-not-suspect"],
  },
  {
    breaks: "one request that fails elsewhere counts in favour of a network",
    file: "engine/040-impaired-regions.sql",
    found: "< count(*) filter (where o.failing) as fails_alone",
    becomes: "< least(1, count(*) filter (where o.failing)) as fails_alone",
    noticedBy: ["6-cut-beside-hiccups-of-the-same"],
  },
  {
    breaks: "other trouble elsewhere counts in favour of a network",
    file: "engine/040-impaired-regions.sql",
    found: `    select s.component_id, min(s.vantage) as first, max(s.vantage) as last
    from seen s
    where s.failing
    group by s.component_id`,
    becomes: `    select c.component_id, min(s.vantage) as first, max(s.vantage) as last
    from seen s join component c using (venue_id)
    where s.failing
    group by c.component_id`,
    noticedBy: ["6-cut-beside-hiccups"],
  },
  {
    breaks: "trouble that has long existed elsewhere counts in favour of a network",
    file: "engine/040-impaired-regions.sql",
    found: `    from seen s
    where s.failing
    group by s.component_id`,
    becomes: `    from (
      select s.component_id, g.vantage, s.bad_run > 0 as failing from region_state s join engine.vantages(at) g using (region_id)
    ) s
    where s.failing
    group by s.component_id`,
    noticedBy: ["6-cut-beside-old-blocks"],
  },
  {
    breaks: "a stream that is not silent yet counts in favour of a network",
    file: "engine/040-impaired-regions.sql",
    found: "    where o.kind = 'rest' or o.failing\n",
    becomes: "",
    noticedBy: ["6-cut-where-most-stream"],
  },
  {
    breaks: "a state that is still bad makes a network suspect",
    file: "engine/040-impaired-regions.sql",
    found: "s.bad_run > 0 as failing",
    becomes: "engine.is_bad(s.state) or s.bad_run > 0 as failing",
    noticedBy: ["6-blip-before-an-outage"],
  },
  {
    breaks: "a suspect vantage never confirms trouble that it has long seen",
    file: "engine/065-confirmed-trouble.sql",
    found: "    where k.bad_since <= at - engine.ms(r.impaired_within_ms)\n      or g.vantage not in",
    becomes: "    where g.vantage not in",
    noticedBy: ["6-long-bad-in-a-suspect-region"],
  },
  {
    breaks: "the newest trouble of any region counts as that of each region",
    file: "engine/040-impaired-regions.sql",
    found: "over (partition by g.vantage) as trouble_from",
    becomes: "over () as trouble_from",
    noticedBy: ["6-cut-beside-news-elsewhere"],
  },
  {
    breaks: "a suspect network confirms trouble that is also seen elsewhere",
    file: "engine/065-confirmed-trouble.sql",
    found: "or g.vantage not in (select engine.suspect_vantages(at, r))",
    becomes:
      "or g.vantage not in (select engine.suspect_vantages(at, r)) or exists (select from region_state e where e.component_id = c.component_id and e.region_id <> s.region_id and e.bad_run > 1)",
    noticedBy: ["6-cut-beside-a-fresh-block"],
  },
  {
    breaks: "an incident starts within the window",
    file: "engine/065-confirmed-trouble.sql",
    found: "when s.in_a_row then coalesce(last_well.ts, at - interval '7 days')",
    becomes: "when s.in_a_row then greatest(last_well.ts, at - engine.ms(r.window_ms))",
    noticedBy: ["6-suspect-waits"],
  },
  {
    breaks: "samples that are not known yet determine when an incident began",
    file: "engine/065-confirmed-trouble.sql",
    found: "        and g.ts <= at - g.received_after_s * interval '1 second'\n",
    becomes: "",
    noticedBy: ["6-opens-anew-after-retraction"],
  },
  {
    breaks: "a second incident opens while one is open",
    file: "engine/070-incidents.sql",
    found: "where not exists (select from engine.open_incidents_of(null) i where i.component_id = c.component_id)",
    becomes: "where true",
    noticedBy: ["6-recovery-of-the-majority"],
    refusedBy: "incident_open",
  },
  {
    breaks: "an incident that an operator retracted opens again",
    file: "engine/073-retractions.sql",
    found: "i.closed_at is null and i.dismissed_until is null\n$$",
    becomes: "false\n$$",
    noticedBy: ["6-operator-retracts"],
  },
  {
    breaks: "an incident that an operator retracted never opens again",
    file: "engine/073-retractions.sql",
    found: "i.incident_id = d.incident_id and s.state = 'operational'",
    becomes: "false",
    noticedBy: ["6-operator-retracts"],
  },
  {
    breaks: "silence ends an operator's retraction",
    file: "engine/073-retractions.sql",
    found: "i.incident_id = d.incident_id and s.state = 'operational'",
    becomes: "i.incident_id = d.incident_id and not engine.is_bad(s.state)",
    noticedBy: ["6-operator-retracts-and-nobody-measures"],
  },
  {
    breaks: "an incident that an operator retracted does not open again when it grows worse",
    file: "engine/070-incidents.sql",
    found: "and d.peak_severity >= c.state",
    becomes: "",
    noticedBy: ["6-operator-retracts-and-it-grows-worse"],
  },
  {
    breaks: "an incident that an operator retracted opens again when it eases",
    file: "engine/070-incidents.sql",
    found: "and d.peak_severity >= c.state",
    becomes: "and d.peak_severity = c.state",
    noticedBy: ["6-operator-retracts-and-it-eases"],
  },
  {
    breaks: "a sample that took its usual time causes a retraction",
    file: "engine/010-rules.sql",
    found: "then known_at else at end",
    becomes: "then known_at else known_at end",
    noticedBy: ["6-three-that-hung"],
  },
  {
    breaks: "a slow cadence does not extend the time after which a sample is late",
    file: "engine/010-rules.sql",
    found: "greatest(r.late_sample_ms, cadence_ms)",
    becomes: "r.late_sample_ms",
    noticedBy: ["6-late-by-the-cadence"],
  },
  {
    breaks: "retracted incidents count as flapping",
    file: "engine/070-incidents.sql",
    found: "i.component_id = c.component_id and i.retracted_at is null\n          and i.opened_at",
    becomes: "i.component_id = c.component_id\n          and i.opened_at",
    noticedBy: ["6-retracted-ones-do-not-flap"],
  },
  {
    breaks: "exactly an hour is within the hour",
    file: "engine/070-incidents.sql",
    found: "i.opened_at > at - engine.ms(r.flap_within_ms)",
    becomes: "i.opened_at >= at - engine.ms(r.flap_within_ms)",
    noticedBy: ["6-flapping-within-the-hour"],
  },

  // 6. Names
  {
    breaks: "incidents are named after the day on which they opened",
    file: "engine/070-incidents.sql",
    found: "engine.slug_base(v.venue, n.started_at,",
    becomes: "engine.slug_base(v.venue, at,",
    noticedBy: ["6-name-of-the-day-it-started"],
  },
  {
    breaks: "incidents are named after the day in Tokyo",
    file: "engine/070-incidents.sql",
    found: "to_char(started_at at time zone 'UTC'",
    becomes: "to_char(started_at at time zone 'Asia/Tokyo'",
    noticedBy: ["6-name-of-the-day-it-started"],
  },
  {
    breaks: "names are not numbered",
    file: "engine/070-incidents.sql",
    found: "case when n.nth > 1 then '-' || n.nth else '' end",
    becomes: "''",
    noticedBy: ["6-second-of-the-day", "6-venue-at-once"],
    refusedBy: "incident_slug_key",
  },
  {
    breaks: "names of retracted incidents are used again",
    file: "engine/070-incidents.sql",
    found: "    where i.started_at >= (",
    becomes: "    where i.retracted_at is null and i.started_at >= (",
    noticedBy: ["6-opens-anew-after-retraction"],
    refusedBy: "incident_slug_key",
  },
  {
    breaks: "numbered names are not recognised",
    file: "engine/070-incidents.sql",
    found: "regexp_replace(i.slug, '(degraded|outage)-[0-9]+$', '\\1')",
    becomes: "i.slug",
    noticedBy: ["6-flapping-within-the-hour"],
    refusedBy: "incident_slug_key",
  },
  {
    breaks: "incidents of one instant are numbered by component first",
    file: "engine/070-incidents.sql",
    found: "order by s.started_at, s.component)",
    becomes: "order by s.component, s.started_at)",
    noticedBy: ["6-numbered-by-start"],
  },
  {
    breaks: "incidents of one instant and start are numbered backwards",
    file: "engine/070-incidents.sql",
    found: "order by s.started_at, s.component)",
    becomes: "order by s.started_at, s.component desc)",
    noticedBy: ["6-flapping-within-the-hour"],
  },

  // 6. Alerts
  {
    breaks: "an escalation sends no alert",
    file: "engine/070-incidents.sql",
    found: "select unnest(escalated), 'escalated', 2",
    becomes: "select unnest(escalated), 'escalated', 2 where false",
    noticedBy: ["6-recovery-of-the-majority"],
  },
  {
    breaks: "the closing alert of an outage states a lower severity",
    file: "engine/070-incidents.sql",
    found: "case m.kind when 'closed' then i.peak_severity else i.severity end",
    becomes: "i.severity",
    noticedBy: ["6-recovery-of-the-majority"],
  },

  // 3. The effects of a region's own trouble
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

  // 4. Impairments that end, and outliers
  {
    breaks: "a region votes while it still sees the effects of its own trouble",
    file: "engine/040-impaired-regions.sql",
    found: ` or i.ended_at = at and not i.seen_elsewhere)
$$;`,
    becomes: `)
$$;`,
    noticedBy: ["4-one-machine"],
  },
  {
    breaks: "a region that others agree with votes one instant too late",
    file: "engine/040-impaired-regions.sql",
    found: `or i.ended_at = at and not i.seen_elsewhere)
$$;`,
    becomes: `or i.ended_at = at)
$$;`,
    noticedBy: ["4-outage-reaches-regions-in-turn"],
  },
  {
    breaks: "an impairment starts with the first bad state instead of the first failure",
    file: "engine/040-impaired-regions.sql",
    found: "min(least(s.bad_since, s.run_from))",
    becomes: "min(s.bad_since)",
    noticedBy: ["4-impairment-starts-with-its-first-failure"],
  },
  {
    breaks: "the last region to see the end of an outage counts as alone with it",
    file: "engine/040-impaired-regions.sql",
    found: "(bool_or(s.lately_bad) filter (where not i.inside)) is not true",
    becomes: "(bool_or(s.bad) filter (where not i.inside)) is not true",
    noticedBy: ["4-last-to-see-the-end"],
  },
  {
    breaks: "a region's own trouble counts as seeing the same as another region",
    file: "engine/040-impaired-regions.sql",
    found: "where i.region_id = s.region_id and not i.seen_elsewhere",
    becomes: "where false",
    noticedBy: ["4-networks-fail-in-turn"],
  },
  {
    breaks: "an impairment that may turn out to be none retracts",
    file: "engine/030-region-verdicts.sql",
    found: "else recognised_at <= known_at - engine.ms(r.impaired_within_ms)",
    becomes: "else recognised_at <= known_at",
    noticedBy: ["4-cascade"],
  },
  {
    breaks: "an impairment that turned out to be none retracts",
    file: "engine/030-region-verdicts.sql",
    found: "when ended_at <= known_at then not seen_elsewhere",
    becomes: "when ended_at <= known_at then true",
    noticedBy: ["4-cascade"],
  },
  {
    breaks: "an impairment that may turn out to be none cancels a partial failure",
    file: "engine/030-region-verdicts.sql",
    found: `where i.started_at <= at
      and engine.is_own_trouble(i.recognised_at, i.ended_at, i.seen_elsewhere, at, known_at, r)`,
    becomes: `where i.started_at <= at
      and i.recognised_at <= known_at and not i.seen_elsewhere`,
    noticedBy: ["6-fails-in-part-before-a-cascade"],
  },
  {
    breaks: "a region has no partial failure after an impairment that turned out to be none",
    file: "engine/030-region-verdicts.sql",
    found: "when recognised_at <= at then (seen_elsewhere and ended_at <= at) is not true",
    becomes: "when recognised_at <= at then true",
    noticedBy: ["6-fails-in-part-before-a-cascade"],
  },
  {
    breaks: "an impairment that lasts ends when another network fails",
    file: "engine/040-impaired-regions.sql",
    found:
      "case when i.recognised_at > at - engine.ms(r.impaired_within_ms) then now_bad.alone else now_bad.venues end",
    becomes: "now_bad.alone",
    noticedBy: ["4-networks-fail-together"],
  },
  {
    breaks: "a region whose network has failed for long counts as seeing the same",
    file: "engine/040-impaired-regions.sql",
    found: `and s.region_id <> all (
      array(
        select i.region_id
        from impairment i
        where i.ended_at is null and i.recognised_at <= at - engine.ms(r.impaired_within_ms)
      )
    )`,
    becomes: "",
    noticedBy: ["4-networks-fail-together"],
  },
  {
    breaks: "a venue's dead streams are diluted by its REST",
    file: "engine/050-quorum.sql",
    found: `or count(*) filter (where s.state = 'outage' and c.kind = 'ws') * 2
          >= nullif(count(*) filter (where s.state <> 'unknown' and c.kind = 'ws'), 0)`,
    becomes: "",
    noticedBy: ["5-venue-whose-socket-is-dead"],
  },
  {
    breaks: "a machine's region that measures nothing is impaired with it",
    file: "engine/040-impaired-regions.sql",
    found: "and s.venue = any (c.venues) and s.bad\n    ) > cardinality(c.venues)",
    becomes: "and s.venue = any (c.venues) and s.bad\n    ) > -1",
    noticedBy: ["4-frozen-beside-an-impairment"],
  },
  {
    breaks: "a component that is about to turn bad does not count as failing",
    file: "engine/040-impaired-regions.sql",
    found: "s.bad_run > 0 as failing",
    becomes: "engine.is_bad(s.state) as failing",
    noticedBy: ["6-suspect-that-is-about-to-be"],
  },
  {
    breaks: "a component that was not measured since counts in favour of the machine's network",
    file: "engine/040-impaired-regions.sql",
    found: "    where s.newest_at >= s.trouble_from\n",
    becomes: "",
    noticedBy: ["6-suspect-by-what-was-asked-since"],
  },
  {
    breaks: "failures of an ended incident count as a partial failure",
    file: "engine/030-region-verdicts.sql",
    found: "and i.last_bad_at > g.part_from",
    becomes: "and false",
    noticedBy: ["6-fails-in-part-after-an-incident"],
  },
  {
    breaks: "an outlier votes",
    file: "engine/050-quorum.sql",
    found: "engine.is_bad(s.state) and not s.outlier",
    becomes: "engine.is_bad(s.state)",
    noticedBy: ["4-outlier", "4-two-outliers-of-five"],
  },
  {
    breaks: "an outlier's outage counts",
    file: "engine/050-quorum.sql",
    found: "s.state = 'outage' and not s.outlier",
    becomes: "s.state = 'outage'",
    noticedBy: ["4-outlier-and-a-slow-region"],
  },
  {
    breaks: "a quorum is counted over regions including outliers",
    file: "engine/050-quorum.sql",
    found: "count(s.state) filter (where not s.outlier) as counted",
    becomes: "count(s.state) as counted",
    noticedBy: ["4-two-outliers-of-five"],
  },
  {
    breaks: "with two regions, an outlier makes the component unknown",
    file: "engine/050-quorum.sql",
    found: "operational + bad + outliers < quorum",
    becomes: "operational + bad < quorum",
    noticedBy: ["4-outlier-of-two-regions"],
  },
  {
    breaks: "an outlier confirms",
    file: "engine/065-confirmed-trouble.sql",
    found: `and not exists (
      select from engine.outliers(at) o where o.component_id = s.component_id and o.region_id = s.region_id
    )`,
    becomes: "",
    noticedBy: ["4-outlier-confirms-nothing"],
  },
  {
    breaks: "an outlier stays one when others see the same",
    file: "engine/045-outliers.sql",
    found: "s.lasting >= s.quorum or",
    becomes: "",
    noticedBy: ["4-outlier-is-joined"],
  },
  {
    breaks: "an outlier that has seen the component well stays one",
    file: "engine/045-outliers.sql",
    found: "s.region_id = o.region_id and s.state = 'operational'",
    becomes: "false",
    noticedBy: ["4-outlier-falls-silent"],
  },
  {
    breaks: "an outlier that falls silent is no longer one",
    file: "engine/045-outliers.sql",
    found: "        or not exists (\n          select from component c",
    becomes:
      "        or not exists (select from seen s where s.component_id = o.component_id and s.region_id = o.region_id)\n        or not exists (\n          select from component c",
    noticedBy: ["4-outlier-falls-silent"],
  },
  {
    breaks: "a region that sees an open incident becomes an outlier",
    file: "engine/045-outliers.sql",
    found: "and not exists (select from engine.open_incidents_of(array[s.component_id]))",
    becomes: "",
    noticedBy: ["4-no-outlier-where-others-agreed"],
  },
  {
    breaks: "a region that others agree with becomes an outlier",
    file: "engine/045-outliers.sql",
    found: "and engine.is_bad(c.state) is not true",
    becomes: "",
    noticedBy: ["4-no-outlier-where-others-agreed"],
  },
  {
    breaks: "trouble that has just begun counts as lasting",
    file: "engine/045-outliers.sql",
    found: "count(*) filter (where s.bad_since <= at - engine.ms(r.outlier_after_ms)) over",
    becomes: "count(*) filter (where s.bad_since <= at) over",
    noticedBy: ["4-outlier-is-joined"],
  },
];
