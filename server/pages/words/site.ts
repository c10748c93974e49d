/** Texts of every page, and words that several pages share. */
import type { state } from "../../api/schemas/shapes.js";
import type { TypeOf } from "../../api/schemas/shapes.js";
import type { Fault } from "../../../shared/measurement/sample.js";
import type { Category } from "../../../shared/registry/registry.js";

export type State = TypeOf<typeof state>;

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

interface FaultVerb {
  does: string;
  did: string;
  hasDone: string;
  began: string;
}

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

export const limitedWord = "Limits our requests";

export const categoryWords: Record<Category, string> = {
  exchange: "Exchanges",
  rpc: "RPC providers",
  "market-data": "Market data",
  oracle: "Oracles",
  stablecoin: "Stablecoins",
  bridge: "Bridges",
  ramp: "Ramps",
};

/** Names of pages, in the navigation and in titles. */
export const pageWords = {
  board: "Board",
  incidents: "Incidents",
  compare: "Compare",
  detection: "Detection",
  regions: "Regions",
  docs: "Docs",
  wall: "Wall",
};

export const siteWords = {
  name: "venuewatch",
  skip: "Skip to the content",
  navigation: "Pages",
  asOf: "As of",
  asJson: "This page as JSON",
  old: (age: string) => `This is ${age} old: we have nothing newer. It says nothing about the venues since then.`,
  ago: (age: string) => `${age} ago:`,
  oldTitle: (age: string) => `${age} old`,
  localTime: "Show local time",
  utc: "Show UTC",
  lost: "The connection to this page's server is lost. What you see may be old.",
  mayBeOld: "May be old",
  limited: "Your address sends too many requests, so this page waits. What you see may be old.",
  unavailable: "We cannot read our own data at the moment. What you see may be old.",
  methodology: "How this is measured",
  rulebook: "How a verdict is reached",
  alerts: "Receive alerts",
};

/** Feeds that a page advertises; null: those of all venues. */
export const feedLinkWords = {
  incidents: (venue: string | null, format: string) =>
    `${venue === null ? "Incidents" : `Incidents of ${venue}`} (${format})`,
  maintenance: (venue: string | null) =>
    venue === null ? "Announced maintenance (calendar)" : `Announced maintenance of ${venue} (calendar)`,
};

export const errorWords = {
  headings: {
    400: "We do not understand this address",
    404: "There is no such page",
    405: "This can only be read",
    429: "Too many requests from your address",
    500: "This is our fault",
    503: "We cannot read our own data at the moment",
  } as Record<number, string>,
  status: (status: number, title: string) => `Error ${status}: ${title}`,
  parameters: "What we could not read in the address",
  parameter: "Parameter",
  message: "What we expected, and what came",
  unavailable: "This says nothing about any venue. The page tries again by itself.",
  ofOurs: "This says nothing about any venue.",
  waitSeconds: (seconds: number) =>
    `We allow only so many requests in a minute. You can load the page again in ${seconds} ${seconds === 1 ? "second" : "seconds"}.`,
  retracted: "This incident was retracted",
  retractedMeaning: "We no longer claim that it happened. It counts in no list and no figure.",
  retractedAt: "When",
  retractedWhy: "Why",
  links: "Where to go from here",
};

/** Parts of instants and durations. */
export const timeWords = {
  utc: "UTC",
  lessThanAMinute: "less than a minute",
  units: {
    second: ["second", "seconds"],
    minute: ["minute", "minutes"],
    hour: ["hour", "hours"],
    day: ["day", "days"],
  } as Record<"second" | "minute" | "hour" | "day", [one: string, many: string]>,
  and: " ",
};

/** The choice of a window of days. */
export const windowWords = {
  label: "Length of the window",
  link: (days: number) => (days === 1 ? "Today" : `${days} days`),
  days: "Days",
  show: "Show",
  during: (days: number) => (days === 1 ? "today" : `over the last ${days} days`),
};

export const listWords = {
  and: " and ",
  more: (count: number) => `${count} more`,
};

/** Values that nobody knows. */
export const unknownWords = {
  notMeasured: "not measured",
  unknown: "unknown",
};

/** What a fault means, as the end of a sentence. */
export const faultMeanings: Record<Fault, string> = {
  dns: "its name did not resolve",
  connect: "no connection",
  tls: "its certificate or encryption failed",
  timeout: "no answer in time",
  http: "an error instead of an answer",
  blocked: "the venue refused our region",
  limited: "the venue limits our requests",
  halted: "the venue says that it does not trade",
  body: "an answer without the expected content",
  handshake: "the stream was refused",
  closed: "the connection was cut",
  stall: "the stream was silent while its socket was open",
  stale: "old data",
};
