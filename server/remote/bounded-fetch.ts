/** A `fetch` for our client that limits everything a server may send, not only the body. */

import type { IncomingMessage } from "node:http";
import type { VenuewatchOptions } from "@venuewatch/client";
import { maxBodyBytes as limits, maxChunks, wireBytesFor } from "../../shared/untrusted/limits.js";
import { makeBoundedClient } from "../http/bounded-client.js";
import { decompressed, encodingOf, isDecodable, isDecompressionError } from "../http/decompressed.js";
import { networkCodesOf, wordsForCodes } from "../http/error-words.js";
import type { EndedExchange } from "../http/exchange.js";

export interface BoundedFetch {
  /** Sends GET requests once, without redirects. Rejects with what was expected and what came. */
  fetch: NonNullable<VenuewatchOptions["fetch"]>;
  /** Ends running requests and idle connections. Idle ones keep no process alive. */
  close: () => Promise<void>;
}

/** Receives the headers of each answer, and the wall-clock times between which it was made. */
export type OnAnswer = (headers: IncomingMessage["headers"], askedAtMs: number, answeredAtMs: number) => void;

/** The signal of the request ends it. */
const noDeadlineMs = 2 ** 31 - 1;

export function makeBoundedFetch(userAgent: string, onAnswer: OnAnswer = () => {}): BoundedFetch {
  const client = makeBoundedClient();
  return {
    async fetch(url, { headers, signal }) {
      const askedAtMs = Date.now();
      const exchange = await client.exchange({
        ...{ method: "GET", url, deadlineMs: noDeadlineMs, signal: signal! },
        headers: { ...(headers as Record<string, string>), "user-agent": userAgent, "accept-encoding": "br, gzip" },
        ...{ maxBodyBytes: limits.service, maxWireBytes: wireBytesFor(limits.service) },
        bodyOf(answer) {
          onAnswer(answer.headers, askedAtMs, Date.now());
          return isDecodable(encodingOf(answer.headers)) ? decompressed(answer) : null;
        },
      });
      return answerOf(exchange, signal!);
    },
    close: client.close,
  };
}

/** @throws Error if there is none; the error itself if it is a bug of ours */
function answerOf({ end, awaited, status, headers, body }: EndedExchange, signal: AbortSignal): Response {
  switch (end.kind) {
    case "answered":
      break;
    case "failed":
      if (isDecompressionError(end.error)) throw new Error("got a body that cannot be decompressed");
      throw new Error(`expected ${awaited}, got ${wordsForCodes(networkCodesOf(end.error))}`);
    case "oversize":
      throw new Error(`got more than ${limits.service} bytes, or ${maxChunks} chunks`);
    case "upgraded":
      throw new Error("expected an answer, got a change of protocol");
    default:
      throw new Error(`${(signal.reason as Error).message}; still waiting for ${awaited}`);
  }
  if (!isDecodable(encodingOf(headers))) throw new Error("got a content-encoding that was not asked for");
  if (status === null || status < 200 || status > 599)
    throw new Error(`expected a status from 200 to 599, got ${status}`);
  const names = ["content-type", "location", "retry-after"] as const;
  const read = names.flatMap((name): [string, string][] =>
    headers[name] === undefined ? [] : [[name, headers[name]]],
  );
  // these may have no body
  return new Response([204, 205, 304].includes(status) ? null : (body as Uint8Array<ArrayBuffer>), {
    status,
    headers: read,
  });
}
