/** `venuewatch registry try`, of entries that are right and of entries that are wrong, at simulated venues. */
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import t, { type Test } from "tap";
import type { Heard, TriedPart } from "../../../../server/cli/try/listen.js";
import { proposalFor } from "../../../../server/cli/try/propose.js";
import { tried } from "../../../../server/cli/try/tried.js";
import { reportOf } from "../../../../server/cli/try/try.js";
import { packagedFile } from "../../../../shared/config/package.js";
import { makeLog } from "../../../../shared/log/log.js";
import { loadRegistry } from "../../../../shared/registry/load-registry.js";
import type { Limit, Registry, Stream, Venue } from "../../../../shared/registry/registry.js";
import { startWorld } from "../../../../world/world.js";
import { listening } from "../../../support/alert-receivers.js";
import { byTwos, cliWith } from "../../../support/cli-input.js";
import { freePort } from "../../../support/free-port.js";
import { simplestEndpoint, simplestVenue } from "../../../support/simplest-venue.js";
import { until } from "../../../support/until.js";

const all = await loadRegistry(packagedFile("registry/all.json"));
const names = ["okx", "htx", "crypto-com", "upbit", "kraken"];
const askedMs: number[] = [];
const world = await startWorld({
  registry: { ...all, venues: all.venues.filter(({ id }) => names.includes(id)) },
  // the heartbeat of Crypto.com comes after two seconds
  timeScale: 15,
  onRequest: ({ venue }) => venue === "kraken" && askedMs.push(performance.now()),
});
t.teardown(() => world.close());

/** The entry of a venue of the world, to break. */
function entryOf(id: string): Venue {
  return structuredClone(world.registry.venues.find((venue) => venue.id === id)!);
}

function streamOf({ socket }: Venue, name: string): Stream {
  return socket!.streams.find((stream) => stream.name === name)!;
}

async function report(venue: Venue, listenMs = 4000) {
  const registry: Registry = { ...world.registry, venues: [venue] };
  const parts = await tried({
    ...{ registry, venue, userAgent: "test", log: makeLog("test", "error"), listenMs },
    interrupt: new AbortController().signal,
  });
  const of = (component: string) => parts.find((part) => part.component === component)!;
  return { ...reportOf(registry, parts, false), of };
}

function finding({ findings }: TriedPart, field: string) {
  return findings.find((one) => one.field === field)!;
}

type Reported = Awaited<ReturnType<typeof report>>;

const cases: [
  name: string,
  id: string,
  change: (venue: Venue) => unknown,
  check: (t: Test, reported: Reported) => void,
][] = [
  [
    "an entry that is right",
    "okx",
    () => {},
    (t, { exitCode, text, of }) => {
      t.equal(exitCode, 0, text);
      t.match(text, /^okx: everything found its value\n\nrest:time: good \(status 200, \d+ ms\)\n/);
      t.match(text, /^ {2}ok {2}dataTime +\$\.data\[0\]\.ts +"\d+" +-?\d+\.\d s old$/m);
      t.match(finding(of("ws:book"), "acknowledge"), { ok: true, value: /"event":"subscribe".*books5/ });
      t.match(of("ws:book").heard, { frames: Number, perMinute: Number, eventAgeMs: Number, gaps: null });
      t.match(finding(of("ws:book"), "match"), { ok: true, note: /^\d+ frames, \d+ a minute$/ });
    },
  ],
  [
    "a compressed socket, whose pings come back",
    "htx",
    () => {},
    (t, { exitCode, text, of }) => {
      t.equal(exitCode, 0, text);
      t.match(finding(of("ws:conn"), "respond"), {
        wanted: "$.ping",
        value: /^\{"ping":\d+\}$/,
        note: /^\d+ answered$/,
      });
      t.match(text, /^ws:conn at 127\.0\.0\.1:\d+: good/m, "the socket of the book");
      t.match(finding(of("ws:book"), "sequence.previous"), { ok: true, note: "0 gaps", value: /^\d+$/ });
    },
  ],
  [
    "a compressed socket whose entry does not say so",
    "htx",
    ({ socket }) => delete socket!.compression,
    (t, { exitCode, of }) => {
      t.equal(exitCode, 1);
      t.match(finding(of("ws:ticker"), "match"), { ok: false, value: null, note: /^none, of usually 400 a minute$/ });
      t.match(finding(of("ws:conn"), "unmatched").value, /^"/, "bytes that are no JSON");
    },
  ],
  [
    "a heartbeat whose id comes back",
    "crypto-com",
    () => {},
    (t, { exitCode, text, of }) => {
      t.equal(exitCode, 0, text);
      t.match(finding(of("ws:conn"), "respond"), { value: /public\/heartbeat/, note: /^[1-9]\d* answered$/ });
    },
  ],
  [
    "a list as a subscription, which nothing acknowledges",
    "upbit",
    () => {},
    (t, { exitCode, text, of }) => {
      t.equal(exitCode, 0, text);
      t.equal(finding(of("ws:trades"), "acknowledge"), undefined);
      t.match(of("ws:trades").heard, { frames: Number });
    },
  ],
  [
    "wrong paths",
    "okx",
    ({ rest, ...venue }) => {
      Object.assign(rest[0]!, { proof: "$.data[0].time" });
      Object.assign(rest[1]!, { dataTime: { path: "$.data[0].ts", unit: "s", staleAfterMs: 1000 } });
      streamOf({ rest, ...venue }, "book").eventTime = { path: "$.data[0].time", unit: "ms" };
    },
    (t, { exitCode, text, of }) => {
      t.equal(exitCode, 1);
      t.match(text, /^okx: not found or not good: rest:time proof \$\.data\[0\]\.time; rest:ticker dataTime /);
      t.match(text, /\nrest:time: body \(status 200\)\n {2}NO {2}proof +\$\.data\[0\]\.time +nothing\n/);
      t.match(finding(of("rest:time"), "dataTime"), { ok: true }, "the rest is read all the same");
      t.match(finding(of("rest:ticker"), "dataTime"), { ok: false, note: "no time of this unit that can be true" });
      t.match(finding(of("ws:book"), "eventTime"), { ok: false, value: null });
      t.equal(of("rest:trades").fault, null);
    },
  ],
  [
    "a wrong match",
    "okx",
    (venue) => (streamOf(venue, "trades").match = { path: "$.arg.channel", equals: "trade" }),
    (t, { exitCode, text, of }) => {
      t.equal(exitCode, 1);
      t.match(text, /^okx: not found or not good: ws:trades match \$\.arg\.channel = "trade"\n/);
      t.match(text, /^ {2}ok {2}unmatched .*"channel":"trades".* of \d+$/m, "what came instead");
      t.match(finding(of("ws:trades"), "acknowledge"), { ok: true });
    },
  ],
  [
    "a wrong acknowledgement",
    "okx",
    (venue) => streamOf(venue, "trades").acknowledge!.push({ path: "$.success" }),
    (t, { exitCode, text, of }) => {
      t.equal(exitCode, 1);
      t.match(
        text,
        /not good: ws:trades acknowledge \$\.event = "subscribe", \$\.arg\.channel = "trades", \$\.success\n/,
      );
      t.ok(of("ws:trades").heard!.frames > 0, "its data come all the same");
      t.match(text, /^ {2}ok {2}unmatched .*"event":"subscribe"/m);
    },
  ],
  [
    "a subscription that the venue refuses",
    "okx",
    (venue) =>
      (streamOf(venue, "book").subscribe = { op: "subscribe", args: [{ channel: "nothing", instId: "BTC-USDT" }] }),
    (t, { exitCode, text, of }) => {
      t.equal(exitCode, 1);
      t.match(of("ws:book"), { fault: "handshake", detail: String }, text);
    },
  ],
  [
    "a sequence that the frames do not follow",
    "htx",
    (venue) => (streamOf(venue, "book").sequence = { kind: "link", path: "$.tick.seqNum", previous: "$.tick.seqNum" }),
    (t, { exitCode, of }) => {
      t.equal(exitCode, 1);
      t.match(finding(of("ws:book"), "sequence.previous"), { ok: false, note: /^[1-9]\d* gaps$/ });
    },
  ],
];

void t.test("it prints what each path, condition and subscription found", async (t) => {
  await byTwos(cases, async ([name, id, change, check]) => {
    const venue = entryOf(id);
    change(venue);
    const reported = await report(venue);
    await t.test(name, (t) => {
      check(t, reported);
      t.end();
    });
  });
});

void t.test("a dead host", async (t) => {
  const port = await freePort();
  const venue = JSON.parse(
    JSON.stringify(entryOf("okx")).replaceAll(/127\.0\.0\.1:\d+/g, `127.0.0.1:${port}`),
  ) as Venue;
  const startMs = performance.now();
  const { exitCode, text, of } = await report(venue, 60_000);
  t.ok(performance.now() - startMs < 30_000, "it does not listen to sockets that did not open");
  t.equal(exitCode, 1);
  t.match(of("rest:time"), { fault: "connect", findings: [] });
  t.match(of("rest:book"), { unmeasured: "skipped after rest:time" });
  t.match(of("ws:conn"), { fault: "connect", detail: /ECONNREFUSED/ });
  t.match(of("ws:trades"), { unmeasured: "skipped after ws:conn" });
  t.match(
    text,
    /^okx: not found or not good: rest:time: connect; rest:ticker: not measured, skipped after rest:time; /,
  );
});

void t.test("requests stay below half of the entry's limits", async (t) => {
  const venue = entryOf("kraken");
  const { origin } = new URL(venue.rest[0]!.url);
  const limit: Limit = { origin, requests: 4, periodMs: 500, per: "address", source: "this test" };
  askedMs.length = 0;
  const { exitCode, text } = await report({ ...venue, socket: null, limits: [limit] });
  t.equal(exitCode, 0, text);
  t.equal(askedMs.length, 5);
  t.ok(askedMs[2]! - askedMs[0]! > 450, "two in the first period");
  t.ok(askedMs[4]! - askedMs[0]! > 950, "two in the second");
});

void t.test("a proposal follows the rule of stall thresholds, and the silences that were heard", (t) => {
  const stream = streamOf(entryOf("okx"), "book");
  const heard: Heard = { stream, frames: 600, perMinute: 60, quietMs: [800, 1200], eventAgeMs: 1, gaps: null };
  const proposed = (more: Partial<Heard>, of: Partial<Stream> = {}) =>
    proposalFor({ ...heard, ...more, stream: { ...stream, ...of } });
  const threshold = (afterMs: number) => ({ afterMs, distribution: null });
  t.strictSame(proposed({}), { stream: "book", typicalPerMinute: 60, stall: threshold(10_000) });
  t.strictSame(proposed({}, { rateBasis: "estimate" })!.stall, threshold(60_000), "sixty mean intervals");
  t.strictSame(proposed({ quietMs: [800, 9001] })!.stall, threshold(19_000), "twice the longest silence");
  t.equal(proposed({ frames: 9 }), null);
  const part = {
    ...{ component: "ws:book", sharedWith: [], url: "", fault: null, unmeasured: null, httpStatus: null },
  };
  const parts = [{ ...part, detail: null, tookMs: null, certificateExpiresAt: null, findings: [], heard }];
  const { text } = reportOf({ ...world.registry, venues: [entryOf("okx")] }, parts, true);
  t.match(
    text,
    '{"socket":{"streams":{"book":{"typicalPerMinute":60,"stall":{"afterMs":10000,"distribution":null}}}}}\n',
  );
  t.end();
});

// The command itself.

async function fileWith(t: Test, value: unknown): Promise<string> {
  const path = join(t.testdir({}), "mine.json");
  await writeFile(path, JSON.stringify(value));
  return path;
}

void t.test("the command tries a venue of a registry for half a minute", async (t) => {
  const path = await fileWith(t, { ...world.registry, venues: [entryOf("okx"), entryOf("kraken")] });
  const startMs = performance.now();
  const { code, out } = await cliWith(t, ["registry", "try", path, "--venue", "okx", "--json"], {});
  t.ok(performance.now() - startMs >= 30_000);
  t.equal(code, 0, out);
  t.match(JSON.parse(out), {
    ...{ venue: "okx", exitCode: 0, missed: [], proposals: [] },
    parts: [
      { component: "rest:time", good: true, httpStatus: 200, ms: Number, findings: [{ field: "proof", ok: true }] },
    ],
  });
});

void t.test("Ctrl-C ends it at once with what was found so far", async (t) => {
  world.fault({ venue: "upbit", kind: "timeout", component: "rest:book" });
  t.teardown(() => world.clear());
  const path = await fileWith(t, entryOf("upbit"));
  const asked = () => world.requests({ venue: "upbit", component: "rest:book" });
  const before = asked();
  const { code, out, err } = await cliWith(t, ["registry", "try", path, "--minutes", "10"], {}, "", (child) => {
    void until(() => asked() > before).then(() => child.kill("SIGINT"));
  });
  t.equal(code, 1);
  t.match(out, /^rest:ticker: good \(status 200/m);
  t.match(out, /^rest:book: not measured, no whole answer within \d/m);
  t.match(err, "venuewatch: interrupted: not everything was tried\n");
});

void t.test("values of credentials are neither printed nor cut", async (t) => {
  const server = createServer((request, response) => response.end(JSON.stringify({ ok: `you sent ${request.url}` })));
  const url = `http://127.0.0.1:${await listening(t, server)}/v3/{CREDENTIAL_MINE}`;
  const path = await fileWith(t, simplestVenue("mine", simplestEndpoint("ping", { url })));
  const { code, out } = await cliWith(t, ["registry", "try", path], { CREDENTIAL_MINE: "hunter2hunter2" });
  t.equal(code, 0, out);
  t.match(out, '  ok  proof  $.ok  "you sent /v3/***"\n');
  t.match((await cliWith(t, ["registry", "try", path], {})).err, /CREDENTIAL_MINE/);
});

void t.test("wrong files and options are refused with code 2", async (t) => {
  const refused = async (value: unknown, ...args: string[]) => {
    const { code, out, err } = await cliWith(t, ["registry", "try", await fileWith(t, value), ...args], {});
    t.equal(code, 2, out);
    return err;
  };
  const wrong = simplestVenue("mine", simplestEndpoint("ping", { timeoutMs: 5000 }));
  t.match(
    await refused(wrong),
    /^venuewatch: The entry \S+ is wrong:\n\s*rest\[0\]\.timeoutMs: expected at most 4500, /,
  );
  t.match(await refused({ ...world.registry, venues: ["kraken", wrong] }), "venues[1] (mine).rest[0].timeoutMs: ");
  t.match(await refused({ id: "mine", template: "evm-nod" }), "template: expected the name of a file in registry/");
  const two = { ...world.registry, venues: [entryOf("okx"), entryOf("kraken")] };
  t.match(await refused(two), /--venue: expected one of the 2 venues of .*, such as okx, got nothing/);
  t.match(await refused(two, "--venue", "okxx"), /has no venue "okxx"; did you mean okx\?/);
  t.match(await refused(two, "--venue", "okx", "--minutes", "0"), "--minutes: expected a whole number from 1 to 60");
});
