import type { Stream } from "../server/registry.js";
import type { Scanner } from "./frame-scan.js";

type Unit = NonNullable<Stream["eventTime"]>["unit"];

const milliseconds = { ns: 1e-6, us: 1e-3, ms: 1, s: 1000 };

/** The instant that stands at a path, milliseconds since 1970; null where none can be read. */
export function timeMsOf(
  scanner: Scanner,
  path: number,
  unit: Unit,
): number | null {
  const timeMs =
    unit === "iso"
      ? scanner.isoMs(path)
      : scanner.number(path) * milliseconds[unit];
  return Number.isFinite(timeMs) ? timeMs : null;
}
