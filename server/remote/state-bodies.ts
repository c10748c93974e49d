/** What a running venuewatch says of its venues: the parts of its bodies that the command line shows. */

import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { parseInstant } from "../../shared/text/instant.js";
import {
  anyCategory,
  flag,
  freshness,
  integer,
  list,
  object,
  orNull,
  regionId,
  type Schema,
  since,
  slug,
  state,
  text,
  withOptional,
  type TypeOf,
  unknownBecause,
  venueId,
  venueName,
} from "../api/schemas/shapes.js";
import { plainText } from "../notices/sanitize-text.js";
import type { RemoteService } from "./service.js";
import { NotOurService } from "./service-errors.js";

const component = text("A component.", "rest:ticker");

const { generatedAt, stale, ageSeconds } = freshness;
/** What services of all releases say of it. */
const age = { generatedAt, stale, ageSeconds };

/** A service of another release may have more faults than this one. */
const explained = { fault: orNull(text("A fault.", "timeout")), unknownBecause };

const boardBody = object("What is read of /v1/status.", {
  ...age,
  venues: list(
    "Rows.",
    object("A row.", {
      ...{ id: venueId, name: venueName, category: anyCategory, state, since },
      activeIncidents: integer("Open incidents.", 1),
      components: list("Components.", object("One.", { component, state, since, ...explained })),
    }),
  ),
});

const venueBody = object("What is read of /v1/targets/{venue}/state.", {
  ...age,
  ...{ id: venueId, name: venueName, category: anyCategory, state, since },
  activeIncidents: integer("Open incidents.", 1),
  components: list(
    "Components.",
    withOptional(
      object("One.", {
        ...{ component, state, since },
        ...explained,
        agreeing: integer("Counted regions that see this state.", 2),
        reporting: integer("Regions that report it; until 0.9 those whose votes count.", 3),
        incident: orNull(slug),
      }),
      { counted: integer("Regions whose votes count.", 3) },
    ),
  ),
});

const regionsBody = object("What is read of /v1/targets/{venue}.", {
  typicalMs: orNull(integer("Its typical latency.", 84)),
  regions: object("Regions.", {
    compare: list(
      "Every region.",
      object("One.", {
        region: regionId,
        ...{
          reporting: flag("Whether it reports now.", true),
          impaired: flag("Whether it has no vote.", false),
          state,
        },
      }),
    ),
  }),
});

export type RemoteBoard = TypeOf<typeof boardBody>;
type VenueBody = TypeOf<typeof venueBody>;
export type RemoteVenue = Omit<VenueBody, "components"> & {
  components: (VenueBody["components"][number] & { counted: number })[];
};
export type RemoteRegions = TypeOf<typeof regionsBody>;
export type StateWord = RemoteVenue["state"];
export type RemoteReason = NonNullable<RemoteVenue["components"][number]["unknownBecause"]>;

/**
 * All texts are on one line and safe for a terminal.
 *
 * @param of a category; null: all venues
 * @throws ServiceError
 */
export async function readBoard(service: RemoteService, of: string | null): Promise<RemoteBoard> {
  const query = of === null ? "" : `?category=${encodeURIComponent(of)}`;
  return bodyOf(service, `/v1/status${query}`, boardBody);
}

/** The same for one venue. @throws ServiceRefusal with 404 if the service does not watch it, or another ServiceError */
export async function readVenue(service: RemoteService, venue: string): Promise<RemoteVenue> {
  const body = await bodyOf(service, `/v1/targets/${encodeURIComponent(venue)}/state`, venueBody);
  return { ...body, components: body.components.map((one) => ({ ...one, counted: one.counted ?? one.reporting })) };
}

/** What each region sees of a venue by itself, without a vote. @throws ServiceError */
export async function readRegions(service: RemoteService, venue: string): Promise<RemoteRegions> {
  return bodyOf(service, `/v1/targets/${encodeURIComponent(venue)}`, regionsBody);
}

async function bodyOf<Body>(service: RemoteService, path: string, schema: Schema<Body>): Promise<Body> {
  const body = await service.read(path);
  const check = checkOf(schema);
  if (check(body)) return plain(body) as Body;
  const { instancePath = "", message = "it has another shape" } = check.errors?.[0] ?? {};
  const place = plainText(instancePath.replaceAll("/", "."), 100);
  throw new NotOurService(
    `expected the API of venuewatch at ${service.url}, got another answer to ${path.replace(/\?.*/, "")}: ` +
      `${place}${place === "" ? "" : " "}${plainText(message, 100)}; check that it is venuewatch 0.9 or later`,
    200,
  );
}

const checks = new Map<Schema, ValidateFunction>();

/** The check also removes what the schema does not name. */
function checkOf(schema: Schema): ValidateFunction {
  const known = checks.get(schema);
  if (known) return known;
  const formats = { "date-time": (value: string) => parseInstant(value) !== null };
  const check = new Ajv2020({ strict: false, removeAdditional: "all", formats }).compile(schema);
  checks.set(schema, check);
  return check;
}

/** No name or slug of ours is longer. */
const longestText = 200;

/** Why a component is unknown: there is more to say with more regions. */
const longestDetail = 600;

function plain(value: unknown, longest = longestText): unknown {
  if (typeof value === "string") return plainText(value, longest);
  if (Array.isArray(value)) return value.map((one) => plain(one));
  if (typeof value !== "object" || value === null) return value;
  const limitOf = (name: string) => (name === "detail" ? longestDetail : longestText);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one, limitOf(name))]));
}
