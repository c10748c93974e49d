import { msText } from "../format.js";

const width = 120;

interface BeforeAndDuringProps {
  /** Milliseconds; null: not measured, and no bar. */
  before: number | null;
  during: number | null;
  /** What the whole width is. */
  most: number;
}

/** Two bars, an outline for before and a filled one for during. Its figures stand in the same row of the table. */
export function BeforeAndDuring({ before, during, most }: BeforeAndDuringProps) {
  const textOf = (ms: number | null) => (ms === null ? "not measured" : msText(ms));
  const label = `Median before: ${textOf(before)}; during: ${textOf(during)}`;
  return (
    <svg class="bars" viewBox={`0 0 ${width} 18`} role="img" aria-label={label}>
      {before !== null && <path class="before" d={`M1 1h${lengthOf(before, most)}v6h-${lengthOf(before, most)}z`} />}
      {during !== null && <path class="during" d={`M1 10h${lengthOf(during, most)}v7h-${lengthOf(during, most)}z`} />}
    </svg>
  );
}

function lengthOf(ms: number, most: number): number {
  return Math.max(1, Math.round((ms / most) * (width - 2)));
}
