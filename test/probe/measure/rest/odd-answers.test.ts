/**
 * Odd answers that a venue's clients can read are good here, too. Other programs are the judges: Node's own HTTP
 * client, curl and Python, where they are installed.
 */
import { execFile } from "node:child_process";
import { get } from "node:http";
import type { Socket } from "node:net";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import t, { type Test } from "tap";
import { endpointAt, measuring } from "../../../support/measured-endpoint.js";
import { serveTcp } from "../../../support/tcp-server.js";

const run = promisify(execFile);
const price = `{"price":1}`;
const length = `Content-Length: ${price.length}\r\n`;
const fine = `HTTP/1.1 200 OK\r\n${length}\r\n${price}`;
const go = "HTTP/1.1 100 Continue\r\n\r\n";
const zipped = gzipSync(price);

/** A server's answer, in parts that it sends one after the other. */
const answers: [what: string, ...said: (string | Buffer)[]][] = [
  ["plain", fine],
  ["100 before it", go, fine],
  ["100 in one packet with it", go + fine],
  ["100 twice", go + go + fine],
  ["100 five times", go.repeat(5) + fine],
  ["100 with fields of its own", `HTTP/1.1 100 Go on\r\nX-Way: long\r\nDate: today\r\n\r\n`, fine],
  ["100 without a reason", `HTTP/1.1 100\r\n\r\n${fine}`],
  ["100 of HTTP/1.0", `HTTP/1.0 100 Continue\r\n\r\n${fine}`],
  ["100, byte by byte", ...(go + fine)],
  ["102", `HTTP/1.1 102 Processing\r\n\r\n${fine}`],
  ["103", `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n`, fine],
  ["100 between 103 and 102", `HTTP/1.1 103 Early Hints\r\n\r\n${go}HTTP/1.1 102 Processing\r\n\r\n${fine}`],
  ["bare line feeds", fine.replaceAll("\r\n", "\n")],
  ["bare line feeds, in parts", "HTTP/1.1 200 OK\nContent-", `Length: ${price.length}\n`, `\n${price}`],
  ["bare line feeds in 100 alone", `${go.replaceAll("\r\n", "\n")}${fine}`],
  ["a byte order mark", `HTTP/1.1 200 OK\r\nContent-Length: ${price.length + 3}\r\n\r\n\ufeff${price}`],
  ["no reason", `HTTP/1.1 200\r\n${length}\r\n${price}`],
  ["a field without a value", `HTTP/1.1 200 OK\r\nX-Empty:\r\n${length}\r\n${price}`],
  ["Latin-1 in a field", Buffer.from(`HTTP/1.1 200 OK\r\nX-Place: Z\xfcrich\r\n${length}\r\n${price}`, "latin1")],
  ["HTTP/1.0 until the end of the connection", `HTTP/1.0 200 OK\r\n\r\n${price}`],
  [
    "chunks with extensions and trailers",
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nb;a=1\r\n${price}\r\n0\r\nX: y\r\n\r\n`,
  ],
  ["gzip", `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${zipped.length}\r\n\r\n`, zipped],
  ["x-gzip", `HTTP/1.1 200 OK\r\nContent-Encoding: x-gzip\r\nContent-Length: ${zipped.length}\r\n\r\n`, zipped],
  ["two heads, of which the first is final", `HTTP/1.1 204 No Content\r\n\r\n${fine}`],
  ["a body that is too short", fine.slice(0, -1)],
  ["103 and 100 in turn", `HTTP/1.1 103 Early Hints\r\n\r\n${go}`.repeat(3) + fine],
  ["a head of 12 KiB", `HTTP/1.1 200 OK\r\nX-Long: ${"x".repeat(12 * 1024)}\r\n${length}\r\n${price}`],
  ["bare line feeds, byte by byte", ...fine.replaceAll("\r\n", "\n")],
  ["no head", price],
  ["another protocol", `SSH-2.0-OpenSSH\r\n\r\n${fine}`],
];

async function say(socket: Socket, said: readonly (string | Buffer)[], isLast: boolean) {
  for (const part of said) {
    if (said.length > 1) await new Promise((resolve) => setTimeout(resolve, 1));
    socket.write(part);
  }
  if (isLast) socket.end();
}

/** Whether a client reads the price: null where it is not installed. */
type Judge = (url: string) => Promise<boolean | null>;

const hasPrice = (text: string) => (JSON.parse(text.replace(/^\ufeff/, "")) as { price?: number }).price === 1;

async function byProgram(program: string, ...args: string[]): Promise<boolean | null> {
  try {
    return hasPrice((await run(program, args, { timeout: 10_000 })).stdout);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? null : false;
  }
}

const byCurl: Judge = (url) => byProgram("curl", "--silent", "--fail", "--compressed", "--max-time", "5", url);

const pythonText = `import json, sys, urllib.request
print(json.dumps(json.loads(urllib.request.urlopen(sys.argv[1], timeout=5).read())))`;
const byPython: Judge = (url) => byProgram("python3", "-c", pythonText, url);

const byNode: Judge = (url) =>
  new Promise((resolve) => {
    const request = get(url, { agent: false, timeout: 5000 }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => (text += part));
      response.on("error", () => resolve(false)).on("end", () => resolve(response.complete && isPrice(text)));
    });
    request.on("error", () => resolve(false)).on("timeout", () => request.destroy());
  });

function isPrice(text: string): boolean {
  try {
    return hasPrice(text);
  } catch {
    return false;
  }
}

for (const [what, ...said] of answers)
  void t.test(what, async (t) => {
    const port = await serveTcp(t, (socket) => socket.once("data", () => void say(socket, said, true)));
    const url = `http://127.0.0.1:${port}/`;
    const judged = (await Promise.all([byNode(url), byCurl(url), byPython(url)])).filter((one) => one !== null);
    const outcome = await measuring(t, endpointAt(url, { timeoutMs: 5000 }))();
    const isGood = "good" in outcome && outcome.good;
    const readers = judged.filter((one) => one).length;
    if (2 * readers > judged.length) t.equal(isGood, true, `${readers} of ${judged.length} read it`);
    else if (readers === 0) t.equal(isGood, false, "none of them reads it");
    else t.comment(`${readers} of ${judged.length} read it; we ${isGood ? "do" : "do not"}`);
  });

/** Answers the first request well, then says this unasked, and answers each later request of any connection well. */
async function afterUnasked(t: Test, unasked: string) {
  let connections = 0;
  let said: () => void;
  const wasSaid = new Promise<void>((resolve) => (said = resolve));
  const port = await serveTcp(t, (socket) => {
    const isFirst = ++connections === 1;
    let requests = 0;
    socket.on("data", () => {
      requests += 1;
      socket.write(fine);
      if (isFirst && requests === 1)
        setTimeout(() => {
          socket.write(unasked);
          said();
        }, 30);
    });
  });
  const measure = measuring(t, endpointAt(`http://127.0.0.1:${port}/`, { timeoutMs: 5000 }));
  t.match(await measure(), { good: true });
  await wasSaid;
  // the bytes wait in the socket, unread
  const startMs = performance.now();
  while (performance.now() < startMs + 50);
  return measure();
}

for (const [what, unasked] of [
  ["a late 408", "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"],
  ["a late 100", go],
  ["a part of a head", "HTTP/1.1 200 OK\r\nX-Lef"],
] as const)
  void t.test(`${what} on an idle connection is not the next answer`, async (t) => {
    const outcome = await afterUnasked(t, unasked);
    if ("unmeasured" in outcome) return t.equal(outcome.unmeasured, "stale");
    t.match(outcome, { good: true });
    t.ok(outcome.firstByteUs! >= 0, `${outcome.firstByteUs} µs`);
  });

void t.test("each answer on a kept connection may begin with status 100", async (t) => {
  let connections = 0;
  const port = await serveTcp(t, (socket) => {
    connections += 1;
    socket.on("data", () => void say(socket, [go, go + fine], false));
  });
  const measure = measuring(t, endpointAt(`http://127.0.0.1:${port}/`, { timeoutMs: 5000 }));
  for (let slot = 0; slot < 5; slot += 1) {
    t.match(await measure(), { good: true, fresh: slot === 0 });
  }
  t.equal(connections, 1);
});
