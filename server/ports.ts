/** Ports that the programs of one start would take from each other. */
import type { Settings } from "./settings.js";
import { UserError } from "./user-error.js";

/**
 * The health ports of so many programs, as texts for their environment: one for each, upwards from the first; 0 stays 0, any free one.
 */
export function healthPorts(first: number, count: number): string[] {
  return Array.from({ length: count }, (_, i) =>
    String(first === 0 ? 0 : first + i),
  );
}

/**
 * Refuses settings by which two of the programs want one port. To be called before anything is started: the one that comes second
 * would be told, much later, that another program has it.
 *
 * @param regions how many have a probe each
 * @throws UserError with what to set
 */
export function refuseSharedPorts(
  { databaseUrl, port, embeddedPort, healthPort }: Settings,
  regions: number,
): void {
  const health = healthPorts(healthPort.core, regions + 2).map(Number);
  const [first, last] = [health[0]!, health.at(-1)!];
  const wanted = [
    ...(databaseUrl === null ? [["EMBEDDED_PORT", embeddedPort] as const] : []),
    ["PORT", port] as const,
  ];
  const clash = wanted.find(([, one]) => one !== 0 && health.includes(one));
  if (clash)
    throw new UserError(
      `${clash[0]}: ${clash[1]} is one of the health ports, ${first} to ${last} (HEALTH_PORT, one for each program); set ${clash[0]} or HEALTH_PORT to others`,
    );
  if (databaseUrl === null && port !== 0 && port === embeddedPort)
    throw new UserError(
      `EMBEDDED_PORT: ${port} is PORT too; set one of them to another`,
    );
}
