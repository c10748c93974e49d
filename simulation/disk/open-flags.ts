/** Node's names for the flags of `open`. */
import { constants } from "node:fs";
import { unsupported } from "./system-error.js";

const { O_RDONLY, O_RDWR, O_WRONLY, O_CREAT, O_EXCL, O_TRUNC, O_APPEND, O_SYNC, O_DSYNC } = constants;
const { O_DIRECTORY, O_NOFOLLOW, O_NOATIME, O_NONBLOCK, O_NOCTTY } = constants;

const create = O_WRONLY | O_CREAT;
const createBoth = O_RDWR | O_CREAT;
const names: Record<string, number> = {
  ...{ r: O_RDONLY, rs: O_RDONLY | O_SYNC, "r+": O_RDWR, "rs+": O_RDWR | O_SYNC },
  ...{ w: create | O_TRUNC, wx: create | O_TRUNC | O_EXCL },
  ...{ "w+": createBoth | O_TRUNC, "wx+": createBoth | O_TRUNC | O_EXCL },
  ...{ a: create | O_APPEND, ax: create | O_APPEND | O_EXCL, as: create | O_APPEND | O_SYNC },
  ...{ "a+": createBoth | O_APPEND, "ax+": createBoth | O_APPEND | O_EXCL, "as+": createBoth | O_APPEND | O_SYNC },
};

const used = O_RDWR | O_WRONLY | O_CREAT | O_EXCL | O_TRUNC | O_APPEND | O_SYNC | O_DSYNC | O_DIRECTORY;
/** They make no difference on this disk. */
const ignored = O_NOFOLLOW | O_NOATIME | O_NONBLOCK | O_NOCTTY;

export function openFlags(given: unknown = "r"): number {
  const flags = typeof given === "string" ? names[given] : given;
  if (typeof flags !== "number" || flags & ~(used | ignored)) throw unsupported(`flag ${String(given)} of open`);
  return flags;
}
