/** Mutants of chapter 5 of the rule book, what the quorum says. */
import type { Mutant } from "./mutant.js";

export const ofQuorum: Mutant[] = [
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
  {
    breaks: "a venue's dead streams are diluted by its REST",
    file: "engine/050-quorum.sql",
    found: `or count(*) filter (where s.state = 'outage' and c.kind = 'ws') * 2
          >= nullif(count(*) filter (where s.state <> 'unknown' and c.kind = 'ws'), 0)`,
    becomes: "",
    noticedBy: ["5-venue-whose-socket-is-dead"],
  },
];
