/** How the simulated feeds fail, and what they do with conditional, unknown and hostile requests. */
import t from "tap";
import { ask, outcomeOf } from "../../simulator/clients.js";
import type { FaultKind, ScriptedFault } from "../../simulator/faults.js";
import { startWorld } from "../../simulator/world.js";
import { at, flat, openPages, outage, registry, venueOf } from "../support/world-pages.js";

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
  world.fault({ kind: "status", status: 301, location: "/status.gemini.com/", venue: "gemini", component: "official" });
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
    outage("deribit", { title: "Old", postedAt: at(-3000), endedAt: at(-2900) }),
    outage("okx", { impact: "disruption" }),
    outage("bybit", { impact: "incident" }),
    outage("binance", { impact: "maintenance" }),
    outage("kucoin", { impact: "close" }),
  ];
  const { world, read, clock } = await openPages(t, posts);
  const own = ["okx", "bybit", "binance", "kucoin"];
  clock.to(12);
  const apply = async (kind: FaultKind, behindMs?: number) => {
    await world.clear();
    world.fault({ kind, behindMs, venue: "*", component: "official" });
  };

  await apply("other-product");
  for (const venue of ["deribit", ...own])
    t.match(await read(venue, "incidents.json"), {
      page: { url: "https://status.acme.example" },
      incidents: [{}],
    });

  await apply("lost-fields");
  for (const venue of own)
    t.notMatch(Object.keys(flat(await read(venue, "status"))).join(), /status|state|begin/, venue);

  await apply("back-in-time");
  t.match((await read("deribit", "incidents.json")).incidents, [{ name: "Old" }]);
  t.match(await read("binance", "status"), { status: 0 });
  await apply("back-in-time", 60_000);
  t.equal((await read("deribit", "incidents.json")).incidents.length, 2);
  await apply("back-in-time", 180_000);
  t.equal((await read("deribit", "incidents.json")).incidents.length, 1);

  await apply("empty-list");
  t.same((await read("deribit", "incidents.json")).incidents, []);
  t.same((await read("okx", "status")).data, []);
  t.same((await read("bybit", "status")).result, { list: [] });
  t.match(await read("binance", "status"), { status: 1 });
});

void t.test("a running world accepts new posts", async (t) => {
  const { world, read, clock } = await openPages(t, []);
  clock.to(10);
  world.post(outage("deribit"));
  t.equal((await read("deribit", "incidents.json")).incidents.length, 1);
  t.throws(() => world.post(outage("gate")), /unknown impact major/);
  await t.rejects(
    startWorld({ registry, posts: [outage("nowhere")] }),
    /cannot post what its script says:\npost 1 \(nowhere "Errors"\): the venue is not in the registry/,
  );
});

void t.test("documents that a page does not have, and hostile targets", async (t) => {
  const { official } = await openPages(t, []);
  const { api } = official("deribit");
  for (const [url, status] of [
    ...["incident.json", "incidents.json/x", ""].map((document) => [api.replace("incidents.json", document), 404]),
    [`${new URL(api).origin}//`, 404],
    [`${api}?page=-1`, 200],
    [`${api}?page=x`, 200],
  ] as [string, number][])
    t.equal(await outcomeOf({ url, method: "GET" }), status, url);
  t.equal(await outcomeOf({ url: api, method: "POST" }), 404);
});
