/** `venue`: what matters about one venue now, and its last ninety days. */
import { component, componentLabel } from "../api/schemas/incident.js";
import { byQuorum } from "../api/schemas/region-view.js";
import {
  anyCategory,
  flag,
  instant,
  integer,
  list,
  object,
  oneOf,
  orNull,
  percent,
  regionId,
  since,
  text,
  type TypeOf,
  venueId,
  venueName,
  withOptional,
} from "../api/schemas/shapes.js";
import { uptimeBasis, uptimePct } from "../api/schemas/uptime.js";
import type { VenueBody, VenueStateBody } from "./agent-source.js";
import { answerHead, headOf, judged, judgedOf, staleSentence } from "./answer-head.js";
import { findVenue } from "./find-venue.js";
import { incidentRow, incidentRowOf } from "./incident-row.js";
import { mostName, mostTitle, quoted, quotedAddress } from "./quoted.js";
import { regionArgument } from "./region-argument.js";
import { quotedView, viewFields } from "./region-row.js";
import { explained, explainedOf, stateSentences, subjectOf, unknownSentence } from "./state-sentence.js";
import { countedWords } from "./time-words.js";
import { makeTool } from "./tool.js";
import { uptimeWords } from "./uptime-words.js";
import { venueArgument } from "./venue-argument.js";

const mostComponents = 50;
const mostRegions = 30;
const mostIncidents = 10;
const mostNotices = 5;

const componentRow = object("One measured component, by quorum over all regions, or as `region` sees it.", {
  component,
  label: componentLabel,
  ...judged,
  since,
  ...explained,
});

const regionRow = object("What one region alone sees; no decision depends on it.", {
  ...viewFields,
  reporting: flag("Whether it reports this venue now.", true),
  impaired: flag("Whether its own network is in trouble, so that it has no vote.", false),
  goodPct: orNull(percent("Share of its measurements of the last day that were good; null if there are none.", 98.403)),
  medianMs: orNull(integer("Median REST latency of the last day; null if not measured.", 84)),
});

const noticeRow = object("A notice on the venue's own status page. Its texts are the venue's, quoted.", {
  title: text("Title.", "Degraded REST API"),
  kind: oneOf(["incident", "maintenance", "other"], "other: about something that venuewatch does not measure."),
  status: text("In the venue's own words.", "investigating"),
  startedAt: instant("When it began or begins, according to the venue."),
  url: orNull(text("Its page; null if it has none.", "https://stspg.io/x1b2c3")),
});

const noticesPart = object("What the venue says itself. It never changes a state of venuewatch.", {
  feed: oneOf(
    ["readable", "unreadable", "none"],
    "Whether the venue's own status feed can be read now; none: it has none. Unless it is readable, no notice means nothing.",
  ),
  current: { ...list("Its newest notices that are not over.", noticeRow), maxItems: mostNotices },
});

const output = object("One venue.", {
  ...answerHead,
  id: venueId,
  name: { ...venueName, description: "Its name, quoted." },
  category: anyCategory,
  ...judged,
  since,
  components: { ...list("Its components.", componentRow), maxItems: mostComponents },
  region: orNull({ ...regionId, description: "The region whose view the states are; null: they are by a majority." }),
  byQuorum,
  regions: { ...list("The regions that measure it.", regionRow), maxItems: mostRegions },
  typicalMs: orNull(integer("Typical REST latency: of the median minute of seven days; null if not measured.", 84)),
  uptime90d: object("Over ninety UTC days, today included.", {
    uptimePct,
    ...uptimeBasis,
    measuredDays: integer("Days of the ninety with a measured minute.", 90),
  }),
  incidents90d: integer("Incidents that started within the ninety days.", 3),
  openIncidents: { ...list("Its open incidents, newest first.", incidentRow), maxItems: mostIncidents },
  ownNotices: noticesPart,
});

export const venueDetails = makeTool({
  name: "venue",
  title: "One venue in detail",
  description:
    "The state of one venue with each of its components and regions, its open incidents, its latency and its uptime over ninety days, and what its own status page says. Use `is_it_down` if only the state matters.",
  quotesVenues: true,
  input: withOptional(object("Which venue.", { venue: venueArgument }), { region: regionArgument }),
  output,
  answer: async ({ venue, region = null }, source) => {
    const id = await findVenue(venue, source);
    // first, so that it is not newer than the instant of the answer
    const seen = region === null ? null : await source.state(id, region);
    const body = await source.venue(id);
    const stated = statedOf(body, seen);
    const text = sentencesOf(body, stated);
    const evidence = { page: `${source.baseUrl}/venues/${id}`, api: `${source.baseUrl}/v1/targets/${id}` };
    return { text, data: { ...headOf(body, text, evidence), ...dataOfVenue(body, stated, source.baseUrl) } };
  },
});

/** @param seen the view of one region; null: by quorum */
function statedOf({ exchange, state, since, endpoints, streams, regions }: VenueBody, seen: VenueStateBody | null) {
  const components = [...endpoints, ...streams];
  const labelled = seen?.components.map((one) => {
    const { label = one.component } = components.find(({ component }) => component === one.component) ?? {};
    return { ...one, label };
  });
  return {
    ...exchange,
    ...{ state: seen?.state ?? state, since: seen?.since ?? since, components: labelled ?? components },
    ...{
      region: seen?.region ?? null,
      byQuorum: seen?.byQuorum ?? null,
      regions: regions.compare.map(({ view }) => view),
    },
  };
}

type Stated = ReturnType<typeof statedOf>;

function sentencesOf(body: VenueBody, stated: Stated): string {
  const { generatedAt, stale, summary, typicalMs } = body;
  const now = stale
    ? `${unknownSentence(subjectOf(stated))} The last known state was ${stated.state}.`
    : stateSentences(stated, generatedAt);
  const open = openOf(body).length;
  return [
    `${staleSentence(body)}${now}`,
    `Over the last 90 days: ${uptimeWords(summary)}; ${countedWords(summary.incidents, "incident")}, of which ${open} ${open === 1 ? "is" : "are"} open.`,
    typicalMs === null
      ? "Its typical latency is unknown."
      : `Its typical latency is ${typicalMs} ms, that of the median minute of seven days.`,
    noticeSentence(body),
  ].join(" ");
}

/** The notices' own words are in the data only. */
function noticeSentence({ official }: VenueBody): string {
  const { state } = official.feed;
  if (state === "none") return "The venue has no status feed that can be read.";
  if (state === "unreadable") return "What the venue itself says is unknown: its status feed cannot be read now.";
  const current = currentNotices(official).length;
  return `On its own status page the venue has ${countedWords(current, "current notice")}.`;
}

function dataOfVenue(body: VenueBody, stated: Stated, baseUrl: string) {
  const { exchange, regions, summary, official } = body;
  const { state, since, components, region, byQuorum } = stated;
  const { uptimePct, measuredMinutes, scheduledMinutes, coveragePct, uptimePctLow, uptimePctHigh } = summary;
  return {
    ...{ id: exchange.id, name: quoted(exchange.name, mostName), category: exchange.category },
    ...judgedOf(state, body),
    since,
    components: components.slice(0, mostComponents).map(({ component, label, state, since, ...one }) => ({
      ...{ component, label: quoted(label, mostName), ...judgedOf(state, body), since, ...explainedOf(one) },
    })),
    ...{ region: region?.region ?? null, byQuorum },
    regions: regions.compare.slice(0, mostRegions).map((one) => ({
      ...quotedView(body)(one.view),
      ...{ reporting: one.reporting, impaired: one.impaired, goodPct: one.goodPct, medianMs: one.p50Ms },
    })),
    typicalMs: body.typicalMs,
    uptime90d: {
      ...{ uptimePct, measuredMinutes, scheduledMinutes, coveragePct, uptimePctLow, uptimePctHigh },
      measuredDays: summary.measuredDays,
    },
    incidents90d: summary.incidents,
    openIncidents: openOf(body)
      .slice(0, mostIncidents)
      .map((incident) => incidentRowOf(incident, baseUrl)),
    ownNotices: {
      feed: official.feed.state,
      current: currentNotices(official)
        .slice(0, mostNotices)
        .map(({ title, kind, status, startedAt, url }) => ({
          ...{ title: quoted(title, mostTitle), kind, status: quoted(status, mostName), startedAt },
          url: quotedAddress(url),
        })),
    },
  } satisfies Omit<TypeOf<typeof output>, keyof typeof answerHead>;
}

function openOf({ incidents }: VenueBody) {
  return incidents.filter(({ status }) => status === "open");
}

function currentNotices({ incidents }: VenueBody["official"]) {
  return incidents.filter(
    ({ resolvedAt, vanished, timesDoubtful }) => resolvedAt === null && !vanished && !timesDoubtful,
  );
}
