/** Starts every program of the service, in the order in which they stand on each other. */

import type { Program } from "./child.js";
import { packagedFile } from "./package.js";
import {
  environmentWith,
  type SettingName,
  type Settings,
} from "./settings.js";
import type { Supervisor } from "./supervisor.js";

type Changes = Partial<Record<SettingName, string>>;

/** Where they answer, as they said themselves. */
export interface Addresses {
  /** Null where `DATABASE_URL` names a server: it is not ours. */
  embedded: string | null;
  web: string | null;
  core: string | null;
  /** By region. */
  probes: Map<string, string | null>;
}

/** @param changes settings that differ from the environment, for all programs */
export async function startAll(
  supervisor: Supervisor,
  settings: Settings,
  regions: readonly string[],
  changes: Changes = {},
): Promise<Addresses> {
  const embedded =
    settings.databaseUrl === null
      ? await supervisor.start(program("database", changes))
      : null;
  const all =
    embedded === null ? changes : { ...changes, DATABASE_URL: embedded };
  await supervisor.run(program("migrate", all));

  const ports = healthPorts(settings.healthPort, regions.length + 1);
  const [corePort, ...probePorts] = ports;
  const core = await supervisor.start(
    program("core", { ...all, HEALTH_PORT: corePort }),
  );
  const web = await supervisor.start(program("web", all));
  const probes = await Promise.all(
    regions.map(async (REGION, i) => {
      const own = { ...all, REGION, HEALTH_PORT: probePorts[i] };
      const address = await supervisor.start(
        program("probe", own, `probe ${REGION}`),
      );
      return [REGION, address] as const;
    }),
  );
  return { embedded, web, core, probes: new Map(probes) };
}

export function program(
  command: string,
  changes: Changes,
  name = command,
): Program {
  return {
    name,
    args: ["--enable-source-maps", packagedFile("dist/server/cli.js"), command],
    env: environmentWith(changes),
  };
}

/** One for each, upwards from the first; 0 stays 0, any free one. */
function healthPorts(first: number, count: number): string[] {
  return Array.from({ length: count }, (_, i) =>
    String(first === 0 ? 0 : first + i),
  );
}
