/** A venuewatch that runs elsewhere, for programs: read with our own client, and every body is checked. */

import { isDeepStrictEqual } from "node:util";
import { Venuewatch, VenuewatchError } from "@venuewatch/client";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { version } from "../../shared/config/package.js";
import { parseSiteUrl, WrongValue } from "../../shared/config/setting-values.js";
import { faults } from "../../shared/measurement/sample.js";
import { UserError } from "../../shared/process/user-error.js";
import { categories } from "../../shared/registry/registry.js";
import { parseInstant } from "../../shared/text/instant.js";
import { maskedAddress } from "../../shared/text/masked-text.js";
import { incidentsResponse } from "../api/schemas/incident.js";
import { reliabilityResponse } from "../api/schemas/reliability.js";
import type { Schema, TypeOf } from "../api/schemas/shapes.js";
import { statusResponse } from "../api/schemas/status.js";
import { exchangeResponse } from "../api/schemas/venue.js";
import { venueStateResponse } from "../api/schemas/venue-state.js";
import { type BoundedFetch, makeBoundedFetch, type OnAnswer } from "./bounded-fetch.js";

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
      if (fits(schema, body)) return body;
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

const checks = new Map<Schema, ValidateFunction>();

/** A later release may have more fields, categories and faults than this one. */
function fits<Described extends Schema>(schema: Described, body: unknown): body is TypeOf<Described> {
  const check = checks.get(schema) ?? makeAjv().compile(schema);
  checks.set(schema, check);
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
const ids: Record<string, RegExp> = {
  ...{ id: /^[a-z0-9-]{1,64}$/, venue: /^[a-z0-9-]{1,64}$/, venues: /^[a-z0-9-]{1,64}$/ },
  ...{ region: /^[a-z0-9-]{1,64}$/, regions: /^[a-z0-9-]{1,64}$/, component: /^(rest|ws):[a-z0-9-]{1,64}$/ },
  ...{ slug: /^[a-z0-9-]{1,160}$/, incident: /^[a-z0-9-]{1,160}$/ },
};

function hasPlainIds(part: unknown, name = ""): boolean {
  if (typeof part === "string") return ids[name]?.test(part) ?? true;
  if (Array.isArray(part)) return part.every((one) => hasPlainIds(one, name));
  if (typeof part !== "object" || part === null) return true;
  // a venue's notice has an id in the venue's own words
  const isNotice = !("category" in part);
  return Object.entries(part).every(([key, value]) => (key === "id" && isNotice) || hasPlainIds(value, key));
}
