/** The drawing area of a chart in its own units; it is stretched to the width of the page. */
export interface ChartArea {
  width: number;
  height: number;
}

/** The least of 1, 2 and 5 times a power of ten that is not below a value: the top of an axis. */
export function axisTop(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)));
  return [1, 2, 5, 10].map((times) => times * power).find((top) => top >= value)!;
}

/** A line through evenly spaced values, with gaps where there is none. Relative and whole steps keep it short. */
export function lineThrough(values: readonly (number | null)[], top: number, area: ChartArea): string {
  let path = "";
  let last: { x: number; y: number } | null = null;
  for (const [at, value] of values.entries()) {
    if (value === null) {
      last = null;
      continue;
    }
    const x = xOf(at, values.length, area);
    const y = Math.round(area.height * (1 - value / top));
    if (last) path += `l${x - last.x} ${y - last.y}`;
    // a line needs two points; a lone one is drawn as a dot
    else path += `M${x} ${y}${(values[at + 1] ?? null) === null ? "h1" : ""}`;
    last = { x, y };
  }
  return path;
}

/** Boxes of full height over the values that are missing, each as wide as the step from one value to the next. */
export function gapsBetween(isMissing: readonly boolean[], area: ChartArea): string {
  let path = "";
  let from: number | null = null;
  for (let at = 0; at <= isMissing.length; at += 1) {
    if (isMissing[at] === true) from ??= at;
    else if (from !== null) {
      const x = xOf(Math.max(0, from - 0.5), isMissing.length, area);
      const end = xOf(Math.min(at - 0.5, isMissing.length - 1), isMissing.length, area);
      path += `M${x} 0H${end}V${area.height}H${x}z`;
      from = null;
    }
  }
  return path;
}

function xOf(at: number, count: number, { width }: ChartArea): number {
  return Math.round((at * width) / Math.max(1, count - 1));
}
