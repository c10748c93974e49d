import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import type { Backend } from "./backend.js";
import { makeAdmission } from "./admission.js";
import { serveClient } from "./client.js";
import type { EmbeddedLog, RefusedClients } from "./log.js";
import type { Complaint } from "./wire-messages.js";
import { makeBackendMutex, type Waiter } from "./backend-mutex.js";

export interface ServiceLimits {
  /** How long a login may take, from the connection on; a minute by default, as PostgreSQL's authentication_timeout. */
  loginLimitMs?: number;
  /** How long a client may hold the database while it is idle, in a transaction or before Sync; 10 s by default. */
  idleTransactionMs?: number;
  /**
   * How long a client that is no superuser may hold the database at a time, with a statement or a transaction;
   * unlimited by default.
   */
  turnLimitMs?: number;
  /**
   * Clients that have logged in; 100 by default. At most half of them may be of logins without superuser rights. As
   * many more connections may be on their way through the login; then a new one replaces the one that waits longest.
   */
  maxClients?: number;
}

export interface ServiceOptions extends ServiceLimits {
  /** On 127.0.0.1; 0 takes a free one. */
  port: number;
  log: EmbeddedLog;
  refused: RefusedClients;
  /** Challenges for unknown users derive from it. It must stay secret, and unchanged as long as the database exists. */
  decoySecret: string;
  /** What a client can do that has reached `turnLimitMs`. */
  turnLimitHint?: string;
}

export interface EmbeddedService {
  port: number;
  /** Rejects when the backend has died and all clients have received the error. Never resolves. */
  failed: Promise<never>;
  /** Waits for the running statement, rolls back open transactions, and closes the backend. */
  close(): Promise<void>;
}

/** A close that takes longer than this ends like a kill, which loses nothing either. */
const closeDeadlineMs = 20_000;
const checkpointEveryMs = 5_000;

/** Accepts clients on loopback, which take turns with the backend. */
export async function startService(backend: Backend, options: ServiceOptions): Promise<EmbeddedService> {
  const { log, refused, decoySecret, turnLimitHint } = options;
  const { loginLimitMs = 60_000, idleTransactionMs = 10_000, turnLimitMs = Infinity, maxClients = 100 } = options;
  const turns = makeBackendMutex(fail);
  const admission = makeAdmission(maxClients, refused);
  let accepted = 0;
  let ending: Promise<void> | undefined;
  let onFailure: (error: unknown) => void;
  const failed = new Promise<never>((_, reject) => (onFailure = reject));
  backend.failed.catch(fail);

  const server = createServer(accept);
  server.listen(options.port, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const checkpoints = repeatCheckpoints();

  return { port, failed, close };

  function accept(socket: Socket): void {
    admission.makeRoom();
    const number = ++accepted;
    const client = serveClient(socket, {
      number,
      backend,
      turns,
      log,
      refused,
      ...{ decoySecret, loginLimitMs, idleTransactionMs, turnLimitMs, turnLimitHint },
      onCancel: cancel,
      onProved: admission.logIn,
      onHeld: admission.limitHeld,
      onGone: () => admission.remove(number),
    });
    admission.add(number, client);
  }

  /** As in PostgreSQL, the result is not reported, because a client could use it to guess keys. */
  function cancel(number: number, secret: number): void {
    if (admission.find(number)?.secret !== secret) return;
    backend.cancel(number).catch((error: unknown) => {
      log.warn("a statement could not be cancelled", { client: number, error });
    });
  }

  /** A checkpoint waits for its turn like a client. */
  function repeatCheckpoints(): NodeJS.Timeout {
    let due = false;
    const waiter: Waiter = {
      ready: () => due,
      comesFirst: () => true,
      async play() {
        due = false;
        await backend.request({ kind: "checkpoint" });
        return "done";
      },
      idleMs: () => idleTransactionMs,
      idleTooLong() {
        // It never keeps the backend.
      },
    };
    return setInterval(() => {
      due = true;
      turns.wake(waiter);
    }, checkpointEveryMs).unref();
  }

  /** Nothing is retried here: only a new process, or at least a new thread, has a defined state. */
  function fail(error: unknown): void {
    if (ending) return;
    ending = Promise.resolve();
    log.error("the embedded database has crashed", { error });
    server.close();
    dismissAll(crashed);
    onFailure(error);
  }

  function close(): Promise<void> {
    ending ??= end();
    return ending;
  }

  async function end(): Promise<void> {
    const deadline = setTimeout(() => backend.kill(), closeDeadlineMs);
    server.close();
    await turns.stop();
    dismissAll(shuttingDown);
    await backend.close();
    clearTimeout(deadline);
  }

  function dismissAll(reason: Complaint): void {
    clearInterval(checkpoints);
    refused.close();
    for (const client of admission.all()) client.expel(reason);
  }
}

const crashed: Complaint = {
  severity: "FATAL",
  code: "57P02",
  message: "the database has crashed; connect again when it has been restarted",
};

const shuttingDown: Complaint = {
  severity: "FATAL",
  code: "57P01",
  message: "the database is shutting down",
};
