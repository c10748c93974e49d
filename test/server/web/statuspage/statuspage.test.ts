/** Pages in the format of Statuspage: their content, and their omissions. */
import t from "tap";
import { statuspageDocuments, type StatuspageDocument } from "../../../../server/web/statuspage/schemas.js";
import { sql } from "../../../../shared/database/pool.js";
import { serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { emptied } from "../../../support/emptied.js";
import { ago, decide, measured, outage, pastIncident } from "../../../support/fleet.js";
import { troubledBoard } from "../../../support/page-world.js";
import { documentOfPage, pathOfPage } from "../../../support/statuspage-world.js";
import { notice, said } from "../../../support/stored-notices.js";

const database = await migratedDatabase(t);
const names = Object.keys(statuspageDocuments) as StatuspageDocument[];
const baseUrl = "https://api.example.org";

void t.test("a board with trouble, in the format of Statuspage", async (t) => {
  await emptied(database);
  const { pool, registry } = database;
  await troubledBoard(pool);
  const maintenance = notice("m1", new Date(Date.now() + 86_400_000), {
    ...{ kind: "maintenance", title: "Upgrade of the matching engine", status: "scheduled" },
    ...{ url: "https://status.okx.example/m1", postedAt: ago(3_600) },
  });
  const over = notice("m0", ago(7_200), {
    ...{ kind: "maintenance", status: "completed", postedAt: ago(9_000), resolvedAt: ago(3_600), over: true },
  });
  await said(pool, "okx", ago(60), [{ scope: "maintenances", notices: [maintenance, over], listedFrom: new Date(0) }]);
  const api = await serve(t, database);

  await t.test("venues are components, and those of unknown state are left out", async (t) => {
    const { page, status, components, incidents, scheduled_maintenances } = await documentOfPage(api, "summary");
    t.match(page, { id: "venuewatch", name: "venuewatch", url: baseUrl, time_zone: "Etc/UTC" });
    t.same(status, {
      indicator: "minor",
      description: "Partially Degraded Service; of the 15 venues, the state of 1 is unknown, so it is not listed",
    });
    const expected = registry.venues.map(({ id }) => id).filter((id) => id !== "gemini");
    t.same(
      components.map(({ id }) => id),
      expected,
    );
    const troubled = components.filter((component) => component.status !== "operational");
    t.match(troubled, [
      { id: "okx", name: "OKX", status: "degraded_performance", page_id: "venuewatch", group: false },
    ]);
    t.match(incidents, [{ status: "investigating", resolved_at: null, components: [{ id: "okx" }] }]);
    t.match(scheduled_maintenances, [{ name: "OKX: Upgrade of the matching engine", status: "scheduled" }]);
  });

  await t.test("an open incident has the engine's events as its updates", async (t) => {
    const { incidents } = await documentOfPage(api, "incidents/unresolved");
    const [incident] = incidents;
    t.equal(incidents.length, 1);
    t.match(incident!.id, /^okx-\d{4}-\d\d-\d\d-rest-degraded$/);
    t.match(incident, {
      name: "OKX: Ticker (rest:ticker) down",
      impact: "critical",
      shortlink: `${baseUrl}/incidents/${incident!.id}`,
      monitoring_at: null,
      incident_updates: [
        { id: `${incident!.id}-escalated`, status: "investigating", body: "Escalated: down." },
        {
          id: `${incident!.id}-opened`,
          body: "2 of 3 regions with a vote saw Ticker (rest:ticker) fail: degraded.",
          created_at: incident!.created_at,
        },
      ],
    });
    t.equal(incident!.updated_at, incident!.incident_updates[0]!.created_at);
    t.ok(incident!.started_at < incident!.created_at, "it began before a quorum had confirmed it");
    t.ok(incident!.created_at < incident!.updated_at);
  });

  await t.test("a closed one is resolved, and says when the trouble ended", async (t) => {
    const { incidents } = await documentOfPage(api, "incidents");
    t.equal(incidents.length, 2);
    const closed = incidents.find(({ status }) => status === "resolved")!;
    t.match(closed, { resolved_at: closed.updated_at, components: [{ id: "kraken", status: "operational" }] });
    const [last] = closed.incident_updates;
    t.match(last, { id: `${closed.id}-closed`, status: "resolved", created_at: closed.resolved_at });
    t.match(last!.body, /^Closed\. The trouble was last seen at .* UTC, \d+ (s|min)( \d+ s)? after it began\.$/);
    t.equal((await documentOfPage(api, "incidents/unresolved", "kraken")).incidents.length, 0);
  });

  await t.test("the page of a venue has the venue's components", async (t) => {
    const { page, status, components, incidents, scheduled_maintenances } = await documentOfPage(api, "summary", "okx");
    t.match(page, { id: "okx", name: "OKX", url: `${baseUrl}/venues/okx` });
    t.same(status, { indicator: "minor", description: "Partially Degraded Service" });
    t.match(components[2], { id: "okx:rest:book", name: /^Order book, .* \(rest:book\)$/, position: 3 });
    const troubled = components.filter((component) => component.status !== "operational");
    t.match(troubled, [
      { id: "okx:rest:ticker", name: "Ticker (rest:ticker)", status: "major_outage", page_id: "okx" },
    ]);
    t.equal(new Set(components.map(({ name }) => name)).size, 8, "streams and endpoints of one label differ");
    t.match(incidents, [{ page_id: "okx", components: [troubled[0]] }]);
    t.match(scheduled_maintenances, [{ name: "Upgrade of the matching engine", components: [] }]);
    t.same((await documentOfPage(api, "components", "okx")).components, components);
    t.same(await documentOfPage(api, "status", "kraken"), {
      page: { ...page, id: "kraken", name: "Kraken", url: `${baseUrl}/venues/kraken` },
      status: { indicator: "none", description: "All Systems Operational" },
    });
  });

  await t.test("where nothing is known, nothing is claimed", async (t) => {
    const { status, components, incidents } = await documentOfPage(api, "summary", "gemini");
    const count = registry.venues.find(({ id }) => id === "gemini")!;
    const parts = count.rest.length + (count.socket?.streams.length ?? 0) + 1;
    const description = `Unknown: no state of ${parts} components is known at present, so none is listed`;
    t.same([status, components, incidents], [{ indicator: null, description }, [], []]);
  });

  await t.test("announced maintenance is the venue's, with its own page", async (t) => {
    const { scheduled_maintenances } = await documentOfPage(api, "scheduled-maintenances");
    t.match(scheduled_maintenances, [
      {
        ...{ id: /^okx-maintenance-\d+$/, impact: "maintenance", shortlink: "https://status.okx.example/m1" },
        ...{ scheduled_for: maintenance.startedAt!.toISOString(), scheduled_until: null, resolved_at: null },
        created_at: maintenance.postedAt!.toISOString(),
        components: [{ id: "okx", status: "degraded_performance" }],
        incident_updates: [{ body: "Announced by OKX; its own word for the state of it: scheduled." }],
      },
      { status: "completed", resolved_at: over.resolvedAt!.toISOString(), updated_at: over.resolvedAt!.toISOString() },
    ]);
    t.equal((await documentOfPage(api, "scheduled-maintenances", "kraken")).scheduled_maintenances.length, 0);
  });

  await t.test("all documents are of one instant, and are not sent again within it", async (t) => {
    const { body: board } = await api.ask<{ generatedAt: string }>("/v1/status");
    for (const venue of [undefined, "okx"])
      for (const name of names) {
        const path = pathOfPage(name, venue);
        const { body, headers } = await api.ask<{ page: { updated_at: string } }>(path);
        t.equal(body.page.updated_at, board.generatedAt, path);
        t.match(headers["cache-control"], /^public, max-age=5,/);
        const again = await api.ask(path, { headers: { "if-none-match": headers.etag! } });
        t.equal(again.status, 304, path);
      }
  });

  await t.test("clients that know only the host are redirected, and other names are refused", async (t) => {
    const page = await fetch(`http://127.0.0.1:${api.port}/api/v2/incidents/unresolved.json`);
    t.match(page.url, /\/statuspage\/api\/v2\/incidents\/unresolved\.json$/);
    t.same(await page.json(), await documentOfPage(api, "incidents/unresolved"));
    t.equal((await api.ask("/statuspage/mtgox/api/v2/status.json")).status, 404);
    t.equal((await api.ask("/api/v2/incidents/resolved.json")).status, 404);
  });

  await t.test("moved maintenance is updated, and cancelled maintenance is gone, as on Statuspage", async (t) => {
    const { pool } = database;
    const later = new Date(+maintenance.startedAt! + 3_600_000);
    const notices = [
      { ...maintenance, startedAt: later },
      { ...over, status: "Cancelled" },
    ];
    await said(pool, "okx", ago(30), [{ scope: "maintenances", notices, listedFrom: new Date(0) }]);
    const moved = await serve(t, database);
    const { scheduled_maintenances: left } = await documentOfPage(moved, "scheduled-maintenances");
    t.match(left, [{ scheduled_for: later.toISOString(), created_at: maintenance.postedAt!.toISOString() }]);
    t.equal(left.length, 1, "the cancelled one is not completed");
    const updated = Date.parse(left[0]!.updated_at);
    t.ok(updated > Date.now() - 120_000, "it was updated when it was moved");
    t.equal(left[0]!.incident_updates[0]!.updated_at, left[0]!.updated_at);
  });
});

void t.test("a venue in outage is critical, and a silent engine knows nothing", async (t) => {
  await emptied(database);
  const { pool } = database;
  await measured(pool, { from: ago(290), to: ago(0) });
  await measured(pool, { from: ago(270), to: ago(0), venue: "kraken", fault: "connect" });
  await decide(pool, ago(200));
  const api = await serve(t, database);
  t.match(await documentOfPage(api, "status", "kraken"), {
    status: { indicator: "critical", description: "Major Service Outage" },
  });
  t.match((await documentOfPage(api, "components")).components[2], { id: "kraken", status: "major_outage" });

  await t.test("from half a minute on, before every state reads unknown", async (t) => {
    const silent = await serve(t, { ...database, staleAfterMs: 30_000 });
    for (const [venue, before] of [
      ["kraken", "Major Service Outage"],
      ["okx", "All Systems Operational"],
      [undefined, "Partially Degraded Service"],
    ] as const) {
      const { status, components, incidents } = await documentOfPage(silent, "summary", venue);
      t.same([status.indicator, components], [null, []], before);
      t.match(
        status.description,
        new RegExp(`^Unknown: nothing was decided for the last 3 minutes\\. Before that: ${before}$`),
      );
      t.equal(incidents.length > 0, venue !== "okx");
      t.same(
        incidents.flatMap((incident) => incident.components),
        [],
      );
    }
  });

  await pool.query(sql`update engine_clock set ticked_at = ticked_at - interval '5 minutes'`);
  const silent = await serve(t, database);
  const { status, components, incidents } = await documentOfPage(silent, "summary");
  t.same([status.indicator, components], [null, []]);
  t.match(status.description, /^Unknown: no state of 15 venues is known/);
  t.ok(incidents.length > 0, "the incidents that it left open are still open");
  t.same(
    incidents.flatMap((incident) => incident.components),
    [],
  );
});

void t.test("the list of incidents ends at fifty, but all open ones are unresolved", async (t) => {
  await emptied(database);
  const { pool } = database;
  await outage.open(pool);
  const old = await pastIncident(pool, { venue: "okx", component: "ws:book", startedAt: ago(9e6), minutes: null });
  for (let n = 0; n < 52; n += 1)
    await pastIncident(pool, { venue: "okx", component: "rest:ticker", startedAt: ago(100_000 + n * 600), minutes: 1 });
  const api = await serve(t, database);
  const { incidents } = await documentOfPage(api, "incidents");
  t.equal(incidents.length, 50);
  const dates = incidents.map((incident) => incident.created_at);
  t.same(dates, [...dates].sort().reverse(), "newest first");
  const open = (await documentOfPage(api, "incidents/unresolved")).incidents.map(({ id }) => id);
  t.equal(open.length, 2);
  t.equal(open[1], old);
});

void t.test("names of venues and notices cannot change the text around them", async (t) => {
  await emptied(database);
  const { pool } = database;
  const hostile = `<script>alert(1)</script>"\u202e${"x".repeat(160)}`;
  await pool.query(sql`update venue set name = ${hostile} where venue = 'okx'`);
  await pastIncident(pool, { venue: "okx", component: "rest:ticker", startedAt: ago(600), minutes: null });
  const maintenance = notice("m1", ago(60), { kind: "maintenance", title: `up\u2069\u202egrade`, postedAt: ago(600) });
  await said(pool, "okx", ago(60), [{ scope: "maintenances", notices: [maintenance], listedFrom: new Date(0) }]);
  const api = await serve(t, database);
  const { page, incidents, scheduled_maintenances } = await documentOfPage(api, "summary", "okx");
  const name = `\u2068${hostile.replace("\u202e", "")}\u2069`;
  t.equal(page.name, name);
  t.equal(incidents[0]!.name, `${name}: Ticker (rest:ticker) down`);
  t.match(scheduled_maintenances, [{ name: "\u2068upgrade\u2069", status: "in_progress" }]);
});

void t.test("an installation without measurements has pages, too", async (t) => {
  const api = await serve(t, await emptied(database));
  for (const venue of [undefined, "okx"])
    for (const name of names) t.match(await documentOfPage(api, name, venue), { page: { time_zone: "Etc/UTC" } });
  t.equal((await documentOfPage(api, "status")).status.indicator, null);
});
