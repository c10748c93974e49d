import type { Request, RequestHandler } from "express";
import { ipKeyGenerator } from "express-rate-limit";
import type { Registry } from "../../../shared/registry/registry.js";
import { queryOf } from "../answer.js";
import { clientAddress } from "../client-address.js";
import { category, integer, parameterReader, venueFilter, viewOf } from "../parameters.js";
import { badParameters, type SendProblem } from "../problem.js";
import { ipv6Subnet } from "../rate-limit.js";
import { type EventStreams, streamHeaders } from "./event-streams.js";
import type { StreamLimits } from "./stream-limits.js";

export function eventsParameters(registry: Registry) {
  return {
    venue: venueFilter(registry),
    category,
    region: viewOf(
      registry,
      "What this region alone sees: its `venue` and `component` events, which name it in `region`. Absent: what is decided by quorum, and incidents.",
    ),
    lastEventId: integer(
      "Continue after this id, as the header Last-Event-ID does, which takes precedence: for clients that cannot set headers.",
      0,
      Number.MAX_SAFE_INTEGER,
      null,
    ),
  };
}

/** `/v1/events`: changes as they are decided, as Server-Sent Events. */
export function eventsRoute(
  registry: Registry,
  streams: EventStreams,
  { perAddress, total }: StreamLimits,
  sendProblem: SendProblem,
): RequestHandler {
  const read = parameterReader(eventsParameters(registry));
  const open = new Map<string, number>();

  return async (request, response) => {
    const { lastEventId, ...wanted } = read(queryOf(request));
    const after = lastEventIdOf(request) ?? lastEventId;
    const address = addressOf(request);
    const ofAddress = open.get(address) ?? 0;
    if (ofAddress >= perAddress || streams.count() >= total) {
      response.setHeader("Retry-After", "60");
      if (ofAddress >= perAddress)
        return sendProblem(response, 429, `More than ${perAddress} open streams from your address. Close one first.`);
      return sendProblem(
        response,
        503,
        `Expected at most ${total} open streams, and there are as many. Try again later.`,
      );
    }
    if (request.method === "HEAD") return void response.writeHead(200, streamHeaders).end();
    open.set(address, ofAddress + 1);
    response.once("close", () => {
      const left = open.get(address)! - 1;
      if (left > 0) open.set(address, left);
      else open.delete(address);
    });
    await streams.open(response, wanted, after);
  };
}

function addressOf(request: Request): string {
  return ipKeyGenerator(
    clientAddress(request, () => request.ip),
    ipv6Subnet,
  );
}

/** Null where there is none. EventSource sends it when it connects again. */
function lastEventIdOf(request: Request): number | null {
  const text = request.get("Last-Event-ID");
  if (text === undefined || text === "") return null;
  const id = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  if (Number.isSafeInteger(id)) return id;
  throw badParameters([
    { parameter: "Last-Event-ID", message: "expected the id of an event of this stream, a whole number" },
  ]);
}
