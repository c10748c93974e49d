/** Plain clients of the world for its tests. They report exactly what came over the wire. */
import { once } from "node:events";
import { request, type IncomingHttpHeaders } from "node:http";
import { WebSocket } from "ws";

export interface SimulatedAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

export function userAgent(region: string | undefined): string {
  const where = region ? `; region=${region}` : "";
  return `venuewatch/0.1.0 (+http://localhost${where})`;
}

/**
 * Sends one request on its own connection. Fails with the socket's error, with the code TIMED_OUT when the whole answer
 * has not arrived within `timeoutMs`, or with TOO_LARGE when it exceeds a megabyte.
 */
export function ask(
  { url, method, body }: { url: string; method: string; body?: unknown },
  region?: string,
  timeoutMs = 5000,
): Promise<SimulatedAnswer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, {
      method,
      agent: false,
      headers: { "user-agent": userAgent(region) },
    });
    const deadline = setTimeout(() => fail("TIMED_OUT"), timeoutMs);
    outgoing.on("close", () => clearTimeout(deadline));
    outgoing.on("error", reject);
    outgoing.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("error", reject);
      response.on("data", (chunk: string) => {
        text += chunk;
        if (text.length > 1_000_000) fail("TOO_LARGE");
      });
      response.on("end", () =>
        resolve({
          status: response.statusCode!,
          headers: response.headers,
          body: text,
        }),
      );
    });
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));

    function fail(code: string) {
      reject(Object.assign(new Error(code), { code }));
      outgoing.destroy();
    }
  });
}

/** `status`, or the code of the error. */
export async function outcomeOf(...request: Parameters<typeof ask>): Promise<number | string> {
  try {
    return (await ask(...request)).status;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}

export interface VenueClient {
  ws: WebSocket;
  /** Every frame received so far, as text. */
  frames: string[];
  /**
   * Resolves with the first frame, past or future, that is `wanted`. Rejects when the socket closes before that frame
   * arrives.
   */
  frame(wanted: (text: string) => boolean): Promise<string>;
  /** Resolves with the close code, or with 1006 when the venue sent none. */
  closed: Promise<number>;
}

/** @param autoPong false: the client leaves the server's pings unanswered */
export async function connect(url: string, region?: string, autoPong = true): Promise<VenueClient> {
  const ws = new WebSocket(url, {
    autoPong,
    headers: { "user-agent": userAgent(region) },
  });
  const frames: string[] = [];
  ws.on("message", (data) => frames.push((data as Buffer).toString()));
  let reason = "";
  const closed = new Promise<number>((resolve) =>
    ws.on("close", (code, text) => {
      reason = text.toString();
      resolve(code);
    }),
  );
  await once(ws, "open");
  // After the opening, every error ends in a close, and tests look at that.
  ws.on("error", () => {});
  return { ws, frames, frame, closed };

  async function frame(wanted: (text: string) => boolean) {
    for (let seen = 0; ; seen += 1) {
      while (seen === frames.length) {
        const code = await Promise.race([once(ws, "message"), closed]);
        if (typeof code === "number")
          throw new Error(
            `the socket was closed with ${code} (${reason}) before the frame arrived; last came ${frames.at(-1)}`,
          );
      }
      if (wanted(frames[seen]!)) return frames[seen]!;
    }
  }
}

/** Sends a message as the registry writes it: text unchanged, anything else as JSON with the time filled in. */
export function send({ ws }: VenueClient, message: unknown): void {
  const unixSeconds = String(Math.floor(Date.now() / 1000));
  ws.send(typeof message === "string" ? message : JSON.stringify(message).replace('"{unixSeconds}"', unixSeconds));
}
