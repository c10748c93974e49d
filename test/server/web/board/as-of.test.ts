/**
 * As of when: the instant that each body shows, how long it is held, and what it says once the engine lags.
 *
 * Every body is a function of its instant. Two bodies of the same instant have the same bytes, even from different
 * processes, while the engine hangs and samples, heartbeats, notices and upkeep continue.
 */
import { appendFile, cp } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import t, { type Test } from "tap";
import { staleAfterMs } from "../../../../server/web/board/stale.js";
import { migrate } from "../../../../server/database/migrate.js";
import { retractIncident } from "../../../../server/core/engine/retract.js";
import { accepted, tick } from "../../../../server/core/engine/tick.js";
import { openPool, sql } from "../../../../shared/database/pool.js";
import { sqlFolder } from "../../../../shared/database/sql-files.js";
import { makeLog } from "../../../../shared/log/log.js";
import type { Registry, Venue } from "../../../../shared/registry/registry.js";
import { agentOn } from "../../../support/agent.js";
import { type Api, serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { emptied } from "../../../support/emptied.js";
import { ago, decide, measured, outage, pastIncident } from "../../../support/fleet.js";
import { getPage } from "../../../support/page.js";
import { notice, said, whole } from "../../../support/stored-notices.js";

/** Where each form of a body has its instant, and how it says that it is stale; null: it does not. */
const forms = {
  json: { instant: /"generatedAt"\s*:\s*"([^"]+)"/, stale: /"stale"\s*:\s*true/ },
  csv: { instant: /^(\d{4}-[^,]+Z),/m, stale: null },
  metrics: { instant: /^svc_generated_at_seconds (.+)$/m, stale: null },
  statuspage: { instant: /"updated_at":"([^"]+)"/, stale: /"indicator":null,"description":"Unknown: nothing was/ },
  page: { instant: /class="as-of">.*?datetime="([^"]+)"/is, stale: /<main[^>]* class="old"/ },
};

/** Bodies that each tick renews, and those held for half a minute while no state and no incident changes. */
const shown: [path: string, form: keyof typeof forms, holds: "a tick" | "half a minute"][] = [
  ["/v1/status", "json", "a tick"],
  ["/v1/status?category=exchange", "json", "a tick"],
  ["/v1/targets/kraken", "json", "a tick"],
  ["/v1/targets/kraken?range=7d&region=us-east", "json", "half a minute"],
  ["/v1/targets/kraken/state", "json", "a tick"],
  ["/v1/regions", "json", "a tick"],
  ["/v1/reliability?days=1", "json", "half a minute"],
  ["/v1/detection", "json", "a tick"],
  ["/v1/notify", "json", "a tick"],
  ["/v1/incidents", "json", "a tick"],
  ["/v1/targets/okx?format=csv", "csv", "a tick"],
  ["/v1/reliability?format=csv", "csv", "half a minute"],
  ["/v1/incidents?format=csv", "csv", "a tick"],
  ["/metrics", "metrics", "a tick"],
  ["/statuspage/kraken/api/v2/status.json", "statuspage", "half a minute"],
  ["/", "page", "a tick"],
  // its chart is held, and has an instant of its own
  ["/venues/kraken?range=7d", "page", "a tick"],
  ["/incidents", "page", "a tick"],
  ["/compare", "page", "half a minute"],
  ["/detection", "page", "a tick"],
  ["/regions", "page", "a tick"],
  ["/wall", "page", "a tick"],
];

const all = shown.map(([path]) => path);
const some = ["/v1/status", "/v1/targets/kraken", "/v1/regions", "/metrics"];
const inJson = shown.filter(([, form]) => form === "json").map(([path]) => path);

interface Body {
  path: string;
  generatedAt: string;
  text: string;
}

async function readBody(api: Api, path: string): Promise<Body> {
  const [, form] = shown.find((row) => row[0] === path)!;
  const { status, text } = form === "page" ? await pageOf(api, path) : await api.ask(path);
  if (status !== 200) throw new Error(`${path} answered ${status}: ${text}`);
  const at = forms[form].instant.exec(text)?.[1];
  if (at === undefined) throw new Error(`${path} does not contain its instant`);
  return { path, generatedAt: new Date(at.includes("T") ? at : Number(at) * 1000).toISOString(), text };
}

async function pageOf(api: Api, path: string) {
  const { status, html } = await getPage(api.port, path);
  return { status, text: html };
}

const database = await migratedDatabase(t);
const { pool, registry } = database;
const quiet = makeLog("test", "error");

/** Another web program, with its own pool and cached bodies. */
async function anotherWeb(t: Test): Promise<Api> {
  const pool = openPool(database.url, { applicationName: "web", log: quiet });
  t.teardown(() => pool.close());
  // a stale body says its age, which is of the moment when it is read, and no function of its instant
  return serve(t, { pool, registry, staleAfterMs: Infinity });
}

/** Remembers the body of each path and instant. */
function makeWitness(t: Test) {
  const bodies = new Map<string, string>();
  let compared = 0;
  return {
    compared: () => compared,
    note: ({ path, generatedAt, text }: Body, when: string) => {
      const key = `${path} as of ${generatedAt}`;
      const before = bodies.get(key);
      if (before === undefined) bodies.set(key, text);
      else {
        compared += 1;
        if (before !== text) t.equal(text, before, `${when}: ${key} has the same bytes`);
      }
    },
  };
}

/** Inserts good and bad samples in separate slots, which arrive now. */
async function arrive(venue: string, from: Date, to: Date): Promise<void> {
  await pool.query(sql`
    insert into sample (ts, component_id, region_id, good, fault, latency_us, received_after_s)
    select
      at, c.component_id, g.region_id, n.nth % 3 > 0, case when n.nth % 3 = 0 then 'http'::fault end,
      case when n.nth % 3 > 0 and c.kind = 'rest' then 777000 end,
      ceil(extract(epoch from clock_timestamp() - at)) + 1
    from component c
    join venue v using (venue_id)
    cross join region g
    cross join lateral generate_series(1, 1 + (extract(epoch from ${to}::timestamptz - ${from}::timestamptz) / 2)::int) as n (nth)
    cross join lateral (
      select date_trunc('milliseconds', ${from}::timestamptz) + n.nth * interval '2 seconds' + interval '7 microseconds' as at
    ) slot
    where v.venue = ${venue} and at <= clock_timestamp()
    on conflict do nothing
  `);
}

void t.test("one instant has one body while the engine hangs and everything else continues", async (t) => {
  await measured(pool, { from: ago(9_000), to: ago(0), venue: "kraken" });
  await measured(pool, { from: ago(700), to: ago(0), venue: "okx" });
  await outage.open(pool);
  await pool.query(sql`
    insert into probe (region_id, process, version, started_at, seen_at, alive_until, unmeasured)
    select region, gen_random_uuid(), '0.8.0', now(), now(), now() + interval '1 hour', 3
    from generate_series(1, 2) region
  `);
  await pool.query(sql`call upkeep.refresh_all(${ago(9_100)}, ${new Date()})`);
  accepted(await tick(pool, new Date()));
  const { note, compared } = makeWitness(t);
  const ofSilence = makeWitness(t);

  async function look(when: string, asked = all, remember = note) {
    const web = await anotherWeb(t);
    const seen: Body[] = [];
    for (const path of asked) seen.push(await readBody(web, path));
    await web.close();
    for (const one of seen) remember(one, when);
    return new Set(seen.map(({ generatedAt }) => generatedAt));
  }
  interface Page {
    generatedAt: string;
    endpoints: { samples: number; newestAt: string }[];
    regions: { compare: { samples: number; newestAt: string }[] };
  }
  const counts = async () => {
    const { generatedAt, endpoints, regions } = (await (await anotherWeb(t)).ask<Page>("/v1/targets/kraken")).body;
    const counted = [...endpoints, ...regions.compare];
    for (const { newestAt } of counted) t.ok(newestAt <= generatedAt, "no shown time is later than the instant");
    return counted.map(({ samples }) => samples);
  };

  const instant = await look("at first");
  const [first] = instant;
  const atFirst = await counts();
  t.equal(instant.size, 1);
  t.strictSame(await look("again"), instant);

  await arrive("kraken", ago(30), ago(0));
  await arrive("kraken", ago(8_900), ago(8_700));
  await arrive("okx", ago(500), ago(400));
  t.strictSame(await look("samples arrived"), instant);

  await pool.query(sql`update probe set unmeasured = 99, seen_at = clock_timestamp()`);
  t.strictSame(await look("probes sent heartbeats"), instant);

  const revisionOf = async () => (await pool.query(sql`select revision::int from engine_clock`))[0];
  const revision = await revisionOf();
  await pool.query(sql`call upkeep.refresh_newest(clock_timestamp())`);
  t.strictSame(await revisionOf(), revision, "none of these minutes is published");
  t.strictSame(await look("the newest minutes were rolled up"), instant);

  const changes: Record<string, () => Promise<unknown>> = {
    "the open hour was rolled up": () => pool.query(sql`call upkeep.refresh_open_buckets(clock_timestamp(), true)`),
    "hours were stored": () => pool.query(sql`call upkeep.refresh_over_hours(${ago(10_000)}, clock_timestamp())`),
    "late samples were rolled up": () => pool.query(sql`call upkeep.refresh_late(clock_timestamp())`),
    "minutes were repaired": () => pool.query(sql`call upkeep.mend('sample_minute', ${ago(9_000)}, ${ago(300)})`),
    "a notice arrived": () => said(pool, "kraken", new Date(), [whole(notice("a", ago(60)))]),
    "an incident was retracted": async () => {
      await pastIncident(pool, { venue: "okx", component: "rest:book", startedAt: ago(7_200), minutes: 1 });
      const open = sql`select slug from incident where closed_at is null limit 1`;
      const [incident] = await pool.query<{ slug: string }>(open);
      await pool.file("retract", [incident!.slug, "a test"]);
    },
    "a venue was renamed": () => migrate(pool, withVenue(registry, "okx", { name: "OK" }), quiet),
    "a venue was removed": () => migrate(pool, without(registry, "gemini"), quiet),
    "the venue returned": () => migrate(pool, registry, quiet),
    "views were replaced": async () => {
      const folder = await otherDefinitions(t);
      // both databases have a history, so it ends before the registry is synced
      const merging = withVenue(without(registry, "gemini"), "okx", { formerIds: ["gemini"] });
      await t.rejects(migrate(pool, merging, quiet, folder), { message: /histories are not merged/ });
    },
  };
  let last = first!;
  for (const [when, change] of Object.entries(changes)) {
    await change();
    const seen = [...(await look(when)), ...(await look(when, some))];
    t.equal(new Set(seen).size, 1, `${when}: one instant`);
    t.ok(seen[0]! > last, `${when}: another instant`);
    last = seen[0]!;
  }
  t.ok(Date.parse(last) - Date.parse(first!) < 2_000, "still the instant of the tick");

  // from two programs at the same time, while everything continues
  const end = Date.now() + 2_000;
  const webs = [await anotherWeb(t), await anotherWeb(t)];
  await Promise.all([
    (async () => {
      for (let round = 0; Date.now() < end; round += 1) {
        await arrive("okx", ago(3_000 + 10 * round), ago(2_990 + 10 * round));
        await pool.query(sql`call upkeep.refresh_late(clock_timestamp())`);
      }
    })(),
    ...webs.map(async (web) => {
      while (Date.now() < end)
        for (const path of ["/v1/status", "/v1/targets/kraken", "/metrics"]) note(await readBody(web, path), "at once");
    }),
  ]);

  accepted(await tick(pool, new Date()));
  const [next] = await look("the next tick");
  t.ok(next! > last);
  const afterwards = await counts();
  t.ok(
    atFirst.every((samples, i) => afterwards[i]! > samples),
    "late samples appear from the next tick on",
  );
  await pool.query(sql`update engine_clock set ticked_at = ticked_at - interval '10 minutes'`);
  for (const when of ["silent", "silent, and samples come"]) {
    // with a separate record of bodies: the tick has moved to the past, and a silent engine shows seconds that it
    // showed before
    const of = await look(when, some, ofSilence.note);
    await arrive("kraken", ago(3), ago(0));
    await look(`${when}, again`, some, ofSilence.note);
    t.ok([...of].every((at) => Date.parse(at) <= Date.now() - 1_000));
  }
  t.ok(compared() > 50, `${compared()} bodies were compared with an earlier one`);
});

function withVenue({ venues, ...rest }: Registry, id: string, has: Partial<Venue>): Registry {
  return { ...rest, venues: venues.map((venue) => (venue.id === id ? { ...venue, ...has } : venue)) };
}

function without({ venues, ...rest }: Registry, id: string): Registry {
  return { ...rest, venues: venues.filter((venue) => venue.id !== id) };
}

/** Our own definitions, but with another checksum. */
async function otherDefinitions(t: Test): Promise<URL> {
  const folder = t.testdir();
  await cp(sqlFolder, folder, { recursive: true });
  await appendFile(join(folder, "rollups/100-retain.sql"), "-- another build\n");
  return pathToFileURL(`${folder}/`);
}

/** An engine in time, and an incident of hours ago: a table without rows shows no instant. */
async function healthy(from: Date, to: Date): Promise<void> {
  await emptied(database);
  await pastIncident(pool, { venue: "okx", component: "rest:book", startedAt: ago(7_200), minutes: 1 });
  await measured(pool, { from, to });
}

void t.test("a body is made at each tick, or held while nothing changes", async (t) => {
  const begin = ago(30);
  const after = (seconds: number) => new Date(+begin + seconds * 1000);
  await healthy(ago(300), after(30));
  const api = await serve(t, { pool, registry });
  const look = async () =>
    Object.fromEntries(await Promise.all(all.map(async (path) => [path, await readBody(api, path)] as const)));
  const areAllOf = (bodies: Record<string, Body>, at: Date, why: string) => {
    for (const [path] of shown) t.equal(bodies[path]!.generatedAt, at.toISOString(), `${path}, ${why}`);
  };
  await decide(pool, begin);
  areAllOf(await look(), begin, "at first");
  await decide(pool, after(2));
  const before = await look();
  areAllOf(before, after(2), "as a first state is a change at its own instant");
  await decide(pool, after(4));
  const held = await look();
  for (const [path, , holds] of shown)
    if (holds === "a tick") t.equal(held[path]!.generatedAt, after(4).toISOString(), path);
    else t.strictSame(held[path], before[path], `${path} is held`);

  const trouble = { from: after(4), to: after(24), fault: "timeout" } as const;
  await measured(pool, { ...trouble, venue: "kraken", component: "rest:ticker" });
  await decide(pool, after(22));
  const failing = await look();
  areAllOf(failing, after(22), "after a state changed");
  const week = "/v1/targets/kraken?range=7d&region=us-east";
  const { state, incidents } = JSON.parse(failing[week]!.text) as { state: string; incidents: { slug: string }[] };
  t.match({ state, incidents }, { state: "degraded", incidents: [{ status: "open" }] });
  await decide(pool, after(24));
  await look();
  await retractIncident(pool, incidents[0]!.slug, "a drill");
  await decide(pool, after(26));
  const retracted = await look();
  areAllOf(retracted, after(26), "after a retraction");
  t.strictSame((JSON.parse(retracted[week]!.text) as { incidents: object[] }).incidents, []);
});

interface Freshness {
  generatedAt: string;
  stale: boolean;
  ageSeconds: number | null;
  decidedAt: string | null;
}

void t.test("what can say so says that it is stale once the engine lags", async (t) => {
  await healthy(ago(150), ago(0));
  await decide(pool, ago(130));
  const lagging = await serve(t, { pool, registry, staleAfterMs });
  const inTime = await serve(t, { pool, registry });
  for (const [path, form] of shown) {
    const { stale } = forms[form];
    const [old, fresh] = [await readBody(lagging, path), await readBody(inTime, path)];
    t.equal(old.generatedAt, fresh.generatedAt, path);
    if (stale === null) t.equal(old.text, fresh.text, `${path} says nothing of its age`);
    else t.strictSame([stale.test(old.text), stale.test(fresh.text)], [true, false], path);
    if (form !== "json") continue;
    const { ageSeconds, decidedAt, ...rest } = JSON.parse(old.text) as Freshness;
    t.ok(ageSeconds! >= 130 && ageSeconds! % 10 === 0, `${path}: ${ageSeconds} s`);
    t.ok(decidedAt! <= rest.generatedAt, path);
    const plain = { ...rest, stale: false, ageSeconds: null, decidedAt: null };
    t.strictSame(plain, JSON.parse(fresh.text), `${path}: nothing else differs`);
  }
  const before = await lagging.ask<Freshness>("/v1/status");
  await decide(pool, ago(0));
  const after = await lagging.ask<Freshness>("/v1/status");
  t.match(after.body, { stale: false, ageSeconds: null }, "fresh again after a tick");
  t.not(after.headers.etag, before.headers.etag);
});

void t.test("the instant of the decision stands still while that of the body moves on", async (t) => {
  await healthy(ago(150), ago(0));
  await decide(pool, ago(100));
  for (const behindS of [60, 320, 40_000]) {
    const at = ago(behindS);
    // silent, or an engine that catches up
    await pool.query(sql`update engine_clock set ticked_at = ${at}, revision = 0`);
    const api = await serve(t, { pool, registry, staleAfterMs });
    for (const path of inJson) {
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

void t.test("a closed incident is never stale, an open one is", async (t) => {
  await emptied(database);
  await outage.open(pool);
  const api = await serve(t, { pool, registry, staleAfterMs });
  const { incidents } = (await api.ask<{ incidents: { slug: string }[] }>("/v1/incidents")).body;
  const path = `/v1/incidents/${incidents[0]!.slug}`;
  t.equal((await api.ask<Freshness>(path)).body.stale, true, "open");
  await outage.close(pool);
  t.equal((await api.ask<Freshness>("/v1/status")).body.stale, true);
  t.match((await api.ask<Freshness>(path)).body, { stale: false, ageSeconds: null }, "closed");
});

void t.test("the published instant never goes back", async (t) => {
  await emptied(database);
  const api = await serve(t, { pool, registry });
  const published = async () => (await readBody(api, "/v1/status")).generatedAt;
  await measured(pool, { from: ago(900), to: ago(0), venue: "okx" });

  await t.test("after more changes than milliseconds", async (t) => {
    const first = ago(20);
    const after = (ms: number) => new Date(+first + ms);
    accepted(await tick(pool, first));
    await pool.query(sql`update engine_clock set revision = 5000`);
    t.equal(await published(), after(5_000).toISOString());
    for (const [tickMs, publishedMs] of [
      [2_000, 5_001],
      [4_000, 5_002],
      [6_000, 6_000],
    ] as const) {
      accepted(await tick(pool, after(tickMs)));
      t.equal(await published(), after(publishedMs).toISOString());
    }
  });

  await t.test("while an engine that was silent catches up", async (t) => {
    const since = ago(400);
    await pool.query(sql`update engine_clock set ticked_at = ${since}, revision = 0`);
    const instants = [await published()];
    for (const seconds of [2, 4, 120, 122, 398]) {
      accepted(await tick(pool, new Date(+since + seconds * 1_000), { now: null }));
      instants.push(await published());
    }
    t.strictSame(instants, [...new Set(instants)].sort(), "every instant is later than the previous ones");
    t.ok(instants.at(-1)! <= new Date().toISOString());
  });

  await t.test("after ten more seconds of silence", async (t) => {
    const since = ago(90_000);
    await pool.query(sql`update engine_clock set ticked_at = ${since}, revision = 0`);
    const { note, compared } = makeWitness(t);
    // a silent engine shows another instant 2 s after each full ten seconds (sql/board/010-clock.sql)
    const end = Math.ceil((Date.now() + 1_000) / 10_000) * 10_000 + 3_000;
    const webs = [await anotherWeb(t), await anotherWeb(t)];
    await Promise.all([
      (async () => {
        for (let nth = 1; Date.now() < end; nth += 1)
          accepted(await tick(pool, new Date(+since + 2_000 * nth), { now: null }));
      })(),
      ...webs.map(async (web) => {
        for (let last = ""; Date.now() < end;) {
          const seen = await readBody(web, "/v1/status");
          note(seen, "from two programs");
          if (seen.generatedAt < last) t.fail(`${seen.generatedAt} was published after ${last}`);
          last = seen.generatedAt;
        }
      }),
    ]);
    t.ok(compared() > 0, `${compared()} bodies were compared`);
  });
});
