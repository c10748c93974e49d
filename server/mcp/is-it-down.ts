/** `is_it_down`: whether one venue is up, or which of all are not. */
import { component } from "../api/schemas/incident.js";
import { byQuorum } from "../api/schemas/region-view.js";
import {
  integer,
  list,
  object,
  orNull,
  regionId,
  since,
  slug,
  type TypeOf,
  venueId,
  venueName,
  withOptional,
} from "../api/schemas/shapes.js";
import { type AgentSource, BadArgument, type BoardBody, NoData, type VenueStateBody } from "./agent-source.js";
import {
  type Dated,
  headOf,
  headWithoutData,
  judged,
  judgedOf,
  type JudgedState,
  staleSentence,
} from "./answer-head.js";
import { findVenue } from "./find-venue.js";
import { mostName, mostTitle, namedVenue, quoted } from "./quoted.js";
import { regionArgument } from "./region-argument.js";
import { quotedView, viewRow } from "./region-row.js";
import {
  explained,
  explainedOf,
  type Explained,
  stateSentences,
  subjectOf,
  unknownSentence,
} from "./state-sentence.js";
import { askedWords, listWords } from "./time-words.js";
import { makeTool, type ToolAnswer } from "./tool.js";
import { venueArgument } from "./venue-argument.js";

/** Rows of an answer about all venues. */
const mostRows = 50;
const mostComponents = 50;
/** Far more than a registry has. */
const mostIds = 500;
const mostRegions = 30;

const troubled = object("A component that is not operational.", {
  component,
  ...judged,
  since,
  ...explained,
  incident: orNull({ ...slug, description: "Its open incident, for the tool `incidents`; null if there is none." }),
});

const row = object("One venue.", {
  id: venueId,
  name: { ...venueName, description: "Its name, quoted." },
  ...judged,
  since,
  components: integer("Number of its measured components.", 9),
  troubledComponents: { ...list("Those that are not operational.", troubled), maxItems: mostComponents },
  openIncidents: integer("Open incidents.", 1),
});

const output = object("Whether it is down.", {
  ...headWithoutData,
  region: orNull({ ...regionId, description: "The region whose view this is; null: it is by a majority of them." }),
  byQuorum,
  regions: {
    ...list(
      "Regions that see the venue asked for, or a component, otherwise than all together, or cannot tell. Empty if no venue was asked for.",
      viewRow,
    ),
    maxItems: mostRegions,
  },
  state: {
    ...judged.state,
    description: `Of the venue asked for. Of all venues: outage if at least half are, degraded if any is degraded or in outage, unknown while fewer than half are known. ${judged.state.description}`,
  },
  venues: {
    ...list(
      "The venue asked for. If no venue was asked for: all that are not operational, the worst first; unknown ones are among them.",
      row,
    ),
    maxItems: mostRows,
  },
  omittedVenues: integer("Venues that are not operational and did not fit into `venues`.", 0),
  operationalVenues: {
    ...list("If no venue was asked for: the ids of those that are up.", venueId),
    maxItems: mostIds,
  },
});

type Output = TypeOf<typeof output>;
type Row = TypeOf<typeof row>;

export const isItDown = makeTool({
  name: "is_it_down",
  title: "Is it down?",
  description:
    'Says whether an exchange, RPC provider, market data API, oracle, stablecoin, bridge or ramp is up, degraded, down or unknown, as measured from several regions and decided by a majority of them. Use it for "is OKX down?" and "is it down or just me?": the answer names regions that see it otherwise, and `region` asks for the view of one. Without a venue it says which of all watched venues have trouble. `unknown` is neither up nor down.',
  quotesVenues: false,
  input: withOptional(object("Which venue.", {}), { venue: venueArgument, region: regionArgument }),
  output,
  answer: async ({ venue, region = null }, source): Promise<ToolAnswer<Output>> => {
    if (venue === undefined && region !== null)
      throw new BadArgument("venue is missing: a region's view is of one venue at a time");
    try {
      return venue === undefined
        ? answerForAll(await source.board(), source)
        : await answerForOne(venue, region, source);
    } catch (error) {
      if (!(error instanceof NoData)) throw error;
      return withoutData(venue, error, source);
    }
  },
});

async function answerForOne(asked: string, region: string | null, source: AgentSource): Promise<ToolAnswer<Output>> {
  const id = await findVenue(asked, source);
  const body = await source.state(id, region);
  const text = staleSentence(body) + sentencesOf(body);
  const api = `${source.baseUrl}/v1/targets/${id}/state${region === null ? "" : `?region=${region}`}`;
  return {
    text,
    data: {
      ...headOf(body, text, { page: `${source.baseUrl}/venues/${id}`, api }),
      ...{ region, byQuorum: body.byQuorum, regions: body.regions.slice(0, mostRegions).map(quotedView(body)) },
      state: judgedOf(body.state, body).state,
      venues: [rowOf(body, body)],
      omittedVenues: 0,
      operationalVenues: [],
    },
  };
}

function sentencesOf(body: VenueStateBody): string {
  if (body.stale) return `${unknownSentence(subjectOf(body))} The last known state was ${body.state}.`;
  return stateSentences(body, body.generatedAt);
}

const order: JudgedState[] = ["outage", "degraded", "unknown", "operational"];

function answerForAll(board: BoardBody, { baseUrl }: AgentSource): ToolAnswer<Output> {
  const { venues, summary } = board;
  const stateOf = ({ state }: { state: JudgedState }) => judgedOf(state, board).state;
  const sorted = [...venues].sort((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
  const bad = sorted.filter((venue) => stateOf(venue) !== "operational");
  const good = venues.filter((venue) => stateOf(venue) === "operational");
  const counts = order.flatMap((state) => {
    const some = bad.filter((venue) => stateOf(venue) === state);
    if (some.length === 0) return [];
    const named = some.slice(0, mostRows).map(namedVenue);
    const more = some.length > mostRows ? [`${some.length - mostRows} more`] : [];
    return `${wordOf[state]}: ${listWords([...named, ...more])}`;
  });
  const text = [
    `${staleSentence(board)}${good.length} of ${venues.length} watched venues ${good.length === 1 ? "is" : "are"} up.`,
    ...counts.map((words) => `${words}.`),
  ].join(" ");
  return {
    text,
    data: {
      ...headOf(board, text, { page: `${baseUrl}/`, api: `${baseUrl}/v1/status` }),
      ...{ region: null, byQuorum: null, regions: [] },
      state: judgedOf(summary.state, board).state,
      venues: bad.slice(0, mostRows).map((venue) => rowOf(venue, board)),
      omittedVenues: Math.max(0, bad.length - mostRows),
      operationalVenues: good.slice(0, mostIds).map(({ id }) => id),
    },
  };
}

const wordOf: Record<JudgedState, string> = {
  operational: "Up",
  degraded: "Degraded, not down as a whole",
  outage: "Down",
  unknown: "Unknown, which is neither up nor down",
};

interface RowSource {
  id: string;
  name: string;
  state: JudgedState;
  since: string;
  activeIncidents: number;
  components: readonly (Explained & {
    component: string;
    state: JudgedState;
    since: string;
    incident?: string | null;
  })[];
}

function rowOf({ id, name, state, since, activeIncidents, components }: RowSource, dated: Dated): Row {
  const troubled = components
    .map((one) => ({ ...one, ...judgedOf(one.state, dated) }))
    .filter((one) => one.state !== "operational")
    .slice(0, mostComponents)
    .map(({ component, state, lastKnownState, since, incident = null, ...one }) => ({
      ...{ component, state, lastKnownState, since, ...explainedOf(one), incident },
    }));
  return {
    ...{ id, name: quoted(name, mostName), ...judgedOf(state, dated), since },
    components: components.length,
    troubledComponents: troubled,
    openIncidents: activeIncidents,
  };
}

/** Not an error: "unknown" is the answer, and a caller must not take its absence for anything else. */
function withoutData(asked: string | undefined, { message }: NoData, { baseUrl }: AgentSource): ToolAnswer<Output> {
  const what = asked === undefined ? "any of its venues" : JSON.stringify(quoted(asked, mostTitle));
  const text = `${unknownSentence(what)} The reason: ${message}. Try again in a minute. ${askedWords(baseUrl)}`;
  return {
    text,
    data: {
      ...{ answer: text, asOf: null, stale: true, ageSeconds: null },
      evidence: { page: `${baseUrl}/`, api: `${baseUrl}/v1/status` },
      ...{
        region: null,
        byQuorum: null,
        regions: [],
        state: "unknown",
        venues: [],
        omittedVenues: 0,
        operationalVenues: [],
      },
    },
  };
}
