/** Words that several pages share, and those that publish the same elsewhere. */
import type { Fault, TroubleKind } from "../../../shared/measurement/sample.js";
import type { Category } from "../../../shared/registry/registry.js";
import type { state, TypeOf } from "../api/shapes.js";
import { plural, t, texts } from "./language.js";

export type State = TypeOf<typeof state>;

interface FaultVerb {
  does: string;
  did: string;
  hasDone: string;
  began: string;
}

export const boardWords = texts({
  noOpenIncidents: () => t`No incident is open.`,
  openUnknown: () => t`We cannot tell whether an incident is open.`,
  noneOpenHere: () => t`No incident of this category is open.`,
  legendDays: () =>
    t`A bar is a day: low without trouble, higher with minutes degraded by failures or with an incident, highest with down minutes, hollow if we measured less than half of it, and a gap where nothing was measured.`,
  nothingFound: () => t`No venue matches this filter.`,
});

export const referenceWords = {
  fieldsOf: (name: string) => `Fields of ${name}`,
  answers: "Errors and other answers",
};

export const compareWords = {
  reasons: texts({
    "region impaired": () => t`Most venues were cut off there at once, and in no other region whose own network worked`,
    "vantage impaired": () => t`Most venues were cut off at once in all regions on one machine, and in no other region`,
  }) as Record<string, string>,
};

export const regionsWords = {
  get placeUnknown() {
    return t`place and network not given`;
  },
  get recognisedBy() {
    return t`Venues that turned bad there alone`;
  },
};

/** `/incidents/{slug}`. */
export const incidentPageWords = {
  /** In English, for programs. */
  was: (kind: "down" | "failing" | "degraded", fault: Fault | null, duration: string) =>
    `${verbOf(fault)?.did ?? `was ${kind}`} for ${duration}`,
  get faultsForgotten() {
    return t`Unknown: measurements of that time are no longer kept.`;
  },
  get noVotes() {
    return t`No votes are on record.`;
  },
};

export const stateWords: Record<State, string> = texts({
  operational: () => t`Healthy`,
  degraded: () => t`Degraded`,
  outage: () => t`Down`,
  unknown: () => t`Unknown`,
});

export const stateMeanings: Record<State, string> = texts({
  operational: () => t`most regions see it answer as usual`,
  degraded: () => t`most regions see it fail in part, or answer far slower than usual`,
  outage: () => t`most regions see it fail`,
  unknown: () =>
    t`too few regions measured it, or too few of its components, to say; or it was never seen good from here`,
});

/**
 * Faults that say what the venue does, instead of that it fails. What limits our requests answers them, and it may be
 * our own doing.
 */
export const faultVerbs: Partial<Record<Fault, FaultVerb>> = {
  limited: texts({
    does: () => t`limits our requests`,
    did: () => "limited our requests",
    hasDone: () => "has limited our requests",
    began: () => "began to limit our requests",
  }),
  halted: texts({
    does: () => t`says that it does not trade`,
    did: () => "said that it did not trade",
    hasDone: () => "has said that it does not trade",
    began: () => "began to say that it does not trade",
  }),
  blocked: texts({
    does: () => t`refuses our region`,
    did: () => "refused our region",
    hasDone: () => "has refused our region",
    began: () => "began to refuse our region",
  }),
};

export const categoryWords: Record<Category, string> = texts({
  exchange: () => t`Exchanges`,
  rpc: () => t`RPC providers`,
  "market-data": () => t`Market data`,
  oracle: () => t`Oracles`,
  stablecoin: () => t`Stablecoins`,
  bridge: () => t`Bridges`,
  ramp: () => t`Ramps`,
});

export const siteWords = {
  ago: (age: string) => t`${age} ago:`,
  /** After the sentence which says for how long we have been blind. */
  get beforeThat() {
    return t`Before that:`;
  },
};

/** The choice of a window of days. */
export const windowWords = {
  during: (days: number) => plural(days, "today", "over the last {0} days"),
};

/** What a fault means, as the end of a sentence. */
export const faultMeanings: Record<Fault, string> = texts({
  dns: () => t`its name did not resolve`,
  connect: () => t`no connection`,
  tls: () => t`its certificate or encryption failed`,
  timeout: () => t`no answer in time`,
  http: () => t`an HTTP error`,
  blocked: () => t`the venue refused our region`,
  limited: () => t`the venue limits our requests`,
  halted: () => t`the venue says that it does not trade`,
  body: () => t`unexpected content`,
  handshake: () => t`the stream was refused`,
  closed: () => t`the connection was cut`,
  stall: () => t`the stream was silent while its socket was open`,
  stale: () => t`old data`,
});

export const matrixWords = {
  kinds: texts({ rest: () => t`REST`, ws: () => t`stream` }),
};

export const viewWords = {
  ranges: texts({ "24h": () => t`24 hours`, "7d": () => t`7 days` }),
};

/** What keeps our own probes of a region from measuring, after its name. */
export const troubleWords: Record<TroubleKind, string> = texts({
  network: () => t`cannot reach the internet`,
  resolver: () => t`cannot resolve names`,
  sockets: () => t`has no free sockets`,
  clock: () => t`has a wrong clock`,
  starved: () => t`gets too little processor time`,
  spool: () => t`cannot store its samples`,
});

/** Columns of endpoints, streams and regions. */
export const measuredWords = {
  ofSamples: (samples: number) => t`of ${samples}`,
};

export const noticeWords = {
  kinds: texts({
    incident: () => t`incident`,
    maintenance: () => t`maintenance`,
    other: () => t`about something that we do not measure`,
  }),
  get noneOfOurs() {
    return t`none of ours`;
  },
  get notCompared() {
    return t`not compared`;
  },
};

export function verbOf(fault: Fault | null): FaultVerb | undefined {
  return fault === null ? undefined : faultVerbs[fault];
}
