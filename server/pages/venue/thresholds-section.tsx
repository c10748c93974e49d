/** The thresholds by which a verdict is reached, from the rules of this build. */
import { publishedRules } from "../../api/thresholds.js";
import type { Rule } from "../../../shared/measurement/rule.js";
import { spanText } from "../format.js";
import { TableFrame } from "../parts/table-frame.js";
import { TableHead } from "../parts/table-head.js";

const ruleNames = {
  window_ms: "Time by which a component is judged",
  min_samples: "Fewest samples for a verdict",
  degraded_bad_share: "Share of failed samples that makes it degraded",
  outage_bad_share: "Share of failed samples that makes it down",
  slow_multiple: "An answer is slow at this multiple of its typical latency",
  slow_floor_ms: "And at least this much above it",
  opening_bad_run: "Bad samples in a row that confirm trouble",
  vote_max_age_ms: "Oldest newest sample with which a region counts",
  quorum_min_regions: "Fewest regions that must agree",
  outlier_after_ms: "Time after which a region that stands alone counts no more",
  recovery_hold_ms: "Healthy time after which an incident closes",
  stale_event_ms: "Age from which events of a stream are too old",
};

export function ThresholdsSection() {
  return (
    <section aria-labelledby="thresholds">
      <h2 id="thresholds">The thresholds that apply</h2>
      <RulesTable />
      <p class="minor">
        A slow component has longer windows. All rules and their reasons: <a href="/rulebook">the rule book</a>,{" "}
        <a href="/v1/thresholds">every threshold as JSON</a>
      </p>
    </section>
  );
}

function RulesTable() {
  const shown = publishedRules.filter(({ name }) => name in ruleNames);

  return (
    <TableFrame caption="How samples become a verdict">
      <TableHead columns={["Rule", "Value", "Why"].map((name) => [name, false] as const)} />
      <tbody>
        {shown.map(({ name, value, unit, reason }) => (
          <tr key={name}>
            <th scope="row">{ruleNames[name as keyof typeof ruleNames]}</th>
            <td>{quantityText(unit === "ms" ? spanText(value) : value, unit)}</td>
            <td class="words">{reason}</td>
          </tr>
        ))}
      </tbody>
    </TableFrame>
  );
}

function quantityText(value: number | string, unit: Rule["unit"]): string {
  return unit === "share"
    ? `${Math.round(Number(value) * 1000) / 10}\u00a0%`
    : unit === "ms"
      ? String(value)
      : `${value} ${unit}`;
}
