/** Reads the public API of a running venuewatch, for programs that run elsewhere. */

import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { version } from "../../shared/config/package.js";
import { parseSiteUrl, WrongValue } from "../../shared/config/setting-values.js";
import { retryAfterMs } from "../../shared/measurement/retry-after.js";
import { UserError } from "../../shared/process/user-error.js";
import { maskedAddress } from "../../shared/text/masked-text.js";
import { jsonLimits, maxBodyBytes as limits, maxChunks, wireBytesFor } from "../../shared/untrusted/limits.js";
import { parsedJson, withoutMark } from "../../shared/untrusted/parsed-json.js";
import { makeBoundedClient } from "../http/bounded-client.js";
import { decompressed, encodingOf, isDecodable, isDecompressionError } from "../http/decompressed.js";
import { networkCodesOf, wordsForCodes } from "../http/error-words.js";
import type { AwaitedStep, EndedExchange } from "../http/exchange.js";
import { plainText } from "../notices/sanitize-text.js";
import { NotOurService, ServiceBusy, type ServiceError, ServiceRefusal, ServiceUnreachable } from "./service-errors.js";

export interface RemoteService {
  /** Without a slash at the end. */
  readonly url: string;
  /**
   * Reads a path once, without redirects.
   *
   * @param path from the root of the API, with its query: `/v1/targets/okx/state`
   * @param signal ends the request
   * @returns the parsed JSON, of any shape: check it
   * @throws ServiceError whatever the service does; the signal's reason
   */
  read(path: string, signal?: AbortSignal): Promise<unknown>;
  /** Ends running requests and idle connections. Idle ones keep no process alive. */
  close: () => Promise<void>;
}

export interface RemoteServiceOptions {
  /** Limit of one request, from looking up the name to the end of the body. */
  deadlineMs?: number;
  /** Counted after decompression. */
  maxBodyBytes?: number;
  /** Says in the service's log which program asks. */
  program?: string;
  /** Trusted authorities, as PEM; default: those of Node. */
  ca?: string;
  /** Receives the headers of each answer, and the wall time between which it was made. */
  onAnswer?: (headers: IncomingMessage["headers"], askedAtMs: number, answeredAtMs: number) => void;
}

/**
 * @param url where the service is; it may have a path
 * @throws UserError if it is no address of a web server
 */
export function makeService(
  url: string,
  {
    deadlineMs = 10_000,
    maxBodyBytes = limits.service,
    program = "client",
    ca,
    onAnswer = () => {},
  }: RemoteServiceOptions = {},
): RemoteService {
  const base = baseOf(url);
  const client = makeBoundedClient(undefined, ca);
  const headers = {
    "user-agent": `venuewatch/${version} (${program})`,
    accept: "application/json",
    "accept-encoding": "br, gzip",
  };
  const maxWireBytes = wireBytesFor(maxBodyBytes);

  async function read(path: string, signal?: AbortSignal): Promise<unknown> {
    signal?.throwIfAborted();
    const askedAtMs = Date.now();
    let foreign: ServiceError | null = null;
    const exchange = await client.exchange({
      ...{ method: "GET", url: new URL(base + path), headers, deadlineMs, maxWireBytes, maxBodyBytes },
      ...(signal && { signal }),
      bodyOf(answer) {
        onAnswer(answer.headers, askedAtMs, Date.now());
        foreign = faultOfHead(answer, base);
        return foreign === null ? decompressed(answer) : null;
      },
    });
    if (foreign !== null) throw foreign as ServiceError;
    if (exchange.end.kind === "closed") {
      signal?.throwIfAborted();
      throw new Error("expected an open client, got a closed one");
    }
    const fault = faultOfEnd(exchange, base, { deadlineMs, maxBodyBytes });
    if (fault !== null) throw fault;
    return bodyOf(exchange, base);
  }

  return { url: base, read, close: client.close };
}

function baseOf(url: string): string {
  try {
    return parseSiteUrl(url);
  } catch (error) {
    if (!(error instanceof WrongValue)) throw error;
    throw new UserError(
      `expected ${error.expected} where venuewatch runs, got ${JSON.stringify(maskedAddress(url).slice(0, 200))}`,
      { cause: error },
    );
  }
}

/** Why the answer's body is not read; null if it is JSON. */
function faultOfHead({ statusCode: status = 0, headers }: IncomingMessage, base: string): ServiceError | null {
  const isJson = /^application\/(?:[\w.-]+\+)?json\b/i.test(headers["content-type"] ?? "");
  if (status === 429 || status === 503) return busy(status, headers["retry-after"], base);
  if (status >= 300 && status < 400) return redirected(status, headers.location ?? "", base);
  if (!isJson) return notOurs(base, `an answer ${status} that is not JSON`, status);
  if (isDecodable(encodingOf(headers))) return null;
  return notOurs(base, "a content-encoding that was not asked for", status);
}

/** The longest wait that is believed. */
const longestWaitMs = 60 * 60_000;

function busy(status: number, retryAfter: string | undefined, base: string): ServiceBusy {
  const waitMs = retryAfterMs(retryAfter, Date.now(), { longestMs: longestWaitMs, credibleMs: Infinity });
  const said =
    status === 429
      ? `${base} answers 429: too many requests from this address`
      : `${base} answers 503: its data cannot be read at the moment`;
  const wait = waitMs > 0 ? `try again in ${Math.ceil(waitMs / 1000)} s` : "try again later";
  return new ServiceBusy(`${said}; ${wait}`, status, waitMs);
}

function redirected(status: number, location: string, base: string): NotOurService {
  const to = URL.canParse(location, base) ? new URL(location, base) : null;
  const isWeb = to !== null && ["http:", "https:"].includes(to.protocol);
  const got = isWeb ? `a redirect to ${plainText(to.origin, 200)}` : `an answer ${status}`;
  return notOurs(base, got, status, "if venuewatch is there, use that address");
}

function notOurs(
  base: string,
  got: string,
  status: number | null,
  advice = "check the address, and what stands before it",
): NotOurService {
  return new NotOurService(`expected the API of venuewatch at ${base}, got ${got}; ${advice}`, status);
}

/** Why there is no complete body; null if there is one. */
function faultOfEnd(
  { end, awaited, status }: EndedExchange,
  base: string,
  { deadlineMs, maxBodyBytes }: { deadlineMs: number; maxBodyBytes: number },
): ServiceError | null {
  switch (end.kind) {
    case "answered":
      return null;
    case "oversize":
      return notOurs(base, `more than ${maxBodyBytes} bytes, or ${maxChunks} chunks`, status);
    case "upgraded":
      return notOurs(base, "a change of protocol", status);
    case "late": {
      const got = `nothing: still waiting for ${awaited}`;
      return new ServiceUnreachable(
        `${base} cannot be reached: expected an answer within ${deadlineMs / 1000} s, got ${got}`,
        awaited,
        [],
      );
    }
    case "failed":
      return faultOfError(end.error, awaited, status, base);
    default:
      throw new Error(`expected an exchange without a time to leave, got one that ended as ${end.kind}`);
  }
}

/** @throws the error itself if it is a bug of ours */
function faultOfError(error: Error, awaited: AwaitedStep, status: number | null, base: string): ServiceError {
  if (isDecompressionError(error)) return notOurs(base, "a body that cannot be decompressed", status);
  const codes = networkCodesOf(error);
  const words = wordsForCodes(codes);
  if (codes.some((code) => code.startsWith("HPE_"))) return notOurs(base, words, status);
  return new ServiceUnreachable(`${base} cannot be reached: expected ${awaited}, got ${words}`, awaited, codes);
}

/** @throws ServiceError if the body is no JSON, or a problem */
function bodyOf({ status, body: bytes }: EndedExchange, base: string): unknown {
  const parsed = parsedJson(withoutMark(bytes), jsonLimits.service);
  if ("excess" in parsed) throw notOurs(base, `JSON of more than ${parsed.excess}`, status);
  if ("text" in parsed || !isUtf8(bytes)) throw notOurs(base, `an answer ${status} that is not JSON`, status);
  const body = parsed.value;
  if (status === 200) return body;
  const { detail } = (body ?? {}) as { detail?: unknown };
  if (status === null || typeof detail !== "string") throw notOurs(base, `an answer ${status}`, status);
  const said = plainText(detail, 300);
  const message = `${base} answers ${status}: ${said}`;
  if (status >= 500) throw new ServiceBusy(message, status, 0);
  throw new ServiceRefusal(message, status, said);
}
