/** The demo's world: its script, its past, and what it remembers of earlier runs. */
import { parseScript } from "../../world/script.js";
import { writeHistoryNote } from "../../world/history-note.js";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import t from "tap";
import { packagedFile } from "../../shared/config/package.js";
import { ask, outcomeOf } from "../../world/clients.js";
import { startDemoWorld } from "../../world/demo.js";
import { checkFaults } from "../../world/fault-check.js";
import type { ScriptedFault } from "../../world/faults.js";
import { pastPosts } from "../../world/notices/past-posts.js";
import { checkPosts, noticesAt, type ScriptedPost } from "../../world/notices/posts.js";
import { pastFaults } from "../../world/past.js";
import type { World } from "../../world/world.js";
import { until } from "../support/until.js";
import { begin, registry, venueOf } from "../support/world-pages.js";

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
