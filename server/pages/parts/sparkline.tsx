import { msText } from "../format.js";

import { lineThrough } from "./chart-line.js";

const area = { width: 96, height: 22 };

/** A line of latencies from zero, with gaps where nothing was measured. */
export function Sparkline({ values }: { values: readonly (number | null)[] }) {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return <span class="none">No latency measured in the last 24 hours</span>;
  const most = Math.max(...known);
  const label = `Median latency by hour, from ${msText(Math.min(...known))} to ${msText(most)}`;
  return (
    <svg class="sparkline" viewBox={`0 -1 ${area.width} ${area.height + 2}`} role="img" aria-label={label}>
      <path d={lineThrough(values, Math.max(1, most), area)} />
    </svg>
  );
}
