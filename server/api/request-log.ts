import type { IncomingMessage, ServerResponse } from "node:http";
import type { Addressed } from "./shortcut.js";

/** One request, when it is over. */
export interface AnsweredRequest {
  /** As the app names it, `/v1/incidents/:slug`; `none` where none matched, or who asked was refused before. */
  route: string;
  /** `aborted` where the client left before the answer did. */
  status: string;
  tookMs: number;
}

/** Reports a request when it is over. */
export function onRequestEnd(
  request: IncomingMessage,
  response: ServerResponse,
  tell: (answered: AnsweredRequest) => void,
): void {
  const begunMs = performance.now();
  // it comes once, and `once` would cost as much as all of this
  response.on("close", () => {
    tell({
      route: routeOf(request),
      status: response.writableFinished ? String(response.statusCode) : "aborted",
      tookMs: performance.now() - begunMs,
    });
  });
}

/** Never the path that was asked for: anybody can name endlessly many. Of several names of a route the last one. */
function routeOf({ route }: Addressed): string {
  const path = route?.path;
  return (typeof path === "string" ? path : path?.at(-1)) ?? "none";
}
