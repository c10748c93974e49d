/** Mutants of chapter 5 of the rule book, what the quorum says. */
import type { Mutant } from "./mutant.js";

export const ofQuorum: Record<string, Mutant> = {
  "half of the regions are a majority": {
    clause: "return greatest(counted / 2 + 1,",
    becomes: "return greatest((counted + 1) / 2,",
    noticedBy: ["5-two-of-four"],
  },
  "a quorum takes all regions": {
    clause: "return greatest(counted / 2 + 1,",
    becomes: "return greatest(counted,",
    noticedBy: ["5-two-regions-of-three", "5-three-of-four"],
  },
  "one region is enough for a quorum": {
    clause: "return greatest(counted / 2 + 1, least(min_regions, published))::int",
    becomes: "return 1",
    noticedBy: ["5-one-region-of-three", "5-one-region-flaps"],
  },
  "one region alone confirms": {
    clause: "return greatest(counted / 2 + 1, least(min_regions, published))::int",
    becomes: "return counted / 2 + 1",
    noticedBy: ["5-one-region-is-never-enough"],
  },
  "the only region confirms nothing": {
    clause: "least(min_regions, published)",
    becomes: "min_regions",
    noticedBy: ["5-one-region-alone"],
  },
  "regions that have left are published": {
    clause: "(select count(*) from region g where g.published),",
    becomes: "(select count(*) from region g),",
    noticedBy: ["5-one-region-alone"],
  },
  "a quorum takes a majority of the regions in the registry": {
    clause: "count(s.state) filter (where not s.uncounted) as counted",
    becomes: "(select count(*) from region g where g.published) as counted",
    noticedBy: ["5-ties-at-two"],
  },
  "regions that do not report are counted": {
    clause: "where k.reporting\n        and",
    becomes: "where",
    noticedBy: ["6-witnesses-fall-silent"],
  },
  "one region that sees an outage turns the others' trouble into an outage": {
    clause: "when outage >= quorum then 'outage'",
    becomes: "when outage > 0 and bad >= quorum then 'outage'",
    noticedBy: ["5-degraded-and-outage"],
  },
  "an outage and a degraded component do not add up to trouble": {
    clause: "when bad >= quorum then 'degraded'",
    becomes: "when bad - outage >= quorum then 'degraded'",
    noticedBy: ["5-degraded-and-outage"],
  },
  "a component is healthy without a quorum of witnesses": {
    clause: "when operational + bad + uncounted < quorum then 'unknown'",
    becomes: "when false then 'unknown'",
    noticedBy: ["5-health-needs-witnesses"],
  },
  "a state begins again when other regions report": {
    clause: "since = case when k.state = v.state then k.since else at end",
    becomes: "since = at",
    noticedBy: ["6-hold-as-regions-leave"],
  },
  "a state's beginning never changes": {
    clause: "since = case when k.state = v.state then k.since else at end",
    becomes: "since = k.since",
    noticedBy: ["6-relapse-within-the-hold"],
  },
  "a venue with half of its components in outage is not in outage": {
    clause: "k.outage * 2 >= k.components",
    becomes: "k.outage * 2 > k.components",
    noticedBy: ["5-state-of-a-venue"],
  },
  "only the known components count for a venue's outage": {
    clause: "k.outage * 2 >= k.components",
    becomes: "k.outage * 2 >= k.known",
    noticedBy: ["5-state-of-a-venue", "5-venue-after-a-gap"],
  },
  "one component in outage puts its venue in outage": {
    clause: "k.outage * 2 >= k.components",
    becomes: "k.outage > 0",
    noticedBy: ["5-state-of-a-venue"],
  },
  "a single known component speaks for its venue": {
    clause: " or sum(k.known) * 2 < sum(k.components)",
    noticedBy: ["5-few-known-components"],
  },
  "a venue of which half is known is unknown": {
    clause: "sum(k.known) * 2 < sum(k.components)",
    becomes: "sum(k.known) * 2 <= sum(k.components)",
    noticedBy: ["5-few-known-components"],
  },
  "what has ended still counts": {
    clause: " and (c.ends_at <= at) is not true",
    noticedBy: ["5-few-known-components"],
  },
  "a minority of the venues speaks for the fleet": {
    clause: "when known = 0 or known * 2 < venues then 'unknown'",
    becomes: "when known = 0 then 'unknown'",
    noticedBy: ["5-few-known-components"],
  },
  "half of the venues in outage are not an outage": {
    clause: "when outage * 2 >= venues then 'outage'",
    becomes: "when outage * 2 > venues then 'outage'",
    noticedBy: ["5-state-of-a-venue"],
  },
  "only the known venues count for the fleet's outage": {
    clause: "when outage * 2 >= venues then 'outage'",
    becomes: "when outage * 2 >= known then 'outage'",
    noticedBy: ["5-state-of-a-venue"],
  },
  "a venue's dead streams are diluted by its REST": {
    clause: "group by v.venue_id, c.kind\n  )",
    becomes: "group by v.venue_id\n  )",
    noticedBy: ["5-venue-whose-socket-is-dead"],
  },
};
