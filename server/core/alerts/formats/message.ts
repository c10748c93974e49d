import {
  type Alert,
  type AnnouncedMaintenance,
  headline,
  type IncidentAlert,
  isAboutTransfer,
  type OfficialNotice,
  permalinkOf,
  type TransferAlert,
} from "./alert.js";

/**
 * What an alert says to people. A format escapes and truncates each text, because most of them may be of strangers, and
 * writes instants in its own way.
 *
 * The headline is that of every format (alert.ts). SQL writes the sentence about the regions that see the trouble
 * (sql/board/049-alert-content.sql), because all formats share it.
 */
export interface Message {
  headline: string;
  mood: Mood;
  /** When it began, for receivers that show one line. */
  began: Line;
  facts: Fact[];
  /** Null: none is stored. */
  evidence: string | null;
  notices: Notice[];
  /** The page about it. */
  link: { title: string; url: string };
  eventId: number;
}

/** `paused`: transfers, which the venue declares; `over`: of either kind. */
export type Mood = "outage" | "degraded" | "paused" | "over" | "test";

/** Texts and instants in turn. */
export type Line = (string | { at: string })[];

export interface Fact {
  name: string;
  value: Line;
}

/** What the venue says. Its title and address are untrusted. */
export interface Notice {
  name: string;
  title: string;
  url: string | null;
  detail: Line;
}

export function messageOf(alert: Alert, baseUrl: string): Message {
  const { mood, began, facts, evidence, notices, title } = isAboutTransfer(alert)
    ? aboutTransfer(alert)
    : aboutIncident(alert);
  const link = { title, url: permalinkOf(alert, baseUrl) };
  return { headline: headline(alert), mood, began, facts, evidence, notices, link, eventId: alert.eventId };
}

type Content = Pick<Message, "mood" | "began" | "facts" | "evidence" | "notices"> & { title: string };

function aboutTransfer({ kind, transfer, venue }: TransferAlert): Content {
  const { pausedAt, resumedAt, because } = transfer;
  return {
    mood: kind === "transfer_paused" ? "paused" : "over",
    began:
      resumedAt === null
        ? ["Paused since ", { at: pausedAt }]
        : ["Paused from ", { at: pausedAt }, " to ", { at: resumedAt }],
    facts: [
      { name: "Venue", value: [venue.name] },
      { name: "Paused", value: [{ at: pausedAt }] },
      ...(resumedAt === null ? [] : [{ name: "Open again", value: [{ at: resumedAt }] }]),
    ],
    evidence: null,
    notices: because === null ? [] : [{ name: "The venue's words", title: because, url: null, detail: [] }],
    title: "What the venue declares",
  };
}

function aboutIncident(alert: IncidentAlert): Content {
  const { test, kind, severity, incident, evidence } = alert;
  const { maintenance, official } = incident;
  return {
    mood: test ? "test" : kind === "closed" ? "over" : severity,
    began: ["Started ", { at: incident.startedAt }],
    facts: factsOf(alert),
    evidence: evidence && evidence.summary,
    notices: [...(maintenance ? [announcementOf(maintenance)] : []), ...(official ? [noticeOf(official)] : [])],
    title: "The incident with its evidence",
  };
}

const decided = { opened: "Opened", escalated: "Escalated", closed: "Closed" };

function factsOf({ kind, severity, at, incident, venue, component }: IncidentAlert): Fact[] {
  const { startedAt, closedAt, endedAt, durationSeconds } = incident;
  const facts: Fact[] = [
    { name: "Severity", value: [severity] },
    { name: "Venue", value: [venue.name] },
    { name: "Component", value: [`${component.label} (${component.id})`] },
    { name: "Started", value: [{ at: startedAt }] },
    { name: decided[kind], value: [{ at }] },
  ];
  if (kind === "closed" && endedAt !== null) facts.push({ name: "Ended", value: [{ at: endedAt }] });
  if (kind === "closed" && durationSeconds !== null)
    facts.push({ name: "Lasted", value: [durationInWords(durationSeconds)] });
  // a delayed alert may be about an incident that has closed
  if (kind !== "closed" && closedAt !== null) facts.push({ name: "Closed since", value: [{ at: closedAt }] });
  return facts;
}

function announcementOf({ title, url, from, until, announcedAt, overran }: AnnouncedMaintenance): Notice {
  const end: Line = until === null ? [" with no stated end"] : [" until ", { at: until }];
  const outlasted = overran ? ". The incident outlasted it." : ".";
  return {
    ...{ name: "Announced maintenance", title, url },
    detail: ["From ", { at: from }, ...end, ", as we read at ", { at: announcedAt }, outlasted],
  };
}

function noticeOf({ title, url, status, impact, startedAt }: OfficialNotice): Notice {
  const words = impact === null ? status : `${status}, ${impact}`;
  return {
    ...{ name: "The venue's own notice", title, url },
    detail: [words, ", since ", { at: startedAt }, ". Nothing tests that it is about the same fault."],
  };
}

/** An instant as text: `2026-01-31 11:41:06 UTC`. One of strangers may be any text: escape and truncate it. */
export function inUtc(instant: string): string {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(instant)) return instant;
  return `${instant.slice(0, 19).replace("T", " ")} UTC`;
}

/**
 * The address as a parser writes it, which contains neither blanks nor quotation marks. Null where it is not http(s),
 * or longer than `limit`: a truncated address would lead elsewhere.
 */
export function webAddress(address: string | null, limit: number): string | null {
  if (address === null || !URL.canParse(address)) return null;
  const { protocol, href } = new URL(address);
  return /^https?:$/.test(protocol) && href.length <= limit ? href : null;
}

const durationUnits = [
  ["d", 86_400],
  ["h", 3600],
  ["min", 60],
  ["s", 1],
] as const;

/** In the two largest units that are not zero: `18 min 54 s`. */
function durationInWords(seconds: number): string {
  const parts: string[] = [];
  let rest = seconds;
  for (const [unit, size] of durationUnits) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(`${count} ${unit}`);
  }
  return parts.slice(0, 2).join(" ") || "0 s";
}
