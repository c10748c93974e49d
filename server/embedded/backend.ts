import { Worker } from "node:worker_threads";
import { setTimeout as sleep } from "node:timers/promises";
import { evaluateIn } from "./evaluate-in.js";
import type { Complaint } from "./messages.js";
import type { Startup } from "./startup.js";

/** What the worker can be asked; `client` is the host's number for it. */
export type BackendRequest =
  /** By what the user's password is known. */
  | { kind: "verifier"; user: string }
  /** Lets a role log in, which is made where it is missing. */
  | { kind: "admit"; role: string; verifier: string }
  /** The client has shown the user's password. */
  | { kind: "open"; client: number; secret: number; startup: Startup }
  /**
   * Whole messages of one client, up to the end of an exchange at most. The bytes move to the worker and are gone here.
   */
  | { kind: "exchange"; client: number; bytes: Uint8Array<ArrayBuffer> }
  /** A Query or Parse message that must not reach the backend. */
  | { kind: "refuse"; client: number; type: "Q" | "P"; complaint: Complaint }
  | { kind: "leave"; client: number }
  | { kind: "checkpoint" }
  | { kind: "close" };

/**
 * How the client stands with the backend after a request.
 *
 * - `idle` ReadyForQuery, outside a transaction: another may have the backend
 * - `transaction` ReadyForQuery, inside a transaction, sound or failed
 * - `unfinished` within an exchange: Sync has not come
 * - `expelled` the reply is a FATAL error
 */
export type Standing = "idle" | "transaction" | "unfinished" | "expelled";

/** By what a client is limited. */
export interface Terms {
  isSuperuser: boolean;
  /** As the client has set statement_timeout; 0: none. */
  statementTimeoutMs: number;
}

export interface Reply {
  /** For the client. */
  bytes: Uint8Array<ArrayBuffer>;
  standing: Standing;
  /** Of `open` and `exchange`. */
  terms?: Terms;
  /** Of `verifier`; null where the user may not log in. */
  verifier?: string | null;
  /** Of an expelled client; it is in the bytes, too. */
  complaint?: Complaint;
}

export interface RequestLimit {
  ms: number;
  /** The error that the client gets then; null: PostgreSQL's own. */
  complaint: Complaint | null;
}

export interface Backend {
  /**
   * Requests are done in the order in which they are made. Rejects when the backend has died.
   *
   * @param limit counts from when it is begun; an exchange that takes longer is cancelled. It does not lift the
   * backend's own
   */
  request(request: BackendRequest, limit?: RequestLimit): Promise<Reply>;
  /** Cancels the exchange of this client if it is under way. Rejects where the thread cannot be reached. */
  cancel(client: number): Promise<void>;
  /** Rejects when the backend dies, never resolves. */
  failed: Promise<never>;
  /** After the requests made before, with a checkpoint. */
  close(): Promise<void>;
  /** At once, whatever it does. */
  kill(): void;
}

/**
 * What a request that is cancelled may take to end. Most take milliseconds; a regular expression over 200 MB took three
 * seconds.
 */
const graceMs = 5_000;
/** The host's own statements around a client's take less than a millisecond. */
const askAgainMs = 20;

interface Waiting {
  request: BackendRequest["kind"];
  number: number;
  client: number | null;
  limit: RequestLimit;
  resolve: (reply: Reply) => void;
  reject: (error: Error) => void;
}

/**
 * PostgreSQL in a thread of its own, so that sockets are served while a query runs.
 *
 * @param requestLimitMs an exchange that takes longer is cancelled, as nobody else is served meanwhile. What does not
 * end then within 5 s, or is no exchange, counts as a crash, such as a block that catches its cancellation.
 */
export async function startBackend(directory: string, requestLimitMs: number): Promise<Backend> {
  const worker = new Worker(new URL("./backend-worker.js", import.meta.url), {
    workerData: { directory },
    // PostgreSQL recurses on V8's stack, whose default of 4 MB deep JSON, regular expressions and sums overflow before
    // PostgreSQL's own limit
    resourceLimits: { stackSizeMb: 64 },
  });
  const longest: RequestLimit = { ms: requestLimitMs, complaint: null };
  const waiting: Waiting[] = [];
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

  /** Not before the thread is gone: until then it may write to the directory. */
  function finish(code: number): void {
    end = cause ?? new Error(`the database's thread ended with code ${code}`);
    clearTimeout(limit);
    for (const { reject } of waiting.splice(0)) reject(end);
    if (!closing) onFailure(end);
  }

  await Promise.race([new Promise((resolve) => worker.once("message", resolve)), failed]);
  worker.on("message", (reply: Reply) => {
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

  /** Until it is done or over: it may be amid what the host does for it. */
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
    const limit = wanted.ms < requestLimitMs ? wanted : longest;
    return new Promise((resolve, reject) => {
      waiting.push({
        request: asked.kind,
        client: "client" in asked ? asked.client : null,
        ...{ number, limit, resolve, reject },
      });
      if (waiting.length === 1) watchNext();
    });
  }

  return {
    request,
    async cancel(client) {
      const [underWay] = waiting;
      if (underWay?.request === "exchange" && underWay.client === client) await cancelWaiting(underWay, null);
    },
    failed,
    async close() {
      closing = true;
      request({ kind: "close" }).catch(() => {
        // It was killed or dead: its end, awaited below, is all that matters now.
      });
      await exited;
    },
    kill() {
      closing = true;
      void worker.terminate();
    },
  };
}
