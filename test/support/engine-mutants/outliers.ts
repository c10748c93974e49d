/** Mutants of chapter 4 of the rule book, its part about outliers. */
import type { Mutant } from "./mutant.js";

export const ofOutliers: Record<string, Mutant> = {
  "an outlier votes": {
    clause: "engine.is_bad(s.state) and not s.uncounted",
    becomes: "engine.is_bad(s.state)",
    noticedBy: ["4-outlier", "4-two-outliers-of-five"],
  },
  "an outlier's outage counts": {
    clause: "s.state = 'outage' and not s.uncounted",
    becomes: "s.state = 'outage'",
    noticedBy: ["4-outlier-and-a-slow-region"],
  },
  "a quorum is counted over regions including outliers": {
    clause: "count(s.state) filter (where not s.uncounted) as counted",
    becomes: "count(s.state) as counted",
    noticedBy: ["4-two-outliers-of-five"],
  },
  "with two regions, an outlier makes the component unknown": {
    clause: "operational + bad + uncounted < quorum",
    becomes: "operational + bad < quorum",
    noticedBy: ["4-outlier-of-two-regions"],
  },
  "an outlier confirms": {
    clause: `and not exists (
      select from engine.outliers(at) o where o.component_id = s.component_id and o.region_id = s.region_id
    )`,
    noticedBy: ["4-outlier-confirms-nothing"],
  },
  "an outlier stays one when others see the same": {
    clause: "s.lasting >= s.quorum or",
    noticedBy: ["4-outlier-is-joined"],
  },
  "an outlier that has seen the component well stays one": {
    clause: "s.region_id = o.region_id and s.state = 'operational'",
    becomes: "false",
    noticedBy: ["4-outlier-falls-silent"],
  },
  "an outlier that falls silent is no longer one": {
    clause: "        or not exists (",
    becomes: `        or not exists (select from seen s where s.component_id = o.component_id and s.region_id = o.region_id)
        or not exists (`,
    noticedBy: ["4-outlier-falls-silent"],
  },
  "a region that sees an open incident becomes an outlier": {
    clause: "and not exists (select from engine.open_incidents_of(array[s.component_id]))",
    noticedBy: ["4-no-outlier-where-others-agreed"],
  },
  "a region that others agree with becomes an outlier": {
    clause: "and engine.is_bad(c.state) is not true",
    noticedBy: ["4-no-outlier-where-others-agreed"],
  },
  "trouble that has just begun counts as lasting": {
    clause: "count(*) filter (where s.bad_since <= at - engine.ms(r.outlier_after_ms)) over",
    becomes: "count(*) filter (where s.bad_since <= at) over",
    noticedBy: ["4-outlier-is-joined"],
  },
};
