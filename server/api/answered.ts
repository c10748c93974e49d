import type { Request, RequestHandler } from "express";

/** One request, when it is over. */
export interface Answered {
  /** As the app names it, `/v1/incidents/:slug`; `none` where none matched, or who asked was refused before. */
  route: string;
  /** `aborted` where the client left before the answer did. */
  status: string;
  tookMs: number;
}

/** Tells of every request when it is over. */
export function whenAnswered(
  tell: (answered: Answered) => void,
): RequestHandler {
  return (request, response, next) => {
    const begunMs = performance.now();
    response.once("close", () => {
      tell({
        route: routeOf(request),
        status: response.writableFinished
          ? String(response.statusCode)
          : "aborted",
        tookMs: performance.now() - begunMs,
      });
    });
    next();
  };
}

/** Never the path that was asked for: anybody can name endlessly many. Of several names of a route the last one. */
function routeOf(request: Request): string {
  const route = request.route as { path: string | string[] } | undefined;
  return (route && [route.path].flat().at(-1)) ?? "none";
}
