/** The raw samples of an incident, so that anybody can recompute it. */
import type { RequestHandler } from "express";
import type { Pool } from "../../../shared/database/pool.js";
import { answerJson, longCache } from "../api/answer.js";
import { instantParameter, integerParameter, type Parameter, type Values } from "../api/parameters.js";
import { badParameters, type BadParameter, Problem, shortened } from "../api/problem.js";
import { queryOf } from "../api/request.js";
import {
  flag,
  freshness,
  instant,
  integer,
  list,
  named,
  number,
  object,
  orNull,
  regionId,
  shownAs,
  slug,
  text,
  venueId,
} from "../api/shapes.js";
import { component, fault, startedAt } from "./component.js";
import { cacheOf, incidentNamed, isSlug } from "./incident.js";
import type { Snapshot, Snapshots } from "./snapshot.js";
import {
  type AnswerTable,
  formReader,
  ofTheWindow,
  propertiesOf,
  type TableFormat,
  type TableSchema,
} from "./tables.js";

export interface IncidentSamplesOptions {
  pool: Pick<Pool, "file">;
  incidents: Snapshots;
  samples: Snapshots;
  answerTable: AnswerTable;
}

/** `/v1/incidents/{slug}/samples`; with an ending, as a table. */
export function incidentSamplesRoute(
  options: IncidentSamplesOptions,
  ending: TableFormat | null = null,
): RequestHandler<{ slug: string }> {
  const read = formReader(incidentSamplesParameters, ending, regionWithoutSlot);
  const requireRegion = regionRequirer(options.pool);
  return async (request, response) => {
    const { format, decimal, ...page } = read(queryOf(request));
    const { slug } = request.params;
    await requireRegion(page.afterRegion);
    if (format === "json") {
      const snapshot = await samplesOf(options, slug, page);
      return answerJson(response, snapshot, cacheOf(snapshot));
    }
    // a table without rows does not say why it has none
    await samplesOf(options, slug, anyPage);
    const table = { file: "incident_samples_csv", values: valuesOf(slug, page), schema: incidentSamplesTable };
    await options.answerTable(
      response,
      { format, decimal },
      { ...table, name: fileNameOf(slug, page), holdMs: samplesHeldMs },
    );
  };
}

const afterRegion: Parameter<string | null> = {
  schema: { type: "string", pattern: "^[\\w-]{1,64}$", examples: ["us-east"] },
  description: "The region of that sample: includes the samples of this slot from the regions that follow it.",
  read: (text) => text,
  expected: "the id of a region, as the last sample has it",
  absent: null,
};

export const incidentSamplesParameters = {
  limit: integerParameter("Rows per page; a shorter page is the last one.", 1, 5_000, 1_000),
  after: instantParameter(
    "Cursor: the slot of the last sample received. Alone, only samples of later slots; several regions may have measured in one slot.",
  ),
  afterRegion,
};

type SamplesQuery = Values<typeof incidentSamplesParameters>;

/** Whether there are any is the same for every page. */
const anyPage: SamplesQuery = { limit: 1, after: null, afterRegion: null };

function regionWithoutSlot({ after, afterRegion }: SamplesQuery): BadParameter[] {
  if (afterRegion === null || after !== null) return [];
  return [
    { parameter: "afterRegion", message: "expected together with after, whose ties it breaks; after is missing" },
  ];
}

/**
 * After a region that nobody knows there is no order, so the rest of the slot would be missing. Asked of the database:
 * the registry has forgotten regions whose samples are still kept.
 */
function regionRequirer(pool: Pick<Pool, "file">) {
  const known = new Set<string>();
  return async (region: string | null): Promise<void> => {
    if (region === null || known.has(region)) return;
    if ((await pool.file("region_named", [region])).length === 0)
      throw badParameters([
        {
          parameter: "afterRegion",
          message: `expected the id of a region, as the last sample has it; got ${JSON.stringify(shortened(region))}, which was never one (/v1/regions lists those of today)`,
        },
      ]);
    known.add(region);
  };
}

/** New samples of an open incident come every few seconds; `to` says which there are. */
const samplesHeldMs = 10_000;

/** @throws Problem 404: there is no such incident, it was retracted, or its samples are no longer kept */
async function samplesOf(
  { pool, incidents, samples }: IncidentSamplesOptions,
  slug: string,
  page: SamplesQuery,
): Promise<Snapshot> {
  const values = valuesOf(slug, page);
  const snapshot = isSlug(slug) ? await samples("incident_samples", values, values, samplesHeldMs) : null;
  if (snapshot) return snapshot;
  await incidentNamed(pool, incidents, slug);
  throw new Problem(
    404,
    `The raw samples of ${slug} are no longer kept: they are kept for eight days. /v1/incidents/${slug} has the votes that were made of them.`,
    { cache: longCache },
  );
}

function valuesOf(slug: string, { limit, after, afterRegion }: SamplesQuery) {
  return [slug, limit, after, afterRegion];
}

function fileNameOf(slug: string, { limit, after, afterRegion }: SamplesQuery): string {
  return [
    slug,
    "samples",
    ...(limit === incidentSamplesParameters.limit.absent ? [] : [`limit-${limit}`]),
    // Windows does not allow colons in file names
    ...(after === null ? [] : [`after-${after.replaceAll(":", "")}`]),
    ...(afterRegion === null ? [] : [afterRegion]),
  ].join("-");
}

function tookMs(description: string, example: number) {
  return orNull(number(description, example));
}

const rawSample = object("One measurement: the component, seen from a region, in a slot.", {
  slot: instant("The scheduled instant, not that of measuring.", startedAt),
  region: regionId,
  good: flag("Whether it was good. A slow answer is good.", false),
  fault: { ...orNull(fault), description: "Why it is bad; null if it is good." },
  unserved: flag(
    "Whether the venue prevented the measurement, because it had told us to wait or the socket was down. It failed with the fault that prevented it.",
    false,
  ),
  receivedAfterSeconds: integer(
    "Seconds from the slot until the database had it, rounded up. A decision counts it from slot plus this on.",
    1,
  ),
  latencyMs: shownAs(
    tookMs(
      "From the first byte sent to the last byte received; for the socket, the time to open. Null without a complete answer, and for a stream.",
      84.213,
    ),
    null,
  ),
  dnsMs: tookMs("Name look-up; null on a kept-alive connection.", 3.1),
  connectMs: tookMs("Connecting; null on a kept-alive connection.", 11.902),
  tlsMs: tookMs("TLS handshake; null on a kept-alive connection.", 24.5),
  firstByteMs: shownAs(tookMs("From the first byte sent to the first byte received.", 83.904), null),
  httpStatus: shownAs(orNull(integer("HTTP status of the answer; null if there was none.", 200, 100)), null),
  fresh: orNull(flag("Whether the connection was opened for this request; null for a stream.", true)),
  lateMs: orNull(integer("How long after the slot the measurement began; null: at most 50 ms.", 120)),
  head: shownAs(orNull(integer("Height of the chain, where the endpoint reads one.", 21_000_000)), null),
  messages: shownAs(orNull(integer("Data frames of a stream in the slot.", 41)), null),
  quietMs: shownAs(orNull(integer("Longest silence of a stream that overlaps the slot.", 900)), null),
  eventAgeMs: shownAs(
    orNull(integer("Age of the data by the venue's own time stamp; null without one.", 35, null)),
    null,
  ),
  sequenceGaps: shownAs(
    orNull(integer("How often a frame's number did not follow the one before; null where they are not numbered.", 1)),
    null,
  ),
  refusal: shownAs(orNull(text("The venue's words when it refused the stream.", "Invalid symbol")), null),
});

const from = instant(
  "Ten minutes before the incident began, or as far back as its opening was judged if that is longer.",
  "2026-01-31T11:31:06.000Z",
);

const to = instant("Five minutes after it closed; generatedAt until then.", "2026-01-31T12:00:00.000Z");

const keptFrom = instant(
  "Samples are shown from here on: that beginning, or later where older samples are no longer kept.",
  "2026-01-31T11:31:06.000Z",
);

const aroundIncident = {
  slug,
  venue: venueId,
  component,
};

export const incidentSamplesResponse = named(
  "IncidentSamplesResponse",
  object("The raw samples of one incident.", {
    ...freshness,
    ...aroundIncident,
    ...{ from, to, keptFrom },
    samples: list("By slot, and within a slot in a fixed order of regions: one page.", named("RawSample", rawSample)),
  }),
);

/** `/v1/incidents/{slug}/samples` as a table. */
export const incidentSamplesTable: TableSchema = {
  sheet: "samples",
  rows: "One row per sample, oldest first; one page, as in JSON",
  columns: {
    generatedAt: ofTheWindow["generatedAt"]!,
    windowFrom: from,
    windowTo: to,
    windowKeptFrom: keptFrom,
    methodologyUrl: ofTheWindow["methodologyUrl"]!,
    ...aroundIncident,
    ...propertiesOf(rawSample, Object.keys(rawSample.properties!)),
  },
};
