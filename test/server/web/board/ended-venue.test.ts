/** A venue with a history that ends: the live board is without it, and its history stays readable. */
import t, { type Test } from "tap";
import { syncRegistry } from "../../../../server/database/sync-registry.js";
import { type Pool, sql } from "../../../../shared/database/pool.js";
import type { Registry, VenueEnd } from "../../../../shared/registry/registry.js";
import { type Api, serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { ago, decide, measured, outage, pastIncident } from "../../../support/fleet.js";
import { member } from "../../../support/member.js";
import { getPage } from "../../../support/page.js";

const source = "https://example.org/kraken-closes";
const dayOf = (at: Date) => at.toISOString().slice(0, 10);
const ending = (date: string): VenueEnd => ({ date, what: "The exchange closes.", source });

/** The registry where Kraken ends. */
function withEnd({ venues, ...rest }: Registry, endedAt: VenueEnd): Registry {
  return { ...rest, venues: venues.map((venue) => (venue.id === "kraken" ? { ...venue, endedAt } : venue)) };
}

async function synced(pool: Pool, registry: Registry): Promise<void> {
  await pool.transaction((tx) => syncRegistry(tx, registry));
  await decide(pool);
}

interface Status {
  summary: {
    venues: number;
    activeIncidents: number;
    categories: { category: string; venues: number; activeIncidents: number }[];
  };
  venues: { id: string }[];
  incidents: { venue: string }[];
}

interface Detail {
  state: string;
  entry: { endedAt: VenueEnd | null };
  endpoints: { state: string; unknownBecause: { reason: string; detail: string } | null }[];
  incidents: { slug: string; status: string }[];
  summary: { scheduledMinutes: number };
  typicalMs: number | null;
}

interface Feed {
  components: { id: string }[];
}

const idsOf = ({ venues }: { venues: { id: string }[] }) => venues.map(({ id }) => id);

void t.test("a venue that ends", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  await outage.open(pool);
  const startedAt = ago(86_400);
  const old = await pastIncident(pool, { venue: "kraken", component: "ws:trades", startedAt, minutes: 5 });
  const before = await serve(t, { pool, registry });
  const detail = (await before.ask<Detail>("/v1/targets/kraken")).body;
  t.equal((await before.ask<Status>("/v1/status")).body.summary.activeIncidents, 1);

  await t.test("is on the board until that day", async (t) => {
    const announced = withEnd(registry, ending("2999-01-01"));
    await synced(pool, announced);
    const api = await serve(t, { pool, registry: announced });
    t.ok(idsOf((await api.ask<Status>("/v1/status")).body).includes("kraken"));
    t.match((await api.ask<Detail>("/v1/targets/kraken")).body.entry, { endedAt: ending("2999-01-01") });
    const { text } = await getPage(api.port, "/venues/kraken");
    t.notMatch(text, /^Kraken ended/);
    t.match(text, /The venue itself ends 1 Jan 2999: The exchange closes\. \(source\)/);
  });

  const ended = withEnd(registry, ending(dayOf(new Date())));
  await synced(pool, ended);
  const api = await serve(t, { pool, registry: ended });
  await t.test("is off the live board", (t) => isOffTheBoard(t, api));
  await t.test("keeps its page and its permalinks", async (t) => {
    await keepsItsHistory(t, api, [...detail.incidents.map(({ slug }) => slug)], old);
  });
  await t.test("is nobody's to measure", async (t) => {
    const probe = member(pool);
    await probe.renew();
    t.notOk(probe.venues.includes("kraken"));
    t.equal(probe.venues.length, 14);
    const { body } = await api.ask<Detail>("/v1/targets/kraken");
    t.equal(body.typicalMs, null);
    const [row] = await pool.query<{ scheduled: number }>(sql`
      select api.scheduled_minutes(watched_from, unwatched, now() + interval '1 hour', now() + interval '2 hours') as scheduled
      from venue where venue = 'kraken'
    `);
    t.equal(row!.scheduled, 0, "minutes after its end are no gaps");
  });

  await t.test("returns with its history if it goes on after all", async (t) => {
    await synced(pool, registry);
    await measured(pool, { from: ago(120), to: ago(0), venue: "kraken" });
    await decide(pool);
    const again = await serve(t, { pool, registry });
    t.ok(idsOf((await again.ask<Status>("/v1/status")).body).includes("kraken"));
    t.match((await again.ask<Detail>("/v1/targets/kraken")).body, { state: "operational", entry: { endedAt: null } });
  });
});

async function isOffTheBoard(t: Test, api: Api): Promise<void> {
  const { body: status } = await api.ask<Status>("/v1/status");
  t.equal(status.summary.venues, 14);
  t.notOk(idsOf(status).includes("kraken"));
  t.match(status.summary, { activeIncidents: 0 });
  t.match(status.summary.categories[0], { category: "exchange", venues: 14, activeIncidents: 0 });
  t.same(status.incidents, [], "nor are its incidents among the newest there");
  const reliability = (await api.ask<Status & { fleet: { venues: number } }>("/v1/reliability")).body;
  t.equal(reliability.fleet.venues, 14);
  t.notOk(idsOf(reliability).includes("kraken"));
  const table = (await api.ask<{ venue: string }[]>("/v1/reliability?format=csv")).body;
  t.notOk(table.some(({ venue }) => venue === "kraken"));
  t.notMatch((await api.ask("/metrics")).text, /venue="kraken"/);
  const { body: page } = await api.ask<Feed>("/statuspage/api/v2/summary.json");
  t.notOk(page.components.some(({ id }) => id === "kraken"));
  t.ok(page.components.length > 0);
  for (const path of ["/", "/wall", "/compare", "/transfers"])
    t.notOk((await getPage(api.port, path)).links.includes("/venues/kraken"), path);
  const llms = await (await fetch(`http://127.0.0.1:${api.port}/llms.txt`)).text();
  const [, ids = ""] = /^Ids of the venues: (.*)\.$/m.exec(llms) ?? [];
  t.equal(ids.split(", ").length, 14);
  t.notOk(ids.split(", ").includes("kraken"));
}

/** @param open the slugs of its incidents when it ended; @param old that of one from before */
async function keepsItsHistory(t: Test, api: Api, open: string[], old: string): Promise<void> {
  const target = await api.ask<Detail>("/v1/targets/kraken");
  t.equal(target.status, 200);
  t.equal((await api.ask("/v1/exchanges/kraken")).text, target.text);
  const { state, entry, endpoints, incidents } = target.body;
  const today = dayOf(new Date());
  t.equal(state, "unknown");
  t.strictSame(entry.endedAt, ending(today));
  t.match(
    endpoints,
    endpoints.map(() => ({
      state: "unknown",
      unknownBecause: { reason: "ended", detail: `ended on ${today}: The exchange closes` },
    })),
  );
  t.same(incidents.map(({ slug }) => slug).sort(), [...new Set([...open, old])].sort());
  for (const { slug, status } of incidents) {
    t.equal(status, "closed", "nobody watches how it ends");
    t.equal((await api.ask(`/v1/incidents/${slug}`)).status, 200);
    t.equal((await getPage(api.port, `/incidents/${slug}`)).status, 200);
  }
  const listed = (await api.ask<{ incidents: object[] }>("/v1/incidents?venue=kraken")).body.incidents;
  t.equal(listed.length, incidents.length);
  t.match((await api.ask("/v1/targets/kraken/state")).body, { state: "unknown" });
  t.equal((await api.ask<object[]>("/v1/targets/kraken/days.csv")).body.length, 90);
  for (const path of [
    "/feeds/kraken/incidents.atom",
    "/statuspage/kraken/api/v2/summary.json",
    "/badges/kraken.svg",
    "/embed/kraken",
  ])
    t.equal((await fetch(`http://127.0.0.1:${api.port}${path}`)).status, 200, path);
  const page = await getPage(api.port, "/venues/kraken");
  t.match(page.title, /^Kraken ended on \d+ \w+/);
  t.match(page.text, /^Kraken ended on \d+ \w+\. The exchange closes\. \(source\) Nothing has been measured since/);
  t.equal(page.icon, "unknown");
  t.ok(page.links.includes(source));
  t.ok(page.links.includes(`/incidents/${old}`));
  t.match((await getPage(api.port, "/incidents?venue=kraken")).text, /Kraken: /);
}
