import type { IncomingMessage, ServerResponse } from "node:http";
import type { Addressed } from "./shortcut.js";

/** A request that has ended. */
export interface AnsweredRequest {
  /** The app's route, `/v1/incidents/:slug`; `none` if none matched, or the request was refused before routing. */
  route: string;
  /** `aborted` if the client disconnected before the response was sent. */
  status: string;
  tookMs: number;
}

/** Reports a request when it has ended. */
export function onRequestEnd(
  request: IncomingMessage,
  response: ServerResponse,
  report: (answered: AnsweredRequest) => void,
): void {
  const startedMs = performance.now();
  // `close` is emitted once, and `once` would cost as much as all of this
  response.on("close", () => {
    report({
      route: routeOf(request),
      status: response.writableFinished ? String(response.statusCode) : "aborted",
      tookMs: performance.now() - startedMs,
    });
  });
}

/** Never the requested path, of which there are endlessly many. Of a route's several paths, the last. */
function routeOf({ route }: Addressed): string {
  const path = route?.path;
  return (typeof path === "string" ? path : path?.at(-1)) ?? "none";
}
