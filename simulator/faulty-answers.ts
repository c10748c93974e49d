/** How a faulty request is answered, for REST and status feeds alike. */
import type { ServerResponse } from "node:http";
import type { FaultKind, ScriptedFault } from "./faults.js";
import { sendHtml, sendJson } from "./send.js";

export function slowness(fault: ScriptedFault | undefined): number {
  return fault?.kind === "slow" ? (fault.latencyMs ?? 3000) : 0;
}

/**
 * The answer of each kind of fault. For a kind without an entry (`slow`, and the false content that only a feed can
 * have), the caller makes the answer.
 */
export const faultyAnswers: Partial<
  Record<
    FaultKind,
    (
      response: ServerResponse,
      fault: ScriptedFault,
      /** The venue's error envelope. */
      errorInside: unknown,
    ) => void
  >
> = {
  reset: (response) => response.socket?.resetAndDestroy(),
  timeout: () => {},
  status: (response, { status = 503, location, text = String(status) }) => {
    if (location) response.setHeader("location", location);
    sendHtml(response, status, `<h1>${text}</h1>`);
  },
  limited: (response, { retryAfterS = 30 }) => {
    response.setHeader("retry-after", Math.ceil(retryAfterS));
    sendJson(response, 429, { msg: "Too many requests" });
  },
  "wrong-body": (response) => sendHtml(response, 200, "<h1>We will be back soon</h1>"),
  "error-inside": (response, _fault, errorInside) => sendJson(response, 200, errorInside),
  drip,
  endless,
};

function drip(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.write("[");
  const timer = setInterval(() => response.write(" "), 100);
  response.once("close", () => clearInterval(timer));
}

const chunk = Buffer.alloc(16_384, '"0",');

/** Writes as fast as the client reads; for a client that does not read, it waits for `drain`. */
function endless(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.write("[");
  response.on("drain", pour);
  pour();

  function pour() {
    while (!response.destroyed && response.write(chunk));
  }
}
