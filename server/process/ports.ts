/** The ports that programs listen on, checked before anything starts. */
import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import type { Service } from "../../shared/config/package.js";
import { loopbackAddress } from "../../shared/config/setting-values.js";
import type { SettingName, Settings } from "../../shared/config/settings.js";
import { UserError } from "../../shared/process/user-error.js";

/** A port that a program is going to listen on. */
export interface WantedPort {
  /** 0: any free one. */
  port: number;
  host: string;
  setting: PortSetting;
  /** What will listen there. */
  for: string;
}

/**
 * Health ports for `count` programs, as texts for their environment: consecutive from `first`, or all 0 (any free port)
 * if that is 0.
 */
export function healthPorts(first: number, count: number): string[] {
  return Array.from({ length: count }, (_, i) => String(first === 0 ? 0 : first + i));
}

/**
 * The ports of everything that `up` and `demo` start: a probe for each region, and no embedded database where
 * `DATABASE_URL` is set.
 */
export function portsOfAll(settings: Settings, regions: readonly string[]): WantedPort[] {
  const programs = ["core", ...regions.map((region) => `the probe of ${region}`), "web"];
  const ports = healthPorts(settings.healthPort.core, programs.length);
  return [
    ...(settings.databaseUrl === null ? [embeddedPort(settings)] : []),
    publicPort(settings),
    ...programs.map((program, i) => healthPort(settings, Number(ports[i]), program)),
  ];
}

/** The ports of one program that is started alone. */
export function portsOf(settings: Settings, service: Service): WantedPort[] {
  const health = healthPort(settings, settings.healthPort[service], service);
  return service === "web" ? [publicPort(settings), health] : [health];
}

function publicPort({ port, host }: Settings): WantedPort {
  return { port, host, setting: "PORT", for: "the public API" };
}

export function embeddedPort({ embeddedPort: port }: Settings): WantedPort {
  return {
    port,
    host: loopbackAddress,
    setting: "EMBEDDED_PORT",
    for: "the embedded database",
  };
}

function healthPort({ healthHost: host }: Settings, port: number, program: string): WantedPort {
  return { port, host, setting: "HEALTH_PORT", for: `health of ${program}` };
}

/**
 * Checks that each port is wanted once, and that all are free now. Call it before anything is started or written:
 * otherwise the last program would fail much later, when the others already run.
 *
 * @throws UserError with every problem and the setting to change
 */
export async function requirePorts(wanted: readonly WantedPort[]): Promise<void> {
  const fixed = wanted.filter(({ port }) => port !== 0);
  const problems = [...impossiblePorts(fixed), ...sharedPorts(fixed)];
  for (const one of fixed) if (one.port <= highestPort) problems.push(...(await takenPort(one)));
  if (problems.length === 0) return;
  const [first] = problems;
  throw new UserError(problems.length === 1 ? first! : ["these ports cannot be used:", ...problems].join("\n  "));
}

const highestPort = 65_535;

/** `up` counts upwards from HEALTH_PORT. */
function impossiblePorts(wanted: readonly WantedPort[]): string[] {
  return wanted
    .filter(({ port }) => port > highestPort)
    .map(
      ({ port, setting, ...one }) =>
        `${setting}: ${one.for} would get port ${port}, and the highest is ${highestPort}; set a lower ${setting}`,
    );
}

/** Compares numbers only: the same port at two addresses is probably a mistake. */
function sharedPorts(wanted: readonly WantedPort[]): string[] {
  return wanted.flatMap((one, i) => {
    const earlier = wanted.slice(0, i).find(({ port }) => port === one.port);
    if (!earlier) return [];
    const settings = [...new Set([earlier.setting, one.setting])].join(" or ");
    return `port ${one.port} is wanted twice, for ${earlier.for} (${earlier.setting}) and for ${one.for} (${one.setting}); set ${settings} to another`;
  });
}

async function takenPort({ port, host, setting }: WantedPort): Promise<string[]> {
  const server = createServer();
  try {
    await listen(server, port, host, setting);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return [error.message];
  }
  server.close();
  await once(server, "close");
  return [];
}

// Opens a port for listening. An error that the user can correct names the setting.

/** The port settings, each with the setting of its address; null where that is fixed. */
const hostSettings = {
  PORT: "HOST",
  HEALTH_PORT: "HEALTH_HOST",
  EMBEDDED_PORT: null,
} as const satisfies Partial<Record<SettingName, SettingName | null>>;

type PortSetting = keyof typeof hostSettings;

/**
 * @param port 0: any free one
 * @param host IP address; `0.0.0.0` and `::` are all addresses of this machine
 * @param setting the one that set `port`
 * @returns the opened port
 * @throws UserError where the port is in use or not allowed, or this machine does not have the address
 */
export async function listen(server: Server, port: number, host: string, setting: PortSetting): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    function onError(error: NodeJS.ErrnoException) {
      const sentence = listenErrors[error.code ?? ""]?.(port, host, setting);
      reject(sentence ? new UserError(sentence, { cause: error }) : error);
    }
    server.once("error", onError);
    server.listen(port, host, () => {
      server.off("error", onError);
      resolve();
    });
  });
  return (server.address() as AddressInfo).port;
}

const listenErrors: Record<string, (port: number, host: string, setting: PortSetting) => string> = {
  EADDRINUSE: (port, _host, setting) =>
    `port ${port} is in use by another program: stop it, or set ${setting} to a free port`,
  EACCES: (port, _host, setting) => `this user may not open port ${port}: set ${setting} to a port above 1023`,
  EADDRNOTAVAIL: notOurs,
  // `::` or `::1` where the system has no IPv6
  EAFNOSUPPORT: notOurs,
};

function notOurs(_port: number, host: string, setting: PortSetting): string {
  const hostSetting = hostSettings[setting];
  return `this machine has no address ${host} to listen on: ${hostSetting === null ? "its loopback interface is down" : `set ${hostSetting} to one that it has, or to 0.0.0.0 for all`}`;
}
