/**
 * Which machine this probe runs on, as a fingerprint. Probes with the same one share a network, whatever their regions
 * are called.
 *
 * It tells nobody the machine's id: that is hashed, with a text of ours, as machine-id(5) asks for.
 */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { hostname } from "node:os";

export interface Machine {
  /** 16 hex digits. */
  fingerprint: string;
  /** What it was made of. */
  source: "machine id" | "boot id" | "host name";
}

interface IdentityFile {
  path: string;
  source: Exclude<Machine["source"], "host name">;
}

/**
 * In this order. A container mostly has no machine id of its own; all containers of a host run on one kernel, whose
 * boot id tells that they do. It changes with each start of the host.
 */
const identityFiles: readonly IdentityFile[] = [
  { path: "/etc/machine-id", source: "machine id" },
  { path: "/var/lib/dbus/machine-id", source: "machine id" },
  // FreeBSD
  { path: "/etc/hostid", source: "machine id" },
  { path: "/proc/sys/kernel/random/boot_id", source: "boot id" },
];

/** 32 hex digits, with or without dashes. An image that is not started yet has `uninitialized`, or nothing. */
const idPattern = /^[0-9a-f]{32}$/;

/** @param files where a machine's id may be; the first that has one is taken */
export async function thisMachine(files = identityFiles, name = hostname()): Promise<Machine> {
  for (const { path, source } of files) {
    const id = await idIn(path);
    if (id !== null) return machineOf(source, id);
  }
  return machineOf("host name", name);
}

async function idIn(path: string): Promise<string | null> {
  // none that can be read is none: there are others
  const text = await readFile(path, "utf8").catch(() => "");
  const id = text.trim().toLowerCase().replaceAll("-", "");
  return idPattern.test(id) && /[^0]/.test(id) ? id : null;
}

function machineOf(source: Machine["source"], id: string): Machine {
  const hash = createHash("sha256").update(`venuewatch ${source}: ${id}`);
  return { fingerprint: hash.digest("hex").slice(0, 16), source };
}
