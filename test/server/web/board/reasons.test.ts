/**
 * The reasons of states, as every reader gets them: why a state is unknown, and limits, halts and blocks, which are no
 * outages.
 */
import t from "tap";
import { sql } from "../../../../shared/database/pool.js";
import type { Fault } from "../../../../shared/measurement/sample.js";
import { statusOf } from "../../../../server/cli/status.js";
import type { regionsResponse } from "../../../../server/web/board/regions.js";
import type { TypeOf } from "../../../../server/web/api/shapes.js";
import type { statusResponse } from "../../../../server/web/board/status.js";
import type { exchangeResponse } from "../../../../server/web/board/venue.js";
import type { venueStateResponse } from "../../../../server/web/board/venue-state.js";
import { makeService } from "../../../../server/cli/service.js";
import { agentOn } from "../../../support/agent.js";
import { serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { ago, decide, measured } from "../../../support/fleet.js";
import { getPage } from "../../../support/page.js";
import { endsOn, entryIs, unjudge } from "../../../support/unjudged.js";

const { pool, registry } = await migratedDatabase(t);
const [from, now] = [ago(400), ago(0)];
const two = ["eu-central", "us-east"];

await measured(pool, { from, to: now });
for (const [venue, component, fault] of [
  ["kraken", "rest:ticker", "limited"],
  ["bitstamp", "rest:ticker", "halted"],
  ["okx", undefined, "connect"],
  ["gemini", undefined, "timeout"],
] as const satisfies [string, string | undefined, Fault][])
  await measured(pool, { from: ago(200), to: now, venue, fault, regions: two, ...(component && { component }) });
await measured(pool, { from: ago(200), to: now, venue: "okx", component: "rest:time", fault: "limited", regions: two });
await entryIs(pool, "binance", { blockedIn: { countries: ["US", "CA"], source: "https://example.org/terms" } });
await endsOn(pool, "gemini", "2026-03-01", "Gemini switches this API off.");
await decide(pool, ago(100));
await unjudge(pool, "okx", "never");
await unjudge(pool, "binance", "blocked");
await unjudge(pool, "gemini", "ended");
const entry = {
  sources: ["https://docs.kraken.com/api", "javascript:alert(1)"],
  checkedAt: "2026-01-12",
  until: { date: "2027-03-01", what: "Kraken switches this off.", source: "https://docs.kraken.com/end" },
  limits: [
    {
      ...{ origin: "https://api.kraken.com", requests: 1, periodMs: 1_000, per: "address" as const },
      source: "support article 206548367",
    },
  ],
  blockedIn: { countries: ["US"], source: "https://kraken.com/legal" },
  edgeCacheMs: 2_000,
};
await entryIs(pool, "kraken", entry);
const api = await serve(t, { pool, registry });

const never = /^never seen good from here \((.*)\); check the address in the entry, and this network$/;

void t.test("a component says why it is unknown although it is measured, in the same words everywhere", async (t) => {
  const page = (await api.ask<TypeOf<typeof exchangeResponse>>("/v1/targets/okx")).body;
  const state = (await api.ask<TypeOf<typeof venueStateResponse>>("/v1/targets/okx/state")).body;
  const board = (await api.ask<TypeOf<typeof statusResponse>>("/v1/status")).body;
  const row = board.venues.find(({ id }) => id === "okx")!;
  const seen = (of: { component: string; unknownBecause: unknown }[]) =>
    of.map(({ component, unknownBecause }) => ({ component, unknownBecause }));
  t.strictSame(seen(state.components), seen(row.components));
  t.strictSame(new Set(seen([...page.endpoints, ...page.streams])), new Set(seen(state.components)));
  const of = (component: string) => state.components.find((one) => one.component === component)!;
  t.match(of("rest:ticker"), { state: "unknown", fault: null, unknownBecause: { reason: "never", detail: never } });
  t.equal(never.exec(of("rest:ticker").unknownBecause!.detail)?.[1], "eu-central, us-east: connect");
  t.match(of("rest:time").unknownBecause!.detail, /limited\); the venue limits our requests: set PROBES_PER_ADDRESS/);
  for (const venue of ["kraken", "bitstamp", "coinbase"])
    for (const one of board.venues.find(({ id }) => id === venue)!.components)
      t.equal(one.unknownBecause, null, `${venue} ${one.component}`);

  const reasonOf = (venue: string) => board.venues.find(({ id }) => id === venue)!.components[0]!.unknownBecause;
  t.match(reasonOf("binance"), {
    reason: "blocked",
    detail: /^blocked from this place; .* does not serve US, CA; only/,
  });
  t.strictSame(reasonOf("gemini"), { reason: "ended", detail: "ended on 2026-03-01: Gemini switches this API off" });
});

void t.test("pages of a state unknown for such a reason are neither red nor amber, and give the reason", async (t) => {
  for (const [venue, sentence] of [
    ["okx", /^We do not know whether OKX works: we have never seen it good from here\./],
    ["binance", /^We do not know whether Binance works: it refuses the place that we measure from\./],
    [
      "gemini",
      /^We do not know whether Gemini works\. Its service ended on 2026-03-01: Gemini switches this API off\./,
    ],
  ] as const) {
    const { text, icon, title } = await getPage(api.port, `/venues/${venue}`);
    t.match(text, sentence);
    t.equal(icon, "unknown");
    t.notMatch(title, /down|degraded|fail/i);
    t.match(text, /Unknown (never seen good from here|blocked from this place|ended on)/, "in the matrix");
  }
  const { text } = await getPage(api.port, "/");
  t.match(
    text,
    /Never seen good from here: OKX\. Blocked from this place: Binance\. The service has ended, .*: Gemini\./,
  );
});

void t.test("a component that a region never saw good is not shown as trouble", async (t) => {
  const signsOf = async (venue: string, section: string) => {
    const html = await (await fetch(`http://127.0.0.1:${api.port}/venues/${venue}`)).text();
    const [part] = new RegExp(`<section aria-labelledby="${section}">.*?</section>`, "s").exec(html)!;
    return new Set(Array.from(part.matchAll(/class="sign (\w+)"/g), ([, state]) => state));
  };
  for (const section of ["matrix", "endpoints", "streams", "regions"]) {
    t.strictSame(await signsOf("okx", section), new Set(["unknown"]), section);
    t.ok((await signsOf("bitstamp", section)).has("operational"), "others are as before");
  }
  t.ok((await signsOf("bitstamp", "matrix")).has("outage"));
  t.strictSame(await signsOf("gemini", "matrix"), new Set(["unknown"]), "nor of one that has ended");
});

void t.test("each region lists what it never saw good, with what to do", async (t) => {
  const { regions } = (await api.ask<TypeOf<typeof regionsResponse>>("/v1/regions")).body;
  const [central, southeast] = regions;
  const { components } = (await api.ask<TypeOf<typeof venueStateResponse>>("/v1/targets/okx/state")).body;
  t.strictSame(
    central!.neverSeenGood.map(({ component }) => component),
    components.map(({ component }) => component),
  );
  t.equal(central!.neverSeenGoodTotal, components.length);
  t.match(central!.neverSeenGood[0], { venue: "okx", advice: /\w/ });
  t.match(
    central!.neverSeenGood.find(({ component }) => component === "rest:ticker"),
    { fault: "connect", advice: "check the address in the entry, and this network" },
  );
  t.strictSame([southeast!.neverSeenGood, southeast!.neverSeenGoodTotal], [[], 0], "it sees them good");
  const { text } = await getPage(api.port, "/regions");
  t.match(text, /Never seen good: \d+ components .* OKX rest:ticker no connection .* check the address in the entry/);
});

void t.test("a venue's entry is published, and its page says how it is measured", async (t) => {
  const kraken = (await api.ask<TypeOf<typeof exchangeResponse>>("/v1/targets/kraken")).body;
  const { until, limits } = entry;
  t.strictSame(kraken.entry, {
    ...entry,
    until: { ...until, components: null },
    limits: limits.map(({ source, ...limit }) => ({ ...limit, endpoints: null, source })),
  });
  t.strictSame((await api.ask<TypeOf<typeof exchangeResponse>>("/v1/targets/coinbase")).body.entry.blockedIn, null);
  const { text, links } = await getPage(api.port, "/venues/kraken");
  t.match(text, /How we measure it Our entry for it last compared with its documentation on 12 Jan/);
  t.match(text, /It ends 1 Mar 2027: Kraken switches this off\. \(source\)/);
  t.match(text, /1 request in 1 s from one address, at https:\/\/api\.kraken\.com \(support article 206548367\)/);
  t.match(text, /It does not serve United States: from there it refuses our requests/);
  t.match(text, /An edge in front of it answers for up to 2 s/);
  t.ok(links.includes("https://docs.kraken.com/api"));
  t.notOk(links.some((link) => link.startsWith("javascript:")));
  await pool.query(sql`
    update component c set cadence_ms = 77000 from venue v
    where v.venue_id = c.venue_id and v.venue = 'bitfinex' and c.component = 'rest:ticker'
  `);
  t.match((await getPage(api.port, "/venues/bitfinex")).text, /Ticker REST \S+ 77 s no full answer/, "as resolved");
});

void t.test("a venue that limits our requests is called that, and never down", async (t) => {
  const { incidents } = (await api.ask<TypeOf<typeof statusResponse>>("/v1/status")).body;
  const incident = incidents.find(({ venue }) => venue === "kraken")!;
  t.equal(incident.fault, "limited");
  const { slug } = incident;
  const board = await getPage(api.port, "/");
  t.match(board.text, /Kraken: Ticker limits our requests, for [^,]+, first seen by 2 of 3 regions\./);
  t.match(board.text, /Kraken Limits our requests for/);
  t.match((await getPage(api.port, "/venues/kraken")).text, /^Kraken limits our requests: Ticker in 2 of 3/);
  const page = await getPage(api.port, `/incidents/${slug}`);
  t.match(page.text, /Kraken: Ticker has limited our requests since/);
  t.match(page.text, /Severity Limits our requests: enough regions had their requests limited/);
  t.match((await getPage(api.port, "/wall")).text, /Kraken Limits our requests for/);
  const badge = await fetch(`http://127.0.0.1:${api.port}/badges/kraken.svg`);
  t.match(await badge.text(), "Kraken: Limits our requests");
  const card = await getPage(api.port, "/embed/kraken");
  t.match(card.text, /^Kraken limits our requests/);
  const feed = await fetch(`http://127.0.0.1:${api.port}/feeds/incidents.atom`);
  t.match(await feed.text(), "Kraken: Ticker limits our requests");
  const statuspage = await fetch(`http://127.0.0.1:${api.port}/statuspage/kraken/api/v2/incidents.json`);
  const document = await statuspage.text();
  t.match(document, "Ticker (rest:ticker) limits our requests");
  t.match(document, "2 of 3 regions with a vote saw that Ticker (rest:ticker) limits our requests.");
});

void t.test("a venue that says that it does not trade is quoted", async (t) => {
  const { text } = await getPage(api.port, "/");
  t.match(text, /Bitstamp: Ticker says that it does not trade, for [^,]+, first seen by 2 of 3/);
  const venue = await getPage(api.port, "/venues/bitstamp");
  t.match(venue.text, /^Bitstamp is (degraded|down): Ticker says that it does not trade, in 2 of 3 regions for/);
});

void t.test("agents are given the reasons", async (t) => {
  const agent = await agentOn(t, api.port);
  const okx = await agent.ask("is_it_down", { venue: "okx" });
  t.match(
    okx.text,
    /neither up nor down\. Fewer than half .* The reason: never seen good from here \(eu-central, us-east: /,
  );
  t.match(okx.data, { state: "unknown" });
  t.match(JSON.stringify(okx.data), '"unknownBecause":{"reason":"never",');
  const kraken = await agent.ask("venue", { venue: "kraken" });
  t.match(kraken.text, /1 of \d+ components is \S+( outage)?, because the venue limits our requests \(rest:ticker\)/);
  t.match(kraken.data["body"], { incidents: [{ status: "open", fault: "limited" }] });
});

void t.test("the command line is given the reasons", async (t) => {
  const service = makeService(`http://127.0.0.1:${api.port}`, { timeoutMs: 20_000 });
  t.teardown(() => service.close());
  const asked = (venue: string | null) => statusOf(service, { venue, category: null });
  const okx = await asked("okx");
  t.match(okx.text, /rest:ticker +unknown: never seen good from here +20/);
  t.match(okx.text, /\n\S*rest:ticker\S*.*: never seen good from here \(eu-central, us-east: connect\); check/);
  t.match((await asked("kraken")).text, /rest:ticker +(degraded|outage): limits our requests +20/);
  t.match((await asked(null)).text, /rest:ticker (degraded|outage): limits our requests/);
});
