/** Words that several pages share, and those that publish the same elsewhere. */
import type { Fault, TroubleKind } from "../../../shared/measurement/sample.js";
import type { Category } from "../../../shared/registry/registry.js";
import type { state, TypeOf } from "../api/shapes.js";

export type State = TypeOf<typeof state>;

interface FaultVerb {
  does: string;
  did: string;
  hasDone: string;
  began: string;
}

export const boardWords = {
  noOpenIncidents: "No incident is open.",
  openUnknown: "We cannot tell whether an incident is open.",
  noneOpenHere: "No incident of this category is open.",
  legendDays:
    "A bar is a day: low without trouble, higher with degraded minutes or an incident, highest with down minutes, hollow if we measured less than half of it, and a gap where nothing was measured.",
  nothingFound: "No venue matches this filter.",
};

export const referenceWords = {
  fieldsOf: (name: string) => `Fields of ${name}`,
  answers: "Errors and other answers",
};

export const compareWords = {
  reasons: {
    "region impaired": "Most venues were cut off there at once, and in no other region whose own network worked",
    "vantage impaired": "Most venues were cut off at once in all regions on one machine, and in no other region",
  } as Record<string, string>,
};

export const regionsWords = {
  placeUnknown: "place and network not given",
  recognisedBy: "Venues that turned bad there alone",
};

/** `/incidents/{slug}`. */
export const incidentPageWords = {
  was: (kind: "down" | "failing" | "degraded", fault: Fault | null, duration: string) =>
    `${verbOf(fault)?.did ?? `was ${kind}`} for ${duration}`,
  faultsForgotten: "Unknown: measurements of that time are no longer kept.",
  noVotes: "No votes are on record.",
};

/** The language of these texts, as BCP 47 writes it. */
export const language = "en";

export const stateWords: Record<State, string> = {
  operational: "Healthy",
  degraded: "Degraded",
  outage: "Down",
  unknown: "Unknown",
};

export const stateMeanings: Record<State, string> = {
  operational: "most regions see it answer as usual",
  degraded: "most regions see it fail in part, or answer far slower than usual",
  outage: "most regions see it fail",
  unknown: "too few regions measured it, or too few of its components, to say; or it was never seen good from here",
};

/**
 * Faults that say what the venue does, instead of that it fails. What limits our requests answers them, and it may be
 * our own doing.
 */
export const faultVerbs: Partial<Record<Fault, FaultVerb>> = {
  limited: {
    does: "limits our requests",
    did: "limited our requests",
    hasDone: "has limited our requests",
    began: "began to limit our requests",
  },
  halted: {
    does: "says that it does not trade",
    did: "said that it did not trade",
    hasDone: "has said that it does not trade",
    began: "began to say that it does not trade",
  },
  blocked: {
    does: "refuses our region",
    did: "refused our region",
    hasDone: "has refused our region",
    began: "began to refuse our region",
  },
};

export const categoryWords: Record<Category, string> = {
  exchange: "Exchanges",
  rpc: "RPC providers",
  "market-data": "Market data",
  oracle: "Oracles",
  stablecoin: "Stablecoins",
  bridge: "Bridges",
  ramp: "Ramps",
};

export const siteWords = {
  ago: (age: string) => `${age} ago:`,
  /** After the sentence which says for how long we have been blind. */
  beforeThat: "Before that:",
};

/** The choice of a window of days. */
export const windowWords = {
  during: (days: number) => (days === 1 ? "today" : `over the last ${days} days`),
};

/** What a fault means, as the end of a sentence. */
export const faultMeanings: Record<Fault, string> = {
  dns: "its name did not resolve",
  connect: "no connection",
  tls: "its certificate or encryption failed",
  timeout: "no answer in time",
  http: "an HTTP error",
  blocked: "the venue refused our region",
  limited: "the venue limits our requests",
  halted: "the venue says that it does not trade",
  body: "unexpected content",
  handshake: "the stream was refused",
  closed: "the connection was cut",
  stall: "the stream was silent while its socket was open",
  stale: "old data",
};

export const matrixWords = {
  kinds: { rest: "REST", ws: "stream" },
};

export const viewWords = {
  ranges: { "24h": "24 hours", "7d": "7 days" },
};

/** What keeps our own probes of a region from measuring, after its name. */
export const troubleWords: Record<TroubleKind, string> = {
  network: "cannot reach the internet",
  resolver: "cannot resolve names",
  sockets: "has no free sockets",
  clock: "has a wrong clock",
  starved: "gets too little processor time",
  spool: "cannot store its samples",
};

/** Columns of endpoints, streams and regions. */
export const measuredWords = {
  ofSamples: (samples: number) => `of ${samples}`,
};

export const noticeWords = {
  kinds: { incident: "incident", maintenance: "maintenance", other: "about something that we do not measure" },
  noneOfOurs: "none of ours",
  notCompared: "not compared",
};

export function verbOf(fault: Fault | null): FaultVerb | undefined {
  return fault === null ? undefined : faultVerbs[fault];
}
