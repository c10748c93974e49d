/** A venue's page as a reader sees it, as text. */
import { gzipSync } from "node:zlib";
import t, { type Test } from "tap";
import { type Db, sql } from "../../../../shared/database/pool.js";
import { syncRegistry } from "../../../../server/database/sync-registry.js";
import { loadRegistry } from "../../../../shared/registry/load-registry.js";
import { serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { emptied } from "../../../support/emptied.js";
import { ago, decide, decideThrough, measured, pastIncident } from "../../../support/fleet.js";
import { getPage } from "../../../support/page.js";
import { troubledBoard } from "../../../support/page-world.js";
import { notice, readThrough, said, whole } from "../../../support/stored-notices.js";

const database = await migratedDatabase(t);

void t.test("a venue that nobody has measured", async (t) => {
  const { pool, registry } = await emptied(database);
  const { port } = await serve(t, { pool, registry });
  const { text, icon } = await getPage(port, "/venues/okx");
  t.match(text, /We do not know whether OKX works: our own engine decides nothing at present\./);
  t.match(text, /not decided: our engine is silent/);
  t.match(text, /No latency was measured from this region in this range\./);
  t.match(text, /The venue unknown unknown/, "its uptime");
  t.equal(icon, "unknown");
  t.notMatch(text, /100 %/);

  await decide(pool);
  const decided = await getPage(port, "/venues/okx");
  t.match(decided.text, /^We do not know whether OKX works: fewer than half of its components are known/);
  t.match(decided.text, /Unknown not counted: it sends nothing/);
});

void t.test("of a venue that is wholly down, the three worst components are not folded away", async (t) => {
  const { pool, registry } = await emptied(database);
  const now = ago(0);
  await measured(pool, { from: ago(400), to: now });
  await measured(pool, { from: ago(150), to: now, venue: "okx", fault: "http" });
  await decideThrough(pool, ago(370), now);
  const { port } = await serve(t, { pool, registry });
  const { html } = await getPage(port, "/venues/okx");
  const [matrix] = /<section aria-labelledby="matrix">.*?<\/section>/s.exec(html)!;
  const [shown, more] = matrix
    .split('<details data-key="matrix-more">')
    .map((part) => part.match(/scope="row"/g)!.length);
  t.equal(shown, 3);
  t.ok(more! >= 4, `${more} are folded`);
});

void t.test("a chain that stands is a venue's own incident, and its providers are not at fault", async (t) => {
  const { pool } = await emptied(database);
  const registry = await loadRegistry("registry/all.json");
  await syncRegistry(pool, registry);
  const api = await serve(t, { pool, registry });
  const { port } = api;
  const [now, stoodAt] = [ago(0), ago(180)];
  await measured(pool, { from: ago(400), to: now });
  await measured(pool, { from: stoodAt, to: now, venue: "ethereum-chain", fault: "stale" });
  await decideThrough(pool, ago(370), now);
  interface Detail {
    state: string;
    chain: { venue: string; standsSince: string; providers: string[]; incident: string } | null;
    endpoints: { component: string; target: string | null; lag: unknown }[];
  }
  const about = async (id: string) => (await api.ask<Detail>(`/v1/targets/${id}`)).body;
  const chain = await about("ethereum-chain");
  t.equal(chain.state, "outage");
  t.match(chain.endpoints, [{ component: "rest:head", target: null, lag: null }]);
  for (const id of ["publicnode", "drpc", "usdc"]) {
    const provider = await about(id);
    t.equal(provider.state, "operational", id);
    t.match(provider.chain, { venue: "ethereum-chain", state: "outage", providers: ["publicnode", "drpc"] });
    t.ok(Math.abs(Date.parse(provider.chain!.standsSince) - +stoodAt) < 20_000, provider.chain!.standsSince);
    const { text, links } = await getPage(port, `/venues/${id}`);
    t.match(
      text,
      /Ethereum chain has stood still or gone back since .* at all 2 providers that we read; none of them is down for it\./,
    );
    t.ok(links.includes(`/incidents/${provider.chain!.incident}`));
  }
  for (const id of ["kraken", "redstone"]) t.equal((await about(id)).chain, null, id);
  const own = await getPage(port, "/venues/ethereum-chain");
  t.match(own.text, /^Ethereum chain is down: New blocks, in all 3 regions\. Down since/);
  t.match(own.text, /read at publicnode, drpc .* no provider has a new block for more than 60 s/);
  t.match(own.text, /If it stands at all of them, it is the fault of none\./);
  t.ok(own.links.includes("/venues/publicnode"));
  const { incident } = chain.chain!;
  const said = await api.ask<{ incident: object; note: string }>(`/v1/incidents/${incident}`);
  t.match(said.body.incident, { venue: "ethereum-chain", component: "rest:head", fault: "stale" });
  t.match(said.body.note, /^It is the chain that stands, .* \(publicnode, drpc\) .* none of them is at fault\.$/);
  t.match((await getPage(port, `/incidents/${incident}`)).text, /It is the chain that stands/);
  const open = (await api.ask<{ incidents: { venue: string }[] }>("/v1/incidents?status=open")).body.incidents;
  t.same(
    open.map(({ venue }) => venue),
    ["ethereum-chain"],
    "one cause is one incident",
  );
  await pool.query(sql`update venue set ends_at = ${ago(1000)} where venue = 'drpc'`);
  await decideThrough(pool, ago(0), ago(-4));
  const { note } = (await api.ask<{ note: string }>(`/v1/incidents/${incident}`)).body;
  t.match(note, / \(publicnode\) /, "what had ended before it began was not read");
});

void t.test("a venue in trouble", async (t) => {
  const { pool, registry } = await emptied(database);
  await troubledBoard(pool);
  const { port } = await serve(t, { pool, registry });
  await t.test("answers in a sentence", async (t) => {
    const { text, title, icon } = await getPage(port, "/venues/okx");
    t.match(
      text,
      /^OKX is degraded: Ticker down, in 2 of 3 regions\. Degraded since \d\d:\d\d UTC \(2 min( \d+ s)?\); its streams work\./,
    );
    t.match(title, /^OKX is degraded: Ticker down, in 2 of 3 regions/);
    t.match(icon, /^(degraded|outage)$/);
  });
  await t.test("shows what each region sees, and why", async (t) => {
    const { text } = await getPage(port, "/venues/okx");
    t.match(
      text,
      /Ticker REST Down Down \d+ of \d+ failed, last error: no answer in time Healthy Down \d+ of \d+ failed/,
    );
    t.match(text, /Ticker stream Healthy Healthy Healthy Healthy/);
  });
  await t.test("shows endpoints and streams from one region", async (t) => {
    const here = (await getPage(port, "/venues/okx")).text;
    t.match(here, /Endpoints as seen from Central Europe .* Ticker Down last error: no answer in time/);
    t.match(here, /Streams as heard from Central Europe .* Trades Healthy 100 % of \d+ 240 900 ms; a stall after/);
    const there = (await getPage(port, "/venues/okx?region=ap-southeast&range=7d")).text;
    t.match(there, /Endpoints as seen from Southeast Asia .* Ticker Healthy/);
    t.match(there, /hour by hour, seen from Southeast Asia/);
  });
  await t.test("lists its incident, and the thresholds that apply", async (t) => {
    const { text, links } = await getPage(port, "/venues/okx");
    t.match(text, /Incidents (Down|Degraded) OKX: Ticker first seen in 2 of 3 regions, began/);
    t.ok(links.includes("/incidents?venue=okx"));
    t.match(text, /Fewest regions that must agree 2 regions/);
    t.match(text, /no full answer within/);
  });
  await t.test("says in words which days had trouble, and leads to their incidents", async (t) => {
    const { text, html, links } = await getPage(port, "/venues/okx");
    t.match(text, /Days with trouble, newest first: \d+ \w+: (down \d+ min, |degraded \d+ min, )*1 incident /);
    t.match(html, /<p class="ends minor"><span>\d+ \w+( \d+)?<\/span><span>\d+ \w+<\/span>/, "both ends have dates");
    const [, path, anchor] = /^(.*)#(.*)$/.exec(links.find((link) => link.includes("#day-"))!)!;
    t.match(path, /^\/incidents\?venue=okx&days=365&before=[-\d]+T00:00:00Z$/);
    const day = await getPage(port, path!);
    t.equal(/<section aria-labelledby="(.*?)"/.exec(day.html)![1], anchor, "what began on that day is first");
    t.ok(day.links.some((link) => link.startsWith("/incidents/okx-")));
    t.match(
      (await getPage(port, "/")).html,
      /<a href="\/venues\/okx" tabindex="-1"><path [^>]*><title>[^<]*1 incident</i,
    );
  });
  await t.test("other venues are as healthy as their regions see them", async (t) => {
    const { text, icon } = await getPage(port, "/venues/binance");
    t.match(text, /^Binance is healthy in all 3 regions\./);
    t.equal(icon, "operational");
    t.match(
      (await getPage(port, "/venues/gemini")).text,
      /^We do not know whether Gemini works: fewer than half of its components/,
    );
  });
});

void t.test("a venue that is healthy by quorum is not said to be so where a region sees trouble", async (t) => {
  const { pool, registry } = await emptied(database);
  const { port } = await serve(t, { pool, registry });
  await measured(pool, { from: ago(240), to: ago(0) });
  const trouble = { from: ago(90), to: ago(0), venue: "okx", fault: "http" } as const;
  for (const [at, { id }] of registry.regions.entries())
    await measured(pool, { ...trouble, regions: [id], component: ["rest:ticker", "rest:time", "rest:book"][at]! });
  await decideThrough(pool, ago(110), ago(2));
  t.match((await getPage(port, "/venues/okx")).text, /^OKX is healthy\. Healthy since/);
});

void t.test("regions that are not counted", async (t) => {
  const { pool, registry } = await emptied(database);
  const { port } = await serve(t, { pool, registry });
  const okx = async () => (await getPage(port, "/venues/okx")).text;
  await t.test("an impaired one", async (t) => {
    await measured(pool, { from: ago(600), to: ago(0) });
    await measured(pool, { from: ago(190), to: ago(0), fault: "timeout", regions: ["us-east"] });
    await decideThrough(pool, ago(210), ago(2));
    t.match(await okx(), /^OKX is healthy in both regions; US East does not count\./);
    t.match(await okx(), /not counted: region impaired/);
    t.match(await okx(), /US East (Down|Degraded) no: it is impaired/);
  });
  await t.test("one that stands alone for long", async (t) => {
    await pool.query(sql`truncate impairment`);
    await measured(pool, { from: ago(120), to: ago(0) });
    await measured(pool, { from: ago(120), to: ago(0), fault: "http", regions: ["us-east"], venue: "okx" });
    await pool.query(sql`
      insert into outlier (component_id, region_id, started_at)
      select component_id, region_id, now() - interval '1 hour'
      from component join venue using (venue_id) cross join region
      where venue = 'okx' and component = 'rest:ticker' and region = 'us-east'
    `);
    await decide(pool);
    t.match(
      await okx(),
      /failed, last error: an HTTP error not counted: it fails only here, and has for long \(blocked\?\)/,
    );
  });
  await t.test("one that the venue refuses", async (t) => {
    await pool.query(sql`truncate outlier`);
    await measured(pool, { from: ago(120), to: ago(0) });
    await measured(pool, { from: ago(120), to: ago(0), fault: "blocked", regions: ["us-east"], venue: "okx" });
    await decide(pool);
    t.match(await okx(), /failed, last error: the venue refused our region not counted: the venue refuses this place/);
  });
});

void t.test("a venue whose trouble is over", async (t) => {
  const { pool, registry } = await emptied(database);
  await measured(pool, { from: ago(120), to: ago(0) });
  await onThreeSaturdays(pool);
  await readThrough(pool, "okx", ago(100_000), ago(60));
  const hostile = { title: "<b>ticker</b>", url: "javascript:alert(1)" };
  await said(pool, "okx", ago(30), [whole(notice("a", ago(4_000), hostile))]);
  await decide(pool);
  const { port } = await serve(t, { pool, registry });
  const { text, html, links } = await getPage(port, "/venues/okx");
  t.match(text, /Ticker \(REST\) down: 3 of 3 incidents began on Saturdays between 11:00 and 12:00 UTC, on 3 days/);
  t.match(text, /What OKX itself says Its status feed can be read\. Last read: .*\d\d:\d\d UTC/);
  t.match(text, /<b>ticker<\/b> incident, investigating .* none of ours/, "as text");
  t.notMatch(html, /<b>ticker|href="javascript/, "neither markup nor a link");
  t.ok(links.includes("/detection"));
});

/** Three outages of OKX' ticker, each at 11:20 UTC of a Saturday. */
async function onThreeSaturdays(db: Db): Promise<void> {
  const sinceSaturday = ((new Date().getUTCDay() + 1) % 7) + 7;
  for (const week of [0, 1, 2]) {
    const day = ago((sinceSaturday + 7 * week) * 86_400)
      .toISOString()
      .slice(0, 10);
    await pastIncident(db, { venue: "okx", component: "rest:ticker", startedAt: `${day}T11:20:00Z`, minutes: 5 });
  }
}

void t.test("a venue with sixty components", async (t) => {
  const { pool, registry } = await emptied(database);
  await pool.query(sql`
    insert into component (venue_id, component, label, target, cadence_ms, position)
    select venue_id, 'rest:part' || chr(97 + n / 26) || chr(97 + n % 26), 'Part ' || n, target, cadence_ms, 100 + n
    from component c join venue v using (venue_id) cross join generate_series(1, 52) as n
    where v.venue = 'okx' and c.component = 'rest:ticker'
  `);
  await measured(pool, { from: ago(120), to: ago(0), venue: "okx" });
  await measured(pool, { from: ago(60), to: ago(0), venue: "okx", component: "rest:ticker", fault: "timeout" });
  await decide(pool);
  const { port } = await serve(t, { pool, registry });
  const { text, html } = await getPage(port, "/venues/okx");
  const bytes = gzipSync(html).length;
  t.ok(bytes < 30_000, `it stays small: ${bytes} bytes`);
  t.match(text, /Components by region .{0,80} Ticker REST .{0,250} 59 more components are healthy in every region/);
});

void t.test("hostile texts stay texts", async (t) => {
  const { pool, registry } = await emptied(database);
  await pool.query(sql`update venue set name = ${"<script>alert(1)</script>\u202e"} where venue = 'okx'`);
  await pool.query(sql`update venue set name = ${"x".repeat(200)} where venue = 'kraken'`);
  await pool.query(sql`update component set label = ${"</h1><img src=x>\u202e"} where component = 'rest:ticker'`);
  await pool.query(sql`update region set name = ${"<i>US\u202e"} where region = 'us-east'`);
  await measured(pool, { from: ago(120), to: ago(0) });
  await measured(pool, { from: ago(60), to: ago(0), component: "rest:ticker", fault: "timeout" });
  await decide(pool);
  const { port } = await serve(t, { pool, registry });
  const { html, text } = await getPage(port, "/venues/okx");
  t.notMatch(html, /<script>alert|<img src=x|<i>US/);
  t.match(text, /^\u2068<script>alert\(1\)<\/script>\u2069 is /, "it cannot reverse the text after it");
  t.match((await getPage(port, "/venues/kraken")).text, /^x{200} is /);
});

void t.test("addresses of a venue's page", async (t) => {
  const { pool, registry } = await emptied(database);
  await measured(pool, { from: ago(60), to: ago(0), venue: "okx" });
  await decide(pool);
  const [first, ...others] = registry.venues;
  const renamed = { ...registry, venues: [{ ...first!, formerIds: ["formerly"] }, ...others] };
  const { port } = await serve(t, { pool, registry: renamed });
  await redirects(t, port, first!.id);
  await t.test("an unknown venue, range or region", async (t) => {
    t.equal((await getPage(port, "/venues/nowhere")).status, 404);
    t.equal((await getPage(port, "/is-nowhere-down")).status, 404);
    t.equal((await getPage(port, "/venues/okx?range=1y")).status, 400);
    t.equal((await getPage(port, "/venues/okx?region=moon")).status, 400);
    t.equal((await getPage(port, "/venues/okx?region=&range=")).status, 200, "empty fields select nothing");
  });
  await t.test("the page has the API's cache rules", async (t) => {
    const { headers } = await getPage(port, "/venues/okx");
    t.match(headers, { "cache-control": "public, max-age=5, stale-while-revalidate=30" });
    t.equal((await getPage(port, "/venues/okx", { "if-none-match": headers["etag"]! })).status, 304);
  });
});

async function redirects(t: Test, port: number, present: string) {
  const target = async (path: string) => {
    const { status, headers } = await getPage(port, path);
    t.match(headers["cache-control"], /max-age/);
    return `${status} ${headers["location"]}`;
  };
  t.equal(await target("/is-okx-down"), "301 /venues/okx");
  t.equal(await target("/is-binance-futures-down"), "301 /venues/binance-futures");
  t.equal(await target("/is-formerly-down"), `301 /venues/${present}`);
  t.equal(await target("/venues/formerly?range=7d"), `301 /venues/${present}?range=7d`);
}
