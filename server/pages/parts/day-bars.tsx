/** Ninety days as bars. */
import type { uptimeDay } from "../../api/schemas/status.js";
import type { TypeOf } from "../../api/schemas/shapes.js";
import { boardWords } from "../words.js";

export type Day = TypeOf<typeof uptimeDay>;

type Kind = "operational" | "degraded" | "outage" | "unmeasured";

const step = 4;
const height = 24;

/** Trouble stands out by height as well as by colour; an unmeasured day is a gap above the baseline. */
const tops: Record<Exclude<Kind, "unmeasured">, number> = { operational: 9, degraded: 4, outage: 0 };

/** One path for each kind of day instead of ninety elements: a fifth of the bytes. */
export function DayBars({ days }: { days: readonly Day[] }) {
  const kinds = days.map(kindOf);
  const count = (kind: Kind) => kinds.filter((other) => other === kind).length;
  const label = boardWords.days(count("operational"), count("degraded"), count("outage"), count("unmeasured"));
  return (
    <svg class="days" viewBox={`0 0 ${days.length * step} ${height + 2}`} role="img" aria-label={label}>
      <path class="baseline" d={`M0 ${height + 1.5}h${days.length * step}`} />
      {(["operational", "degraded", "outage"] as const).map(
        (kind) => kinds.includes(kind) && <path key={kind} class={kind} d={pathOf(kinds, kind)} />,
      )}
    </svg>
  );
}

/** By the worst that was measured on that day. */
export function kindOf({ measuredMinutes, downMinutes, degradedMinutes }: Day): Kind {
  if (measuredMinutes === 0) return "unmeasured";
  if (downMinutes! > 0) return "outage";
  return degradedMinutes! > 0 ? "degraded" : "operational";
}

/** Relative moves: equal neighbours have equal texts, which compress well. */
function pathOf(kinds: readonly Kind[], kind: keyof typeof tops): string {
  const bar = `h3v${height - tops[kind]}h-3z`;
  let path = "";
  let last = 0;
  for (const [at, other] of kinds.entries()) {
    if (other !== kind) continue;
    path += path === "" ? `M${at * step} ${tops[kind]}${bar}` : `m${(at - last) * step} 0${bar}`;
    last = at;
  }
  return path;
}
