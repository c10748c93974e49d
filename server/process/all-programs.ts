/** Every program of the service, started in the order in which they stand on each other. */

import type { Program } from "./child.js";
import { ownerPasswordFile } from "../../shared/config/embedded-passwords.js";
import { packagedFile } from "../../shared/config/package.js";
import { healthPorts } from "./ports.js";
import { environmentWith, type SettingName, type Settings } from "../../shared/config/settings.js";
import type { Supervisor } from "./supervisor.js";

type Changes = Partial<Record<SettingName, string>>;

/** Set to nothing is not set: of all programs core alone reads where channels are. */
const withoutKey: Changes = { CHANNEL_KEY: "", CHANNEL_KEY_FILE: "" };

export interface Database {
  /**
   * Where the embedded database answers, without its password; null where `DATABASE_URL` names a server, which is not
   * ours.
   */
  embedded: string | null;
  /** The settings with which the other programs find it. */
  changes: Changes;
}

/** Where they answer, as they said themselves. */
export interface Addresses {
  core: string | null;
  web: string | null;
  /** By region. */
  probes: Map<string, string | null>;
}

/** @param changes settings that differ from the environment */
export async function startDatabase(
  supervisor: Supervisor,
  { databaseUrl, dataDir }: Settings,
  changes: Changes = {},
): Promise<Database> {
  const embedded =
    databaseUrl === null ? await supervisor.start(program("database", { ...changes, ...withoutKey })) : null;
  if (embedded === null) return { embedded, changes };
  const DATABASE_PASSWORD_FILE = ownerPasswordFile(changes.DATA_DIR ?? dataDir);
  return {
    embedded,
    changes: { ...changes, DATABASE_URL: embedded, DATABASE_PASSWORD_FILE },
  };
}

/** Brings the schema up to date. */
export async function migrateDatabase(supervisor: Supervisor, changes: Changes): Promise<void> {
  await supervisor.run(program("migrate", { ...changes, ...withoutKey }));
}

/** The programs that stand on the database. */
export async function startServices(
  supervisor: Supervisor,
  settings: Settings,
  regions: readonly string[],
  changes: Changes,
): Promise<Addresses> {
  const core = await startCore(supervisor, settings, changes);
  const others = await startWebAndProbes(supervisor, settings, regions, changes);
  return { core, ...others };
}

export function startCore(supervisor: Supervisor, { healthPort }: Settings, changes: Changes): Promise<string | null> {
  return supervisor.start(program("core", { ...changes, HEALTH_PORT: String(healthPort.core) }));
}

export async function startWebAndProbes(
  supervisor: Supervisor,
  { healthPort }: Settings,
  regions: readonly string[],
  changes: Changes,
): Promise<Omit<Addresses, "core">> {
  const ports = healthPorts(healthPort.core, regions.length + 2).slice(1);
  const startProbe = async (REGION: string, i: number) => {
    const own = { ...changes, ...withoutKey, REGION, HEALTH_PORT: ports[i] };
    const address = await supervisor.start(program("probe", own, `probe ${REGION}`));
    return [REGION, address] as const;
  };
  const [web, ...probes] = await Promise.all([
    supervisor.start(
      program("web", {
        ...changes,
        ...withoutKey,
        HEALTH_PORT: ports[regions.length],
      }),
    ),
    ...regions.map(startProbe),
  ]);
  return { web, probes: new Map(probes) };
}

/**
 * Each name whose servers are silent holds one for up to half a minute: with Node's four, a few such venues would stop
 * a probe from looking up any other.
 */
const threads = "32";

/**
 * glibc keeps what is freed, in a heap of its own for each thread. These make it few heaps, and give pages back to the
 * system: all programs of the demo take 511 MiB together instead of 658, in the same time (two runs each). Other C
 * libraries ignore them.
 */
const allocator = {
  MALLOC_ARENA_MAX: "2",
  MALLOC_MMAP_THRESHOLD_: "32768",
  MALLOC_TRIM_THRESHOLD_: "131072",
};

/** @param command with its options, if it needs any */
export function program(command: string | string[], changes: Changes, name = String(command)): Program {
  const cli = packagedFile("dist/server/cli.js");
  return {
    name,
    args: ["--enable-source-maps", cli, ...[command].flat()],
    env: {
      UV_THREADPOOL_SIZE: threads,
      ...allocator,
      ...environmentWith(changes),
    },
  };
}
