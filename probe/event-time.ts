import type { Stream } from "../server/registry.js";
import { kinds, type Scanner } from "./frame-scan.js";

type Unit = NonNullable<Stream["eventTime"]>["unit"];

const milliseconds = { ns: 1e-6, us: 1e-3, ms: 1, s: 1000 };

/** The instant that stands at a path, milliseconds since 1970; null where none can be read. */
export function timeMsOf(
  scanner: Scanner,
  path: number,
  unit: Unit,
): number | null {
  const timeMs =
    unit === "iso" ? isoMs(scanner, path) : inUnit(scanner, path, unit);
  return Number.isFinite(timeMs) ? timeMs : null;
}

function inUnit(
  scanner: Scanner,
  path: number,
  unit: Exclude<Unit, "iso">,
): number {
  return scanner.number(path) * milliseconds[unit];
}

function isoMs(scanner: Scanner, path: number): number {
  const kind = scanner.kind(path);
  if (kind !== kinds.string && kind !== kinds.number) return NaN;
  return Date.parse(String(scanner.value(path)));
}
