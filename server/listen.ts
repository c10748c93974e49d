/** Opens a port for listening; what the user can put right is told in one sentence that names the setting. */

import type { AddressInfo, Server } from "node:net";

import type { SettingName } from "./settings.js";
import { UserError } from "./user-error.js";

/**
 * @param port 0: any free one
 * @param host undefined: all addresses of this machine
 * @param setting where `port` came from
 * @returns the port that was opened
 * @throws UserError where the port is in use or not allowed, or the host is not ours
 */
export async function listen(
  server: Server,
  port: number,
  host: string | undefined,
  setting: SettingName,
): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    function onError(error: NodeJS.ErrnoException) {
      const sentence = sentences[error.code ?? ""]?.(port, setting);
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

const sentences: Record<string, (port: number, setting: string) => string> = {
  EADDRINUSE: (port, setting) =>
    `port ${port} is in use by another program: stop that one, or set ${setting} to a free port`,
  EACCES: (port, setting) =>
    `this user may not open port ${port}: set ${setting} to a port above 1023`,
};
