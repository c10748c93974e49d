/**
 * Posts alerts to receivers, and hands e-mails over (mailer.ts). A receiver may be faulty or hostile, so time and size
 * of each attempt are limited, and nothing is sent to an unsafe address. Each attempt returns its outcome.
 */
import { makeBoundedClient } from "../../../shared/http/bounded-client.js";
import type { BoundedRequest, EndedExchange } from "../../../shared/http/exchange.js";
import { maxInterim, maxReceiptBytes } from "../../../shared/http/limits.js";
import { retryAfterMs } from "../../../shared/http/retry-after.js";
import { checkedLookup, type Lookup, makeLookup } from "../../../shared/http/safe-address.js";
import { answerText } from "./answer-text.js";
import { endingByFault, endingByTime, stoppingEnding, unreachableEnding, unsentEnding } from "./endings.js";
import type { AlertRequest, WebhookRequest } from "./formats/webhook-request.js";
import { makeMailer } from "./mailer.js";
import { bareHostOf, problemOfUrl } from "./receiver-url.js";
import type { DeliveryOutcome, Ending } from "./retry-rules.js";

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
  post: (request: AlertRequest, leaveByMs?: number) => Promise<DeliveryOutcome>;
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
  const safeLookup = checkedLookup(lookup, allowLoopback);
  const client = makeBoundedClient(safeLookup, ca);
  const mailer = makeMailer({ lookup: safeLookup, allowLoopback, deadlineMs, ca });

  async function post(request: AlertRequest, leaveByMs = Infinity): Promise<DeliveryOutcome> {
    const startMs = performance.now();
    const ending = "server" in request ? await mailer.send(request, leaveByMs) : await send(request, leaveByMs);
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
      answer: answerText(new TextDecoder().decode(exchange.body), [...(webhook.secrets ?? []), ...secretsOf(url)]),
      ...endingOf(exchange, request),
      ...(exchange.status !== null && webhook.goneStatuses?.includes(exchange.status) && { isGone: true }),
    };
  }

  return {
    post,
    async close() {
      mailer.close();
      await client.close();
    },
  };
}

// Classifies a delivery attempt by how its HTTP exchange ended and which step it was waiting for.

/** @throws the error if it is a bug of ours */
function endingOf(exchange: EndedExchange, { url, deadlineMs, maxWireBytes }: BoundedRequest): Ending {
  const { end, status } = exchange;
  const host = bareHostOf(url);
  switch (end.kind) {
    case "answered":
      return endingByStatus(exchange, host);
    case "oversize":
      return status === null
        ? unreachableEnding(
            `expected an answer of ${host}, got more than ${maxWireBytes / 1024} KiB or ${maxInterim} interim answers without one`,
          )
        : endingByStatus(exchange, host);
    case "upgraded":
      return unreachableEnding(`expected an answer of ${host}, got a change of protocol`);
    case "unsent":
      return unsentEnding(end.lateMs);
    case "closed":
      return stoppingEnding;
    case "late":
      return endingByTime(exchange.awaited, host, deadlineMs, end.lateMs);
    case "failed":
      return endingByFault(exchange, host, end.error);
  }
}

function endingByStatus({ status, headers }: EndedExchange, host: string): Ending {
  const hundreds = Math.floor((status ?? 0) / 100);
  if (hundreds === 2) return { result: "delivered" };
  return {
    result: "refused",
    error: `expected a status of 2xx from ${host}, got ${status}${hundreds === 3 ? "; redirects are not followed" : ""}`,
    // an implausible wait is capped, too, not ignored: sending sooner could use up the attempts, and ten minutes do
    // little harm
    retryAfterMs: retryAfterMs(headers["retry-after"], Date.now(), { credibleMs: Infinity }) || null,
  };
}

/**
 * The path and query of a URL. Longer parts first, because they contain the others. A part that is shorter than any key
 * may occur in any text.
 */
function secretsOf({ pathname, search }: URL): string[] {
  const parts = (pathname + search).split(/[/?&=]/);
  return [
    ...[pathname + search, pathname, search].filter((part) => part.length > 1),
    ...parts.filter((part) => part.length >= 8),
  ];
}
