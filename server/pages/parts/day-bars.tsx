/** Ninety days as bars. */
import type { uptimeDay } from "../../api/schemas/status.js";
import type { TypeOf } from "../../api/schemas/shapes.js";

export type Day = TypeOf<typeof uptimeDay>;

type Kind = "operational" | "degraded" | "outage" | "partly" | "unmeasured";

const step = 4;
const height = 24;

/** Trouble stands out by height as well as by colour; an unmeasured day is a gap above the baseline. */
const tops: Record<Exclude<Kind, "unmeasured">, number> = { operational: 9, partly: 9, degraded: 4, outage: 0 };

/** The comparison of venues asks for as much. */
const leastCoveragePct = 50;

/** One path for each kind of day instead of ninety elements: a fifth of the bytes. */
export function DayBars({ days }: { days: readonly Day[] }) {
  const kinds = days.map(kindOf);
  const count = { operational: 0, degraded: 0, outage: 0, partly: 0, unmeasured: 0 };
  for (const kind of kinds) count[kind] += 1;
  return (
    <svg class="days" viewBox={`0 0 ${days.length * step} ${height + 2}`} role="img" aria-label={daysText(count)}>
      <path class="baseline" d={`M0 ${height + 1.5}h${days.length * step}`} />
      {(["operational", "partly", "degraded", "outage"] as const).map(
        (kind) => kinds.includes(kind) && <path key={kind} class={kind} d={pathOf(kinds, kind)} />,
      )}
    </svg>
  );
}

/** By the worst that was measured on that day. Little without trouble does not make a day without trouble. */
function kindOf({ measuredMinutes, coveragePct, downMinutes, degradedMinutes }: Day): Kind {
  if (measuredMinutes === 0) return "unmeasured";
  if (downMinutes! > 0) return "outage";
  if (degradedMinutes! > 0) return "degraded";
  return coveragePct! < leastCoveragePct ? "partly" : "operational";
}

/** Relative moves: equal neighbours have equal texts, which compress well. */
function pathOf(kinds: readonly Kind[], kind: keyof typeof tops): string {
  // a hollow bar has its outline within the same three units
  const bar = kind === "partly" ? `h2v${height - tops[kind] - 1}h-2z` : `h3v${height - tops[kind]}h-3z`;
  const [x, y] = kind === "partly" ? [0.5, tops[kind] + 0.5] : [0, tops[kind]];
  let path = "";
  let last = 0;
  for (const [at, other] of kinds.entries()) {
    if (other !== kind) continue;
    path += path === "" ? `M${at * step + x} ${y}${bar}` : `m${(at - last) * step} 0${bar}`;
    last = at;
  }
  return path;
}

function daysText(count: Record<"operational" | "degraded" | "outage" | "partly" | "unmeasured", number>): string {
  return `90 days: ${count.operational} without trouble, ${count.degraded} with degraded minutes, ${count.outage} with down minutes, ${count.partly} measured less than half without trouble, ${count.unmeasured} not measured`;
}
