/** `compare`: how reliable several venues were over the same days, and which differences are certain. */
import {
  anyCategory,
  day,
  integer,
  list,
  object,
  orNull,
  shownAs,
  type TypeOf,
  venueId,
  venueName,
  withOptional,
} from "../api/schemas/shapes.js";
import { uptimeBasis, uptimePct } from "../api/schemas/uptime.js";
import { BadArgument, NoData, type ReliabilityBody } from "./agent-source.js";
import { answerHead, headOf, staleSentence } from "./answer-head.js";
import { findVenue } from "./find-venue.js";
import { windowStart } from "./incidents-tool.js";
import { mostName, namedVenue, quoted } from "./quoted.js";
import { countedWords, listWords } from "./time-words.js";
import { makeTool } from "./tool.js";
import { uptimeWords } from "./uptime-words.js";
import { venueArgument } from "./venue-argument.js";

const usualDays = 90;
const mostVenues = 10;

const input = withOptional(
  object("Which venues, over how many days.", {
    venues: {
      ...list(venueArgument.description!, venueArgument),
      ...{ minItems: 2, maxItems: mostVenues, examples: [["okx", "kraken"]] },
    },
  }),
  {
    days: {
      ...integer("Length of the window in UTC days, today included.", usualDays, 1),
      ...{ maximum: 90, default: usualDays },
    },
  },
);

const row = object("How reliable one venue was.", {
  id: venueId,
  name: { ...venueName, description: "Its name, quoted." },
  category: anyCategory,
  uptimePct,
  ...uptimeBasis,
  measuredDays: integer("Days of the window with a measured minute.", 90),
  downMinutes: orNull(integer("Measured minutes that were down; null if nothing was measured.", 18)),
  degradedMinutes: orNull(integer("Measured minutes that were degraded; null if nothing was measured.", 0)),
  incidents: integer("Incidents that started in the window.", 1),
  outages: integer("Number of these that reached outage.", 1),
  openIncidents: integer("Number of these that are still open.", 1),
  longestIncidentSeconds: orNull(integer("The longest, so far if it is open; null if there is none.", 1_134)),
  typicalP50Ms: orNull(
    integer(
      "REST latency of the median hour of the window; null if not measured. Not the typical latency that `venue` gives, which is of the median minute of seven days.",
      84,
    ),
  ),
  typicalP95Ms: orNull(integer("95th percentile of the median hour; null if not measured.", 210)),
  veryLikelyMoreAvailableThan: shownAs(
    list(
      "Those of the compared venues whose upper bound is below the lower bound of this one. Each bound is right about 95 times in a hundred. All other differences of uptime may be due to what was not measured.",
      venueId,
    ),
    ["okx"],
  ),
});

const output = object("The venues compared.", {
  ...answerHead,
  period: object("The window that all figures cover.", {
    days: integer("Its length in UTC days.", usualDays, 1),
    from: day("Its first day.", "2025-11-03"),
    to: day("Its last day, which is today and not over."),
  }),
  venues: { ...list("The most available first; those without an uptime last.", row), maxItems: mostVenues },
  excluded: object("Minutes in which a region of venuewatch itself was impaired, which count for no venue.", {
    periods: integer("Number of periods.", 1),
    minutes: integer("Their sum over all regions.", 6),
  }),
});

type Row = TypeOf<typeof row>;

export const compareTool = makeTool({
  name: "compare",
  title: "Compare the reliability of venues",
  description:
    "Uptime, downtime, incidents and latency of two to ten venues over the same days, with how much of the time was measured and which differences are certain. An uptime of null means that too little was measured, not zero.",
  quotesVenues: false,
  input,
  output,
  answer: async ({ venues: asked, days = usualDays }, source) => {
    const found: string[] = [];
    for (const one of asked) found.push(await findVenue(one, source));
    const ids = new Set(found);
    if (ids.size < 2)
      throw new BadArgument(
        `venues: expected at least 2 different venues; got ${listWords(asked.map((one) => JSON.stringify(quoted(one, mostName))))}, which are one`,
      );
    const body = await source.reliability(days);
    const rows = body.venues.filter(({ id }) => ids.has(id));
    const missing = [...ids].filter((id) => !rows.some((one) => one.id === id));
    if (missing.length > 0) throw new NoData(`there are no figures of ${listWords(missing)} yet`);
    const compared = rows.map((one) => rowOf(one, rows));
    const text = sentencesOf(body, compared);
    const { baseUrl } = source;
    const evidence = { page: `${baseUrl}/compare?days=${days}`, api: `${baseUrl}/v1/reliability?days=${days}` };
    return {
      text,
      data: {
        ...headOf(body, text, evidence),
        period: periodOf(body),
        venues: compared,
        excluded: {
          periods: body.excluded.length,
          minutes: body.excluded.reduce((sum, { minutes }) => sum + minutes, 0),
        },
      } satisfies TypeOf<typeof output>,
    };
  },
});

function periodOf({ generatedAt, days }: ReliabilityBody) {
  return { days, from: windowStart(generatedAt, days).slice(0, 10), to: generatedAt.slice(0, 10) };
}

type ReliabilityFigures = ReliabilityBody["venues"][number];

function rowOf(one: ReliabilityFigures, rows: readonly ReliabilityFigures[]): Row {
  const { id, name, category, uptimePct, measuredMinutes, scheduledMinutes, coveragePct, uptimePctLow, uptimePctHigh } =
    one;
  const { measuredDays, downMinutes, degradedMinutes, incidents, outages, openIncidents, longestIncidentSeconds } = one;
  const { typicalP50Ms, typicalP95Ms } = one;
  return {
    ...{ id, name: quoted(name, mostName), category },
    ...{ uptimePct, measuredMinutes, scheduledMinutes, coveragePct, uptimePctLow, uptimePctHigh },
    ...{ measuredDays, downMinutes, degradedMinutes, incidents, outages, openIncidents, longestIncidentSeconds },
    ...{ typicalP50Ms, typicalP95Ms },
    veryLikelyMoreAvailableThan: rows
      .filter(({ uptimePctHigh: high }) => uptimePctLow !== null && high !== null && uptimePctLow > high)
      .map(({ id }) => id),
  };
}

function sentencesOf(body: ReliabilityBody, rows: readonly Row[]): string {
  const { days, from, to } = periodOf(body);
  return [
    `${staleSentence(body)}From ${from} to ${to} (${countedWords(days, "UTC day")}), the most available first:`,
    ...rows.map(lineOf),
    differencesOf(rows),
  ].join("\n");
}

function lineOf(row: Row): string {
  const down = row.downMinutes === null ? "down time unknown" : `${countedWords(row.downMinutes, "minute")} down`;
  const latency = row.typicalP50Ms === null ? "latency unknown" : `latency of its median hour ${row.typicalP50Ms} ms`;
  return `- ${namedVenue(row)}: ${uptimeWords(row)}; ${down}; ${countedWords(row.incidents, "incident")}; ${latency}`;
}

function differencesOf(rows: readonly Row[]): string {
  const likely = rows.filter(({ veryLikelyMoreAvailableThan: others }) => others.length > 0);
  if (likely.length === 0)
    return "No difference of uptime can be told: the bounds, at 95 %, overlap, and what was not measured may reverse each.";
  const each = likely.map(({ id, veryLikelyMoreAvailableThan: others }) => `${id} than ${listWords(others)}`);
  return `Very likely more available, as the bounds at 95 % do not overlap: ${each.join("; ")}. Other differences cannot be told.`;
}
