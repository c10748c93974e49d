/**
 * A few thousand hostile requests, the same ones in every run. `FUZZ_REQUESTS=20000 FUZZ_SEED=7 npx tap --timeout 3600
 * dist/test/api-fuzz.test.js` sends others, and more.
 */
import { connect } from "node:net";
import t from "tap";
import { makeApp } from "../server/api/app.js";
import { makeLog } from "../server/log.js";
import { serve } from "./api.js";
import { parseCsv } from "./csv.js";
import { migratedDatabase } from "./database.js";
import { ago, decide, measured, pastIncident } from "./fleet.js";
import { groundOf, hostileRequest } from "./hostile-requests.js";
import { randomFrom } from "./random-samples.js";

const requests = Number(process.env["FUZZ_REQUESTS"] ?? 2500);
const seed = Number(process.env["FUZZ_SEED"] ?? 1);
const atOnce = 8;
/** No page takes so long, not even on a busy machine: what has not answered by then hangs. */
const hangsAfterMs = 30_000;

void t.test("hostile requests", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  const log = makeLog("web", "warn", () => {});
  const options = {
    pool,
    registry,
    rateLimit: 0,
    siteUrl: "",
    baseUrl: "http://localhost",
    log,
  };
  const app = makeApp({ ...options, trustProxy: [] });
  const ground = await groundOf(app, registry);
  const api = await serve(t, { pool, registry, trustProxy: ["loopback"] });
  await measured(pool, { from: ago(90), to: ago(0) });
  await pastIncident(pool, {
    venue: "okx",
    component: "rest:ticker",
    startedAt: ago(4000),
    minutes: 5,
  });
  await decide(pool);

  t.ok(ground.paths.includes("/v1/exchanges/:venue"), "routes are found");
  for (const name of ["category", "range", "region", "format", "beforeId"])
    t.ok(ground.parameters[name], `${name} is found`);

  const statuses = new Map<number, number>();
  const random = randomFrom(seed);
  let left = requests;
  async function sendAll(): Promise<void> {
    while (left-- > 0) {
      const sent = hostileRequest(ground, random);
      const fault = await faultOf(api.port, sent, statuses);
      if (fault) t.fail(`${fault}: ${JSON.stringify(sent.slice(0, 1000))}`);
    }
  }
  await Promise.all(Array.from({ length: atOnce }, sendAll));

  for (const status of [200, 204, 400, 404, 405, 417, 431])
    t.ok(statuses.has(status), `${status} was among the answers`);
  t.strictSame(api.logged, [], "and nothing of it is worth a line in the log");
  t.comment(
    [...statuses]
      .sort()
      .map(([status, n]) => `${status}: ${n}`)
      .join(", "),
  );
});

/** What is wrong with the answer to a request; null when all is well. */
async function faultOf(
  port: number,
  sent: string,
  statuses: Map<number, number>,
): Promise<string | null> {
  const whole = await answerTo(port, sent);
  const answer = whole.replace(/^HTTP\/1.1 100 Continue\r\n\r\n/, "");
  const [, head, body] = /^(.*?)\r\n\r\n(.*)$/s.exec(answer) ?? [];
  if (head === undefined || body === undefined)
    return answer === "" ? "no answer" : `half an answer: ${answer}`;
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]);
  const type = /^content-type: ([^;\r]*)/im.exec(head)?.[1];
  statuses.set(status, (statuses.get(status) ?? 0) + 1);
  if (!(status >= 200 && status < 500)) return `answered ${status}`;
  if (status === 204 || status === 304 || sent.startsWith("HEAD ")) return null;
  // that it can be unpacked, another test has seen
  if (/^content-encoding:/im.test(head)) return null;
  const length = /^content-length: (\d+)/im.exec(head)?.[1];
  // behind it may stand the answer to what was taken for a second request
  const text = /^transfer-encoding: chunked/im.test(head)
    ? unchunked(body)
    : body.slice(0, length === undefined ? undefined : Number(length));
  if (status === 200) return faultOfGood(type, text);
  if (type !== "application/problem+json") return `${status} came as ${type}`;
  return faultOfProblem(status, text);
}

function faultOfGood(type: string | undefined, text: string): string | null {
  try {
    if (type === "text/csv") parseCsv(text);
    else if (type === "application/json") JSON.parse(text);
    else if (text === "") return "200 without a body";
    return null;
  } catch (error) {
    return `200 with a broken body: ${String(error)}`;
  }
}

/** RFC 9457. */
function faultOfProblem(status: number, text: string): string | null {
  interface Body {
    type?: unknown;
    title?: unknown;
    status?: unknown;
    detail?: unknown;
    errors?: { parameter?: unknown; message?: unknown }[];
  }
  if (text === "") return `${status} without a body`;
  const body = JSON.parse(text) as Body;
  const words = [body.type, body.title, body.detail];
  for (const { parameter, message } of body.errors ?? [])
    words.push(parameter, message);
  if (!words.every((word) => typeof word === "string" && word !== ""))
    return `${status} lacks a field: ${text}`;
  return body.status === status ? null : `${status} says ${text}`;
}

function unchunked(body: string): string {
  const bytes = Buffer.from(body, "latin1");
  const pieces: Buffer[] = [];
  for (let at = 0; ;) {
    const end = bytes.indexOf("\r\n", at);
    const length = parseInt(bytes.toString("latin1", at, end), 16);
    if (!(length > 0)) return Buffer.concat(pieces).toString();
    pieces.push(bytes.subarray(end + 2, end + 2 + length));
    at = end + 2 + length + 2;
  }
}

function answerTo(port: number, sent: string): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    const socket = connect(port, "127.0.0.1");
    socket.setEncoding("latin1").write(sent, "latin1");
    socket.setTimeout(hangsAfterMs, () => {
      text = "";
      socket.destroy();
    });
    socket.on("data", (piece) => (text += String(piece)));
    // one that refuses a request in the middle of it may reset the connection behind its answer
    socket.on("error", () => {}).on("close", () => resolve(text));
  });
}
