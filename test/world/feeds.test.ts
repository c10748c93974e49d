/**
 * The simulated status feeds speak the protocols of the real ones: Statuspage as it is documented, those of Instatus,
 * Bitget and Gate as core reads them. `polling.test.ts` reads all kinds as core does, good and faulty.
 */
import t, { type Test } from "tap";
import { loadRegistry } from "../../shared/registry/load-registry.js";
import { ask, outcomeOf } from "../../world/clients.js";
import type { ScriptedPost } from "../../world/notices/posts.js";
import { startWorld } from "../../world/world.js";
import { never, readerFor, sourceAt } from "../support/feed-server.js";
import { at, begin, outage, registry, venueOf } from "../support/world-pages.js";

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

void t.test("an unchanged document is not sent again", async (t) => {
  const { clock, official } = await openPages(t, [outage("deribit"), outage("okx", { impact: "disruption" })]);
  for (const venue of ["deribit", "okx"]) {
    clock.to(10);
    const { api } = official(venue);
    const first = await fetch(api);
    const etag = first.headers.get("etag")!;
    t.match(etag, /^W\/"\w+"$/);
    clock.to(29);
    const fetchUnless = (held: string) => fetch(api, { headers: { "if-none-match": held } });
    const same = await fetchUnless(`"other", ${etag}`);
    t.same([same.status, await same.text(), same.headers.get("etag")], [304, "", etag], venue);
    t.equal((await fetchUnless('"other"')).status, 200);
    clock.to(30);
    t.equal((await fetchUnless(etag)).status, 200, `${venue} has posted`);
  }
});

void t.test("an Instatus page shows what is open", async (t) => {
  const { read, clock } = await openReader(t, [
    { venue: "drpc", title: "Errors", impact: "MAJOROUTAGE", postedAt: at(10), endedAt: at(30) },
    {
      venue: "drpc",
      title: "Upgrade",
      impact: "UNDERMAINTENANCE",
      postedAt: at(5),
      startedAt: at(60),
      endedAt: at(70),
    },
  ]);
  const notices = async (minute: number) => {
    clock.to(minute);
    const { problem, lists } = await read("drpc");
    t.equal(problem, null);
    return lists[0]!.notices;
  };
  t.same(await notices(0), []);
  t.match(await notices(12), [
    { kind: "maintenance", title: "Upgrade", status: "NOTSTARTEDYET", startedAt: at(60) },
    { kind: "incident", title: "Errors", status: "INVESTIGATING", impact: "MAJOROUTAGE", startedAt: at(10) },
  ]);
  t.match(await notices(65), [{ title: "Upgrade", status: "INPROGRESS" }]);
  t.same(await notices(71), []);
});

void t.test("Bitget lists its announcements, Gate pushes its newest", async (t) => {
  const { read, clock, world } = await openReader(t, [
    ...Array.from({ length: 12 }, (_, n) => ({
      ...{ venue: "bitget", title: `Upgrade ${n}`, impact: "system_updates", postedAt: at(n) },
    })),
    ...[1, 2].map((minute) => ({
      ...{ venue: "gate", title: `Upgrade ${minute}`, impact: "engine_upgrade", postedAt: at(minute) },
    })),
  ]);
  clock.to(20);
  const [bitget, gate] = [await read("bitget"), await read("gate")];
  t.match(bitget, { problem: null, lists: [{ listedFrom: at(2) }] });
  t.same(
    bitget.lists[0]!.notices.map(({ title }) => title),
    Array.from({ length: 10 }, (_, n) => `Upgrade ${11 - n}`),
  );
  t.match(gate, { problem: null, lists: [{ listedFrom: at(2), notices: [{ title: "Upgrade 2" }] }] });
  t.equal(gate.lists[0]!.notices.length, 1);
  t.equal(world.requests({ venue: "gate", component: "official" }), 1);
  t.equal(world.requests({ venue: "gate" }), 0, "a reading measures nothing");
});

async function openReader(t: Test, posts: ScriptedPost[]) {
  let minute = 0;
  const everything = await loadRegistry("registry/all.json");
  const venues = everything.venues.filter(({ id }) => ["drpc", "bitget", "gate"].includes(id));
  const world = await startWorld({ registry: { ...everything, venues }, posts, now: () => at(minute) });
  t.teardown(() => world.close());
  const reader = readerFor(t, { quietMs: 100, deadlineMs: 1000 });
  return {
    world,
    clock: { to: (to: number) => (minute = to) },
    read: (id: string) => {
      const { kind, api, page } = venueOf(world.registry, id).official!;
      return reader.read(sourceAt(kind as "instatus", api!, { page }), at(minute), never);
    },
  };
}

type Entry = Record<string, unknown>;

interface Body extends Entry {
  page: Entry;
  incidents: Entry[];
  scheduled_maintenances: Entry[];
  components?: Entry[];
}

async function openPages(t: Test, posts: ScriptedPost[]) {
  let now = begin;
  const world = await startWorld({ registry, posts, now: () => now });
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
