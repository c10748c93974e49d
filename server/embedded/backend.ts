import { Worker } from "node:worker_threads";
import type { Complaint } from "./messages.js";
import type { Startup } from "./startup.js";

/** What the worker can be asked; `client` is the host's number for it. */
export type Request =
  | { kind: "open"; client: number; startup: Startup }
  /** Whole messages of one client, up to the end of an exchange at most. The bytes move to the worker and are gone here. */
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
 * - `unfinished` amid an exchange: Sync has not come
 * - `expelled` the reply is a FATAL error
 */
export type Standing = "idle" | "transaction" | "unfinished" | "expelled";

export interface Reply {
  /** For the client. */
  bytes: Uint8Array<ArrayBuffer>;
  standing: Standing;
}

export interface Backend {
  /** Requests are done in the order in which they are made. Rejects when the backend has died. */
  request(request: Request): Promise<Reply>;
  /** Rejects when the backend dies, never resolves. */
  failed: Promise<never>;
  /** After the requests made before, with a checkpoint. */
  close(): Promise<void>;
  /** At once, whatever it does. */
  kill(): void;
}

/**
 * PostgreSQL in a thread of its own, so that sockets are served while a query runs.
 *
 * @param requestLimitMs a request that takes longer counts as a crash: this
 * build cannot interrupt a statement, ignores statement_timeout, and spins for
 * ever on a function that calls itself without end
 */
export async function startBackend(
  directory: string,
  requestLimitMs: number,
): Promise<Backend> {
  const worker = new Worker(new URL("./backend-worker.js", import.meta.url), {
    workerData: { directory },
  });
  const waiting: {
    resolve: (reply: Reply) => void;
    reject: (error: Error) => void;
  }[] = [];
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

  await Promise.race([
    new Promise((resolve) => worker.once("message", resolve)),
    failed,
  ]);
  worker.on("message", (reply: Reply) => {
    waiting.shift()!.resolve(reply);
    watchNext();
  });

  function watchNext(): void {
    clearTimeout(limit);
    if (waiting.length > 0) limit = setTimeout(giveUp, requestLimitMs);
  }

  function giveUp(): void {
    cause ??= new Error(`a statement took longer than ${requestLimitMs} ms`);
    void worker.terminate();
  }

  function request(asked: Request): Promise<Reply> {
    if (end) return Promise.reject(end);
    const moved = asked.kind === "exchange" ? [asked.bytes.buffer] : [];
    worker.postMessage(asked, moved);
    return new Promise((resolve, reject) => {
      waiting.push({ resolve, reject });
      if (waiting.length === 1) watchNext();
    });
  }

  return {
    request,
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
