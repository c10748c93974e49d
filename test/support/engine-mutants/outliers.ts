/** Mutants of chapter 4 of the rule book, its part about outliers. */
import type { Mutant } from "./mutant.js";

export const ofOutliers: Mutant[] = [
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
