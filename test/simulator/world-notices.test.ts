/** Venues' own notices: each kind of feed in its own format, its faults, and the script that drives it. */
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import t, { type Test } from "tap";
import { packagedFile } from "../../shared/config/package.js";
import { type Registry } from "../../shared/registry/registry.js";
import { loadRegistry } from "../../shared/registry/load-registry.js";
import { ask, outcomeOf } from "../../simulator/clients.js";
import { startDemoWorld } from "../../simulator/demo.js";
import { writeHistoryNote } from "../../simulator/history-note.js";
import { checkFaults } from "../../simulator/fault-check.js";
import type { FaultKind, ScriptedFault } from "../../simulator/faults.js";
import { pastPosts } from "../../simulator/notices/past-posts.js";
import { checkPosts } from "../../simulator/notices/post-check.js";
import { changedAt, noticesAt, type ScriptedPost } from "../../simulator/notices/posts.js";
import { pastFaults } from "../../simulator/past.js";
import { parseScript } from "../../simulator/script.js";
import { startWorld, type World } from "../../simulator/world.js";
import { until } from "../support/until.js";

const registry = await loadRegistry("registry.json");
const begin = new Date("2026-03-01T12:00:00Z");
const at = (minute: number) => new Date(+begin + minute * 60_000);

/** Posted at minute 10, resolved at minute 30. */
function outage(venue: string, more: Partial<ScriptedPost> = {}): ScriptedPost {
  return {
    venue,
    title: "Errors",
    impact: "major",
    postedAt: at(10),
    endedAt: at(30),
    ...more,
  };
}

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
  t.match(summary.components![0], {
    name: "REST API",
    status: "major_outage",
  });
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
    outage("kraken", {
      impact: "maintenance",
      startedAt: at(20),
      endedAt: at(40),
      components: ["WebSocket"],
    }),
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
  t.match(await read("kraken", "status.json"), {
    status: { indicator: "none" },
  });
  clock.to(20);
  t.match(await told(), { status: "in_progress", resolved_at: null });
  t.same((await read("kraken", "incidents.json")).incidents, []);
  t.match(await read("kraken", "status.json"), {
    status: { indicator: "maintenance" },
  });
  clock.to(40);
  t.match(await told(), {
    status: "completed",
    resolved_at: at(40).toISOString(),
  });
});

void t.test("a page may report that all is well during a critical incident", async (t) => {
  const { read, clock } = await openPages(t, [
    outage("kraken", {
      impact: "critical",
      indicator: "none",
      components: ["REST API"],
    }),
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
    outage("okx", {
      impact: "disruption",
      startedAt: at(5),
      components: ["Spot"],
    }),
    outage("okx", {
      title: "Upgrade",
      impact: "scheduled",
      startedAt: at(20),
      components: ["Options"],
    }),
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
  const wrong = await ask({
    url: `${official("okx").api}?state=over`,
    method: "GET",
  });
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

void t.test("an unchanged document is not sent again", async (t) => {
  const { clock, official } = await openPages(t, [outage("deribit"), outage("okx", { impact: "disruption" })]);
  for (const venue of ["deribit", "okx"]) {
    clock.to(10);
    const { api } = official(venue);
    const first = await fetch(api);
    const etag = first.headers.get("etag")!;
    t.match(etag, /^W\/"\w+"$/);
    clock.to(29);
    const asked = (held: string) => fetch(api, { headers: { "if-none-match": held } });
    const same = await asked(`"other", ${etag}`);
    t.same([same.status, await same.text()], [304, ""], venue);
    t.equal(same.headers.get("etag"), etag);
    t.equal((await asked('"other"')).status, 200);
    clock.to(30);
    t.equal((await asked(etag)).status, 200, `${venue} has posted`);
  }
});

void t.test("a page's time stamp advances when something is posted, and never moves back", (t) => {
  const posts = [
    outage("deribit", {
      changes: [{ at: at(15), impact: "minor" }],
      deletedAt: at(40),
    }),
    outage("deribit", {
      title: "Later",
      postedAt: at(50),
      endedAt: undefined,
    }),
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
    outage("deribit", {
      everyMs: 3_600_000,
      changes: [{ at: at(15), status: "identified" }],
      until: at(130),
    }),
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

/** The result of a request for Deribit's incidents while its feed has the fault. */
const feedOutcomes: [Partial<ScriptedFault> & { kind: FaultKind }, number | string][] = [
  [{ kind: "reset" }, "ECONNRESET"],
  [{ kind: "timeout" }, "TIMED_OUT"],
  [{ kind: "status", status: 301, location: "/status.deribit.com/" }, 301],
  [{ kind: "limited" }, 429],
  [{ kind: "wrong-body" }, 200],
  [{ kind: "error-inside" }, 200],
  [{ kind: "slow", latencyMs: 50 }, 200],
  [{ kind: "drip" }, "TIMED_OUT"],
  [{ kind: "endless" }, "TOO_LARGE"],
];

void t.test("a feed fails alone, as REST does, and only when it is named", async (t) => {
  const { world, official } = await openPages(t, [outage("deribit")]);
  const feed = { url: official("deribit").api, method: "GET" };
  const { rest } = venueOf(world.registry, "deribit");
  for (const [fault, expected] of feedOutcomes) {
    world.fault({ ...fault, venue: "deribit", component: "rest:*" });
    world.fault({ ...fault, venue: "*", regions: ["us-east"] });
    t.equal(await outcomeOf(feed), 200, `${fault.kind} of REST`);
    await world.clear();
    world.fault({ ...fault, venue: "*" });
    t.equal(await outcomeOf(feed), 200, `${fault.kind} of everything`);
    await world.clear();
    world.fault({ ...fault, venue: "deribit", component: "official" });
    const timeoutMs = expected === "TIMED_OUT" ? 300 : 5000;
    t.equal(await outcomeOf(feed, undefined, timeoutMs), expected, fault.kind);
    t.equal(await outcomeOf(rest[0]!), 200, "REST is unaffected");
    await world.clear();
  }
  world.fault({ kind: "refused", venue: "deribit" });
  t.equal(await outcomeOf(feed), "ECONNREFUSED", "a venue that refuses all connections");
});

void t.test("a moved page redirects to one for people", async (t) => {
  const { world, clock, official } = await openPages(t, [outage("gemini", { title: "<b>Errors</b>" })]);
  clock.to(10);
  world.fault({
    kind: "status",
    status: 301,
    location: "/status.gemini.com/",
    venue: "gemini",
    component: "official",
  });
  const { api, page } = official("gemini");
  const moved = await fetch(api, { redirect: "manual" });
  t.equal(new URL(moved.headers.get("location")!, api).href, page);
  const html = await ask({ url: page!, method: "GET" });
  t.match(html.headers, { "content-type": "text/html" });
  t.match(html.body, /&#60;b&#62;Errors/);
});

void t.test("faults that only a feed can have", async (t) => {
  const posts = [
    outage("deribit"),
    outage("deribit", {
      title: "Old",
      postedAt: at(-3000),
      endedAt: at(-2900),
    }),
    outage("okx", { impact: "disruption" }),
    outage("bybit", { impact: "incident" }),
    outage("binance", { impact: "maintenance" }),
    outage("kucoin", { impact: "close" }),
  ];
  const { world, read, clock } = await openPages(t, posts);
  const own = ["okx", "bybit", "binance", "kucoin"];
  clock.to(12);
  const befallen = async (kind: FaultKind, more: Partial<ScriptedFault> = {}) => {
    await world.clear();
    world.fault({ ...more, kind, venue: "*", component: "official" });
  };

  await befallen("other-product");
  for (const venue of ["deribit", ...own]) {
    const other = await read(venue, "incidents.json");
    t.match(other.page, { url: "https://status.acme.example" }, venue);
    t.ok(other.incidents.length > 0);
  }

  await befallen("lost-fields");
  const [entry] = (await read("deribit", "incidents.json")).incidents;
  t.match(entry, { name: "Errors", id: String });
  for (const field of ["status", "impact", "started_at", "created_at"]) t.notOk(field in entry!, field);
  for (const venue of own)
    t.notMatch(Object.keys(flat(await read(venue, "status"))).join(), /status|state|begin/, venue);

  await befallen("back-in-time");
  const old = await read("deribit", "incidents.json");
  t.equal(old.page["updated_at"], at(-2900).toISOString());
  t.match(old.incidents, [{ name: "Old" }]);
  t.match(await read("binance", "status"), { status: 0 });
  await befallen("back-in-time", { behindMs: 60_000 });
  t.equal((await read("deribit", "incidents.json")).incidents.length, 2);
  await befallen("back-in-time", { behindMs: 180_000 });
  t.equal((await read("deribit", "incidents.json")).incidents.length, 1);

  await befallen("empty-list");
  const none = await read("deribit", "incidents.json");
  t.same(none.incidents, []);
  t.equal(none.page["updated_at"], at(10).toISOString());
  t.same((await read("okx", "status")).data, []);
  t.same((await read("bybit", "status")).result, { list: [] });
  t.match(await read("binance", "status"), { status: 1 });
});

void t.test("a running world accepts new posts", async (t) => {
  const { world, read, clock } = await openPages(t, []);
  clock.to(10);
  world.post(outage("deribit"));
  t.equal((await read("deribit", "incidents.json")).incidents.length, 1);
  t.throws(() => world.post(outage("gate")), /has no feed/);
  await t.rejects(
    startWorld({ registry, posts: [outage("nowhere")] }),
    /cannot post what its script says:\npost 1 \(nowhere "Errors"\): the venue is not in the registry/,
  );
});

void t.test("documents that a page does not have, and hostile targets", async (t) => {
  const { official } = await openPages(t, []);
  const { api } = official("deribit");
  for (const document of ["incident.json", "incidents.json/x", ""]) {
    const url = api.replace("incidents.json", document);
    t.equal(await outcomeOf({ url, method: "GET" }), 404, document);
  }
  t.equal(await outcomeOf({ url: api, method: "POST" }), 404);
  t.equal(await outcomeOf({ url: `${api}?page=-1`, method: "GET" }), 200);
  t.equal(await outcomeOf({ url: `${api}?page=x`, method: "GET" }), 200);
  const { origin } = new URL(api);
  t.equal(await outcomeOf({ url: `${origin}//`, method: "GET" }), 404);
});

void t.test("a line becomes a post", (t) => {
  const text = `
    # "who says what
    okx notice "Spot #2: ticker errors" disruption from=100s started=1m to=190s every=40m about=Spot # late
    kraken notice "API" minor from=1m about="REST API",Futures says=none identified=2m impact=3m:critical title=4m:"The API" deleted=1h
    okx rest:* * reset from=1m
  `;
  const { posts, faults } = parseScript(text, begin);
  t.equal(faults.length, 1);
  t.same(posts, [
    {
      venue: "okx",
      title: "Spot #2: ticker errors",
      impact: "disruption",
      postedAt: at(100 / 60),
      startedAt: at(1),
      endedAt: at(190 / 60),
      everyMs: 2_400_000,
      components: ["Spot"],
    },
    {
      venue: "kraken",
      title: "API",
      impact: "minor",
      postedAt: at(1),
      components: ["REST API", "Futures"],
      indicator: "none",
      changes: [
        { at: at(2), status: "identified" },
        { at: at(3), impact: "critical" },
        { at: at(4), title: "The API" },
      ],
      deletedAt: at(60),
    },
  ]);
  t.end();
});

void t.test("invalid lines of posts are named", (t) => {
  const bad: [string, RegExp][] = [
    ["okx notice Errors major from=1s", /line 1: expected "venue notice "title" impact/],
    ['okx notice "Errors" from=1s', /line 2: expected "venue notice/],
    ['okx notice "Errors" major', /line 3: a notice needs from=/],
    ['okx notice "Errors major from=1s', /line 4: a quote is not closed/],
    ['okx notice "Errors" major from=1s until=2s', /line 5: unknown setting until=2s/],
    ['okx notice "Errors" major from=soon', /line 6: expected a duration/],
    ['okx notice "Errors" major from=1s impact=critical', /line 7: expected a duration/],
  ];
  const text = bad.map(([line]) => line).join("\n");
  for (const [, message] of bad) t.throws(() => parseScript(text, begin), { message });
  t.end();
});

void t.test("posts that no feed would show are refused", (t) => {
  const bad: [ScriptedPost, RegExp][] = [
    [outage("gate"), /post 1 \(gate "Errors"\): the venue has no feed that the world plays/],
    [outage("kraken-futures"), /its feed is that of kraken: let kraken post it/],
    [outage("okx"), /unknown impact major; a okx-system-status has scheduled, unscheduled, disruption/],
    [
      outage("kraken", { changes: [{ at: at(15), status: "ongoing" }] }),
      /unknown status ongoing; a statuspage has investigating/,
    ],
    [outage("kraken", { changes: [{ at: at(15), impact: "bad" }] }), /unknown impact bad/],
    [
      outage("bybit", { impact: "incident", components: ["Spot"] }),
      /unknown component Spot; a bybit-system-status has Trading/,
    ],
    [outage("bybit", { impact: "incident", indicator: "none" }), /only a statuspage has one/],
    [outage("kraken", { endedAt: at(10) }), /ends, changes or is deleted before it is posted/],
    [outage("kraken", { startedAt: at(31) }), /ends before it begins/],
    [outage("kraken", { everyMs: 1_200_000 }), /a repeating post needs an end within the period/],
  ];
  for (const [post, message] of bad) t.throws(() => checkPosts([post], registry), { message });
  t.end();
});

void t.test("faults that no feed can have are refused", (t) => {
  const official = { venue: "deribit", component: "official" };
  const bad: [ScriptedFault, RegExp][] = [
    [{ kind: "reset", venue: "gate", component: "official" }, /gate has no component official/],
    [{ kind: "reset", venue: "kraken-futures", component: "official" }, /no component official/],
    [{ kind: "reset", ...official, regions: ["us-east"] }, /name no region/],
    [{ kind: "silent", ...official }, /silent acts on stream only, not on official/],
    [{ kind: "lost-fields", venue: "deribit" }, /lost-fields acts on official only: name it/],
    [{ kind: "empty-list", venue: "deribit", component: "rest:*" }, /acts on official only, not on rest/],
    [{ kind: "back-in-time", ...official, behindMs: 0 }, /behindMs is out of range/],
  ];
  for (const [fault, message] of bad) t.throws(() => checkFaults([fault], registry), { message });
  const { faults } = parseScript("deribit official * back-in-time=2d", begin);
  t.match(faults, [{ kind: "back-in-time", behindMs: 172_800_000 }]);
  t.end();
});

void t.test("the demo: the notices of each forty minutes", async (t) => {
  const text = await readFile(packagedFile("simulator/demo.txt"), "utf8");
  const { posts } = parseScript(text, begin);
  checkPosts(posts, registry);
  t.ok(posts.every(({ everyMs }) => everyMs === 2_400_000));
  t.ok(
    posts.some(({ startedAt, postedAt }) => startedAt && startedAt < postedAt),
    "one notice is late",
  );
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
  const pairs = posts.filter((post) => near(post));
  t.ok(pairs.filter(({ venue }) => venue === "deribit").length >= 5);
  t.ok(posts.length - pairs.length >= 5, "some report no fault");
  const early = pairs.filter(({ venue, postedAt }) =>
    faults.some(({ venue: of, from }) => of === venue && +from - +postedAt > 0 && +from - +postedAt < 3_600_000),
  );
  t.ok(early.length >= 2, "some were earlier than our incident");
  const listings = noticesAt(
    posts.filter(({ venue }) => venue === "coinbase"),
    "statuspage",
    now,
  );
  t.ok(listings.length > 50, "more than one page");
  t.end();
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
    const gemini = { url: api!, method: "GET" };
    t.equal(await outcomeOf(gemini), 301, "from the start");
    await writeHistoryNote(dir, {
      ...{ now: new Date(), days: 90, filledFrom: null, isComplete: false },
    });
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
    const told = await titlesOf(world, "deribit");
    t.same(told.slice(-past.length), past);
    const again = (await titlesOf(world, "bitfinex")).filter((title) => title === "WebSocket restarts");
    t.equal(again.length, 4, "two in each of the two hours");
  });
});

async function titlesOf({ registry }: World, venue: string) {
  const { api } = venueOf(registry, venue).official!;
  const { body } = await ask({ url: api!, method: "GET" });
  return (JSON.parse(body) as Body).incidents.map((one) => one["name"]);
}

type Entry = Record<string, unknown>;

interface Body extends Entry {
  page: Entry;
  incidents: Entry[];
  scheduled_maintenances: Entry[];
  components?: Entry[];
}

async function openPages(t: Test, posts: ScriptedPost[], ports: Record<string, number> = {}) {
  let now = begin;
  const world = await startWorld({ registry, posts, ports, now: () => now });
  t.teardown(() => world.close());
  const official = (id: string) => {
    const { official } = venueOf(world.registry, id);
    return { ...official!, api: official!.api! };
  };
  return {
    world,
    official,
    clock: { to: (minute: number) => (now = at(minute)) },
    /** Reads a document next to the feed's own, by the last part of its path. */
    read: async (id: string, document: string): Promise<Body> => {
      const base = official(id).api;
      const url = base.endsWith("incidents.json")
        ? base.replace("incidents.json", document)
        : base + document.replace(/^[^?]*/, "");
      const { status, headers, body } = await ask({ url, method: "GET" });
      t.equal(status, 200, `${id} ${document}`);
      t.equal(headers["content-type"], "application/json");
      return JSON.parse(body) as Body;
    },
  };
}

function venueOf({ venues }: Registry, id: string) {
  return venues.find((venue) => venue.id === id)!;
}

function byTitle(list: object[]): object[] {
  const titleOf = (one: object) => (one as { title: string }).title;
  return list.sort((a, b) => (titleOf(a) < titleOf(b) ? -1 : 1));
}

/** Returns every key of every object in it. */
function flat(value: unknown): Record<string, unknown> {
  const keys: Record<string, unknown> = {};
  JSON.stringify(value, (key, inner: unknown) => {
    keys[key] = true;
    return inner;
  });
  return keys;
}
