/** A few thousand hostile requests, the same in every run; docs/testing.md describes how to send others and more. */
import { connect } from "node:net";
import t from "tap";
import { makeApp } from "../../../server/api/app.js";
import { tableTypes } from "../../../server/api/tables.js";
import { makeLog } from "../../../shared/log/log.js";
import { serve } from "../../support/api.js";
import { parseCsv } from "../../support/csv.js";
import { migratedDatabase } from "../../support/database.js";
import { ago, decide, measured, pastIncident } from "../../support/fleet.js";
import { good, groundOf, hostileConversation, type Sent } from "../../support/hostile-requests.js";
import { randomFrom } from "../../support/random-samples.js";

const requests = Number(process.env["FUZZ_REQUESTS"] ?? 2500);
const seed = Number(process.env["FUZZ_SEED"] ?? 1);
const atOnce = 8;
/** No page takes this long, even on a busy machine: a request without an answer by then hangs. */
const hangsAfterMs = 30_000;

void t.test("hostile requests get valid answers and break nothing", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  const log = makeLog("web", "warn", () => {});
  const app = makeApp({ pool, registry, rateLimit: 0, trustProxy: [], siteUrl: "", baseUrl: "http://localhost", log });
  const ground = await groundOf(app, registry);
  const api = await serve(t, { pool, registry, trustProxy: ["loopback"] });
  await measured(pool, { from: ago(90), to: ago(0) });
  await pastIncident(pool, { venue: "okx", component: "rest:ticker", startedAt: ago(4000), minutes: 5 });
  await decide(pool);

  t.ok(ground.paths.includes("/v1/exchanges/:venue"), "the routes were found");
  t.ok(ground.paths.includes("/venues/:venue"), "so were those of the pages");
  for (const name of ["q", "category", "range", "region", "format", "decimal", "beforeId"])
    t.ok(ground.parameters[name], `parameter ${name} was found`);

  const statuses = new Map<number, number>();
  const random = randomFrom(seed);
  let left = requests;
  async function sendAll(): Promise<void> {
    while (left-- > 0) {
      const sent = hostileConversation(ground, random);
      const fault = await faultOf(api.port, sent, statuses);
      if (fault) t.fail(`${fault}: ${JSON.stringify(sent).slice(0, 1000)}`);
    }
  }
  await Promise.all(Array.from({ length: atOnce }, sendAll));

  for (const status of [200, 204, 301, 400, 404, 405, 417, 431])
    t.ok(statuses.has(status), `some answer had status ${status}`);
  t.strictSame(api.logged, [], "no hostile request is logged");
  t.comment(JSON.stringify(Object.fromEntries(statuses)));
});

/** How the last record of a ZIP archive begins. */
const endOfZip = "PK\u0005\u0006";

/** The fault of the answers on one connection; null if they are valid. */
async function faultOf(port: number, sent: Sent, statuses: Map<number, number>): Promise<string | null> {
  let left = await answersTo(port, sent);
  for (const path of sent.before) {
    const answer = firstOf(left);
    if (answer === null) return sent.isHostile ? faultOfCut(left) : `${path}: no whole answer`;
    if (answer.status !== 200 || !good[path]!.test(answer.text))
      return `${path} was answered ${answer.status}: ${answer.text.slice(0, 300)}`;
    left = answer.behind;
  }
  if (!sent.isHostile && !good["/healthz"]!.test(left)) return `the last one was answered: ${left.slice(0, 300)}`;
  // after good requests the connection may end silently
  if (sent.before.length > 0 && left === "") return null;
  return faultOfLast(left, sent.behind, statuses);
}

/**
 * A client that sends garbage after a request may be disconnected, even in mid-answer; but nothing may be mixed into
 * that answer.
 */
function faultOfCut(text: string): string | null {
  if (text === "" || /^HTTP\/1\.1 200 (?!.*HTTP\/1\.1 )/s.test(text)) return null;
  return `expected the request's own answer only, got: ${text.slice(0, 1000)}`;
}

function faultOfLast(whole: string, sent: string, statuses: Map<number, number>): string | null {
  if (eventStream.test(whole)) return null;
  const isHead = sent.startsWith("HEAD ");
  const answer = firstOf(whole, isHead);
  if (answer === null) return whole === "" ? "no answer" : `half an answer: ${whole}`;
  // the answer to a supposed second request may follow it
  const { status, type, text } = answer;
  statuses.set(status, (statuses.get(status) ?? 0) + 1);
  // the engine decided once, and that may be too long ago by now
  if (status === 503 && /^[A-Z]+ \/readyz\b/.test(sent)) return null;
  if (!(status >= 200 && status < 500)) return `answered ${status}`;
  if (status === 204 || status === 304 || isHead) return null;
  // another test checks that it can be decompressed
  if (/^content-encoding:/im.test(answer.head)) return null;
  if (status === 200) return faultOfGood(type, text);
  if (status === 301)
    return /^location: \/(venues\/[\w-]+|statuspage\/api\/v2\/[\w/-]+\.json)\r?$/im.test(answer.head)
      ? null
      : `301 to ${answer.head}`;
  if (/^POST [^ ?]*\/mcp\b/i.test(sent) && type === "application/json") return faultOfRpcError(text);
  if (type !== "application/problem+json") return `${status} came as ${type}`;
  return faultOfProblem(status, text);
}

/** What agents get from their own path. */
function faultOfRpcError(text: string): string | null {
  const { jsonrpc, error } = JSON.parse(text) as { jsonrpc?: string; error?: { message?: string } };
  return jsonrpc === "2.0" && error?.message ? null : `no error of JSON-RPC: ${text}`;
}

/** Null if it is incomplete. */
function firstOf(answers: string, isHead = false) {
  const answer = answers.replace(/^HTTP\/1.1 100 Continue\r\n\r\n/, "");
  const [, head, body] = /^(.*?)\r\n\r\n(.*)$/s.exec(answer) ?? [];
  if (head === undefined || body === undefined) return null;
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]);
  const type = /^content-type: ([^;\r]*)/im.exec(head)?.[1];
  const read = (text: string, taken: number) => ({ status, type, head, text, behind: body.slice(taken) });
  if (status === 204 || status === 304 || isHead) return read("", 0);
  if (/^transfer-encoding: chunked/im.test(head)) {
    const whole = unchunked(body);
    return whole && read(whole.text, whole.taken);
  }
  const length = /^content-length: (\d+)/im.exec(head)?.[1];
  const taken = length === undefined ? body.length : Number(length);
  return body.length < taken ? null : read(body.slice(0, taken), taken);
}

function faultOfGood(type: string | undefined, text: string): string | null {
  try {
    if (type === "text/csv") parseCsv(text, text.startsWith("generatedAt;") ? ";" : ",");
    else if (type === tableTypes.xlsx)
      return text.startsWith("PK") && text.includes(endOfZip) ? null : "200 with half a workbook";
    else if (type === "application/json") JSON.parse(text);
    else if (text === "") return "200 without a body";
    return null;
  } catch (error) {
    return `200 with a broken body: ${String(error)}`;
  }
}

/** RFC 9457. */
function faultOfProblem(status: number, text: string): string | null {
  type Body = Record<string, unknown> & { errors?: Record<string, unknown>[] };
  if (text === "") return `${status} without a body`;
  const body = JSON.parse(text) as Body;
  const words = [body["type"], body["title"], body["detail"]];
  for (const { parameter, message } of body.errors ?? []) words.push(parameter, message);
  if (!words.every((word) => typeof word === "string" && word !== "")) return `${status} lacks a field: ${text}`;
  return body["status"] === status ? null : `${status} says ${text}`;
}

/** A chunked body and its length on the wire; null if its end is missing. */
function unchunked(body: string): { text: string; taken: number } | null {
  const pieces: string[] = [];
  for (let at = 0; ;) {
    const end = body.indexOf("\r\n", at);
    const length = /^[\da-f]+$/i.test(body.slice(at, end)) ? parseInt(body.slice(at, end), 16) : NaN;
    const next = end + 2 + length + 2;
    if (end < 0 || !(body.slice(next - 2, next) === "\r\n")) return null;
    pieces.push(body.slice(end + 2, next - 2));
    at = next;
    if (length === 0) return { text: Buffer.from(pieces.join(""), "latin1").toString(), taken: at };
  }
}

/** An answer with the first events. */
const eventStream = /^HTTP\/1\.1 200 (?:(?!\r\n\r\n)[^])*content-type: text\/event-stream[^]*\r\n\r\n[^]+\n\n/im;

function answersTo(port: number, { beforeBytes, behind, waits }: Sent): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    const socket = connect(port, "127.0.0.1");
    socket.setEncoding("latin1");
    socket.write(waits ? beforeBytes : beforeBytes + behind, "latin1");
    if (waits) socket.once("data", () => socket.write(behind, "latin1"));
    socket.setTimeout(hangsAfterMs, () => {
      text = "";
      socket.destroy();
    });
    socket.on("data", (piece) => {
      text += String(piece);
      // it never ends
      if (eventStream.test(text)) socket.destroy();
    });
    // a server that refuses a request midway may reset the connection after its answer
    socket.on("error", () => {}).on("close", () => resolve(text));
  });
}
