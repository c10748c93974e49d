/**
 * The world stays on this machine, and records what its clients do wrong. `all-venues` measures all that it plays, and
 * `crowd-of-faults` meets its faults.
 */
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import t, { type Test } from "tap";
import { compileAnswerCheck } from "../../probe/measure/rest/checks.js";
import { type FrameWords, makeFrameWords } from "../../probe/measure/stream/session.js";
import { packagedFile } from "../../shared/config/package.js";
import { loadRegistry, parseRegistry } from "../../shared/registry/load-registry.js";
import { ask, connect, outcomeOf, send, type VenueClient } from "../../world/clients.js";
import { startDemoWorld } from "../../world/demo.js";
import { checkFaults } from "../../world/fault-check.js";
import { faultOf, nextChange, type ScriptedFault } from "../../world/faults.js";
import { writeHistoryNote } from "../../world/history-note.js";
import { pastPosts } from "../../world/notices/past-posts.js";
import { checkPosts, noticesAt, type ScriptedPost } from "../../world/notices/posts.js";
import { pastFaults } from "../../world/past.js";
import { parseScript } from "../../world/script.js";
import { startWorld, type World } from "../../world/world.js";
import { until } from "../support/until.js";
import { at, begin, outage, registry, venueOf } from "../support/world-pages.js";

const defaultRegistry = await loadRegistry("registry/exchanges.json");
const everyVenue = await loadRegistry("registry/all.json");

void t.test("the world's registry is valid, and leads only to the world", async (t) => {
  for (const timeScale of [1, 50]) {
    const world = await startWorld({ registry: everyVenue, timeScale });
    t.teardown(() => world.close());
    parseRegistry(world.registry, `×${timeScale}`);
    const asked = world.registry.venues.map((venue) => ({ ...venue, sources: undefined, limits: undefined }));
    const urls = JSON.stringify(asked).match(/(https?|wss?):[^"]*/g)!;
    const elsewhere = urls.filter((url) => !/^(http|ws):..127\.0\.0\.1:/.test(url));
    t.same(elsewhere, []);
    const ofTheReal = world.registry.venues.filter(
      ({ until, checkedAt, limits, edgeCacheMs }) => until ?? checkedAt ?? limits ?? edgeCacheMs,
    );
    t.same(ofTheReal, [], "nothing of the real venue's calendar and limits");
  }
});

void t.test("an address outside the registry is not found", async (t) => {
  const world = await startWorld({ registry: defaultRegistry });
  t.teardown(() => world.close());
  const { rest, socket } = venueOf(world.registry, "okx");
  const answer = await ask({ url: `${rest[0]!.url}/elsewhere`, method: "GET" });
  t.match(answer, { status: 404, body: "okx has no GET" });
  await t.rejects(connect(`${socket!.url}/elsewhere`), /404/);
});

void t.test("invalid client messages are recorded, and harm nothing", async (t) => {
  const world = await startWorld({ registry: defaultRegistry });
  t.teardown(() => world.close());
  const clients = await Promise.all(world.registry.venues.map(async ({ socket }) => connect(socket!.url)));
  for (const client of clients)
    for (const nonsense of ["{", "hello", "[]", '{"op":7}', "null", '{"params":0}']) send(client, nonsense);
  for (const { id, rest } of world.registry.venues) t.equal((await ask(rest[0]!)).status, 200, id);
  const recorded = new Set(world.violations.map(({ venue }) => venue));
  for (const { id } of world.registry.venues) t.ok(recorded.has(id), id);
});

void t.test("a world with an invalid script or a port in use rejects, and leaves nothing open", async (t) => {
  await t.rejects(
    startWorld({ registry: defaultRegistry, faults: [{ kind: "silent", venue: "nowhere" }] }),
    /cannot play its script:\nfault 1 \(nowhere \* silent\)/,
  );
  const world = await startWorld({ registry: defaultRegistry });
  t.teardown(() => world.close());
  const { port } = new URL(world.registry.venues[3]!.rest[0]!.url);
  await t.rejects(startWorld({ registry: defaultRegistry, ports: { bybit: Number(port) } }), { code: "EADDRINUSE" });
});

// The demo's world: its script, its past, and what it remembers of earlier runs.

void t.test("the demo's script can be played: faults, and the notices of each forty minutes", async (t) => {
  const text = await readFile(packagedFile("world/demo.txt"), "utf8");
  const { posts, faults } = parseScript(text, begin);
  checkFaults(faults, registry);
  const within3Minutes = (fault: ScriptedFault) => !fault.from || +fault.from < +begin + 180_000;
  t.ok(faults.filter(within3Minutes).length >= 4, "some faults begin soon");
  checkPosts(posts, registry);
  t.ok(posts.every(({ everyMs }) => everyMs === 2_400_000));
  const late = posts.filter(({ startedAt, postedAt }) => startedAt && startedAt < postedAt);
  t.ok(late.length > 0, "one notice is late");
  t.ok(posts.some(({ indicator }) => indicator === "none"));
  t.ok(posts.some(({ impact }) => impact === "maintenance"));
});

void t.test("the demo: the notices from before it began", (t) => {
  const now = new Date("2026-03-01T15:20:30Z");
  const posts = pastPosts(now);
  checkPosts(posts, registry);
  t.ok(posts.every(({ postedAt }) => postedAt < now && +now - +postedAt < 90 * 86_400_000));
  const faults = pastFaults(now);
  const near = ({ venue, postedAt, startedAt = postedAt }: ScriptedPost) =>
    faults.some((fault) => fault.venue === venue && Math.abs(+fault.from - +startedAt) < 6 * 3_600_000);
  const pairs = posts.filter(near);
  t.ok(pairs.filter(({ venue }) => venue === "deribit").length >= 5);
  t.ok(posts.length - pairs.length >= 5, "some report no fault");
  const early = pairs.filter(({ venue, postedAt }) =>
    faults.some(({ venue: of, from }) => of === venue && +from - +postedAt > 0 && +from - +postedAt < 3_600_000),
  );
  t.ok(early.length >= 2, "some were earlier than our incident");
  const ofCoinbase = posts.filter(({ venue }) => venue === "coinbase");
  t.ok(noticesAt(ofCoinbase, "statuspage", now).length > 50, "more than one page");
  t.end();
});

void t.test("the demo's script begins with the first request", async (t) => {
  const world = await startDemoWorld(registry);
  t.teardown(() => world.close());
  const { rest } = venueOf(world.registry, "binance");
  await until(async () => (await ask(rest[0]!, "us-east")).status === 451);
  t.equal((await ask(rest[0]!, "eu-central")).status, 200);
});

void t.test("the demo's world remembers earlier runs", async (t) => {
  const dir = t.testdir({});
  const file = join(dir, "runs.json");
  let past: unknown[] = [];
  await t.test("its first run", async (t) => {
    const world = await startDemoWorld(registry, { dir });
    t.teardown(() => world.close());
    t.same(await titlesOf(world, "deribit"), [], "there is no history yet");
    const { api } = venueOf(world.registry, "gemini").official!;
    t.equal(await outcomeOf({ url: api!, method: "GET" }), 301, "from the start");
    await writeHistoryNote(dir, { ...{ now: new Date(), days: 90, filledFrom: null, isComplete: false } });
    past = await titlesOf(world, "deribit");
    t.ok(past.length >= 6, "earlier posts");
    await ask(world.registry.venues[0]!.rest[0]!, "eu-central");
    await until(() => existsSync(file));
  });
  t.match(JSON.parse(await readFile(file, "utf8")), [{ from: String, to: String }]);
  const hourAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);
  // ran for an hour and was cut off; ran for another hour and was stopped
  const runs = [
    { from: hourAgo(8), to: null },
    { from: hourAgo(7), to: hourAgo(6) },
  ];
  await writeFile(file, JSON.stringify(runs));
  await t.test("its fourth run", async (t) => {
    const world = await startDemoWorld(registry, { dir });
    t.teardown(() => world.close());
    t.same((await titlesOf(world, "deribit")).slice(-past.length), past);
    const again = (await titlesOf(world, "bitfinex")).filter((title) => title === "WebSocket restarts");
    t.equal(again.length, 4, "two in each of the two hours");
  });
});

async function titlesOf({ registry }: World, venue: string) {
  const { api } = venueOf(registry, venue).official!;
  const { body } = await ask({ url: api!, method: "GET" });
  return (JSON.parse(body) as { incidents: Record<string, unknown>[] }).incidents.map((one) => one["name"]);
}

// Faults and notices as text, and those that the world refuses to play.

const startedAt = new Date("2026-01-01T00:00:00Z");
const after = (seconds: number) => new Date(startedAt.getTime() + seconds * 1000);

void t.test("a line becomes a fault", (t) => {
  const text = `
    # what goes wrong
    okx rest:* us-east,eu-central status=301 location=http://x/?a=b from=60s to=3m every=1h

    kraken * * silent # without an end
    gate rest:time us-east slow=1500ms to=0.5h
    bybit * * limited=30s
    drpc rest:block * head-back=2
    usdt rest:* * limited-inside host=eth.drpc.org
    bybit * us-east status=403 text="access too frequent"
  `;
  const { faults, posts } = parseScript(text, startedAt);
  t.same(posts, []);
  t.same(faults, [
    {
      kind: "status",
      status: 301,
      venue: "okx",
      component: "rest:*",
      regions: ["us-east", "eu-central"],
      location: "http://x/?a=b",
      from: after(60),
      to: after(180),
      everyMs: 3_600_000,
    },
    { kind: "silent", venue: "kraken" },
    { kind: "slow", latencyMs: 1500, venue: "gate", component: "rest:time", regions: ["us-east"], to: after(1800) },
    { kind: "limited", retryAfterS: 30, venue: "bybit" },
    { kind: "head-back", blocks: 2, venue: "drpc", component: "rest:block" },
    { kind: "limited-inside", venue: "usdt", component: "rest:*", host: "eth.drpc.org" },
    { kind: "status", status: 403, venue: "bybit", regions: ["us-east"], text: "access too frequent" },
  ]);
  t.end();
});

void t.test("all invalid lines are named together", (t) => {
  const bad: [string, RegExp][] = [
    ["okx rest:*", /line 1: expected "venue component regions kind …", got "okx rest:\*"/],
    ["okx * * explode", /line 2: unknown kind explode; expected one of refused, /],
    ["okx * * drip=3", /line 3: drip takes no number, got drip=3/],
    ["okx * * slow=3", /line 4: expected a duration such as 500ms, .* got 3/],
    ["okx * * status=x", /line 5: expected a whole number, got x/],
    ["okx * * reset until=3s", /line 6: unknown setting until=3s; expected from=/],
    ["okx * * status=403 txt=x", /line 7: unknown setting txt=x; expected .* host=, location= or text=/],
  ];
  const text = bad.map(([line]) => line).join("\n");
  for (const [, message] of bad) t.throws(() => parseScript(text, startedAt), { message });
  t.end();
});

void t.test("a fault that the registry does not know, or that its kind cannot have, is refused", (t) => {
  const okx = { venue: "okx" };
  const bad: [ScriptedFault, RegExp][] = [
    [
      { kind: "reset", venue: "okex" },
      /^fault 1 \(okex \* reset\): the venue is not in .*; expected \* or one of binance/m,
    ],
    [
      { kind: "reset", ...okx, component: "rest:foo" },
      /okx has no component rest:foo; expected one of rest:\*, ws:\*, /,
    ],
    [
      { kind: "reset", ...okx, regions: ["mars"] },
      /the region mars is not in the registry; expected some of eu-central/,
    ],
    [{ kind: "boom" as "reset", ...okx }, /the kind is unknown/],
    [{ kind: "refused", ...okx, regions: ["us-east"] }, /refuses every region and the whole venue/],
    [{ kind: "refused", ...okx, component: "rest:time" }, /refuses every region and the whole venue/],
    [
      { kind: "drip", ...okx, component: "ws:trades" },
      /drip acts on rest and official and list only, not on ws:trades/,
    ],
    [{ kind: "silent", ...okx, component: "ws:conn" }, /silent acts on stream only/],
    [{ kind: "dead-socket", ...okx, component: "ws:trades" }, /dead-socket acts on connection only/],
    [{ kind: "halted", ...okx }, /the registry has no words for it of okx$/m],
    [
      { kind: "limited-inside", ...okx, component: "ws:*", host: "x" },
      /okx has no host x; expected one of openapi.okx/,
    ],
    [{ kind: "halted", venue: "kraken", component: "rest:time" }, /no words for it of kraken rest:time/],
    [{ kind: "refused", ...okx, host: "ws.okx.com" }, /only nodes of third parties refuse alone \(there are none\)/],
    [{ kind: "status", ...okx, component: "official", host: "openapi.okx.com" }, /served at one host only/],
    [{ kind: "chain-stands", ...okx }, /okx reads no chain/],
    [{ kind: "lags", ...okx }, /okx reads no chain; expected \* or one of/],
    [{ kind: "reset", ...okx, status: 503 }, /reset takes no status/],
    [{ kind: "status", ...okx, status: 101 }, /status is out of range: 101/],
    [{ kind: "socket-closed", ...okx, closeCode: 1006 }, /closeCode is out of range/],
    [{ kind: "reset", ...okx, from: after(2), to: after(1) }, /ends before it begins/],
    [{ kind: "reset", ...okx, from: after(0), to: after(9), everyMs: 9000 }, /a repeating fault needs/],
  ];
  const faults = bad.map(([fault]) => fault);
  for (const [, message] of bad) t.throws(() => checkFaults(faults, registry), { message });
  for (const fault of faults) t.throws(() => checkFaults([fault], registry), /cannot play its script/);
  t.end();
});

void t.test("a fault lasts from its beginning to its end, and repeats", (t) => {
  const fault: ScriptedFault = { kind: "reset", venue: "okx", from: after(60), to: after(180), everyMs: 900_000 };
  const target = { venue: "okx", component: "rest:time", region: "us-east", host: null };
  const changes = [0, 60, 179, 180, 959, 960, 1079, 1080];
  const lasting = changes.filter((s) => faultOf([fault], target, after(s)) === fault);
  t.same(lasting, [60, 179, 960, 1079]);
  const next = changes.map((s) => (nextChange(fault, after(s)) - startedAt.getTime()) / 1000);
  t.same(next, [60, 180, 180, 960, 960, 1080, 1080, 1860]);
  const once = { ...fault, everyMs: undefined };
  t.equal(nextChange(once, after(180)), Infinity);
  t.equal(nextChange({ kind: "reset", venue: "*" }, after(0)), Infinity);
  t.end();
});

void t.test("the first of overlapping faults applies", (t) => {
  const everything: ScriptedFault = { kind: "reset", venue: "*" };
  const one: ScriptedFault = { kind: "drip", venue: "okx", component: "rest:*" };
  const target = { venue: "okx", component: "rest:time", region: null, host: null };
  t.equal(faultOf([one, everything], target, startedAt), one);
  t.equal(faultOf([everything, one], target, startedAt), everything);
  t.end();
});

void t.test("a line becomes a post", (t) => {
  const text = `
    # "who says what
    okx notice "Spot #2: ticker errors" disruption from=100s started=1m to=190s every=40m about=Spot # late
    kraken notice "API" minor from=1m about="REST API",Futures says=none identified=2m impact=3m:critical title=4m:"The API" deleted=1h
    okx rest:* * reset from=1m
  `;
  const { posts, faults } = parseScript(text, begin);
  t.equal(faults.length, 1);
  t.same(posts, [
    {
      venue: "okx",
      title: "Spot #2: ticker errors",
      impact: "disruption",
      postedAt: at(100 / 60),
      startedAt: at(1),
      endedAt: at(190 / 60),
      everyMs: 2_400_000,
      components: ["Spot"],
    },
    {
      venue: "kraken",
      title: "API",
      impact: "minor",
      postedAt: at(1),
      components: ["REST API", "Futures"],
      indicator: "none",
      changes: [
        { at: at(2), status: "identified" },
        { at: at(3), impact: "critical" },
        { at: at(4), title: "The API" },
      ],
      deletedAt: at(60),
    },
  ]);
  t.end();
});

void t.test("invalid lines of posts are named", (t) => {
  const bad: [string, RegExp][] = [
    ["okx notice Errors major from=1s", /line 1: expected "venue notice "title" impact/],
    ['okx notice "Errors" from=1s', /line 2: expected "venue notice/],
    ['okx notice "Errors" major', /line 3: a notice needs from=/],
    ['okx notice "Errors major from=1s', /line 4: a quote is not closed/],
    ['okx notice "Errors" major from=1s until=2s', /line 5: unknown setting until=2s/],
    ['okx notice "Errors" major from=soon', /line 6: expected a duration/],
    ['okx notice "Errors" major from=1s impact=critical', /line 7: expected a duration/],
  ];
  const text = bad.map(([line]) => line).join("\n");
  for (const [, message] of bad) t.throws(() => parseScript(text, begin), { message });
  t.end();
});

void t.test("posts that no feed would show are refused", (t) => {
  const bad: [ScriptedPost, RegExp][] = [
    [outage("gate"), /post 1 \(gate "Errors"\): unknown impact major; a gate-announcements has engine_upgrade/],
    [outage("kraken-futures"), /its feed is that of kraken: let kraken post it/],
    [outage("okx"), /unknown impact major; a okx-system-status has scheduled, unscheduled, disruption/],
    [outage("kraken", { changes: [{ at: at(15), status: "over" }] }), /unknown status over; a statuspage has investi/],
    [outage("kraken", { changes: [{ at: at(15), impact: "bad" }] }), /unknown impact bad/],
    [outage("bybit", { impact: "incident", components: ["Spot"] }), /unknown component Spot; a bybit-\S+ has Trading/],
    [outage("bybit", { impact: "incident", indicator: "none" }), /only a statuspage has one/],
    [outage("kraken", { endedAt: at(10) }), /ends, changes or is deleted before it is posted/],
    [outage("kraken", { startedAt: at(31) }), /ends before it begins/],
    [outage("kraken", { everyMs: 1_200_000 }), /a repeating post needs an end within the period/],
  ];
  for (const [post, message] of bad) t.throws(() => checkPosts([post], registry), { message });
  const silent = { ...registry, venues: registry.venues.map((venue) => ({ ...venue, official: null })) };
  const message = /post 1 \(gate "Errors"\): the venue has no feed that the world plays/;
  t.throws(() => checkPosts([outage("gate")], silent), { message });
  t.end();
});

void t.test("faults that no feed can have are refused", (t) => {
  const official = { venue: "deribit", component: "official" };
  const bad: [ScriptedFault, RegExp][] = [
    [{ kind: "reset", venue: "kraken-futures", component: "official" }, /no component official/],
    [{ kind: "reset", ...official, regions: ["us-east"] }, /name no region/],
    [{ kind: "silent", ...official }, /silent acts on stream only, not on official/],
    [{ kind: "lost-fields", venue: "deribit" }, /lost-fields acts on official only: name it/],
    [{ kind: "empty-list", venue: "deribit", component: "rest:*" }, /acts on official only, not on rest/],
    [{ kind: "back-in-time", ...official, behindMs: 0 }, /behindMs is out of range/],
  ];
  for (const [fault, message] of bad) t.throws(() => checkFaults([fault], registry), { message });
  const { faults } = parseScript("deribit official * back-in-time=2d", begin);
  t.match(faults, [{ kind: "back-in-time", behindMs: 172_800_000 }]);
  t.end();
});

// What venues say instead of an answer, in their entries' words: the probe reads each as it is meant.

const region = "us-east";

void t.test("each endpoint says that it refuses or limits us, or does not trade, in its own words", async (t) => {
  const world = await openWorld(t);
  let heard = 0;
  for (const [kind, said] of [
    ["blocked-inside", "blocked"],
    ["limited-inside", "limited"],
    ["halted", "halted"],
  ] as const) {
    world.fault({ kind, venue: "*", component: "rest:*" });
    for (const { id, rest } of world.registry.venues)
      for (const endpoint of rest) {
        const { status, body } = await ask(endpoint, region);
        const verdict = compileAnswerCheck(endpoint)(Buffer.from(body), undefined);
        const expected = endpoint[said] ? said : null;
        if (expected !== null) heard += 1;
        t.match({ status, said: verdict.said }, { status: 200, said: expected }, `${id} ${endpoint.name} ${kind}`);
        if (expected === null) t.ok(verdict.good, `${id} ${endpoint.name} has no such words`);
      }
    await world.clear();
  }
  t.ok(heard > 100, `${heard} endpoints have words`);
});

void t.test("a socket that asks us to wait says so as soon as it is open", async (t) => {
  const world = await openWorld(t);
  world.fault({ kind: "limited-inside", venue: "*", component: "ws:conn" });
  const limiting = world.registry.venues.filter(({ socket }) => socket?.limited);
  t.ok(limiting.length > 5);
  for (const { id, socket } of limiting) {
    const words = makeFrameWords(socket!);
    const client = await connect(socket!.url, region);
    t.ok(await client.frame((text) => words.hear(JSON.parse(text)) === "limited"), id);
    client.ws.terminate();
  }
});

void t.test("a socket says that its venue does not trade, and later that it does again", async (t) => {
  const world = await openWorld(t);
  const halting = world.registry.venues.filter(({ socket }) => socket?.halted);
  t.ok(halting.length > 1);
  for (const { id, socket } of halting) {
    const open = await connect(socket!.url, region);
    world.fault({ kind: "halted", venue: id, component: "ws:conn", regions: [region] });
    for (const client of [open, await connect(socket!.url, region)]) {
      const words = makeFrameWords(socket!);
      await heard(client, 0, words, true);
      const frames = client.frames.length;
      await world.clear();
      await heard(client, frames, words, false);
      t.pass(id);
      client.ws.terminate();
      world.fault({ kind: "halted", venue: id, component: "ws:conn", regions: [region] });
    }
    await world.clear();
  }
});

void t.test("every venue has its own error envelope", async (t) => {
  const world = await openWorld(t);
  world.fault({ kind: "error-inside", venue: "*" });
  for (const { id, rest } of world.registry.venues.slice(0, 15)) {
    const ticker = rest.find(({ name }) => name === "ticker")!;
    t.match(await ask(ticker), { status: 200, body: /err|code|message/i }, id);
  }
});

/** Waits until the frames after the first ones amount to this. */
async function heard(client: VenueClient, after: number, words: FrameWords, halted: boolean): Promise<void> {
  let place = 0;
  await client.frame((text) => {
    if (place++ < after) return false;
    words.hear(JSON.parse(text));
    return words.isHalted() === halted;
  });
}

async function openWorld(t: Test): Promise<World> {
  const world = await startWorld({ registry: everyVenue });
  t.teardown(() => world.close());
  return world;
}
