/** Bodies while the engine lags: they say so, and how old they are. */
import t from "tap";
import { sql } from "../../../shared/database/pool.js";
import { makeBody } from "../../../server/api/body.js";
import type { ClockReading } from "../../../server/api/clock.js";
import { makeAged, staleAfterMs } from "../../../server/api/stale.js";
import { agentOn } from "../../support/agent.js";
import { serve } from "../../support/api.js";
import { migratedDatabase } from "../../support/database.js";
import { emptied } from "../../support/emptied.js";
import { ago, decide, measured, outage } from "../../support/fleet.js";

interface Freshness {
  generatedAt: string;
  stale: boolean;
  ageSeconds: number | null;
  decidedAt: string | null;
}

const database = await migratedDatabase(t);
const { registry } = database;

const paths = [
  ...["/v1/status", "/v1/status?category=exchange", "/v1/targets/kraken", "/v1/targets/kraken?range=7d"],
  ...["/v1/targets/kraken/state", "/v1/regions", "/v1/reliability", "/v1/detection", "/v1/notify", "/v1/incidents"],
];

void t.test("every body says that it is stale, with its age, once the engine lags", async (t) => {
  const { pool } = await emptied(database);
  await measured(pool, { from: ago(150), to: ago(0) });
  await decide(pool, ago(130));
  const lagging = await serve(t, { pool, registry, staleAfterMs });
  const inTime = await serve(t, { pool, registry });
  for (const path of paths) {
    const { body, text } = await lagging.ask<Freshness>(path);
    t.equal(body.stale, true, path);
    t.ok(body.ageSeconds! >= 130 && body.ageSeconds! % 10 === 0, `${path}: ${body.ageSeconds} s`);
    const fresh = await inTime.ask<Freshness>(path);
    t.match(fresh.body, { stale: false, ageSeconds: null, decidedAt: null, generatedAt: body.generatedAt }, path);
    t.ok(body.decidedAt! <= body.generatedAt, path);
    const plain = { ...(JSON.parse(text) as object), stale: false, ageSeconds: null, decidedAt: null };
    t.strictSame(plain, JSON.parse(fresh.text), `${path}: nothing else differs`);
  }
});

void t.test("the instant of the decision stands still while that of the body moves on", async (t) => {
  const { pool } = await emptied(database);
  await measured(pool, { from: ago(150), to: ago(0) });
  await decide(pool, ago(100));
  for (const behindS of [60, 320, 40_000]) {
    const at = ago(behindS);
    // silent, or an engine that catches up
    await pool.query(sql`update engine_clock set ticked_at = ${at}, revision = 0`);
    const api = await serve(t, { pool, registry, staleAfterMs });
    for (const path of paths) {
      const { body } = await api.ask<Freshness>(path);
      t.equal(body.decidedAt, at.toISOString(), `${path}, ${behindS} s`);
      const ahead = Date.parse(body.generatedAt) - +at;
      t.ok(behindS < 300 ? ahead === 0 : ahead > 1000 * (behindS - 60), `${path}, ${ahead} ms`);
    }
    const agent = await agentOn(t, api.port);
    const { data } = await agent.ask("is_it_down", { venue: "kraken" });
    t.equal(data["asOf"], at.toISOString(), "agents are told that instant");
  }
});

void t.test("a body of a stale engine has its own ETag, and is fresh again after a tick", async (t) => {
  const { pool } = await emptied(database);
  await measured(pool, { from: ago(150), to: ago(0) });
  await decide(pool, ago(60));
  const api = await serve(t, { pool, registry, staleAfterMs });
  const before = await api.ask<Freshness>("/v1/status");
  t.equal(before.body.stale, true);
  await decide(pool, ago(0));
  const after = await api.ask<Freshness>("/v1/status");
  t.match(after.body, { stale: false, ageSeconds: null });
  t.not(after.headers.etag, before.headers.etag);
});

void t.test("a closed incident is never stale, an open one is", async (t) => {
  const { pool } = await emptied(database);
  await outage.open(pool);
  const api = await serve(t, { pool, registry, staleAfterMs });
  const { incidents } = (await api.ask<{ incidents: { slug: string }[] }>("/v1/incidents")).body;
  const path = `/v1/incidents/${incidents[0]!.slug}`;
  t.equal((await api.ask<Freshness>(path)).body.stale, true, "open");
  await outage.close(pool);
  t.equal((await api.ask<Freshness>("/v1/status")).body.stale, true);
  t.match((await api.ask<Freshness>(path)).body, { stale: false, ageSeconds: null }, "closed");
});

void t.test("while the database is away, a body still says when the engine last decided", async (t) => {
  const readBefore = 10_000;
  // seconds ago: the engine's last tick, the instants of the last reading and of the body, and what the body says
  for (const [tick, read, body, said] of [
    [400, 50, 65, 400],
    [400, 50, 45, 400],
    [90_000, 50, 3_600, 90_000],
    [100, 100, 100, 100],
    [65, 65, 35, 35],
    [null, 50, 65, null],
  ] as const) {
    const last: ClockReading = {
      ...{ generated_at: ago(read), moved_at: null, read_at: ago(readBefore / 1000) },
      ...{ ticked_at: tick === null ? null : ago(tick), askedAtMs: performance.now() - readBefore },
    };
    const away = () => Promise.reject(new Error("the database is away"));
    const clock = { read: away, trusted: () => null, last: () => last, expire: () => undefined };
    const snapshot = { generatedAt: ago(body), body: makeBody("{}"), closed: false };
    const aged = await makeAged(clock, staleAfterMs)(snapshot);
    const { ageSeconds, decidedAt } = JSON.parse(aged.body.plain.toString()) as Freshness;
    const what = `tick ${tick}, reading ${read}, body ${body}`;
    t.equal(ageSeconds, said === null ? null : Math.floor(said / 10) * 10, what);
    t.ok(said === null ? decidedAt === null : Math.abs(Date.parse(decidedAt!) - +ago(said)) < 1_000, what);
  }
});
