/** Creates the data of a running demo, for tests that query it. */
import { type Pool, sql } from "../../shared/database/pool.js";
import { accepted, decideUpTo } from "../../server/core/engine/tick.js";
import { makeLog } from "../../shared/log/log.js";
import type { Registry } from "../../shared/registry/registry.js";
import { addChannel } from "./alerts.js";
import { claim, expand, settle } from "./alert-dispatch.js";
import { decide, measured } from "./fleet.js";
import { notice, said } from "./stored-notices.js";
import { makeHistory } from "../../world/history.js";
import { pastPosts } from "../../world/notices/past-posts.js";
import { noticesAt } from "../../world/notices/posts.js";
import { type SimulatedFeedKind, wordsOf } from "../../world/notices/words.js";

/** How long the demo has run. */
const runMs = 60_000;

/** Fills an empty database with that many days, and a first minute. */
export async function makeDemoPast(pool: Pool, registry: Registry, days: number): Promise<void> {
  const upAt = new Date(Date.now() - runMs);
  await makeHistory(pool, { days, now: upAt, log: makeLog("test", "warn") });
  await runDemo(pool, registry, upAt);
}

/** Adds a first minute to a history: feeds are read, one venue fails completely, and a channel receives alerts. */
export async function runDemo(pool: Pool, registry: Registry, upAt: Date): Promise<void> {
  await feedsSay(pool, registry, upAt);
  const now = new Date(+upAt + runMs);
  await addChannel(pool);
  await measured(pool, { from: upAt, to: now });
  await measured(pool, { from: new Date(+upAt + 5_000), to: now, ...{ venue: "kucoin-futures", fault: "http" } });
  for await (const one of decideUpTo(pool, now)) accepted(one);
  await pool.query(sql`call upkeep.refresh_all(${new Date(+upAt - 60_000)}, ${now})`);
  await decide(pool, now);
  await expand(pool, now);
  await settle(pool, now, await claim(pool, now), "delivered");
}

/** Stores what the world's feeds say; only status pages date their notices. Gemini's cannot be read. */
async function feedsSay(pool: Pool, registry: Registry, at: Date) {
  const posts = pastPosts(at);
  const read = new Set<string>();
  for (const { id, official } of registry.venues) {
    if (!official?.api || read.has(official.api)) continue;
    read.add(official.api);
    if (id === "gemini") {
      await said(pool, id, at, [], { problem: "answered HTML" });
      continue;
    }
    if (!(official.kind in wordsOf)) continue;
    const kind = official.kind as SimulatedFeedKind;
    const dated = kind === "statuspage";
    const own = posts.filter(({ venue }) => venue === id);
    const notices = noticesAt(own, kind, at).map((one) => {
      const { kind, title, status, impact, components: subjects, resolvedAt } = one;
      const times = { postedAt: dated ? one.postedAt : null, resolvedAt, over: resolvedAt !== null };
      return notice(one.id, one.startedAt, { kind, title, status, impact, subjects, ...times });
    });
    await said(pool, id, at, [{ scope: "incidents", notices, listedFrom: new Date(0) }]);
  }
}
