/** Venues' own notices: each kind of feed in its own format, and what it shows of each post. */
import t from "tap";
import { ask, outcomeOf } from "../../simulator/clients.js";
import { changedAt, noticesAt } from "../../simulator/notices/posts.js";
import { at, begin, byTitle, openPages, outage } from "../support/world-pages.js";

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
  const before = await incidents();
  t.same(before.incidents, []);
  t.match(before.page, {
    id: /^[0-9a-f]{12}$/,
    name: "Deribit",
    time_zone: "Etc/UTC",
    url: /^http:..127\.0\.0\.1:\d+.status\.deribit\.com$/,
  });
  clock.to(10);
  const first = await incidents();
  t.match(first.incidents, [
    {
      name: "Errors",
      status: "investigating",
      impact: "minor",
      created_at: at(10).toISOString(),
      started_at: at(5).toISOString(),
      updated_at: at(10).toISOString(),
      monitoring_at: null,
      resolved_at: null,
      page_id: first.page["id"],
      shortlink: new RegExp(`^${String(first.page["url"])}#`),
      components: [{ name: "REST API", status: "degraded_performance" }],
    },
  ]);
  clock.to(19);
  const edited = await incidents();
  t.match(edited.incidents, [
    {
      id: first.incidents[0]!["id"],
      name: "Everything fails",
      status: "identified",
      impact: "critical",
      updated_at: at(18).toISOString(),
      incident_updates: [
        { status: "identified", affected_components: [{ name: "REST API" }] },
        { status: "investigating" },
      ],
    },
  ]);
  t.match(await read("deribit", "status.json"), {
    status: { indicator: "critical", description: "Major System Outage" },
  });
  const summary = await read("deribit", "summary.json");
  t.match(summary.components![0], { name: "REST API", status: "major_outage" });
  t.equal(summary.incidents.length, 1);
  clock.to(31);
  t.match((await incidents()).incidents, [
    {
      status: "resolved",
      monitoring_at: at(20).toISOString(),
      resolved_at: at(30).toISOString(),
      incident_updates: [
        { status: "resolved", affected_components: null },
        { status: "monitoring" },
        { status: "identified" },
        { status: "investigating" },
      ],
    },
  ]);
  t.same((await read("deribit", "incidents/unresolved.json")).incidents, []);
  t.same((await read("deribit", "summary.json")).incidents, []);
  t.match(await read("deribit", "status.json"), {
    status: { indicator: "none", description: "All Systems Operational" },
  });
  clock.to(90);
  t.match((await incidents()).incidents, [{ status: "postmortem", resolved_at: at(30).toISOString() }]);
});

void t.test("a Statuspage lists maintenance separately", async (t) => {
  const { read, clock } = await openPages(t, [
    outage("kraken", { impact: "maintenance", startedAt: at(20), endedAt: at(40), components: ["WebSocket"] }),
  ]);
  const told = async () => (await read("kraken", "scheduled-maintenances.json")).scheduled_maintenances[0];
  clock.to(10);
  t.match(await told(), {
    status: "scheduled",
    impact: "maintenance",
    created_at: at(10).toISOString(),
    scheduled_for: at(20).toISOString(),
    scheduled_until: at(40).toISOString(),
  });
  t.match(await read("kraken", "status.json"), { status: { indicator: "none" } });
  clock.to(20);
  t.match(await told(), { status: "in_progress", resolved_at: null });
  t.same((await read("kraken", "incidents.json")).incidents, []);
  t.match(await read("kraken", "status.json"), { status: { indicator: "maintenance" } });
  clock.to(40);
  t.match(await told(), { status: "completed", resolved_at: at(40).toISOString() });
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
  const pages = await Promise.all(
    ["", "?page=1", "?page=2", "?page=3"].map(
      async (query) => (await read("bitstamp", `incidents.json${query}`)).incidents,
    ),
  );
  t.same(
    pages.map((page) => page.length),
    [50, 50, 20, 0],
  );
  t.same(pages[0], pages[1]);
  const instants = [...pages[1]!, ...pages[2]!].map((one) => one["created_at"]);
  t.equal(instants[0], at(148).toISOString());
  t.equal(instants.at(-1), at(10).toISOString());
  t.same(instants, [...instants].sort().reverse());
});

void t.test("OKX lists notices that are not over, and others when their state is requested", async (t) => {
  const { read, clock, official } = await openPages(t, [
    outage("okx", { impact: "disruption", startedAt: at(5), components: ["Spot"] }),
    outage("okx", { title: "Upgrade", impact: "scheduled", startedAt: at(20), components: ["Options"] }),
  ]);
  const told = async (query = "") => (await read("okx", `status${query}`)).data as object[];
  clock.to(10);
  t.match(await read("okx", "status"), { code: "0", msg: "" });
  const [disruption, upgrade] = byTitle(await told());
  t.match(disruption, {
    title: "Errors",
    state: "ongoing",
    begin: String(+at(5)),
    serviceType: "1",
    maintType: "3",
    env: "1",
    system: "unified",
    scheDesc: "",
  });
  t.match(upgrade, {
    state: "scheduled",
    begin: String(+at(20)),
    end: String(+at(30)),
    serviceType: "4",
    maintType: "1",
  });
  t.equal((await told("?state=scheduled")).length, 1);
  clock.to(30);
  t.same(await told(), []);
  t.match(byTitle(await told("?state=completed")), [
    { state: "completed", end: String(+at(30)) },
    { state: "completed" },
  ]);
  clock.to(30);
  const wrong = await ask({ url: `${official("okx").api}?state=over`, method: "GET" });
  t.match(wrong, { status: 400, body: /"51000"/ });
});

void t.test("Bybit lists all states", async (t) => {
  const { read, clock } = await openPages(t, [
    outage("bybit", { impact: "incident", components: ["Market data"] }),
    outage("bybit", {
      title: "Upgrade",
      impact: "planned",
      startedAt: at(20),
      changes: [{ at: at(15), status: "canceled" }],
    }),
  ]);
  clock.to(30);
  const body = await read("bybit", "status");
  t.match(body, { retCode: 0, time: +at(30) });
  const { list } = body.result as { list: object[] };
  t.match(byTitle(list), [
    {
      title: "Errors",
      id: /^[0-9a-f]{12}$/,
      state: "completed",
      begin: String(+at(10)),
      end: String(+at(30)),
      serviceTypes: [5],
      product: [2],
      uidSuffix: [],
      maintainType: "3",
      env: "1",
    },
    { title: "Upgrade", state: "canceled", maintainType: "1" },
  ]);
  const { result } = await read("bybit", "status?state=canceled");
  t.equal((result as { list: object[] }).list.length, 1);
});

void t.test("Binance and KuCoin report only what holds now", async (t) => {
  const { read, clock } = await openPages(t, [
    outage("binance", { impact: "maintenance", startedAt: at(20) }),
    outage("kucoin", { impact: "cancelonly", title: "Upgrade" }),
    outage("kucoin-futures", { impact: "close" }),
  ]);
  const told = () => Promise.all(["binance", "kucoin", "kucoin-futures"].map((id) => read(id, "status")));
  clock.to(9);
  const well = [
    { status: 0, msg: "normal" },
    { code: "200000", data: { status: "open", msg: "" } },
    { code: "200000", data: { status: "open", msg: "" } },
  ];
  t.same(await told(), well);
  clock.to(20);
  t.same(await told(), [
    { status: 1, msg: "system_maintenance" },
    { code: "200000", data: { status: "cancelonly", msg: "Upgrade" } },
    { code: "200000", data: { status: "close", msg: "Errors" } },
  ]);
  clock.to(30);
  t.same(await told(), well);
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

void t.test("venues that share a feed share one address", async (t) => {
  const { read, clock, official } = await openPages(t, [outage("kraken")]);
  for (const [first, second] of [
    ["kraken", "kraken-futures"],
    ["binance", "binance-futures"],
  ] as const) {
    t.equal(official(first).api, official(second).api);
    t.equal(official(first).page, official(second).page);
  }
  t.same(official("kraken-futures").about, ["Derivatives", "Futures"]);
  clock.to(10);
  t.equal((await read("kraken-futures", "incidents.json")).incidents.length, 1);
});

void t.test("a page's time stamp advances when something is posted, and never moves back", (t) => {
  const posts = [
    outage("deribit", { changes: [{ at: at(15), impact: "minor" }], deletedAt: at(40) }),
    outage("deribit", { title: "Later", postedAt: at(50), endedAt: undefined }),
  ];
  const moved = [9, 10, 14, 15, 29, 30, 39, 40, 49, 50, 99].map((minute) => changedAt(posts, "statuspage", at(minute)));
  t.same(
    moved,
    [null, 10, 10, 15, 15, 30, 30, 40, 40, 50, 50].map((minute) => minute && at(minute)),
  );
  const titles = (minute: number) => noticesAt(posts, "statuspage", at(minute)).map(({ title }) => title);
  t.same(titles(39), ["Errors"]);
  t.same(titles(40), [], "it was deleted");
  t.same(titles(50), ["Later"]);
  t.end();
});

void t.test("a repeating post is another notice each time", async (t) => {
  const posts = [
    outage("deribit", { everyMs: 3_600_000, changes: [{ at: at(15), status: "identified" }], until: at(130) }),
  ];
  const told = (minute: number) =>
    noticesAt(posts, "statuspage", at(minute)).map(
      ({ postedAt, status }) => `${(+postedAt - +begin) / 60_000} ${status}`,
    );
  t.same(told(12), ["10 investigating"]);
  t.same(told(76), ["70 identified", "10 resolved"]);
  t.same(told(999), ["70 resolved", "10 resolved"], "until its run ended");
  const ids = noticesAt(posts, "statuspage", at(76)).map(({ id }) => id);
  t.equal(new Set(ids).size, 2);
  const bodies = await Promise.all(
    [1, 2].map(async () => {
      const ports = { deribit: 0 };
      const { read, clock, world } = await openPages(t, posts, ports);
      clock.to(80);
      const body = await read("deribit", "incidents.json");
      await world.close();
      return JSON.stringify(body).replace(/127\.0\.0\.1:\d+/g, "host");
    }),
  );
  t.equal(bodies[0], bodies[1], "a restarted world publishes the same");
});
