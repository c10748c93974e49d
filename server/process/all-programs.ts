/** Starts every program of the service, each after those that it depends on. */
import { access, constants, mkdir } from "node:fs/promises";
import { ownerPasswordFile } from "../../shared/config/embedded-passwords.js";
import { packagedFile } from "../../shared/config/package.js";
import { environmentWith, type SettingName, type Settings } from "../../shared/config/settings.js";
import { UserError } from "../../shared/process/user-error.js";
import { healthPorts } from "./ports.js";
import type { Program, Supervisor } from "./supervisor.js";

type Changes = Partial<Record<SettingName, string>>;

/** An empty setting counts as not set: only core may decrypt the channels' destinations. */
const withoutKey: Changes = { CHANNEL_KEY: "", CHANNEL_KEY_FILE: "" };

export interface Database {
  /** The embedded database's address without its password; null where `DATABASE_URL` names a server. */
  embedded: string | null;
  /** The settings that the other programs need to connect to it. */
  changes: Changes;
}

/** The addresses that the programs reported when they were ready. */
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
    databaseUrl === null ? await supervisor.start(programOf("database", { ...changes, ...withoutKey })) : null;
  if (embedded === null) return { embedded, changes };
  const DATABASE_PASSWORD_FILE = ownerPasswordFile(changes.DATA_DIR ?? dataDir);
  return {
    embedded,
    changes: { ...changes, DATABASE_URL: embedded, DATABASE_PASSWORD_FILE },
  };
}

export async function migrateDatabase(supervisor: Supervisor, changes: Changes): Promise<void> {
  await supervisor.run(programOf("migrate", { ...changes, ...withoutKey }));
}

/** The programs that need the database. */
export async function startServices(
  supervisor: Supervisor,
  settings: Settings,
  regions: readonly string[],
  changes: Changes,
): Promise<Addresses> {
  const core = await startCoreProgram(supervisor, settings, changes);
  const others = await startWebAndProbes(supervisor, settings, regions, changes);
  return { core, ...others };
}

export function startCoreProgram(
  supervisor: Supervisor,
  { healthPort }: Settings,
  changes: Changes,
): Promise<string | null> {
  return supervisor.start(programOf("core", { ...changes, HEALTH_PORT: String(healthPort.core) }));
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
    const address = await supervisor.start(programOf("probe", own, `probe ${REGION}`));
    return [REGION, address] as const;
  };
  const [web, ...probes] = await Promise.all([
    supervisor.start(
      programOf("web", {
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
 * For DNS lookups: a name whose servers do not answer occupies a thread for up to half a minute. With Node's default of
 * four, a few such venues would keep a probe from resolving any other.
 */
const threadPoolSize = "32";

/**
 * glibc keeps freed memory, in a separate heap for each thread. These settings limit the heaps and return pages to the
 * system: all programs of the demo together take 511 MiB instead of 658, at the same speed (two runs each). Other C
 * libraries ignore them.
 */
const allocatorSettings = {
  MALLOC_ARENA_MAX: "2",
  MALLOC_MMAP_THRESHOLD_: "32768",
  MALLOC_TRIM_THRESHOLD_: "131072",
};

/** @param command with its options, if any */
export function programOf(command: string | string[], changes: Changes, name = String(command)): Program {
  const cli = packagedFile("dist/server/cli.js");
  return {
    name,
    args: ["--enable-source-maps", cli, ...[command].flat()],
    env: {
      UV_THREADPOOL_SIZE: threadPoolSize,
      ...allocatorSettings,
      ...environmentWith(changes),
    },
  };
}

// Creates the data directory where it is missing, and checks at the start that it is writable.

/** @throws UserError where it cannot be created or written */
export async function makeDataDir(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true });
    await access(path, constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UserError(
      `the data directory ${path} cannot be written (${code}): make it writable for this user, or set DATA_DIR to another directory`,
      { cause: error },
    );
  }
}
