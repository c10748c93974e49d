/** A venue with a new id keeps its history, and its former id is still accepted. */
import t from "tap";
import { type Pool, sql } from "../../../shared/database/pool.js";
import { makeLog } from "../../../shared/log/log.js";
import { migrate } from "../../../server/database/migrate.js";
import { recordSamples } from "../../../server/database/record-samples.js";
import type { Registry } from "../../../shared/registry/registry.js";
import { addChannel } from "../../support/alerts.js";
import { serve } from "../../support/api.js";
import { migratedDatabase } from "../../support/database.js";
import { outage, pastIncident } from "../../support/fleet.js";
import { madeSample } from "../../support/made-sample.js";
import { member } from "../../support/member.js";
import { someSpool, spoolDirectory, deliverRest } from "../../support/spool.js";
import { dayMs, setClock, watchedSince } from "../../support/rollup-upkeep.js";

const log = makeLog("test", "error");

/** The registry with a new id for one venue. */
function renamed({ venues, ...rest }: Registry, id: string, to: string, formerIds?: string[]): Registry {
  return {
    ...rest,
    venues: venues.map((venue) => (venue.id === id ? { ...venue, id: to, ...(formerIds && { formerIds }) } : venue)),
  };
}

async function rowsOf(pool: Pool, ...ids: string[]) {
  return pool.query<{ venue: string; id: number; published: boolean }>(sql`
    select venue, venue_id as id, published from venue where venue = any (${ids}) order by venue
  `);
}

void t.test("a renamed venue", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  const now = Date.now();
  await outage.open(pool);
  const before = await serve(t, { pool, registry });
  const { body: was } = await before.ask<{ incidents: { slug: string }[] }>("/v1/incidents?venue=kraken");
  const slug = was.incidents[0]!.slug;
  const yesterday = new Date(now - dayMs);
  const old = await pastIncident(pool, { venue: "kraken", component: "ws:trades", startedAt: yesterday, minutes: 5 });
  const channel = await addChannel(pool, { venues: ["kraken", "okx"] });
  await pool.query(sql`
    insert into impairment (region_id, started_at, recognised_at, ended_at, venues, measured)
    values (1, now() - interval '2 hours', now() - interval '2 hours', now() - interval '1 hour', '{kraken,okx}', 15)
  `);
  const [row] = await rowsOf(pool, "kraken");
  const directory = await spoolDirectory(t);
  const spool = await someSpool(t, { directory });
  spool.add(madeSample({ slotAt: new Date(now - 3_600_000) }));
  await spool.flush();
  await spool.close();

  const newer = renamed(registry, "kraken", "kraken-pro", ["kraken", "payward"]);
  await migrate(pool, newer, log);
  const api = await serve(t, { pool, registry: newer });

  await t.test("keeps its row", async (t) => {
    t.strictSame(await rowsOf(pool, "kraken", "kraken-pro"), [{ ...row!, venue: "kraken-pro" }]);
    await migrate(pool, newer, log);
    t.equal((await rowsOf(pool, "kraken", "kraken-pro")).length, 1, "also after a second migration");
  });

  await t.test("is found under all its ids", async (t) => {
    const present = await api.ask<{ venue: string }>("/v1/targets/kraken-pro");
    t.equal(present.status, 200);
    for (const path of ["/v1/targets/kraken", "/v1/exchanges/kraken", "/v1/targets/payward"])
      t.equal((await api.ask(path)).text, present.text, path);
    t.equal((await api.ask("/v1/targets/kraken-plus")).status, 404);
    const days = await api.ask("/v1/targets/kraken?format=csv");
    t.match(days.headers["content-disposition"], "kraken-pro-days-90");
  });

  await t.test("keeps its incidents under their slugs", async (t) => {
    for (const id of ["kraken", "kraken-pro"]) {
      const { body } = await api.ask<{ incidents: object[] }>(`/v1/incidents?venue=${id}`);
      t.match(
        body.incidents,
        [
          { slug, venue: "kraken-pro", status: "open" },
          { slug: old, venue: "kraken-pro", status: "closed" },
        ],
        id,
      );
    }
    t.match((await api.ask(`/v1/incidents/${slug}`)).body, {
      incident: { slug, venue: "kraken-pro" },
      venue: { id: "kraken-pro" },
    });
    const wrong = await api.ask("/v1/incidents?venue=mtgox");
    t.equal(wrong.status, 400);
    t.match(wrong.text, "kraken-pro");
  });

  await t.test("is renamed wherever its id is stored", async (t) => {
    const venues = ["kraken-pro", "okx"];
    t.strictSame(await pool.query(sql`select venues from channel where channel_id = ${channel}`), [{ venues }]);
    t.strictSame(await pool.query(sql`select venues from impairment`), [{ venues }]);
  });

  await t.test("accepts spooled samples with its former id", async (t) => {
    await deliverRest(directory, pool, "us-east");
    const [kept] = await pool.query<{ n: number }>(sql`
      select count(*) as n from sample
      join component using (component_id) join venue using (venue_id)
      where venue = 'kraken-pro' and ts = ${new Date(now - 3_600_000)}
    `);
    t.equal(kept!.n, 1);
    const late = madeSample({ venue: "payward", slotAt: new Date(now) });
    t.match(await recordSamples(pool, "us-east", [late]), { stored: 1 });
    const stranger = { ...late, venue: "mtgox" };
    t.match(await recordSamples(pool, "us-east", [stranger]), { unknown: [stranger] });
  });

  await t.test("is still measured by probes that started before", async (t) => {
    const ids = registry.venues.map(({ id }) => id);
    const older = member(pool, { known: ids });
    await older.renew();
    t.same(older.venues.sort(), [...ids].sort(), "under the id that they know");
    await older.renew();
    t.same(older.venues.sort(), [...ids].sort());
    await older.leave();
    const present = newer.venues.map(({ id }) => id);
    const newProbe = member(pool, { known: present });
    await newProbe.renew();
    t.same(newProbe.venues.sort(), [...present].sort());
  });

  await t.test("can be renamed again", async (t) => {
    const next = renamed(newer, "kraken-pro", "payward-one", ["kraken-pro", "kraken"]);
    await migrate(pool, next, log);
    t.strictSame(await rowsOf(pool, "kraken", "kraken-pro", "payward-one"), [{ ...row!, venue: "payward-one" }]);
    const again = await serve(t, { pool, registry: next });
    t.equal((await again.ask("/v1/targets/kraken")).status, 200);
    t.equal((await again.ask("/v1/targets/payward")).status, 404, "an id that the registry no longer lists is unknown");
  });
});

void t.test("a rename without formerIds is refused", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  const bare = renamed(registry, "okx", "okx-global");
  await migrate(pool, bare, log);
  t.match(await rowsOf(pool, "okx", "okx-global"), [
    { venue: "okx", published: false },
    { venue: "okx-global", published: true },
  ]);
  const late = renamed(registry, "okx", "okx-global", ["okx"]);
  await t.rejects(migrate(pool, late, log), {
    name: "UserError",
    message:
      /histories are not merged\. The database has separate histories of okx and okx-global,.*Take those ids out of formerIds/,
  });
  t.match(
    await rowsOf(pool, "okx", "okx-global"),
    [{ published: false }, { published: true }],
    "the refused migration changed nothing",
  );
});

void t.test("a removed venue is hidden until it returns", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  const past = { venue: "okx", startedAt: new Date(Date.now() - 3_600_000), minutes: 5 };
  const slug = await pastIncident(pool, { ...past, component: "rest:ticker" });
  const gone = await pastIncident(pool, { ...past, component: "ws:trades", retracted: true });
  const without = { ...registry, venues: registry.venues.filter(({ id }) => id !== "okx") };
  await migrate(pool, without, log);
  const api = await serve(t, { pool, registry: without });
  for (const path of ["/v1/targets/okx", `/v1/incidents/${slug}`]) t.equal((await api.ask(path)).status, 404, path);
  const { body } = await api.ask<object>(`/v1/incidents/${gone}`);
  t.notMatch(body, { retractedAt: String }, "the response does not mention its incident");
  await migrate(pool, registry, log);
  const back = await serve(t, { pool, registry });
  t.equal((await back.ask(`/v1/incidents/${slug}`)).status, 200);
  t.match((await back.ask(`/v1/incidents/${gone}`)).body, { ...{ status: 404, slug: gone, reason: "late samples" } });
});

void t.test("the time in which a venue was removed does not count", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  const midnight = Math.floor(Date.now() / dayMs) * dayMs;
  const daysAgo = (days: number) => new Date(midnight - days * dayMs);
  await watchedSince(pool, daysAgo(9));
  await setClock(pool, new Date(midnight + 240_000));
  const book = ({ venues, ...rest }: Registry, kept: boolean): Registry => ({
    ...rest,
    venues: venues.map((venue) =>
      venue.id === "kraken" ? { ...venue, rest: venue.rest.filter(({ name }) => kept || name !== "book") } : venue,
    ),
  });
  const gone = book({ ...registry, venues: registry.venues.filter(({ id }) => id !== "okx") }, false);
  // as if it had been removed six days ago, for three days
  await migrate(pool, gone, log);
  await removedBetween(daysAgo(6), null);
  await migrate(pool, gone, log);
  t.equal(await scheduled("okx"), undefined);
  await migrate(pool, registry, log);
  await removedBetween(daysAgo(6), daysAgo(3));
  await migrate(pool, registry, log);

  const whole = 8 * 1_440;
  const back = 5 * 1_440;
  t.strictSame(await scheduled("okx"), { whole: back, components: [back] });
  t.strictSame(await scheduled("gemini"), { whole, components: [whole] });
  const kraken = await scheduled("kraken");
  t.equal(kraken!.whole, whole);
  t.strictSame(
    kraken!.components.filter((minutes) => minutes !== whole),
    [back],
    "one component was removed",
  );
  const [at] = await pool.query(sql`
    select
      api.scheduled_minutes(watched_from, unwatched, ${new Date(+daysAgo(3) - 90_000)}, ${new Date(+daysAgo(3) + 90_000)}) as edge
    from venue where venue = 'okx'
  `);
  t.strictSame(at, { edge: 2 });

  async function removedBetween(from: Date, to: Date | null) {
    for (const table of ["venue", "component"])
      await pool.text(`update ${table} set unwatched = tstzmultirange(tstzrange($1, $2)) where unwatched <> '{}'`, [
        from,
        to,
      ]);
  }

  async function scheduled(id: string) {
    const api = await serve(t, { pool, registry });
    interface Row {
      id: string;
      scheduledMinutes: number;
      components: { scheduledMinutes: number }[];
    }
    const { body } = await api.ask<{ venues: Row[] }>("/v1/reliability?days=9");
    const row = body.venues.find((venue) => venue.id === id);
    return (
      row && {
        whole: row.scheduledMinutes,
        components: [...new Set(row.components.map((one) => one.scheduledMinutes))].sort(),
      }
    );
  }
});
