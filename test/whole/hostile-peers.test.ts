/**
 * Every reader of strangers' data withstands every hostile peer, in limited memory, and without blocking its program.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import t, { type Test } from "tap";
import { packagedFile } from "../../shared/config/package.js";
import { hostileAnswers } from "../support/hostile-answers.js";
import { attacks, talkOf } from "../support/hostile-sockets.js";
import { pythonMissing, pythonPath } from "../support/python.js";
import type { ReadingCost } from "../support/reading-process.js";
import { saying, serveTcp } from "../support/tcp-server.js";

/** Above an idle program. The limits of a feed's reader and of a bot's client are larger, because their answers are. */
const mostMiB: Record<string, number> = { feed: 60, client: 80, "client in Python": 80 };

/** Of all threads, and so twice the 250 ms for which a probe may stand still (tolerableMs.answer). */
const mostBlockedMs = 500;

const sockets = attacks.map((attack) => ({ name: `a server that ${attack.what}`, talk: talkOf(attack) }));

/** Each fills the body that a reader takes. */
const fullBodies = (mebibytes: number) =>
  [
    ["empty objects", "{},"],
    ["empty lists", "[],"],
    ["numbers", "1,"],
    ["names", '"a":1,'],
    ["texts", '"aaaaaaaaaaaa",'],
    ["quotes in texts", '"\\"\\"\\"",'],
  ].map(([what, part = ""]) => {
    const [begin, end] = part.includes(":") ? ["{", '"b":1}'] : ["[", "1]"];
    const room = mebibytes * 2 ** 20 - begin.length - end.length;
    const body = begin + part.repeat(room / part.length) + end;
    return {
      name: `a full body of ${what}`,
      talk: saying(`HTTP/1.1 200 OK\r\n${json}Content-Length: ${body.length}\r\n\r\n${body}`),
    };
  });
const json = "Content-Type: application/json\r\n";

const peersOf: Record<string, { scheme: string; peers: { name: string; talk: Parameters<typeof serveTcp>[1] }[] }> = {
  probe: { scheme: "http", peers: [...hostileAnswers, ...fullBodies(1)] },
  socket: { scheme: "ws", peers: sockets },
  feed: { scheme: "http", peers: [...hostileAnswers, ...fullBodies(2)] },
  pushed: { scheme: "ws", peers: sockets },
  alert: { scheme: "http", peers: hostileAnswers },
  client: { scheme: "http", peers: [...hostileAnswers, ...fullBodies(4)] },
  "client in Python": { scheme: "http", peers: [...hostileAnswers, ...fullBodies(4)] },
};

// more would take the processor from tests that measure time
t.jobs = 2;
for (const [reader, { scheme, peers }] of Object.entries(peersOf))
  void t.test(`no hostile peer costs much: ${reader}`, { skip: missing(reader) }, async (t) => {
    const costOf = startReader(t, reader);
    const limitMiB = mostMiB[reader] ?? 40;
    // modules that a first use loads are no cost of a peer
    for (const { talk } of peers.slice(0, 3)) await costOf(await addressOf(t, scheme, talk));
    for (const { name, talk } of peers) {
      const { peakMiB, blockedMs } = await costOf(await addressOf(t, scheme, talk));
      t.ok(peakMiB <= limitMiB, `${name}: at most ${limitMiB} MiB, ${peakMiB} MiB`);
      if (blockedMs !== undefined)
        t.ok(blockedMs <= mostBlockedMs, `${name}: blocked for at most ${mostBlockedMs} ms, ${blockedMs} ms`);
    }
  });

async function addressOf(t: Test, scheme: string, talk: Parameters<typeof serveTcp>[1]): Promise<string> {
  return `${scheme}://127.0.0.1:${await serveTcp(t, talk)}/`;
}

function missing(reader: string): string | false {
  if (!reader.endsWith("Python")) return false;
  return existsSync("/proc/self/clear_refs") ? pythonMissing : "there is no /proc/self/clear_refs";
}

function startReader(t: Test, reader: string): (url: string) => Promise<ReadingCost> {
  const child = reader.endsWith("Python")
    ? spawn("python3", [packagedFile("test/support/reading_process.py")], {
        env: { ...process.env, PYTHONPATH: pythonPath(), PYTHONDONTWRITEBYTECODE: "1" },
      })
    : spawn(process.execPath, ["--expose-gc", packagedFile("dist/test/support/reading-process.js"), reader]);
  child.stderr.pipe(process.stderr);
  t.teardown(() => child.kill("SIGKILL"));
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  return async (url) => {
    child.stdin.write(`${url}\n`);
    const { value, done } = (await lines.next()) as IteratorResult<string, undefined>;
    if (done) throw new Error(`expected what ${url} costs, got the end of the reader`);
    return JSON.parse(value) as ReadingCost;
  };
}
