const width = 120;
const margin = 2;

/** Where a drawing of uptimes may begin, in per cent. */
const starts = [99.99, 99.9, 99.5, 99, 98, 95, 90, 80, 50, 0];

/** The start of a scale that shows all of these lower bounds and no more than it must; null if there are none. */
export function scaleStart(lows: readonly number[]): number | null {
  if (lows.length === 0) return null;
  return starts.find((start) => lows.every((low) => low >= start)) ?? 0;
}

export interface UptimeIntervalProps {
  low: number;
  high: number;
  uptime: number;
  start: number;
}

/** The bounds as a bar and the uptime as a mark. Hidden from screen readers, since the same figures stand beside it. */
export function UptimeInterval({ low, high, uptime, start }: UptimeIntervalProps) {
  const at = (percent: number) => margin + Math.round((width * (percent - start)) / (100 - start));
  return (
    <svg class="interval" viewBox={`0 0 ${width + 2 * margin} 16`} aria-hidden="true">
      <path class="baseline" d={`M${margin} 8h${width}`} />
      <path class="range" d={`M${at(low)} 8H${Math.max(at(high), at(low) + 2)}`} />
      <path class="mark" d={`M${at(uptime)} 2v12`} />
    </svg>
  );
}
