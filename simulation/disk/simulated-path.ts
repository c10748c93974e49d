/** Which paths are on the simulated disk. Code in a simulated process sees all others on the real disk. */
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** Each machine has its own tree below it. */
export const simulatedRoot = "/simulated";

/** The descriptors of a simulated process begin here, so that they are never taken for real ones. */
export const firstDescriptor = 1_000_000;

/**
 * Null if it is none. Linux has another name for the directory of a descriptor; long paths of Unix sockets are written
 * so.
 *
 * @param directoryOf the path by which a simulated descriptor was opened
 */
export function simulatedPath(given: unknown, directoryOf: (fd: number) => string | undefined): string | null {
  const path = textOf(given);
  if (path === null) return null;
  const [, fd, rest] = /^\/proc\/self\/fd\/(\d+)(\/.*)?$/s.exec(path) ?? [];
  const directory = Number(fd) >= firstDescriptor ? directoryOf(Number(fd)) : undefined;
  if (directory !== undefined) return directory + (rest ?? "");
  const whole = resolve(path);
  if (whole !== simulatedRoot && !whole.startsWith(`${simulatedRoot}/`)) return null;
  return path.startsWith(simulatedRoot) ? path : whole;
}

function textOf(given: unknown): string | null {
  if (typeof given === "string") return given;
  if (given instanceof URL) return given.protocol === "file:" ? fileURLToPath(given) : null;
  return given instanceof Uint8Array ? Buffer.from(given).toString() : null;
}
