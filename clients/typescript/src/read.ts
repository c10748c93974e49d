import type { components } from "./openapi.js";

/** The document of an error, after RFC 9457. */
export type Problem = components["schemas"]["Problem"];

/** A failed request: what was expected, what came, and what to do. */
export class VenuewatchError extends Error {
  override name = "VenuewatchError";

  constructor(
    message: string,
    /** The status of the answer; null without one. */
    readonly status: number | null = null,
    /** What the service says about it; null where something else answered. */
    readonly problem: Problem | null = null,
    /** How long to wait before asking again; null if nothing is said. */
    readonly retryAfterMs: number | null = null,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export interface ReadLimits {
  /** For a whole answer. Default: ten seconds. */
  timeoutMs: number;
  /** Of an answer after decompression. Default: 4 MiB. */
  maxBytes: number;
}

/** The global `fetch`, or one that limits more than the answer's body. */
export type Fetch = (url: URL, init: RequestInit) => Promise<Response>;

/**
 * Reads a JSON document.
 *
 * @throws VenuewatchError
 */
export async function readJson(fetch: Fetch, url: URL, { timeoutMs, maxBytes }: ReadLimits): Promise<unknown> {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(new Error(`no whole answer within ${timeoutMs} ms`)), timeoutMs);
  try {
    const response = await request(fetch, url, "application/json", abort.signal);
    const text = await textOf(response, maxBytes);
    if (response.status === 200) return parsed(text);
    throw refusal(url, response, text);
  } catch (error) {
    throw asVenuewatchError(url, error);
  } finally {
    clearTimeout(timer);
    // an answer that is not read to its end would keep its connection
    abort.abort();
  }
}

/**
 * Asks, and checks the type of the answer. A redirect is not followed: it may lead to the login page of a network.
 *
 * @returns an answer of this type, or an error
 * @throws VenuewatchError of a redirect or another type; and what fetch throws
 */
export async function request(fetch: Fetch, url: URL, type: string, signal: AbortSignal): Promise<Response> {
  const response = await fetch(url, { headers: { Accept: type }, redirect: "manual", cache: "no-store", signal });
  const { status } = response;
  if (response.type === "opaqueredirect" || (status >= 300 && status < 400)) {
    const target = response.headers.get("location") ?? "another address";
    throw new VenuewatchError(
      `GET ${url.href}: expected ${type}, got a redirect to ${shown(target)}. If it is the service's, give it as url.`,
      status || null,
    );
  }
  const got = response.headers.get("content-type")?.split(";")[0] ?? "no type";
  if (status === 200 && got !== type)
    throw new VenuewatchError(
      `GET ${url.href}: expected ${type}, got ${shown(got)}. Is this the address of a venuewatch service?`,
      status,
    );
  return response;
}

/** Each piece costs as much as hundreds of bytes. */
const mostPieces = 8_192;

/** The text of an answer, which must not be longer than this, nor come in too many pieces. */
export async function textOf({ body }: Response, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let [text, bytes, pieces] = ["", 0, 0];
  const reader = body?.getReader();
  for (let piece = await reader?.read(); piece?.value; piece = await reader?.read()) {
    bytes += piece.value.length;
    pieces++;
    if (bytes > maxBytes) throw new Error(`expected at most ${maxBytes} bytes, got more`);
    if (pieces > mostPieces) throw new Error(`expected at most ${mostPieces} pieces, got more`);
    text += decoder.decode(piece.value, { stream: true });
  }
  return text + decoder.decode();
}

/** Far more than an answer of the service has. */
const [mostLevels, mostParts] = [64, 400_000];

/** Parsed, brackets take up to thirty times as much memory as their text, so they are counted before. */
function parsed(text: string): unknown {
  let [levels, parts, quoted] = [0, 0, false];
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (character === '"') quoted = !quoted;
    else if (quoted) at += Number(character === "\\");
    else if (character === "]" || character === "}") levels--;
    else if (character === "," || character === ":") parts++;
    else if (character === "[" || character === "{") {
      parts++;
      levels++;
    }
    if (levels > mostLevels) throw new Error(`expected JSON of at most ${mostLevels} levels, got more`);
    if (parts > mostParts)
      throw new Error(`expected JSON of at most ${mostParts} brackets, commas and colons, got more`);
  }
  return JSON.parse(text);
}

export function refusal(url: URL, { status, headers }: Response, text: string): VenuewatchError {
  const problem = problemIn(text);
  const errors = problem?.errors?.map(({ parameter, message }) => ` ${parameter}: ${message}.`).join("") ?? "";
  const said = problem ? shown(`${problem.detail}${errors}`) : "an answer that is not from venuewatch's API.";
  const retryAfterMs = waitOf(headers.get("retry-after"));
  const advice = retryAfterMs === null ? "" : ` Wait for ${Math.ceil(retryAfterMs / 1000)} s.`;
  return new VenuewatchError(`GET ${url.href}: ${status}, ${said}${advice}`, status, problem, retryAfterMs);
}

export function asVenuewatchError(url: URL, error: unknown): VenuewatchError {
  if (error instanceof VenuewatchError) return error;
  const { message, cause } = error as Error;
  // fetch says only that it failed; the reason is below
  const reason = cause instanceof Error ? `${message}: ${cause.message || (cause as { code?: string }).code}` : message;
  return new VenuewatchError(`GET ${url.href}: ${shown(reason)}`, null, null, null, { cause: error });
}

function problemIn(text: string): Problem | null {
  try {
    const problem = parsed(text) as Problem | null;
    const { detail, errors = [] } = problem ?? {};
    const isProblem = typeof detail === "string" && Array.isArray(errors) && errors.every(isError);
    return isProblem ? problem : null;
  } catch {
    return null;
  }
}

function isError(one: unknown): boolean {
  const { parameter, message } = (one ?? {}) as Record<string, unknown>;
  return typeof parameter === "string" && typeof message === "string";
}

/** Seconds, or an HTTP date. At most ten minutes, so that no answer silences a client for good. */
function waitOf(retryAfter: string | null): number | null {
  if (retryAfter === null) return null;
  const ms = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - Date.now();
  return ms >= 0 ? Math.min(ms, 600_000) : null;
}

/** Text from outside, on one line and short. */
export function shown(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069]/g, " ").slice(0, 300);
}
