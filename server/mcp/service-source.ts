/** The tools' data from a venuewatch that runs elsewhere, by its public API. */
import { isDeepStrictEqual } from "node:util";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { categories } from "../../shared/registry/registry.js";
import { incidentsResponse } from "../api/schemas/incident.js";
import { reliabilityResponse } from "../api/schemas/reliability.js";
import type { Schema, TypeOf } from "../api/schemas/shapes.js";
import { statusResponse } from "../api/schemas/status.js";
import { exchangeResponse } from "../api/schemas/venue.js";
import { venueStateResponse } from "../api/schemas/venue-state.js";
import type { RemoteService } from "../remote/service.js";
import { ServiceError, ServiceRefusal } from "../remote/service-errors.js";
import { type AgentSource, BadArgument, type KnownVenue, NoData } from "./agent-source.js";

/** Venues are added rarely. A new one is found by its id at once. */
const namesKeptMs = 10 * 60_000;

export function serviceSource(service: Pick<RemoteService, "url" | "read">): AgentSource {
  const fits = makeShapes();
  let known: { venues: readonly KnownVenue[]; untilMs: number } | null = null;

  async function read<Described extends Schema>(schema: Described, path: string): Promise<TypeOf<Described>> {
    let body: unknown;
    try {
      body = await service.read(path);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      throw new NoData(error.message, { cause: error });
    }
    if (fits(schema, body)) return body;
    throw new NoData(
      `expected the API of venuewatch at ${service.url}, got another body from ${path.split("?")[0]}; it may be another version`,
    );
  }

  /** @throws BadArgument if the service refuses a parameter */
  async function readChecked<Described extends Schema>(schema: Described, path: string): Promise<TypeOf<Described>> {
    try {
      return await read(schema, path);
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal?.status === 400) throw new BadArgument(refusal.detail, { cause: error });
      throw error;
    }
  }

  async function board() {
    const body = await read(statusResponse, "/v1/status");
    const venues = body.venues.map(({ id, name, ccxtId }) => ({ id, name, ccxtId }));
    known = { venues, untilMs: performance.now() + namesKeptMs };
    return body;
  }

  async function venues(): Promise<readonly KnownVenue[]> {
    if (known === null || performance.now() > known.untilMs) await board();
    return known!.venues;
  }

  return {
    baseUrl: service.url,
    venues,
    async presentId(id) {
      if ((await venues()).some((venue) => venue.id === id)) return id;
      // a former id, or a venue that was added lately
      try {
        return (await read(venueStateResponse, `/v1/targets/${id}/state`)).id;
      } catch (error) {
        if (refusalOf(error)?.status === 404) return null;
        throw error;
      }
    },
    board,
    state: (id, region) =>
      readChecked(
        venueStateResponse,
        `/v1/targets/${id}/state${region === null ? "" : `?${new URLSearchParams({ region })}`}`,
      ),
    venue: (id) => read(exchangeResponse, `/v1/targets/${id}`),
    async incidents(query) {
      const body = await readChecked(incidentsResponse, `/v1/incidents?${query}`);
      const limit = Number(query.get("limit") ?? body.incidents.length);
      return { ...body, incidents: body.incidents.slice(0, limit) };
    },
    reliability: (days) => read(reliabilityResponse, `/v1/reliability?days=${days}`),
  };
}

/** What the API itself answered; null for any other error. */
function refusalOf(error: unknown): ServiceRefusal | null {
  return error instanceof NoData && error.cause instanceof ServiceRefusal ? error.cause : null;
}

/** Ids, instants and categories are not quoted, so nothing else may come as one. */
const formats = { "date-time": /^\d{4}-\d\d-\d\dT[\d:.]{8,15}Z$/, date: /^\d{4}-\d\d-\d\d$/ };
const categoryPattern = "^[a-z-]{1,40}$";

/** What a name may be, wherever a body has it. */
const ids: Record<string, string> = {
  id: "^[a-z0-9-]{1,64}$",
  venue: "^[a-z0-9-]{1,64}$",
  region: "^[a-z0-9-]{1,64}$",
  regions: "^[a-z0-9-]{1,64}$",
  component: "^(rest|ws):[a-z0-9-]{1,64}$",
  slug: "^[a-z0-9-]{1,160}$",
  incident: "^[a-z0-9-]{1,160}$",
};

/** Makes a check against the schemas of this build. A newer service may have more fields and categories. */
function makeShapes() {
  const ajv = new Ajv2020({ strict: false, formats });
  const checks = new Map<Schema, ValidateFunction>();
  return <Described extends Schema>(schema: Described, body: unknown): body is TypeOf<Described> => {
    let check = checks.get(schema);
    if (check === undefined) checks.set(schema, (check = ajv.compile(checked(schema) as Schema)));
    return check(body);
  };
}

/**
 * The schema with ids in the form of ids, and with categories that this build does not know.
 *
 * @param pattern of the texts in this part; null: any
 */
function checked(part: unknown, pattern: string | null = null): unknown {
  if (Array.isArray(part)) return part.map((one) => checked(one, pattern));
  if (typeof part !== "object" || part === null) return part;
  const kept = Object.entries(part).map(([name, value]) => {
    if (name === "enum" && isDeepStrictEqual(value, [...categories])) return ["pattern", categoryPattern];
    return [name, name === "properties" ? checkedProperties(value as object) : checked(value, pattern)];
  });
  const isText = "type" in part && part.type === "string" && !("enum" in part);
  return { ...Object.fromEntries(kept), ...(isText && pattern !== null && { pattern }) };
}

/** A venue's notice has an id in the venue's own words, which no answer shows. */
function checkedProperties(properties: object): object {
  const isVenue = "category" in properties;
  return Object.fromEntries(
    Object.entries(properties).map(([name, value]) => [
      name,
      checked(value, name === "id" && !isVenue ? null : (ids[name] ?? null)),
    ]),
  );
}
