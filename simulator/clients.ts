/** Plain clients of the world, for its tests: what they see is what came over the wire. */
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
 * One request on a connection of its own. It fails with the socket's error, or with the code TIMED_OUT when the whole
 * answer has not come within `timeoutMs`, or with TOO_LARGE beyond a megabyte.
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
  /** Every frame so far, as text. */
  frames: string[];
  /**
   * Resolves with the first frame, past or future, that is `wanted`; fails where the socket closes before it has come.
   */
  frame(wanted: (text: string) => boolean): Promise<string>;
  /** Resolves with the code of the close, 1006 where none was sent. */
  closed: Promise<number>;
}

/** @param autoPong false: server's pings stay unanswered */
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
  // After the opening, errors end in a close, and that is what tests look at.
  ws.on("error", () => {});
  return { ws, frames, frame, closed };

  async function frame(wanted: (text: string) => boolean) {
    for (let seen = 0; ; seen += 1) {
      while (seen === frames.length) {
        const code = await Promise.race([once(ws, "message"), closed]);
        if (typeof code === "number")
          throw new Error(
            `the socket was closed with ${code} (${reason}) before the frame came; last came ${frames.at(-1)}`,
          );
      }
      if (wanted(frames[seen]!)) return frames[seen]!;
    }
  }
}

/** Sends as the registry writes it: texts as they are, the rest as JSON with the time filled in. */
export function send({ ws }: VenueClient, message: unknown): void {
  const unixSeconds = String(Math.floor(Date.now() / 1000));
  ws.send(typeof message === "string" ? message : JSON.stringify(message).replace('"{unixSeconds}"', unixSeconds));
}
