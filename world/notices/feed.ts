/** One venue's status feed and its page for people, served over HTTP or pushed, good and faulty. */
import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import { faultyAnswers, type ScriptedFault, slowness } from "../faults.js";
import { sendHtml, sendJson } from "../listener.js";
import { worldPath } from "../loopback-registry.js";
import { leaveWaiting, refusal } from "../sockets.js";
import { clientOf, type Stage } from "../stage.js";
import { ownAnswers } from "./own-status.js";
import { noticesAt, type ScriptedPost } from "./posts.js";
import { type Page, statuspageDocument } from "./statuspage.js";
import type { SimulatedFeedKind } from "./words.js";

export interface SimulatedFeed {
  /**
   * Whether a request is for the feed or its page. Where an endpoint has the same address, a request that names a
   * region comes from a probe and is not for the feed.
   */
  isAsked(request: IncomingMessage): boolean;
  answer(request: IncomingMessage, response: ServerResponse): void;
  /** Answers an upgrade of a feed that is pushed over a WebSocket. */
  push(request: IncomingMessage, raw: Socket, head: Buffer): void;
  /** The present content of its address. */
  body(): object;
}

/** A venue's feed: its kind and its real addresses. */
export interface FeedPlan {
  kind: SimulatedFeedKind;
  api: string;
  page: string | null;
}

/** Faults of a feed are the same for every reader. */
const anybody = { region: null, host: null };

interface Content {
  status: number;
  body: object;
}

export function serveFeed({ kind, api, page }: FeedPlan, stage: Stage): SimulatedFeed {
  const { venue } = stage;
  const apiPath = worldPath(api).replace(/\?.*/, "");
  const pagePath = page === null ? null : worldPath(page);
  /** A Statuspage serves all its documents in the folder of `incidents.json`. */
  const folder = kind === "statuspage" ? apiPath.replace(/[^/]*$/, "") : null;
  const isProbed = venue.rest.some(({ url }) => url === api);
  return {
    isAsked,
    answer,
    push,
    body: () => contentOf(apiPath, 0, stage.now())!.body,
  };

  function isAsked(request: IncomingMessage): boolean {
    const pathname = pathOf(request);
    if (request.method !== "GET") return false;
    if (pathname === pagePath) return true;
    if (isProbed && clientOf(request).region !== null) return false;
    return folder === null ? pathname === apiPath : pathname.startsWith(folder);
  }

  function answer(request: IncomingMessage, response: ServerResponse): void {
    if (pathOf(request) === pagePath) return sendHtml(response, 200, pageForPeople());
    stage.count("official", clientOf(request).region);
    const fault = stage.faultOf("official", anybody);
    const waitMs = slowness(fault);
    if (waitMs === 0) return deliver(request, response, fault);
    const timer = setTimeout(deliver, waitMs, request, response, fault);
    response.once("close", () => clearTimeout(timer));
  }

  function push(request: IncomingMessage, raw: Socket, head: Buffer) {
    stage.count("official", null);
    const fault = stage.faultOf("official", anybody);
    pushFrames(request, raw, head, fault, () => {
      if (fault?.kind === "error-inside") return [errorInside()];
      const { body } = faultyContent(request.url!, raw.localPort!, fault)!;
      const frames = Array.isArray(body) ? (body as unknown[]) : [body];
      return fault?.kind === "empty-list" ? frames.slice(0, 1) : frames;
    });
  }

  function deliver(request: IncomingMessage, response: ServerResponse, fault: ScriptedFault | undefined) {
    const faulty = fault && faultyAnswers[fault.kind];
    if (faulty) return faulty(response, fault, errorInside());
    const port = request.socket.localPort!;
    const content = faultyContent(request.url!, port, fault);
    if (content) sendTagged(request, response, content);
    else sendJson(response, 404, { error: "Not found" });
  }

  /** Returns well-formed content that is wrong. */
  function faultyContent(target: string, port: number, fault: ScriptedFault | undefined): Content | undefined {
    const at = stage.now();
    const { kind: wrong, behindMs = 24 * 3_600_000 } = fault ?? {};
    if (wrong === "other-product") return otherProduct(target, at);
    if (wrong === "back-in-time") return contentOf(target, port, new Date(+at - behindMs));
    const content = contentOf(target, port, at);
    if (wrong === "lost-fields") return altered(content, withoutField);
    if (wrong === "empty-list") return altered(content, withoutEntries);
    return content;
  }

  function contentOf(target: string, port: number, at: Date): Content | undefined {
    const { pathname, searchParams } = new URL(target, "http://world");
    const pageUrl = `http://127.0.0.1:${port}${(pagePath ?? apiPath).replace(/\/$/, "")}`;
    if (kind !== "statuspage") return ownAnswers[kind](stage.posts(), searchParams, at, pageUrl);
    const body = statuspageDocument(
      pathname.slice(folder!.length),
      pageNumber(searchParams),
      {
        id: digest(api).slice(0, 12),
        name: venue.name,
        url: pageUrl,
        ...clockOf(venue.id),
      },
      stage.posts(),
      at,
    );
    return body && { status: 200, body };
  }

  function errorInside(): unknown {
    return kind === "statuspage" ? { error: "Something went wrong on our end" } : stage.player.errorInside;
  }

  function otherProduct(target: string, at: Date): Content | undefined {
    const { pathname, searchParams } = new URL(target, "http://world");
    const document = folder === null ? "incidents.json" : pathname.slice(folder.length);
    const number = pageNumber(searchParams);
    const body = statuspageDocument(document, number, acme, acmePosts, at);
    return body && { status: 200, body };
  }

  function pageForPeople(): string {
    const notices = noticesAt(stage.posts(), kind, stage.now()).slice(0, 50);
    const lines = notices.map(({ id, title, status }) => `<li id="${id}">${escaped(title)}: ${status}`);
    return `<h1>Status of ${venue.name}</h1><ul>${lines.join("")}</ul>`;
  }
}

/** Does not parse with URL, which rejects some targets that a client may send. */
function pathOf({ url }: IncomingMessage): string {
  return url!.replace(/\?.*/, "");
}

/** Returns 1 where the query names no page, or none that is a number. */
function pageNumber(query: URLSearchParams): number {
  return Math.max(1, Math.floor(Number(query.get("page") ?? 1)) || 1);
}

/** Gives one page times with another offset, as some real pages have. */
function clockOf(venue: string): Pick<Page, "timeZone" | "utcOffsetHours"> {
  return venue === "coinbase"
    ? { timeZone: "America/Phoenix", utcOffsetHours: -7 }
    : { timeZone: "Etc/UTC", utcOffsetHours: 0 };
}

const acme: Page = {
  id: "acm3cl0udacm",
  name: "Acme Cloud",
  url: "https://status.acme.example",
  timeZone: "Etc/UTC",
  utcOffsetHours: 0,
};

const acmePosts: ScriptedPost[] = [
  {
    venue: "acme",
    title: "Object storage: elevated errors",
    impact: "major",
    postedAt: new Date("2026-01-15T08:00:00Z"),
    endedAt: new Date("2026-01-15T09:30:00Z"),
  },
];

/** Fields without which an entry lacks its meaning or its beginning. */
const losable = new Set([
  "status",
  "state",
  "impact",
  "indicator",
  "created_at",
  "started_at",
  "scheduled_for",
  "begin",
  "cTime",
  "published_at",
]);

function withoutField(key: string, value: unknown): unknown {
  return losable.has(key) ? undefined : value;
}

const lists = ["incidents", "scheduled_maintenances", "data", "list", "activeIncidents", "activeMaintenances"];

function withoutEntries(key: string, value: unknown): unknown {
  return lists.includes(key) && Array.isArray(value) ? [] : value;
}

function altered(content: Content | undefined, alter: (key: string, value: unknown) => unknown): Content | undefined {
  return (
    content && {
      ...content,
      body: JSON.parse(JSON.stringify(content.body, alter)) as object,
    }
  );
}

function sendTagged(request: IncomingMessage, response: ServerResponse, { status, body }: Content) {
  const tag = `W/"${digest(JSON.stringify(body))}"`;
  const held = (request.headers["if-none-match"] ?? "").split(/\s*,\s*/);
  if (status === 200) response.setHeader("etag", tag);
  if (status === 200 && held.includes(tag)) response.writeHead(304).end();
  else sendJson(response, status, body);
}

function escaped(text: string): string {
  return text.replace(/[<>&"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

// A status feed that a venue pushes over a WebSocket after a subscription (Gate), good and faulty.

const server = new WebSocketServer({ noServer: true, clientTracking: false, maxPayload: 4096 });

/** @param content the frames of the present content, which may be false */
function pushFrames(
  request: IncomingMessage,
  raw: Socket,
  head: Buffer,
  fault: ScriptedFault | undefined,
  content: () => unknown[],
): void {
  // A client that disconnects during the handshake is no problem of the world.
  raw.on("error", () => raw.destroy());
  if (fault?.kind === "timeout") return leaveWaiting(raw);
  if (fault && refusal(raw, fault)) return;
  server.handleUpgrade(request, raw, head, (ws) => {
    ws.on("error", () => ws.terminate());
    ws.once("message", (message: Buffer) => {
      if (asksForAnnouncements(message)) setTimeout(() => push(ws, fault, content), slowness(fault));
      else ws.close(1008);
    });
  });
}

function asksForAnnouncements(message: Buffer): boolean {
  try {
    const { event, payload } = JSON.parse(message.toString()) as { event?: unknown; payload?: unknown };
    return event === "subscribe" && Array.isArray(payload);
  } catch {
    return false;
  }
}

function push(ws: WebSocket, fault: ScriptedFault | undefined, content: () => unknown[]): void {
  if (fault?.kind === "wrong-body") return ws.send("<h1>We will be back soon</h1>");
  if (fault?.kind === "drip") return;
  if (fault?.kind === "endless") return pour(ws);
  for (const frame of content()) ws.send(JSON.stringify(frame));
}

/** Sends as fast as the client reads. */
function pour(ws: WebSocket): void {
  ws.send(JSON.stringify("0".repeat(16_384)), (error) => {
    if (!error) pour(ws);
  });
}
