/** Opens a port for listening. An error that the user can correct names the setting. */

import { type AddressInfo, type Server } from "node:net";

import type { SettingName } from "./settings.js";
import { UserError } from "../process/user-error.js";

/** The port settings, each with the setting of its address; null where that is fixed. */
const hostSettings = {
  PORT: "HOST",
  HEALTH_PORT: "HEALTH_HOST",
  EMBEDDED_PORT: null,
} as const satisfies Partial<Record<SettingName, SettingName | null>>;

export type PortSetting = keyof typeof hostSettings;

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
      const sentence = sentences[error.code ?? ""]?.(port, host, setting);
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

const sentences: Record<string, (port: number, host: string, setting: PortSetting) => string> = {
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
