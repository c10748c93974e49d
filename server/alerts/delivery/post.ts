/**
 * Posts alerts to receivers, which are strangers: bounded in time and size, to safe addresses alone, each sending told
 * as it went.
 */

import { makeBoundedClient } from "../../http/bounded-client.js";
import { checkedLookup } from "../../http/checked-lookup.js";
import type { BoundedRequest } from "../../http/exchange.js";
import { makeLookup, type Lookup } from "../../http/lookup.js";
import { problemOfUrl } from "../channels/safe-url.js";
import type { WebhookRequest } from "../formats/webhook-request.js";
import { beginningOf } from "./answer-text.js";
import { endingOf } from "./classify-exchange.js";
import type { DeliveryOutcome, Ending } from "./attempt-outcome.js";

/** The contract's. */
export const answerWithinMs = 10_000;

const maxWireBytes = 64 * 1024;

export interface Poster {
  /**
   * Sends once, and follows nothing.
   *
   * @param leaveByMs by this machine's monotonic clock; what has no connection by then is not sent, and has ended as
   * `ours`
   * @throws only for bugs of ours: a header that cannot be sent, for one
   */
  post: (letter: WebhookRequest, leaveByMs?: number) => Promise<DeliveryOutcome>;
  /** Cuts what is under way, as `ours`; so ends what is posted later. */
  close: () => Promise<void>;
}

export interface PosterOptions {
  /** Lets alerts go to this machine, by http too. */
  allowLoopback: boolean;
  /** For all of it, from asking for the host's address to the end of the answer. */
  deadlineMs?: number;
  /** Trusted instead of the usual authorities. */
  ca?: string;
  lookup?: Lookup;
}

/** Callers post one letter of a channel at a time. */
export function makePoster({
  allowLoopback,
  deadlineMs = answerWithinMs,
  ca,
  lookup = makeLookup(),
}: PosterOptions): Poster {
  const client = makeBoundedClient(checkedLookup(lookup, allowLoopback), ca);

  async function post(letter: WebhookRequest, leaveByMs = Infinity): Promise<DeliveryOutcome> {
    const begunMs = performance.now();
    const ending = await send(letter, leaveByMs);
    return {
      status: null,
      error: null,
      answer: null,
      retryAfterMs: null,
      ...ending,
      durationMs: Math.round(performance.now() - begunMs),
    };
  }

  async function send(letter: WebhookRequest, leaveByMs: number): Promise<Ending> {
    const { url, headers, body } = letter;
    const problem = problemOfUrl(url.href, allowLoopback);
    if (problem !== null) return { result: "unsafe", error: problem };
    // It would choose the name that the certificate is held against.
    if (Object.keys(headers).some((name) => /^host$/i.test(name)))
      throw new Error("expected a letter without a host header, got one");
    const request: BoundedRequest = {
      ...{ method: "POST", url, headers: { ...headers, "content-length": String(body.length) }, body },
      ...{ deadlineMs, leaveByMs, maxWireBytes },
    };
    const exchange = await client.exchange(request);
    return {
      status: exchange.status,
      answer: beginningOf(Buffer.concat(exchange.chunks), letter),
      ...endingOf(exchange, request),
    };
  }

  return { post, close: client.close };
}
