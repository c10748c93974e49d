/** The lines of a script that post notices, which of them are refused, and the posts of the demo. */
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import t from "tap";
import { packagedFile } from "../../shared/config/package.js";
import { ask, outcomeOf } from "../../simulator/clients.js";
import { startDemoWorld } from "../../simulator/demo.js";
import { writeHistoryNote } from "../../simulator/history-note.js";
import { checkFaults } from "../../simulator/fault-check.js";
import type { ScriptedFault } from "../../simulator/faults.js";
import { pastPosts } from "../../simulator/notices/past-posts.js";
import { checkPosts } from "../../simulator/notices/post-check.js";
import { noticesAt, type ScriptedPost } from "../../simulator/notices/posts.js";
import { pastFaults } from "../../simulator/past.js";
import { parseScript } from "../../simulator/script.js";
import { until } from "../support/until.js";
import { at, begin, outage, registry, titlesOf, venueOf } from "../support/world-pages.js";

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

void t.test("the demo: the notices of each forty minutes", async (t) => {
  const text = await readFile(packagedFile("simulator/demo.txt"), "utf8");
  const { posts } = parseScript(text, begin);
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
