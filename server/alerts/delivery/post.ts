/**
 * Posts alerts to receivers, which are strangers: bounded in time and size, to safe addresses alone, each sending told
 * as it went.
 */

import { type DeliveryOutcome } from "./outcome.js";
import http, { type ClientRequest } from "node:http";
import https from "node:https";
import { checkedLookup } from "./checked-lookup.js";
import { startExchange, type PostExchange } from "./exchange.js";
import { type Ending } from "./outcome.js";
import type { WebhookRequest } from "../formats/webhook-request.js";
import { makeLookup, type Lookup } from "./lookup.js";
import { certainlyOurs } from "./classify-error.js";
import { problemOfUrl } from "../channels/safe-url.js";

/** The contract's. */
export const answerWithinMs = 10_000;

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

const mostHeaderBytes = 16 * 1024;

/** Shorter than what is usual for servers, of which five seconds are the shortest: few races are lost against them. */
const idleMs = 4000;

/**
 * On Node's own client, not on undici, whose requests cannot be cut while they connect and which takes `100 Continue`,
 * if it did not ask for that, for a broken answer. It sends nothing twice.
 *
 * There is no limit of connections: who posts does it for one letter of a channel at a time, and a limit for an origin
 * would have one slow receiver delay others at the same service. Of those that are idle two are kept for each name,
 * port and protocol, for a moment.
 */
export function makePoster({
  allowLoopback,
  deadlineMs = answerWithinMs,
  ca,
  lookup = makeLookup(),
}: PosterOptions): Poster {
  const connecting = {
    keepAlive: true,
    maxFreeSockets: 2,
    timeout: idleMs,
    autoSelectFamily: true,
    // Node's 250 ms would give up an address that is good and far away.
    autoSelectFamilyAttemptTimeout: 1000,
  };
  const plain = new http.Agent(connecting);
  const secure = new https.Agent({
    ...connecting,
    ca,
    // Said here, so that NODE_TLS_REJECT_UNAUTHORIZED=0 does not say otherwise.
    rejectUnauthorized: true,
    // A session that is taken up again is not asked for its certificate.
    maxCachedSessions: 0,
  });
  const underWay = new Set<PostExchange>();
  let closed = false;

  async function post(letter: WebhookRequest, leaveByMs = Infinity): Promise<DeliveryOutcome> {
    const begunMs = performance.now();
    const ending = await endingOf(letter, leaveByMs);
    return {
      status: null,
      error: null,
      answer: null,
      retryAfterMs: null,
      ...ending,
      durationMs: Math.round(performance.now() - begunMs),
    };
  }

  async function endingOf(letter: WebhookRequest, leaveByMs: number): Promise<Ending> {
    const problem = problemOfUrl(letter.url.href, allowLoopback);
    if (problem !== null) return { result: "unsafe", error: problem };
    if (closed) return stopping;
    const exchange = startExchange(letter, open, { deadlineMs, leaveByMs });
    underWay.add(exchange);
    return exchange.ending.finally(() => underWay.delete(exchange));
  }

  function open({ url, headers, body }: WebhookRequest, onAddress: () => void): ClientRequest {
    // It would choose the name that the certificate is held against.
    if (Object.keys(headers).some((name) => /^host$/i.test(name)))
      throw new Error("expected a letter without a host header, got one");
    const isSecure = url.protocol === "https:";
    return (isSecure ? https : http).request(url, {
      method: "POST",
      agent: isSecure ? secure : plain,
      lookup: checkedLookup(lookup, allowLoopback, onAddress),
      headers: { ...headers, "content-length": body.length },
      maxHeaderSize: mostHeaderBytes,
    });
  }

  return {
    post,
    async close() {
      closed = true;
      for (const exchange of underWay) exchange.cut(stopping);
      await Promise.allSettled([...underWay].map(({ ending }) => ending));
      plain.destroy();
      secure.destroy();
    },
  };
}

const stopping: Ending = {
  ...certainlyOurs,
  error: "expected to run until the answer came, was told to stop",
};
