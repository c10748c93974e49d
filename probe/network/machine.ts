import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { hostname } from "node:os";

// A fingerprint of the machine that this probe runs on. Probes with the same fingerprint share a network, even if their
// regions have different names.
//
// It does not disclose the machine's id: the id is hashed together with an application-specific text, as machine-id(5)
// requires.

export interface Machine {
  /** 16 hex digits. */
  fingerprint: string;
  /** The kind of id from which the fingerprint was made. */
  source: "machine id" | "boot id" | "host name";
}

interface IdentityFile {
  path: string;
  source: Exclude<Machine["source"], "host name">;
}

/**
 * In order of preference. A container usually has no machine id. All containers of a host share a kernel, and therefore
 * its boot id, which changes with each start of the host.
 */
const identityFiles: readonly IdentityFile[] = [
  { path: "/etc/machine-id", source: "machine id" },
  { path: "/var/lib/dbus/machine-id", source: "machine id" },
  // FreeBSD
  { path: "/etc/hostid", source: "machine id" },
  { path: "/proc/sys/kernel/random/boot_id", source: "boot id" },
];

/** Applied after dashes are removed. An image that has never been started has `uninitialized`, or nothing. */
const idPattern = /^[0-9a-f]{32}$/;

/** @param files where a machine's id may be; the first file with an id is used */
export async function thisMachine(files = identityFiles, name = hostname()): Promise<Machine> {
  for (const { path, source } of files) {
    const id = await idIn(path);
    if (id !== null) return machineOf(source, id);
  }
  return machineOf("host name", name);
}

async function idIn(path: string): Promise<string | null> {
  // an unreadable file counts as one without an id
  const text = await readFile(path, "utf8").catch(() => "");
  const id = text.trim().toLowerCase().replaceAll("-", "");
  return idPattern.test(id) && /[^0]/.test(id) ? id : null;
}

function machineOf(source: Machine["source"], id: string): Machine {
  const hash = createHash("sha256").update(`venuewatch ${source}: ${id}`);
  return { fingerprint: hash.digest("hex").slice(0, 16), source };
}
