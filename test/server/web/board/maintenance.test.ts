/** Which announced maintenance stands beside our incidents and states, and where it is shown. */
import t from "tap";
import { sql } from "../../../../shared/database/pool.js";
import { instantText } from "../../../../server/web/pages/format.js";
import type { AnnouncedMaintenance, Maintenance } from "../../../../server/web/board/maintenance.js";
import { serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { decide, forget, outage, pastIncident } from "../../../support/fleet.js";
import { forgetSaid, notice, said, whole } from "../../../support/stored-notices.js";
import type { Notice } from "../../../../server/core/notices/feed.js";

/** One instant for the whole file, so that two readings of a notice have the same times. */
const now = Date.now();
const minutes = (count: number) => new Date(now + count * 60_000);

/** Work on Kraken by its Statuspage. */
function work(from: Date | null, until: Date | null, other: Partial<Notice> = {}): Notice {
  const base = { kind: "maintenance", title: "Engine upgrade", status: "scheduled", impact: "maintenance" } as const;
  return notice("m1", from, { ...base, postedAt: minutes(-5_000), plannedEndAt: until, ...other });
}

interface Body {
  incident: { maintenance: AnnouncedMaintenance | null };
}

void t.test("a window counts as it was announced before it began", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  await forget(pool);
  t.beforeEach(async () => {
    await forgetSaid(pool);
    await pool.script("truncate incident, alert_event, delivery, delivery_attempt restart identity");
  });

  /** What stands beside an incident that began so many minutes ago, and ended so many minutes ago; null: it is open. */
  async function beside(beganAgo: number, endedAgo: number | null = 1): Promise<AnnouncedMaintenance | null> {
    const lasted = endedAgo === null ? null : beganAgo - endedAgo;
    const startedAt = minutes(-beganAgo);
    const slug = await pastIncident(pool, { venue: "kraken", component: "rest:ticker", startedAt, minutes: lasted });
    await decide(pool);
    const api = await serve(t, { pool, registry });
    return (await api.ask<Body>(`/v1/incidents/${slug}`)).body.incident.maintenance;
  }
  const read = (minutesAgo: number, ...notices: Notice[]) =>
    said(pool, "kraken", minutes(-minutesAgo), [{ ...whole(...notices), scope: "maintenances" }]);

  await t.test("with its times, and the reading that proves the announcement", async (t) => {
    const url = "https://status.kraken.com/incidents/m1";
    await read(300, work(minutes(-60), minutes(-20), { url }));
    await read(200, work(minutes(-60), minutes(-20), { url, title: "Matching engine upgrade" }));
    t.strictSame(await beside(50, 30), {
      ...{ title: "Matching engine upgrade", from: minutes(-60).toISOString(), until: minutes(-20).toISOString() },
      ...{ announcedAt: minutes(-300).toISOString(), url, overran: false },
    });
  });

  await t.test("posted before, but read only after it began: nothing proves it", async (t) => {
    await read(59, work(minutes(-60), minutes(-20)));
    t.equal(await beside(50), null);
  });

  await t.test("moved into the past by hindsight: what was announced is void", async (t) => {
    await read(300, work(minutes(-30), minutes(-10)));
    await read(55, work(minutes(-60), minutes(-10)));
    t.equal(await beside(50), null);
    t.equal(await beside(20), null);
  });

  await t.test("postponed in time: only the new window counts, since the reading that saw it", async (t) => {
    await read(300, work(minutes(-60), minutes(-50)));
    await read(70, work(minutes(-30), minutes(-10)));
    t.equal(await beside(55), null);
    t.match(await beside(25, 15), { announcedAt: minutes(-70).toISOString(), overran: false });
  });

  await t.test("its end may be moved until it has come, but not afterwards", async (t) => {
    await read(300, work(minutes(-60), minutes(-40)));
    await read(45, work(minutes(-60), minutes(-30), { status: "in_progress" }));
    t.match(await beside(50, 35), { until: minutes(-30).toISOString(), overran: false }, "extended in time");
    await read(20, work(minutes(-60), minutes(-5), { status: "in_progress" }));
    t.match(await beside(50, 10), { until: minutes(-30).toISOString(), overran: true }, "extended too late");
    t.equal(await beside(25), null, "what began after the announced end is not covered");
  });

  await t.test("it ends when the venue says so, though it planned a later end", async (t) => {
    await read(300, work(minutes(-60), minutes(-20)));
    await read(39, work(minutes(-60), minutes(-20), { status: "completed", over: true, resolvedAt: minutes(-40) }));
    t.match(await beside(55, 45), { overran: false });
    t.match(await beside(50, 30), { overran: true });
    t.equal(await beside(35), null);
  });

  await t.test("called off or taken down before it began: nothing covers", async (t) => {
    await read(300, work(minutes(-60), minutes(-20)));
    await read(100, work(minutes(-60), minutes(-20), { status: "canceled", over: true }));
    t.equal(await beside(50), null);
    await forgetSaid(pool);
    await read(300, work(minutes(-60), minutes(-20)));
    await read(100);
    t.equal(await beside(50), null);
    await read(80, work(minutes(-60), minutes(-20)));
    t.match(await beside(50), { announcedAt: minutes(-300).toISOString() }, "listed again, as after a stale copy");
  });

  await t.test("without an end it covers until the venue says that it is over, a day at most", async (t) => {
    await read(3_000, work(minutes(-1_500), null));
    t.match(await beside(1_400, 1_300), { until: null, overran: false });
    t.equal(await beside(50), null, "a day later");
  });

  await t.test("an incident that began shortly before, and opened within, is covered", async (t) => {
    await read(300, work(minutes(-60), minutes(-20)));
    await pastIncident(pool, {
      ...{ venue: "kraken", component: "rest:book", minutes: 10 },
      ...{ startedAt: minutes(-60.5), openedAt: minutes(-59.8) },
    });
    await decide(pool);
    const api = await serve(t, { pool, registry });
    const { body } = await api.ask<{ incidents: Body["incident"][] }>("/v1/incidents");
    t.match(body.incidents, [{ maintenance: { title: "Engine upgrade" } }]);
    t.equal(await beside(70, 65), null, "one that ended before is not");
  });

  await t.test("windows of a week, about withdrawals, or with impossible times excuse nothing", async (t) => {
    await read(3_000, work(minutes(-60), minutes(7 * 24 * 60)));
    t.equal(await beside(50), null, "of a week");
    await forgetSaid(pool);
    await read(300, work(minutes(-60), minutes(-20), { title: "Withdrawals of XRP paused" }));
    t.equal(await beside(50), null, "about withdrawals");
    await forgetSaid(pool);
    await read(300, work(minutes(-60), minutes(-20), { postedAt: new Date("1900-01-01") }));
    t.equal(await beside(50), null, "of 1900");
  });

  await t.test("a flag for the present announces nothing in advance", async (t) => {
    const flag = { ...work(null, null, { postedAt: null }), id: null };
    await said(pool, "binance", minutes(-60), [{ scope: "now", notices: [flag], listedFrom: null }]);
    const startedAt = minutes(-50);
    const slug = await pastIncident(pool, { venue: "binance", component: "rest:ticker", startedAt, minutes: 5 });
    await decide(pool);
    const api = await serve(t, { pool, registry });
    t.equal((await api.ask<Body>(`/v1/incidents/${slug}`)).body.incident.maintenance, null);
  });
});

void t.test("a venue that is down in announced maintenance says so everywhere", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  // to the minute, as venues plan
  const until = new Date(Math.ceil(+minutes(45) / 60_000) * 60_000);
  const planned = `announced maintenance until ${instantText(until.toISOString(), new Date().toISOString())}`;
  await said(pool, "kraken", minutes(-300), [{ ...whole(work(minutes(-30), until)), scope: "maintenances" }]);
  await outage.open(pool);
  const api = await serve(t, { pool, registry });
  const page = async (path: string, at = api) => (await fetch(`http://127.0.0.1:${at.port}${path}`)).text();
  const maintenance = { title: "Engine upgrade", until: until.toISOString(), overran: false };

  await t.test("as data", async (t) => {
    const { body } = await api.ask<StatusBody>("/v1/status");
    t.match(body.venues.find(({ id }) => id === "kraken")!.maintenance, maintenance);
    t.equal(body.venues.find(({ id }) => id === "okx")!.maintenance, null);
    t.match(body.incidents, [{ maintenance }]);
    for (const path of ["/v1/targets/kraken/state", "/v1/targets/kraken"])
      t.match((await api.ask(path)).body, { maintenance }, path);
    const changes = await pool.query<{ event: string; body: object }>(sql`
      select event, body from api.change_event where venue = 'kraken' and region is null and event <> 'component'
    `);
    for (const { event, body } of changes) t.match(body, { maintenance }, `event ${event}`);
    t.strictSame(new Set(changes.map(({ event }) => event)), new Set(["venue", "incident"]));
  });

  await t.test("in words, on pages, badges and feeds", async (t) => {
    const slug = (await api.ask<StatusBody>("/v1/status")).body.incidents[0]!.slug;
    for (const path of ["/", "/wall", "/venues/kraken"]) t.match(await page(path), planned, path);
    t.match((await api.ask("/embed/kraken")).text, planned);
    for (const path of ["/feeds/incidents.atom", "/statuspage/kraken/api/v2/incidents.json"])
      t.match((await api.ask(path)).text, /had announced maintenance/, path);
    const ofIncident = await page(`/incidents/${slug}`);
    t.match(ofIncident, "The venue had announced maintenance from");
    t.notMatch(ofIncident, "It has said nothing about an incident");
    t.match((await api.ask("/badges/kraken.json")).body, { message: new RegExp(`: ${planned}$`) });
    t.match((await api.ask("/badges/okx.json")).body, { message: "Healthy" });
  });

  await t.test("and that it overran, when it did", async (t) => {
    const early = { ...work(minutes(-30), until), status: "completed", over: true, resolvedAt: minutes(-1) };
    await said(pool, "kraken", minutes(-0.5), [{ ...whole(early), scope: "maintenances" }]);
    await decide(pool);
    const api = await serve(t, { pool, registry });
    t.match((await api.ask("/v1/targets/kraken/state")).body, { maintenance: { overran: true } });
    const ended = instantText(early.resolvedAt.toISOString(), new Date().toISOString());
    t.match(await page("/", api), `announced maintenance until ${ended}, which it overran`);
  });
});

interface StatusBody {
  venues: { id: string; maintenance: AnnouncedMaintenance | null }[];
  incidents: { slug: string; maintenance: AnnouncedMaintenance | null }[];
  maintenanceAhead: Maintenance[];
}

void t.test("/v1/maintenance lists what is under way, to come, over and called off", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  const named = (title: string, from: Date, until: Date | null, other: Partial<Notice> = {}) => ({
    ...work(from, until, { title, ...other }),
    id: title,
  });
  await said(pool, "kraken", minutes(-600), [
    {
      scope: "maintenances",
      listedFrom: new Date(0),
      notices: [
        named("far", minutes(60 * 60), minutes(61 * 60)),
        named("next", minutes(90), null),
        named("now", minutes(-30), minutes(10)),
        named("off", minutes(30), minutes(60), { status: "canceled", over: true }),
        named("Withdrawals", minutes(40), minutes(60)),
        named("forgotten", minutes(-3 * 24 * 60), minutes(-2 * 24 * 60)),
        named("over", minutes(-5 * 24 * 60), null, { over: true, resolvedAt: minutes(-4 * 24 * 60) }),
      ],
    },
  ]);
  await decide(pool);
  const api = await serve(t, { pool, registry });
  interface List {
    maintenance: Maintenance[];
  }
  const list = async (path: string) => {
    const { body } = await api.ask<List>(path);
    return body.maintenance.filter(({ venue }) => venue === "kraken");
  };
  const all = await list("/v1/maintenance");
  t.strictSame(
    all.map(({ title, state, counts }) => [title, state, counts]),
    [
      ["far", "planned", true],
      ["next", "planned", true],
      ["Withdrawals", "planned", false],
      ["off", "cancelled", false],
      ["now", "underway", true],
      ["forgotten", "underway", false],
      ["over", "over", false],
    ],
  );
  const ahead = await list("/v1/maintenance?venue=kraken&state=ahead");
  t.strictSame(
    ahead.map(({ title }) => title),
    ["next", "Withdrawals", "now"],
  );
  t.same((await list("/v1/maintenance?category=rpc")).length, 0);
  const { text } = await api.ask("/v1/maintenance.csv?venue=kraken&state=ahead");
  const [header, ...rows] = text.trimEnd().split("\r\n");
  t.match(header, /^generatedAt,id,venue,venueName,title,url,from,until,state,status,announcedAt,counts$/);
  t.equal(rows.length, 3);
  t.match(rows[0], `,kraken,Kraken,next,`);
  for (const path of ["/v1/maintenance?state=soon", "/v1/maintenance?venue=mtgox"])
    t.equal((await api.ask(path)).status, 400, path);
  const { body } = await api.ask<StatusBody>("/v1/status");
  t.strictSame(
    body.maintenanceAhead.filter(({ venue }) => venue === "kraken").map(({ title }) => title),
    ["now", "Withdrawals", "next"],
    "the board has what is ahead, the next first",
  );
});
