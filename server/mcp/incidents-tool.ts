/** `incidents`: the history, newest first, by pages. */
import {
  instant,
  integer,
  list,
  object,
  oneOf,
  orNull,
  shownAs,
  text,
  type TypeOf,
  venueId,
  withOptional,
} from "../api/schemas/shapes.js";
import { BadArgument, type IncidentsBody } from "./agent-source.js";
import { answerHead, headOf, staleSentence } from "./answer-head.js";
import { findVenue } from "./find-venue.js";
import { incidentRow, incidentRowOf } from "./incident-row.js";
import { countedWords } from "./time-words.js";
import { makeTool } from "./tool.js";
import { venueArgument } from "./venue-argument.js";

const usualDays = 30;
const usualLimit = 10;
const mostIncidents = 25;

const statusWords = oneOf(["open", "closed", "all"], "Only open or only closed incidents, or all.");

const input = withOptional(object("Which incidents.", {}), {
  venue: { ...venueArgument, description: `Only of this venue. ${venueArgument.description}` },
  status: { ...statusWords, default: "all" },
  days: {
    ...integer("Length of the window in UTC days, today included: incidents that started in it.", usualDays, 1),
    ...{ maximum: 365, default: usualDays },
  },
  limit: { ...integer("Incidents in the answer.", usualLimit, 1), maximum: mostIncidents, default: usualLimit },
  cursor: {
    ...text(
      "For the next page: `next` of the previous answer, with the same other arguments.",
      "2026-01-31T11:41:06.000Z/4711",
    ),
    ...{ pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z/\\d{1,15}$", minLength: 26, maxLength: 40 },
  },
});

const output = object("A page of incidents, newest first.", {
  ...answerHead,
  venue: orNull({ ...venueId, description: "The venue asked for; null: all." }),
  status: { ...statusWords, description: "As asked." },
  from: instant("Begin of the window.", "2026-01-02T00:00:00.000Z"),
  incidents: { ...list("The incidents.", incidentRow), maxItems: mostIncidents },
  next: shownAs(
    orNull(text("For the argument `cursor`; null: there are no more.", "2026-01-31T11:41:06.000Z/4711")),
    null,
  ),
});

export const incidentsTool = makeTool({
  name: "incidents",
  title: "Incidents",
  description:
    "Incidents of all venues or of one, newest first: what failed, since when, for how long, how many regions agreed, and what the venue said itself. With status `open`: what is broken now. No incident does not mean that a venue was up: it may not have been measured, which `is_it_down` and `compare` show.",
  quotesVenues: true,
  input,
  output,
  answer: async ({ venue: asked, status = "all", days = usualDays, limit = usualLimit, cursor }, source) => {
    const { baseUrl } = source;
    const venue = asked === undefined ? null : await findVenue(asked, source);
    const filter = new URLSearchParams({ ...(venue !== null && { venue }), status, days: String(days) });
    const query = new URLSearchParams([...filter, ["limit", String(limit)], ...cursorParameters(cursor)]);
    const body = await source.incidents(query);
    const text = sentencesOf(body, { venue, status, days, isFirst: cursor === undefined, limit });
    const evidence = { page: `${baseUrl}/incidents?${filter}`, api: `${baseUrl}/v1/incidents?${query}` };
    return {
      text,
      data: {
        ...headOf(body, text, evidence),
        ...{ venue, status, from: windowStart(body.generatedAt, days) },
        incidents: body.incidents.map((incident) => incidentRowOf(incident, baseUrl)),
        next: nextOf(body, limit),
      } satisfies TypeOf<typeof output>,
    };
  },
});

/** @throws BadArgument if it has the form of an instant but is none */
function cursorParameters(cursor: string | undefined): [name: string, value: string][] {
  if (cursor === undefined) return [];
  const [before = "", beforeId = ""] = cursor.split("/");
  if (Number.isNaN(Date.parse(before))) throw new BadArgument(`cursor: expected \`next\` of an answer; got ${cursor}`);
  return [
    ["before", before],
    ["beforeId", beforeId],
  ];
}

function nextOf({ incidents }: IncidentsBody, limit: number): string | null {
  const last = incidents.at(-1);
  return last === undefined || incidents.length < limit ? null : `${last.startedAt}/${last.id}`;
}

/** Midnight before the first of so many UTC days, the last of which has this instant. */
export function windowStart(instant: string, days: number): string {
  const today = Date.parse(`${instant.slice(0, 10)}T00:00:00Z`);
  return new Date(today - (days - 1) * 86_400_000).toISOString();
}

interface Shown {
  venue: string | null;
  status: string;
  days: number;
  isFirst: boolean;
  limit: number;
}

function sentencesOf(body: IncidentsBody, { venue, status, days, isFirst, limit }: Shown): string {
  const { incidents } = body;
  const kind = status === "all" ? "incident" : `${status} incident`;
  const of = venue === null ? "" : ` of ${venue}`;
  const window = `started in the last ${countedWords(days, "UTC day")}`;
  const more = incidents.length === limit ? " There may be more: ask again with `next` as cursor." : "";
  const lead =
    incidents.length === 0
      ? `venuewatch knows no ${isFirst ? "" : "further "}${kind}${of} that ${window}. That does not mean that it was up: time that was not measured has no incidents.`
      : `${countedWords(incidents.length, kind)}${of} that ${window}, newest first:`;
  const lines = incidents.map(lineOf);
  return [`${staleSentence(body)}${lead}`, ...lines].join("\n") + more;
}

/** Only with our own words: titles of notices are in the data. */
function lineOf({
  venue,
  component,
  peakSeverity,
  status,
  startedAt,
  durationSeconds,
  quorum,
  counted,
  slug,
}: IncidentsBody["incidents"][number]): string {
  const length =
    status === "open"
      ? "still open"
      : `over after ${durationSeconds === null ? "an unknown time" : `${durationSeconds} s`}`;
  return `- ${venue} ${component}: ${peakSeverity}, began ${startedAt}, ${length}, needed ${quorum} of ${counted} regions (${slug})`;
}
