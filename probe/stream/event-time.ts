import type { Stream } from "../../shared/registry/registry.js";
import { compileScan } from "./frame-scan.js";

/** How many milliseconds a unit has. */
export const milliseconds = { ns: 1e-6, us: 1e-3, ms: 1, s: 1000 };

/** Reads when an event was, milliseconds since 1970; null where a frame says nothing that can be read. */
export function compileEventTime({
  path,
  unit,
}: NonNullable<Stream["eventTime"]>): (frame: Buffer) => number | null {
  const scanner = compileScan([path]);
  const [it, all] = [0, 1];

  return (frame) => {
    if (!scanner.scan(frame, all, () => 0)) return null;
    const timeMs =
      unit === "iso"
        ? scanner.isoMs(it)
        : scanner.number(it) * milliseconds[unit];
    return Number.isFinite(timeMs) ? timeMs : null;
  };
}
