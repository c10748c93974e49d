/** Mutants of chapter 4 of the rule book, impaired regions. */
import type { Mutant } from "./mutant.js";

export const ofImpairedRegions: Mutant[] = [
  // Impairments
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
    found: "and k.region_id <> all (array(select engine.impaired_regions(at, at)))",
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

  // Impairments that end
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
];
