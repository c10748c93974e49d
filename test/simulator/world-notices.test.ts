/**
 * Venues' own notices as status pages show them, and when each is shown. `polling.test.ts` reads the feeds of all kinds
 * as core does.
 */
import t from "tap";
import { ask, outcomeOf } from "../../simulator/clients.js";
import { changedAt, noticesAt } from "../../simulator/notices/posts.js";
import { at, begin, openPages, outage } from "../support/world-pages.js";

void t.test("a Statuspage shows an incident from its first update to its last", async (t) => {
  const { read, clock } = await openPages(t, [
    outage("deribit", {
      impact: "minor",
      startedAt: at(5),
      components: ["REST API"],
      changes: [
        { at: at(15), status: "identified" },
        { at: at(18), impact: "critical", title: "Everything fails" },
        { at: at(20), status: "monitoring" },
        { at: at(90), status: "postmortem" },
      ],
    }),
  ]);
  const incidents = () => read("deribit", "incidents.json");
  clock.to(9);
  t.same((await incidents()).incidents, []);
  clock.to(10);
  const first = await incidents();
  t.match(first.incidents, [
    {
      ...{ name: "Errors", status: "investigating", impact: "minor", monitoring_at: null, resolved_at: null },
      created_at: at(10).toISOString(),
      started_at: at(5).toISOString(),
      shortlink: new RegExp(`^${String(first.page["url"])}#`),
      components: [{ name: "REST API", status: "degraded_performance" }],
    },
  ]);
  clock.to(19);
  t.match((await incidents()).incidents, [
    {
      ...{ id: first.incidents[0]!["id"], name: "Everything fails", status: "identified", impact: "critical" },
      updated_at: at(18).toISOString(),
      incident_updates: [
        { status: "identified", affected_components: [{ name: "REST API" }] },
        { status: "investigating" },
      ],
    },
  ]);
  t.match(await read("deribit", "status.json"), { status: { indicator: "critical" } });
  t.match(await read("deribit", "summary.json"), {
    incidents: [{ status: "identified" }],
    components: [{ name: "REST API", status: "major_outage" }],
  });
  clock.to(31);
  t.match((await incidents()).incidents, [
    { status: "resolved", monitoring_at: at(20).toISOString(), resolved_at: at(30).toISOString() },
  ]);
  for (const document of ["incidents/unresolved.json", "summary.json"])
    t.same((await read("deribit", document)).incidents, [], document);
  t.match(await read("deribit", "status.json"), { status: { indicator: "none" } });
  clock.to(90);
  t.match((await incidents()).incidents, [{ status: "postmortem", resolved_at: at(30).toISOString() }]);
});

void t.test("a Statuspage lists maintenance separately", async (t) => {
  const { read, clock } = await openPages(t, [
    outage("kraken", { impact: "maintenance", startedAt: at(20), endedAt: at(40) }),
  ]);
  for (const [minute, status, indicator] of [
    [10, "scheduled", "none"],
    [20, "in_progress", "maintenance"],
    [40, "completed", "none"],
  ] as const) {
    clock.to(minute);
    const { scheduled_maintenances: listed } = await read("kraken", "scheduled-maintenances.json");
    t.match(listed, [{ status, scheduled_for: at(20).toISOString(), scheduled_until: at(40).toISOString() }]);
    t.match(await read("kraken", "status.json"), { status: { indicator } }, status);
    t.same((await read("kraken", "incidents.json")).incidents, [], status);
  }
});

void t.test("a page may report that all is well during a critical incident", async (t) => {
  const { read, clock } = await openPages(t, [
    outage("kraken", { impact: "critical", indicator: "none", components: ["REST API"] }),
  ]);
  clock.to(12);
  const summary = await read("kraken", "summary.json");
  t.match(summary.incidents, [{ impact: "critical", resolved_at: null }]);
  t.match(summary.status, { indicator: "none" });
  t.match(summary.components![0], { status: "operational" });
});

void t.test("times may be written with another offset", async (t) => {
  const { read, clock } = await openPages(t, [outage("coinbase")]);
  clock.to(10);
  const { page, incidents } = await read("coinbase", "incidents.json");
  t.equal(page["time_zone"], "America/Phoenix");
  t.equal(incidents[0]!["created_at"], "2026-03-01T05:10:00.000-07:00");
});

void t.test("fifty per page, newest first, and the rest on the next", async (t) => {
  const { read, clock } = await openPages(t, [outage("bitstamp", { endedAt: at(11), everyMs: 120_000 })]);
  clock.to(10 + 2 * 69);
  const pages = [];
  for (const query of ["", "?page=1", "?page=2", "?page=3"])
    pages.push((await read("bitstamp", `incidents.json${query}`)).incidents);
  const lengths = pages.map((page) => page.length);
  t.same(lengths, [50, 50, 20, 0]);
  t.same(pages[0], pages[1]);
  const instants = [...pages[1]!, ...pages[2]!].map((one) => one["created_at"]);
  t.equal(instants[0], at(148).toISOString());
  t.equal(instants.at(-1), at(10).toISOString());
  t.same(instants, [...instants].sort().reverse());
});

void t.test("KuCoin's feed is one of its endpoints: a client that names a region measures it", async (t) => {
  const { world, clock, official } = await openPages(t, [outage("kucoin", { impact: "close" })]);
  clock.to(12);
  const { api } = official("kucoin");
  const feed = { url: api, method: "GET" };
  t.match((await ask(feed, "us-east")).body, '"close"');
  t.match((await ask(feed)).body, '"close"');
  const counted = (component: string) => world.requests({ venue: "kucoin", component });
  t.same([counted("rest:status"), counted("official")], [1, 1]);
  world.fault({ kind: "status", venue: "kucoin", component: "rest:*" });
  t.equal(await outcomeOf(feed, "us-east"), 503);
  t.equal(await outcomeOf(feed), 200);
  await world.clear();
  world.fault({ kind: "status", venue: "kucoin", component: "official" });
  t.equal(await outcomeOf(feed, "us-east"), 200);
  t.equal(await outcomeOf(feed), 503);
});

void t.test("readings of feeds are counted separately", async (t) => {
  const { world, read } = await openPages(t, []);
  await read("deribit", "incidents.json");
  await read("deribit", "status.json");
  t.equal(world.requests(), 0, "no venue was measured");
  t.equal(world.requests({ component: "official" }), 2);
  t.equal(world.requests({ venue: "deribit", component: "official" }), 2);
});

void t.test("a page's time stamp advances when something is posted, and never moves back", (t) => {
  const posts = [
    outage("deribit", { changes: [{ at: at(15), impact: "minor" }], deletedAt: at(40) }),
    outage("deribit", { title: "Later", postedAt: at(50), endedAt: undefined }),
  ];
  const moved = [9, 10, 14, 15, 29, 30, 39, 40, 49, 50, 99].map((minute) => changedAt(posts, "statuspage", at(minute)));
  const expected = [null, 10, 10, 15, 15, 30, 30, 40, 40, 50, 50].map((minute) => minute && at(minute));
  t.same(moved, expected);
  const titles = (minute: number) => noticesAt(posts, "statuspage", at(minute)).map(({ title }) => title);
  t.same(titles(39), ["Errors"]);
  t.same(titles(40), [], "it was deleted");
  t.same(titles(50), ["Later"]);
  t.end();
});

void t.test("a repeating post is another notice each time", (t) => {
  const posts = [
    outage("deribit", { everyMs: 3_600_000, changes: [{ at: at(15), status: "identified" }], until: at(130) }),
  ];
  const shown = (minute: number) =>
    noticesAt(posts, "statuspage", at(minute)).map(
      ({ postedAt, status }) => `${(+postedAt - +begin) / 60_000} ${status}`,
    );
  t.same(shown(12), ["10 investigating"]);
  t.same(shown(76), ["70 identified", "10 resolved"]);
  t.same(shown(999), ["70 resolved", "10 resolved"], "until its run ended");
  const ids = noticesAt(posts, "statuspage", at(76)).map(({ id }) => id);
  t.equal(new Set(ids).size, 2);
  t.end();
});
