/** Mutants of chapter 4 of the rule book, impaired regions. */
import type { Mutant } from "./mutant.js";

export const ofImpairedRegions: Record<string, Mutant> = {
  "a few known components speak for a venue in a region": {
    clause: "  having count(*) * 2 >= n.components\n",
    noticedBy: ["4-few-known-components"],
  },
  // Impairments
  "no region is ever impaired": {
    clause: "  perform engine.store_impairments(at, r);\n",
    noticedBy: ["4-only-region", "4-impaired-in-hindsight"],
  },
  "regions become impaired one instant too late": {
    clause: `  perform engine.store_impairments(at, r);
  perform engine.store_outliers(at, r);
  perform engine.store_component_states(at, r);`,
    becomes: `  perform engine.store_outliers(at, r);
  perform engine.store_component_states(at, r);
  perform engine.store_impairments(at, r);`,
    noticedBy: ["4-only-region"],
  },
  "an impaired region votes": {
    clause: "and k.region_id <> all (array(select engine.impaired_regions(at, at)))",
    noticedBy: ["4-outage-beside-an-impaired-region", "4-only-region"],
  },
  "an impaired region determines when an incident began": {
    clause: "    and s.reporting\n    and s.region_id <> all (array(select engine.impaired_regions(at, at)))",
    becomes: "    and s.reporting",
    noticedBy: ["4-outage-beside-an-impaired-region"],
  },
  "an impaired region can be the witness that an incident is over": {
    clause: "and g.region_id <> all (array(select engine.impaired_regions(at, at)))",
    noticedBy: ["6-impaired-witness"],
  },
  "an outage that other regions see counts as one region's trouble": {
    clause: "(bool_or(s.lately_bad) filter (where not i.inside)) is not true",
    becomes: "true",
    noticedBy: ["4-outage-everywhere", "4-outage-seen-from-two-machines"],
  },
  "an impaired region is not considered when others are checked for the same trouble": {
    clause: "filter (where not i.inside)",
    becomes: "filter (where not i.inside and s.region_id <> all (array(select engine.impaired_regions(at, at))))",
    noticedBy: ["4-impaired-region-is-asked"],
  },
  "an impairment continues although another region sees the same": {
    clause: "count(*) filter (where a.cut_off and a.alone) as cut_alone",
    becomes: "count(*) filter (where a.cut_off) as cut_alone",
    noticedBy: ["4-outage-in-a-cascade"],
  },
  "components that have long been bad are a sign of a bad network": {
    clause: "bool_and(s.freshly_cut) filter (where i.inside)",
    becomes: "bool_and(s.cut_off) filter (where i.inside)",
    noticedBy: ["4-one-block-after-another"],
  },
  "a venue with half of its components freshly bad is not freshly bad": {
    clause: "engine.ms(r.impaired_within_ms) and s.may_be_ours) * 2 >= count(*)",
    becomes: "engine.ms(r.impaired_within_ms) and s.may_be_ours) * 2 > count(*)",
    noticedBy: ["4-half-of-a-venue"],
  },
  "a venue with one freshly bad component is freshly bad": {
    clause: "engine.ms(r.impaired_within_ms) and s.may_be_ours) * 2 >= count(*)",
    becomes: "engine.ms(r.impaired_within_ms) and s.may_be_ours) > 0",
    noticedBy: ["4-a-third-of-a-venue"],
  },
  "a venue with half of its components bad is not bad": {
    clause: "engine.is_bad(s.state) and s.may_be_ours) * 2 >= count(*)",
    becomes: "engine.is_bad(s.state) and s.may_be_ours) * 2 > count(*)",
    noticedBy: ["4-half-of-a-venue"],
  },
  "an impairment continues while half of its venues are bad": {
    clause: "else now_seen.cut_off end <= cardinality(i.venues)",
    becomes: "else now_seen.cut_off end < cardinality(i.venues)",
    noticedBy: ["4-impaired-region"],
  },
  "an impairment never ends": {
    clause: "where n.ended_at is null and",
    becomes: "where false and",
    noticedBy: ["4-impaired-region", "6-impaired-witness"],
  },
  "an impairment starts when it is recognised": {
    clause: "g.region_id, n.started_at, at, c.venues",
    becomes: "g.region_id, at, at, c.venues",
    noticedBy: ["4-impaired-in-hindsight"],
  },
  "regions on one machine are judged separately": {
    clause: "where v.regions > 1 group by",
    becomes: "where false group by",
    noticedBy: ["4-one-machine"],
  },
  "regions on unknown machines count as one machine": {
    clause: "partition by coalesce(m.machine, 'region ' || m.region_id)",
    becomes: "partition by m.machine",
    noticedBy: ["4-outage-from-three-machines"],
  },
  "one bad region makes its machine impaired": {
    clause: `    bool_and(s.cut_off) filter (where i.inside),
    bool_and(s.freshly_cut) filter`,
    becomes: `    bool_or(s.cut_off) filter (where i.inside),
    bool_or(s.freshly_cut) filter`,
    noticedBy: ["4-regions-of-a-machine-fail-apart"],
  },
  "trouble that is fresh in one region is fresh for its machine": {
    clause: "bool_and(s.freshly_cut) filter",
    becomes: "bool_or(s.freshly_cut) filter",
    noticedBy: ["4-what-is-not-fresh-in-one-region"],
  },
  "a machine's impairment starts with the last of its regions": {
    clause: "min(least(s.bad_since, s.run_from))",
    becomes: "max(least(s.bad_since, s.run_from))",
    noticedBy: ["4-one-machine-in-hindsight"],
  },
  "trouble that others see starts an impairment": {
    clause: "where e.component_id = s.component_id and e.region_id <> all (c.regions)",
    becomes: "where false",
    noticedBy: ["4-impairment-starts-with-what-is-its-own"],
  },
  "the trouble that a silent region last saw is forgotten": {
    clause: "  where (\n      engine.is_bad(s.state)\n      or s.bad_until",
    becomes: "  where s.state <> 'unknown' and (\n      engine.is_bad(s.state)\n      or s.bad_until",
    noticedBy: ["4-impairment-beside-a-silent-witness"],
  },
  "an impairment starts with trouble that has long been bad": {
    clause: "      and s.bad_since > at - engine.ms(r.impaired_within_ms)\n",
    noticedBy: ["4-impairment-starts-with-what-is-new"],
  },
  "trouble that a region of the group sees counts as seen elsewhere": {
    clause: "where e.component_id = s.component_id and e.region_id <> all (c.regions)",
    becomes: "where e.component_id = s.component_id",
    noticedBy: ["4-impaired-in-hindsight"],
  },
  "a machine's impairment ends when one region recovers": {
    clause: "a.regions = coalesce(n.beside, array[n.region_id])",
    becomes: "a.regions = array[n.region_id]",
    noticedBy: ["4-one-machine"],
  },
  "a machine's impairment ends when a region leaves": {
    clause: "i.ended_at is null and i.beside is not null",
    becomes: "false",
    noticedBy: ["4-one-machine-loses-a-region"],
  },

  // Impairments that end
  "a region votes while it still sees the effects of its own trouble": {
    clause: " or i.ended_at = at and not i.seen_elsewhere)\n$$;",
    becomes: ")\n$$;",
    noticedBy: ["4-one-machine"],
  },
  "a region that others agree with votes one instant too late": {
    clause: "or i.ended_at = at and not i.seen_elsewhere)\n$$;",
    becomes: "or i.ended_at = at)\n$$;",
    noticedBy: ["4-outage-reaches-regions-in-turn"],
  },
  "an impairment starts with the first bad state instead of the first failure": {
    clause: "min(least(s.bad_since, s.run_from))",
    becomes: "min(s.bad_since)",
    noticedBy: ["4-impairment-starts-with-its-first-failure"],
  },
  "the last region to see the end of an outage counts as alone with it": {
    clause: "(bool_or(s.lately_bad) filter (where not i.inside)) is not true",
    becomes: "(bool_or(s.bad) filter (where not i.inside)) is not true",
    noticedBy: ["4-last-to-see-the-end"],
  },
  "a region's own trouble counts as seeing the same as another region": {
    clause: "where i.region_id = s.region_id and not i.seen_elsewhere",
    becomes: "where false",
    noticedBy: ["4-networks-fail-in-turn"],
  },
  "an impairment that may turn out to be none retracts": {
    clause: "else recognised_at <= known_at - engine.ms(r.impaired_within_ms)",
    becomes: "else recognised_at <= known_at",
    noticedBy: ["4-cascade"],
  },
  "an impairment that turned out to be none retracts": {
    clause: "when ended_at <= known_at then not seen_elsewhere",
    becomes: "when ended_at <= known_at then true",
    noticedBy: ["4-cascade"],
  },
  "an impairment that may turn out to be none cancels a partial failure": {
    clause: "      and engine.is_own_trouble(i.recognised_at, i.ended_at, i.seen_elsewhere, at, known_at, r)",
    becomes: "      and i.recognised_at <= known_at and not i.seen_elsewhere",
    noticedBy: ["6-fails-in-part-before-a-cascade"],
  },
  "a region has no partial failure after an impairment that turned out to be none": {
    clause: "when recognised_at <= at then (seen_elsewhere and ended_at <= at) is not true",
    becomes: "when recognised_at <= at then true",
    noticedBy: ["6-fails-in-part-before-a-cascade"],
  },
  "an impairment that lasts ends when another network fails": {
    clause: "case when s.young then now_seen.cut_alone else now_seen.cut_off end",
    becomes: "now_seen.cut_alone",
    noticedBy: ["4-networks-fail-together"],
  },
  "a region whose network has failed for long counts as seeing the same": {
    clause: `and s.region_id <> all (
      array(
        select i.region_id
        from impairment i
        where i.ended_at is null and i.recognised_at <= at - engine.ms(r.impaired_within_ms)
      )
    )`,
    noticedBy: ["4-networks-fail-together"],
  },
  "a machine's region that measures nothing is impaired with it": {
    clause: "and s.venue = any (c.venues) and s.cut_off\n    ) > cardinality(c.venues)",
    becomes: "and s.venue = any (c.venues) and s.cut_off\n    ) > -1",
    noticedBy: ["4-frozen-beside-an-impairment"],
  },
  "a component that is about to turn bad does not count as failing": {
    clause: "select s.bad_run > 0 and not s.answers_badly",
    becomes: "select engine.is_bad(s.state) and not s.answers_badly",
    noticedBy: ["6-suspect-that-is-about-to-be"],
  },
  "a component that was not measured since counts in favour of the machine's network": {
    clause: "    where s.newest_at >= s.trouble_from\n",
    noticedBy: ["6-suspect-by-what-was-asked-since"],
  },
};
