/** A venuewatch that runs elsewhere, for programs: read with our own client, and every body is checked. */
import type { IncomingMessage } from "node:http";
import { isDeepStrictEqual } from "node:util";
import { Venuewatch, VenuewatchError, type VenuewatchOptions } from "@venuewatch/client";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { version } from "../../shared/config/package.js";
import { parseSiteUrl, WrongValue } from "../../shared/config/setting-values.js";
import { type ClientSettings, readClientSettings } from "../../shared/config/settings.js";
import { makeBoundedClient } from "../../shared/http/bounded-client.js";
import {
  decompressed,
  encodingOf,
  type EndedExchange,
  isDecodable,
  isDecompressionError,
  networkCodesOf,
  wordsForCodes,
} from "../../shared/http/exchange.js";
import { maxBodyBytes as limits, maxChunks, wireBytesFor } from "../../shared/http/limits.js";
import { faults } from "../../shared/measurement/sample.js";
import { UserError } from "../../shared/process/user-error.js";
import { categories } from "../../shared/registry/registry.js";
import { parseInstant } from "../../shared/text/instant.js";
import { maskedAddress } from "../../shared/text/secrets.js";
import type { Schema, TypeOf } from "../web/api/shapes.js";
import { incidentsResponse } from "../web/board/incidents.js";
import { reliabilityResponse } from "../web/board/reliability.js";
import { statusResponse } from "../web/board/status.js";
import { venueStateResponse } from "../web/board/venue-state.js";
import { transfersResponse } from "../web/board/transfers.js";
import { exchangeResponse } from "../web/board/venue.js";

export interface RemoteServiceOptions {
  /** Limit of one request, from looking up the name to the end of the body. */
  timeoutMs?: number;
  /** Says in the service's log which program asks. */
  program?: string;
  onAnswer?: OnAnswer;
}

/** Its methods read one body each. They reject with a VenuewatchError whatever the service does. */
export type RemoteService = ReturnType<typeof checkedService>;

/**
 * @param url where the service is; it may have a path
 * @throws UserError if it is no address of a web server
 */
export function makeService(
  url: string,
  { timeoutMs = 10_000, program = "client", onAnswer }: RemoteServiceOptions = {},
): RemoteService & Pick<BoundedFetch, "close"> {
  const base = baseOf(url);
  const { fetch, close } = makeBoundedFetch(`venuewatch/${version} (${program})`, onAnswer);
  return { ...checkedService(new Venuewatch({ url: base, fetch, timeoutMs }), base), close };
}

/** @param url without a slash at the end */
export function checkedService(client: Venuewatch, url: string) {
  const read =
    <Query extends unknown[], Described extends Schema>(
      schema: Described,
      ask: (...query: Query) => Promise<unknown>,
    ) =>
    async (...query: Query): Promise<TypeOf<Described>> => {
      const body = await ask(...query);
      if (fitsSchema(schema, body)) return body;
      const { title } = schema;
      throw new VenuewatchError(`expected a ${title} at ${url}, got something else; is it another version?`, 200);
    };
  return {
    url,
    status: read(statusResponse, client.status.bind(client)),
    state: read(venueStateResponse, client.state.bind(client)),
    venue: read(exchangeResponse, client.venue.bind(client)),
    incidents: read(incidentsResponse, client.incidents.bind(client)),
    reliability: read(reliabilityResponse, client.reliability.bind(client)),
    transfers: read(transfersResponse, client.transfers.bind(client)),
  };
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

const validators = new Map<Schema, ValidateFunction>();

/** A later release may have more fields, categories and faults than this one. */
function fitsSchema<Described extends Schema>(schema: Described, body: unknown): body is TypeOf<Described> {
  const check = validators.get(schema) ?? makeAjv().compile(schema);
  validators.set(schema, check);
  return check(body) && hasPlainIds(body);
}

function makeAjv(): Ajv2020 {
  const formats = { "date-time": (text: string) => parseInstant(text) !== null, date: /^\d{4}-\d\d-\d\d$/ };
  const ajv = new Ajv2020({ strict: false, formats });
  return ajv.removeKeyword("enum").addKeyword({
    keyword: "enum",
    compile(words: unknown[]) {
      const isOpen = [categories, faults].some((list) => isDeepStrictEqual(words, [...list]));
      return (word: unknown) => words.includes(word) || (isOpen && /^[a-z-]{1,40}$/.test(String(word)));
    },
  });
}

/** The allowed form of each id, wherever it is in a body: sentences name things by their ids. */
const idForms: Record<string, RegExp> = {
  ...{ id: /^[a-z0-9-]{1,64}$/, venue: /^[a-z0-9-]{1,64}$/, venues: /^[a-z0-9-]{1,64}$/ },
  ...{ region: /^[a-z0-9-]{1,64}$/, regions: /^[a-z0-9-]{1,64}$/, component: /^(rest|ws):[a-z0-9-]{1,64}$/ },
  ...{ slug: /^[a-z0-9-]{1,160}$/, incident: /^[a-z0-9-]{1,160}$/ },
};

function hasPlainIds(part: unknown, name = ""): boolean {
  if (typeof part === "string") return idForms[name]?.test(part) ?? true;
  if (Array.isArray(part)) return part.every((one) => hasPlainIds(one, name));
  if (typeof part !== "object" || part === null) return true;
  // a venue's notice has an id in the venue's own words
  const isNotice = !("category" in part);
  return Object.entries(part).every(([key, value]) => (key === "id" && isNotice) || hasPlainIds(value, key));
}

// A `fetch` for our client that limits everything a server may send, not only the body.

interface BoundedFetch {
  /** Sends GET requests once, without redirects. Rejects with what was expected and what came. */
  fetch: NonNullable<VenuewatchOptions["fetch"]>;
  /** Ends running requests and idle connections. Idle ones keep no process alive. */
  close: () => Promise<void>;
}

/** Receives the headers of each answer, and the wall-clock times between which it was made. */
type OnAnswer = (headers: IncomingMessage["headers"], askedAtMs: number, answeredAtMs: number) => void;

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

/** The option of commands that ask a running venuewatch. */
export const urlOption = {
  type: "string",
  help: "where venuewatch runs (default: the setting BASE_URL, http://localhost:8080 unless set)",
} as const;

/** @throws UserError if the address, or a setting that is read, is wrong */
export function serviceAt(
  given: string | boolean | undefined,
  options: RemoteServiceOptions,
): { service: ReturnType<typeof makeService>; settings: ClientSettings } {
  const settings = readClientSettings();
  const service = makeService(typeof given === "string" ? given : settings.baseUrl, options);
  return { service, settings };
}
