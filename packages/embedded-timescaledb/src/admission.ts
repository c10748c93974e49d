/** Which connections are served: those that have logged in, and those on their way, each within limits. */

import type { WireClient } from "./client.js";
import type { RefusedClients } from "./log.js";
import type { Complaint } from "./wire-messages.js";

/** What all clients together may have in memory: messages that wait for a turn, and answers that they do not read. */
const heldLimitBytes = 256 * 1024 * 1024;

export interface Admission {
  /**
   * Anybody on the machine can connect: where too many are on their way, the one goes that has taken the fewest steps
   * of its login, and of these the longest. Who knows a password is soon ahead.
   */
  makeRoom: () => void;
  add(number: number, client: WireClient): void;
  remove(number: number): void;
  find(number: number): WireClient | undefined;
  all(): WireClient[];
  /** The client has proved its password. Returns why it is refused all the same; null if it may stay. */
  logIn: (number: number, isSuperuser: boolean) => Complaint | null;
  /** To be called when a client holds much memory. */
  limitHeld: () => void;
}

export function makeAdmission(maxClients: number, refused: RefusedClients): Admission {
  const clients = new Map<number, WireClient>();
  /** Those that have logged in, and whether as a superuser. */
  const loggedIn = new Map<number, boolean>();

  return {
    makeRoom() {
      if (clients.size - loggedIn.size < maxClients) return;
      const waiting = [...clients].filter(([number]) => !loggedIn.has(number)).map(([, client]) => client);
      const [last] = waiting.sort((one, other) => one.loginSteps() - other.loginSteps());
      refused.failed("connections that waited for a login", { limit: maxClients });
      last!.expel(tooManyClients(maxClients, "are on their way through the login"));
    },
    add(number, client) {
      clients.set(number, client);
    },
    remove(number) {
      clients.delete(number);
      loggedIn.delete(number);
    },
    find: (number) => clients.get(number),
    all: () => [...clients.values()],
    logIn(number, isSuperuser) {
      const others = [...loggedIn.values()].filter((one) => !one).length;
      const limit = isSuperuser ? maxClients : Math.ceil(maxClients / 2);
      if (loggedIn.size < maxClients && (isSuperuser || others < limit)) {
        loggedIn.set(number, isSuperuser);
        return null;
      }
      refused.failed("connections beyond the limit", { limit });
      return tooManyClients(limit, "are already connected");
    },
    limitHeld() {
      const held = [...clients.values()].map((client) => ({ client, bytes: client.heldBytes() }));
      if (held.reduce((sum, { bytes }) => sum + bytes, 0) <= heldLimitBytes) return;
      const [most] = held.sort((one, other) => other.bytes - one.bytes);
      refused.failed("clients that hold too much memory", { bytes: most!.bytes, limit: heldLimitBytes });
      most!.client.expel(tooMuchHeld);
    },
  };
}

const tooMuchHeld: Complaint = {
  severity: "FATAL",
  code: "53200",
  message: `terminating connection: ${heldLimitBytes / 1024 ** 2} MiB of messages and unread answers are in memory, and most are of this client`,
};

function tooManyClients(limit: number, what: string): Complaint {
  return { severity: "FATAL", code: "53300", message: `${limit} clients ${what}, which is the limit` };
}
