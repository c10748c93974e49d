/**
 * A venue's own status page, in the format of Statuspage. Its notices are determined by the seed and the time; its
 * server fails as instructed.
 */
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Official } from "../shared/registry/registry.js";
import { type Poison, saidTime } from "./poison.js";
import type { SeededRandom } from "./seeded-random.js";
import type { SimulatedVenue, VenueFault } from "./venue.js";

const port = 8090;
/** The number of entries that a page of this format has. */
export const pageSize = 50;

/** What the page says about one incident, in true time. */
export interface Posted {
  id: string;
  postedMs: number;
  monitoringMs: number;
  resolvedMs: number;
  /** From then on it is no longer listed; Infinity: it stays. */
  removedMs: number;
}

export interface StatusPage {
  venue: string;
  posted: readonly Posted[];
}

export function drawStatusPage(venue: string, random: SeededRandom, startMs: number): StatusPage {
  const minutes = (average: number) => Math.ceil(-Math.log(1 - random.next()) * average * 60_000);
  // more than a page
  let postedMs = startMs - 70 * 60_000;
  const posted = Array.from({ length: 400 }, (_, place) => {
    postedMs += minutes(1);
    const monitoringMs = postedMs + minutes(2);
    const resolvedMs = monitoringMs + minutes(2);
    const removedMs = random.chance(0.1) ? resolvedMs + minutes(5) : Infinity;
    return { id: `${venue}-${place + 1}`, postedMs, monitoringMs, resolvedMs, removedMs };
  });
  return { venue, posted };
}

/** The venue's own word for the state of an incident; null while it is not listed. */
export function statusAt({ postedMs, monitoringMs, resolvedMs, removedMs }: Posted, atMs: number): string | null {
  if (atMs < postedMs || atMs >= removedMs) return null;
  if (atMs < monitoringMs) return "investigating";
  return atMs < resolvedMs ? "monitoring" : "resolved";
}

/** The registry's entry; the page's host is `<venue>-status.machine`. */
export function officialEntry(venue: string): Official {
  const page = `http://${venue}-status.machine:${port}/`;
  return { kind: "statuspage", page, api: `${page}api/v2/incidents.json` };
}

/**
 * To be called in the page's process.
 *
 * @param nowMs true time
 * @param onRequest called with the path of each request
 */
export function serveStatusPage(
  page: StatusPage,
  nowMs: () => number,
  onRequest: (path: string) => void,
): SimulatedVenue {
  let fault: VenueFault = null;
  let poison: Poison | null = null;

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url!, "http://status.page");
    onRequest(url.pathname + url.search);
    request.resume();
    if (fault === "silent") return;
    if (fault === "errors") return void response.writeHead(503, { "retry-after": "20" }).end("busy");
    const text = url.pathname.endsWith("/incidents.json")
      ? incidentsAt(page, nowMs(), Number(url.searchParams.get("page") ?? 1), poison)
      : documentOf(page, [], "scheduled_maintenances", page.posted[0]!.postedMs);
    const etag = `"${createHash("sha256").update(text).digest("hex").slice(0, 16)}"`;
    if (request.headers["if-none-match"] === etag) return void response.writeHead(304, { etag }).end();
    const body = fault === "nonsense" ? text.slice(0, text.length / 2) : text;
    const answerNow = () => void response.writeHead(200, { "content-type": "application/json", etag }).end(body);
    if (fault === "slow") setTimeout(answerNow, 6_000);
    else answerNow();
  }

  createServer({ keepAliveTimeout: 330_000 }, answer).listen(port, "0.0.0.0");
  return { fault: (given) => void (fault = given), poison: (given) => void (poison = given) };
}

/** @param poison that of the first and the last entry, which say how far a list reaches */
function incidentsAt(page: StatusPage, atMs: number, number: number, poison: Poison | null): string {
  const listed = page.posted.filter((one) => statusAt(one, atMs) !== null).toReversed();
  const changes = page.posted.flatMap((one) => [one.postedMs, one.monitoringMs, one.resolvedMs, one.removedMs]);
  const entries = listed.slice((number - 1) * pageSize, number * pageSize).map((one, place, { length }) => {
    const said = (ms: number) => text(saidTime(ms, place === 0 || place === length - 1 ? poison : null));
    return {
      ...{ id: one.id, page_id: page.venue, name: `Incident ${one.id}`, status: statusAt(one, atMs), impact: "minor" },
      ...{ shortlink: null, created_at: said(one.postedMs), started_at: said(one.postedMs) },
      ...{ resolved_at: atMs >= one.resolvedMs ? said(one.resolvedMs) : null, components: [] },
    };
  });
  return documentOf(page, entries, "incidents", Math.max(...changes.filter((ms) => ms <= atMs)));
}

function documentOf({ venue }: StatusPage, entries: readonly unknown[], property: string, changedMs: number): string {
  const { page } = officialEntry(venue);
  return JSON.stringify({ page: { id: venue, url: page, updated_at: text(changedMs) }, [property]: entries });
}

function text(ms: number): string {
  return new Date(Math.min(ms, 8.64e15)).toISOString();
}
