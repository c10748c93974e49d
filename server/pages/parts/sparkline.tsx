import { msText } from "../format.js";
import { boardWords } from "../words.js";

const width = 96;
const height = 24;

/** A line of latencies, with gaps where nothing was measured. */
export function Sparkline({ values }: { values: readonly (number | null)[] }) {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return <span class="none">{boardWords.noLatencies}</span>;
  const most = Math.max(...known);
  const label = boardWords.latencies(msText(Math.min(...known)), msText(most));
  return (
    <svg class="sparkline" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
      <path d={lineOf(values, most)} />
    </svg>
  );
}

/** Starts at zero, so that twice as long looks twice as high. */
function lineOf(values: readonly (number | null)[], most: number): string {
  const stepX = width / Math.max(1, values.length - 1);
  let path = "";
  let isDrawing = false;
  for (const [at, value] of values.entries()) {
    if (value !== null) {
      const y = Math.round((height - 2) * (1 - value / Math.max(1, most)) + 1);
      path += `${isDrawing ? "L" : "M"}${Math.round(at * stepX)} ${y}`;
      // a line needs two points; a lone one is drawn as a dot
      if (!isDrawing && (values[at + 1] ?? null) === null) path += "h1";
    }
    isDrawing = value !== null;
  }
  return path;
}
