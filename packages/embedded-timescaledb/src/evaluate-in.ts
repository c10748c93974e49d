/**
 * Evaluates JavaScript in a worker thread that is busy, even inside WebAssembly that does not return. A message would
 * wait until the thread is idle; the inspector interrupts it, as a signal would.
 */
import { Session } from "node:inspector";
import type { Worker } from "node:worker_threads";

interface Evaluated {
  id: number;
  result?: {
    result: { value?: unknown };
    exceptionDetails?: { text: string };
  };
  error?: { message: string };
}

/** @throws if the thread has ended, or if the expression throws */
export async function evaluateIn(worker: Worker, expression: string): Promise<unknown> {
  const session = new Session();
  session.connect();
  const ended = new AbortController();
  const onExit = () => ended.abort(new Error("the thread has ended"));
  worker.once("exit", onExit);
  try {
    const sessionId = await attach(session, worker);
    return await evaluate(session, sessionId, expression, ended.signal);
  } finally {
    worker.off("exit", onExit);
    session.disconnect();
  }
}

async function attach(session: Session, worker: Worker): Promise<string> {
  let sessionId: string | undefined;
  session.on("NodeWorker.attachedToWorker", ({ params }) => {
    // workerInfo.workerId is a number within this session; the title begins with the id of the thread
    if (params.workerInfo.title.startsWith(`[worker ${worker.threadId}]`)) sessionId = params.sessionId;
  });
  await new Promise<void>((resolve, reject) => {
    // running threads are attached before the answer arrives
    session.post("NodeWorker.enable", { waitForDebuggerOnStart: false }, (error) =>
      error ? reject(asError(error)) : resolve(),
    );
  });
  if (sessionId === undefined) throw new Error("the thread has ended");
  return sessionId;
}

function evaluate(session: Session, sessionId: string, expression: string, ended: AbortSignal): Promise<unknown> {
  return new Promise((resolve, reject) => {
    ended.addEventListener("abort", () => reject(ended.reason as Error));
    session.on("NodeWorker.receivedMessageFromWorker", ({ params }) => {
      if (params.sessionId !== sessionId) return;
      const { id, result, error } = JSON.parse(params.message) as Evaluated;
      if (id !== 1) return;
      const fault = error?.message ?? result?.exceptionDetails?.text;
      if (fault !== undefined) reject(new Error(fault));
      else resolve(result?.result.value);
    });
    const message = JSON.stringify({
      id: 1,
      method: "Runtime.evaluate",
      params: { expression, returnByValue: true },
    });
    session.post("NodeWorker.sendMessageToWorker", { sessionId, message }, (error) => error && reject(asError(error)));
  });
}

function asError({ message }: { message: string }): Error {
  return new Error(message);
}
