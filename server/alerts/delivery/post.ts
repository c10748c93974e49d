/**
 * Posts alerts to receivers. A receiver may be faulty or hostile, so time and size of each attempt are limited, and
 * nothing is sent to an unsafe address. Each attempt returns its outcome.
 */

import { maxReceiptBytes } from "../../../shared/untrusted/limits.js";
import { makeBoundedClient } from "../../http/bounded-client.js";
import { checkedLookup } from "../../http/checked-lookup.js";
import type { BoundedRequest } from "../../http/exchange.js";
import { makeLookup, type Lookup } from "../../http/lookup.js";
import { problemOfUrl } from "../channels/safe-url.js";
import type { WebhookRequest } from "../formats/webhook-request.js";
import { beginningOf } from "./answer-text.js";
import { endingOf } from "./classify-exchange.js";
import type { DeliveryOutcome, Ending } from "./attempt-outcome.js";

/** The time limit in the contract. */
export const answerWithinMs = 10_000;

export interface Poster {
  /**
   * Makes one attempt, and follows no redirects.
   *
   * @param leaveByMs on this machine's monotonic clock. If the connection is not ready by then, the request is not
   * sent, and the outcome is `ours`
   * @throws only if we have a bug, such as a header that cannot be sent
   */
  post: (request: WebhookRequest, leaveByMs?: number) => Promise<DeliveryOutcome>;
  /** Aborts attempts in progress and refuses later ones. The outcome of all of them is `ours`. */
  close: () => Promise<void>;
}

export interface PosterOptions {
  /** Allows alerts to this machine, also over http. */
  allowLoopback: boolean;
  /** Limit of the whole attempt, from resolving the host's name to the end of the answer. */
  deadlineMs?: number;
  /** Certificate authorities to trust instead of the usual ones. */
  ca?: string;
  lookup?: Lookup;
}

/** Callers make at most one attempt for a channel at a time. */
export function makePoster({
  allowLoopback,
  deadlineMs = answerWithinMs,
  ca,
  lookup = makeLookup(),
}: PosterOptions): Poster {
  const client = makeBoundedClient(checkedLookup(lookup, allowLoopback), ca);

  async function post(request: WebhookRequest, leaveByMs = Infinity): Promise<DeliveryOutcome> {
    const startMs = performance.now();
    const ending = await send(request, leaveByMs);
    return {
      status: null,
      error: null,
      answer: null,
      retryAfterMs: null,
      ...ending,
      durationMs: Math.round(performance.now() - startMs),
    };
  }

  async function send(webhook: WebhookRequest, leaveByMs: number): Promise<Ending> {
    const { url, headers, body } = webhook;
    const problem = problemOfUrl(url.href, allowLoopback);
    if (problem !== null) return { result: "unsafe", error: problem };
    // Node would verify the certificate for the name in that header, instead of the name in the URL.
    if (Object.keys(headers).some((name) => /^host$/i.test(name)))
      throw new Error("expected a request without a host header, got one");
    const request: BoundedRequest = {
      ...{ method: "POST", url, headers: { ...headers, "content-length": String(body.length) }, body },
      ...{ deadlineMs, leaveByMs, maxWireBytes: maxReceiptBytes },
    };
    const exchange = await client.exchange(request);
    return {
      status: exchange.status,
      answer: beginningOf(exchange.body, webhook),
      ...endingOf(exchange, request),
    };
  }

  return { post, close: client.close };
}
