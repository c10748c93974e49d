import { brandOf, readSettings, type Settings } from "../../shared/config/settings.js";
import { makeLog } from "../../shared/log/log.js";
import { UserError } from "../../shared/process/user-error.js";
import { loadRegistry } from "../../shared/registry/load-registry.js";
import { analystCommand } from "../database/embedded.js";
import { migrateDatabase, startDatabase, startServices } from "../process/all-programs.js";
import { runUntilStopped } from "../process/lifecycle.js";
import { portsOfAll, requirePorts } from "../process/ports.js";
import { makeSupervisor } from "../process/supervisor.js";
import { welcome } from "./welcome.js";

export const help = `Starts the embedded database (unless DATABASE_URL is set), upgrades its schema, and runs core, web
and a probe for each of REGIONS as child processes. A process that dies is restarted. SIGTERM or Ctrl-C stops all of
them, last started first, within ten seconds.`;

export async function run(): Promise<void> {
  const settings = readSettings();
  // what a program would refuse later is refused before anything starts
  brandOf(settings);
  const regions = await regionsOf(settings);
  // they all run on this machine
  const probes = settings.probesPerAddress ?? regions.length;
  // refuses what cannot be measured within the limits of venues
  await loadRegistry(settings.registry, probes);
  await requirePorts(portsOfAll(settings, regions));
  const log = makeLog("up", settings.logLevel);
  await runUntilStopped(log, async (life) => {
    const supervisor = makeSupervisor({ log });
    life.onClose("programs", supervisor.close);
    const { embedded, changes } = await startDatabase(supervisor, settings, { PROBES_PER_ADDRESS: String(probes) });
    await migrateDatabase(supervisor, changes);
    const services = await startServices(supervisor, settings, regions, changes);
    const psql = embedded && analystCommand(embedded, settings.dataDir);
    process.stdout.write(welcome(psql, services));
    return services.web;
  });
}

/** @throws UserError for a region that the registry does not have */
async function regionsOf({ registry, regions }: Settings): Promise<string[]> {
  const known = (await loadRegistry(registry)).regions.map(({ id }) => id);
  const unknown = regions?.filter((region) => !known.includes(region)) ?? [];
  if (unknown.length > 0)
    throw new UserError(
      `REGIONS: expected regions of the registry, ${known.join(", ")}, got ${unknown.join(", ")}; correct REGIONS, or unset it for all`,
    );
  return [...(regions ?? known)];
}
