import { Worker } from "node:worker_threads";
import { setTimeout as sleep } from "node:timers/promises";
import { evaluateIn } from "./evaluate-in.js";
import type { Complaint } from "./wire-messages.js";
import type { ClientSessionOptions, Login } from "./session.js";
import type { Startup } from "./startup.js";

/** The requests to the worker; `client` is the host's number of the client. */
export type BackendRequest =
  /** Reads all logins. */
  | { kind: "logins" }
  /** Lets a role log in, and creates it if it is missing. */
  | { kind: "admit"; role: string; verifier: string }
  /** Opens the session of a client that has proved the password of this verifier. */
  | { kind: "open"; client: number; secret: number; startup: Startup; verifier: string }
  /**
   * Complete messages of one client, at most up to the end of an exchange. The bytes are transferred to the worker, and
   * the host cannot read them any more.
   */
  | { kind: "exchange"; client: number; bytes: Uint8Array<ArrayBuffer> }
  /** A Parse message that must not reach the backend. */
  | { kind: "refuse"; client: number; complaint: Complaint }
  | { kind: "leave"; client: number }
  | { kind: "checkpoint" }
  | { kind: "close" };

/**
 * The state of the client's session after a request.
 *
 * - `idle` ReadyForQuery, outside a transaction: another client may get the backend
 * - `transaction` ReadyForQuery, inside a transaction, failed or not
 * - `unfinished` within an exchange: Sync has not arrived
 * - `expelled` the reply is a FATAL error
 */
export type Standing = "idle" | "transaction" | "unfinished" | "expelled";

/** What determines the limits of a client. */
export interface Terms {
  isSuperuser: boolean;
  /** The client's statement_timeout; 0: none. */
  statementTimeoutMs: number;
}

export interface Reply {
  /** For the client. */
  bytes: Uint8Array<ArrayBuffer>;
  standing: Standing;
  /** In replies to `open` and `exchange`. */
  terms?: Terms;
  /** In replies to `logins`, by the name of the role. */
  logins?: Map<string, Login>;
  /** Whether logins may have changed since they were read. */
  loginsChanged?: boolean;
  /** The error of an expelled client; the bytes contain it, too. */
  complaint?: Complaint;
}

export interface RequestLimit {
  ms: number;
  /** The error that the client gets at the limit; null: PostgreSQL's own. */
  complaint: Complaint | null;
}

export interface Backend {
  /**
   * Requests are executed in order. Rejects if the backend has died.
   *
   * @param limit counts from the start of execution; an exchange that takes longer is cancelled. It can only be shorter
   * than the backend's own limit
   */
  request(request: BackendRequest, limit?: RequestLimit): Promise<Reply>;
  /** The logins as last read; null if they may have changed since. */
  knownLogins(): Map<string, Login> | null;
  /** Cancels the exchange of this client if it is running. Rejects if the thread cannot be reached. */
  cancel(client: number): Promise<void>;
  /** Rejects when the backend dies, never resolves. */
  failed: Promise<never>;
  /** Closes after all earlier requests, with a checkpoint. */
  close(): Promise<void>;
  /** Ends the thread at once, even during a request. */
  kill(): void;
}

/**
 * How long a cancelled request may take to end. Most take milliseconds; a regular expression over 200 MB took three
 * seconds.
 */
const graceMs = 5_000;
/** The host's own statements, before and after a client's, cannot be cancelled. They take less than a millisecond. */
const askAgainMs = 20;

interface Waiting {
  request: BackendRequest["kind"];
  number: number;
  client: number | null;
  limit: RequestLimit;
  /** Whether its client has asked to cancel it. */
  isCancelled: boolean;
  resolve: (reply: Reply) => void;
  reject: (error: Error) => void;
}

export interface BackendOptions extends ClientSessionOptions {
  directory: string;
  /**
   * An exchange that takes longer is cancelled, because nobody else is served meanwhile. If it does not end within
   * another 5 s, as a block that catches its cancellation does not, it counts as a crash; so does any other request
   * that takes that long.
   */
  statementLimitMs: number;
  /**
   * PostgreSQL's wall time, milliseconds since 1970, as one Float64 that the host may change at any time; the machine's
   * clock by default.
   */
  wallClock?: SharedArrayBuffer | undefined;
}

/** Runs PostgreSQL in a separate thread, so that sockets are served while a query runs. */
export async function startBackend({ statementLimitMs, ...ofWorker }: BackendOptions): Promise<Backend> {
  const worker = new Worker(new URL("./backend-worker.js", import.meta.url), {
    workerData: ofWorker,
    // PostgreSQL recurses on V8's stack. Deep JSON, regular expressions and sums overflow its default of 4 MB before
    // they reach PostgreSQL's own limit
    resourceLimits: { stackSizeMb: 64 },
  });
  const longest: RequestLimit = { ms: statementLimitMs, complaint: null };
  const waiting: Waiting[] = [];
  let knownLogins: Map<string, Login> | null = null;
  let made = 0;
  let end: Error | null = null;
  let closing = false;
  let limit: NodeJS.Timeout | undefined;
  let onFailure: (error: Error) => void;
  const failed = new Promise<never>((_, reject) => (onFailure = reject));
  const exited = new Promise<void>((resolve) => worker.once("exit", resolve));

  let cause: Error | undefined;

  worker.on("error", (error) => (cause ??= error));
  worker.on("exit", finish);

  /** To be called only when the thread has ended: until then it may write to the directory. */
  function finish(code: number): void {
    end = cause ?? new Error(`the database's thread ended with code ${code}`);
    clearTimeout(limit);
    for (const { reject } of waiting.splice(0)) reject(end);
    if (!closing) onFailure(end);
  }

  await Promise.race([new Promise((resolve) => worker.once("message", resolve)), failed]);
  worker.on("message", (reply: Reply) => {
    if (reply.loginsChanged) knownLogins = null;
    if (reply.logins) knownLogins = reply.logins;
    waiting.shift()!.resolve(reply);
    watchNext();
  });

  function watchNext(): void {
    clearTimeout(limit);
    const [next] = waiting;
    if (next) limit = setTimeout(() => endOf(next), next.limit.ms);
  }

  function endOf(late: Waiting): void {
    limit = setTimeout(() => giveUp(late), graceMs);
    const { complaint } = late.limit;
    cancelWaiting(late, complaint).catch((error: unknown) => {
      cause ??= new Error(
        `a statement took longer than ${Math.round(late.limit.ms)} ms, and could not be cancelled: ${(error as Error).message}`,
        { cause: error },
      );
      void worker.terminate();
    });
  }

  function giveUp({ limit, request }: Waiting): void {
    const what = request === "exchange" ? "a statement" : request;
    cause ??= new Error(
      `${what} took longer than ${Math.round(limit.ms)} ms, and did not end within ${graceMs} ms of being cancelled`,
    );
    void worker.terminate();
  }

  /** Tries until the request is cancelled or has ended: the host's own statements around it cannot be cancelled. */
  async function cancelWaiting(asked: Waiting, complaint: Complaint | null): Promise<void> {
    const call = `cancelRequest(${asked.number}, ${JSON.stringify(complaint)})`;
    while (asked === waiting[0] && !end) {
      if ((await evaluateIn(worker, call)) === true) return;
      await sleep(askAgainMs);
    }
  }

  function request(asked: BackendRequest, wanted: RequestLimit = longest): Promise<Reply> {
    if (end) return Promise.reject(end);
    const moved = asked.kind === "exchange" ? [asked.bytes.buffer] : [];
    worker.postMessage(asked, moved);
    made += 1;
    const number = made;
    const limit = wanted.ms < statementLimitMs ? wanted : longest;
    return new Promise((resolve, reject) => {
      waiting.push({
        request: asked.kind,
        client: "client" in asked ? asked.client : null,
        ...{ number, limit, isCancelled: false, resolve, reject },
      });
      if (waiting.length === 1) watchNext();
    });
  }

  return {
    request,
    knownLogins: () => knownLogins,
    async cancel(client) {
      const [underWay] = waiting;
      if (underWay?.request !== "exchange" || underWay.client !== client || underWay.isCancelled) return;
      // each attempt opens a session of the inspector
      underWay.isCancelled = true;
      await cancelWaiting(underWay, null);
    },
    failed,
    async close() {
      closing = true;
      request({ kind: "close" }).catch(() => {
        // The thread was killed or has died: only its exit matters now, which is awaited below.
      });
      await exited;
    },
    kill() {
      closing = true;
      void worker.terminate();
    },
  };
}
