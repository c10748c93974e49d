/** Links that people share, type and keep: previews, other spellings, a board of one's own, pages of errors. */
import { readFileSync } from "node:fs";
import t from "tap";
import { packagedFile } from "../../../../shared/config/package.js";
import { staleAfterMs } from "../../../../server/web/board/stale.js";
import { groundColours } from "../../../../server/web/pages/page.js";
import { type Api, serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { emptied } from "../../../support/emptied.js";
import { ago, decide, measured, pastIncident } from "../../../support/fleet.js";
import { getPage } from "../../../support/page.js";
import { troubledBoard } from "../../../support/page-world.js";
import { askRaw } from "../../../support/raw-answer.js";

const database = await migratedDatabase(t);
const baseUrl = "https://status.example.org";

/** What a chat reads of a page. */
function previewOf(html: string): Record<string, string> {
  const named = [...html.matchAll(/<meta (?:name|property)="([^"]+)" content="([^"]*)"/g)].map(
    ([, name = "", content = ""]) => [name, content],
  );
  const canonical = /<link rel="canonical" href="([^"]*)"/.exec(html)?.[1];
  return { ...(Object.fromEntries(named) as Record<string, string>), ...(canonical !== undefined && { canonical }) };
}

void t.test("previews of links", async (t) => {
  const { pool, registry } = await emptied(database);
  await troubledBoard(pool);
  const api = await serve(t, { pool, registry, baseUrl });
  const { port } = api;
  const { body } = await api.ask<{ incidents: { slug: string }[] }>("/v1/incidents?venue=okx");
  const slug = body.incidents[0]!.slug;
  const pages: [path: string, canonical: string, description: RegExp][] = [
    ["/?state=trouble&sort=worst&q=o", "/", /^OKX is degraded\. 13 of 15 healthy, 1 unknown\. .* As of \d{4}-/],
    ["/?category=exchange&state=trouble", "/?category=exchange", /^Exchanges: /],
    ["/?venues=OKX,Kraken", "/?venues=kraken,okx", /^OKX is degraded\. 1 of 2 healthy\./],
    ["/venues/okx?range=7d", "/venues/okx", /^OKX is degraded: Ticker down, in 2 of 3 regions/],
    [`/incidents/${slug}`, `/incidents/${slug}`, /^OKX: Ticker failing for .*, since .* UTC, in 2 of 3/],
    ["/incidents?venue=okx&status=", "/incidents?venue=okx", /^One incident began since/],
    ["/compare?days=90", "/compare", /rank/],
    ["/compare?days=7", "/compare?days=7", /rank/],
    ["/detection", "/detection", /./],
    ["/transfers", "/transfers", /./],
    ["/regions", "/regions", /./],
    ["/wall", "/wall", /^OKX is degraded/],
    ["/docs", "/docs", /^How we measure/],
    ["/docs/api", "/docs/api", /^Every address/],
    ["/methodology", "/methodology", /^How each published number is computed/],
  ];
  const seen = new Set<string>();
  for (const [path, canonical, description] of pages) {
    const { html, title } = await getPage(port, path);
    const preview = previewOf(html);
    t.match(preview["description"], description, path);
    t.equal(preview["og:description"], preview["description"]);
    t.equal(`${preview["og:title"]} · venuewatch`, title.replaceAll('"', "&quot;"), "the page's own title");
    t.match(preview, { "og:type": "website", "og:site_name": "venuewatch" });
    const address = (baseUrl + canonical).replaceAll("&", "&amp;");
    t.match(preview, { canonical: address, "og:url": address });
    seen.add(preview["description"]!);
  }
  t.ok(seen.size >= pages.length - 3, "each page has its own words");
  const missing = previewOf((await getPage(port, "/none")).html);
  t.notOk(missing["canonical"], "the page of an error has no address");
});

void t.test("a preview of old data says how old it is", async (t) => {
  const { pool, registry } = await emptied(database);
  await measured(pool, { from: ago(700), to: ago(600) });
  await decide(pool, ago(600));
  const { port } = await serve(t, { pool, registry, staleAfterMs });
  const preview = previewOf((await getPage(port, "/")).html);
  t.match(preview["og:title"], /^1?\d min old: /);
  t.match(preview["og:description"], /^1?\d min ago: /);
});

void t.test("browsers paint their bars in the colour of the page", (t) => {
  const style = readFileSync(packagedFile("server/web/pages/assets/style.css"), "utf8");
  const [, light, dark] = /--ground: light-dark\((#\w+), (#\w+)\)/.exec(style)!;
  t.strictSame(groundColours, { light, dark });
  t.end();
});

void t.test("what browsers and crawlers ask of every site", async (t) => {
  const { pool, registry } = await emptied(database);
  const { port } = await serve(t, { pool, registry });
  const icon = await askRaw(port, "/favicon.ico");
  t.equal(icon.status, 200);
  t.match(icon.headers, { "content-type": "image/svg+xml", "cache-control": "public, max-age=300" });
  t.match(icon.bytes.toString(), /^<svg /);
  const robots = await askRaw(port, "/robots.txt");
  t.equal(robots.status, 200);
  t.match(robots.headers, { "content-type": "text/plain; charset=utf-8" });
  t.match(robots.bytes.toString(), /^User-agent: \*\n(Disallow: \/.+\n)+$/);
  t.notMatch(robots.bytes.toString(), /^Disallow: \/$/m, "pages may be found");
});

void t.test("a venue is found by any spelling of its name, and only a venue", async (t) => {
  const { pool, registry } = await emptied(database);
  await decide(pool);
  const api = await serve(t, { pool, registry });
  const { port } = api;
  const leadsTo = async (path: string) => {
    const { status, headers } = await askRaw(port, path);
    return status === 301 ? headers["location"] : status;
  };
  for (const path of ["/okx", "/OKX", "/Okx", "/is-OKX-down", "/is-okx-down", "/venues/OKX", "/venues/Okx"])
    t.equal(await leadsTo(path), "/venues/okx", path);
  for (const path of ["/Coinbase%20Exchange", "/coinbase-exchange", "/venues/Coinbase%20Exchange"])
    t.equal(await leadsTo(path), "/venues/coinbase", path);
  t.equal(await leadsTo("/venues/okx"), 200);
  for (const path of [
    "/foo",
    "/okxx",
    "/OKX/",
    "/okx/x",
    "/Docs",
    "/%ff",
    "/%00",
    "/-",
    "/okx%3C",
    "/venues/okx%3C",
    "/v1/targets/OKX",
  ])
    t.equal(await leadsTo(path), 404, path);
  t.equal((await api.ask("/v1/targets/OKX")).status, 404, "an answer of the API has one address");
});

void t.test("the page of an unknown venue names the one that is meant", async (t) => {
  const { pool, registry } = await emptied(database);
  const api = await serve(t, { pool, registry });
  const { port } = api;
  const { status, text, title, links } = await getPage(port, "/venues/krakn");
  t.equal(status, 404);
  t.match(title, /^No venue “krakn”/);
  t.match(text, /No venue “krakn” .*Did you mean Kraken\? All venues/);
  t.ok(links.includes("/venues/kraken"));
  const far = await getPage(port, "/venues/%3Cscript%3Ealert(1)%3C%2Fscript%3E");
  t.match(far.text, /No venue “<script>alert\(1\)<\/script>” Error 404: Not Found All venues/);
  t.notMatch(far.html, "<script>alert");
  const { body } = await api.ask<object>("/v1/targets/krakn");
  t.strictSame(
    body,
    {
      ...{ type: "about:blank", title: "Not Found", status: 404 },
      detail: 'Unknown venue "krakn". Did you mean kraken? /v1/status lists all watched venues.',
    },
    "programs get the same as ever",
  );
});

void t.test("the page of a wrong address keeps the form, with what was right", async (t) => {
  const { pool, registry } = await emptied(database);
  await decide(pool);
  const { port } = await serve(t, { pool, registry });
  const pages = [
    ["/?state=fine&q=kra&sort=worst", "/", /name="q" [^>]*value="kra"/],
    ["/incidents?days=0&venue=okx", "/incidents", /<option value="okx" selected/],
    ["/compare?days=91&category=rpc", "/compare", /<option value="rpc" selected/],
    ["/detection?days=x", "/detection", /name="days"[^>]*value="90"/],
  ] as const;
  for (const [path, action, kept] of pages) {
    const { status, html, text } = await getPage(port, path);
    t.equal(status, 400, path);
    t.match(text, /We do not understand this address/);
    t.match(html, new RegExp(`<form class="filter" action="${action}"`), path);
    t.match(html, kept, path);
  }
});

void t.test("a board of one's own", async (t) => {
  const { pool, registry } = await emptied(database);
  await troubledBoard(pool);
  const startedAt = ago(200);
  await pastIncident(pool, { venue: "bybit", component: "rest:book", startedAt, minutes: null, severity: "degraded" });
  await decide(pool);
  const { port } = await serve(t, { pool, registry });

  await t.test("says of its venues what the API says of them, and nothing of others", async (t) => {
    const { text, title, venues, icon, html } = await getPage(port, "/?venues=okx,kraken");
    t.strictSame(venues, ["Kraken", "OKX"]);
    t.match(text, /^OKX is degraded\. 1 of 2 healthy\. This is a board of your own/);
    t.match(text, /This is a board of your own: Kraken and OKX\./);
    t.match(title, /^Kraken and OKX: OKX is degraded\. 1 of 2 healthy/);
    t.equal(icon, "degraded");
    t.notMatch(text, /Bybit/);
    t.match(html, /<input type="text" name="venues" value="kraken, okx"/, "the form keeps it");
  });

  await t.test("is well while its venues are, whatever happens elsewhere", async (t) => {
    const { text, icon, title } = await getPage(port, "/?venues=kraken");
    t.match(text, /^The only venue is healthy\./);
    t.match(text, /No incident of these venues is open\./);
    t.match(title, /^Kraken: The only venue is healthy/);
    t.equal(icon, "operational");
  });

  await t.test("has one address for each selection, in any order and spelling", async (t) => {
    const canonical = async (query: string) => previewOf((await getPage(port, `/?venues=${query}`)).html)["canonical"];
    const one = await canonical("okx,kraken");
    t.equal(await canonical("Kraken,%20OKX,okx,"), one);
  });

  await t.test("names what no venue is called", async (t) => {
    const { status, text, html } = await getPage(port, "/?venues=okx,krakn,%3Cb%3E&q=x");
    t.equal(status, 400);
    t.match(text, /venues expected the ids of venues, separated by commas; got "krakn", which no venue is called/);
    t.match(text, /did you mean kraken\?.*"<b>", which no venue is called/);
    t.match(html, /name="q" [^>]*value="x"/);
    t.equal((await getPage(port, "/?venues=,")).status, 400);
    t.equal((await getPage(port, "/?venues=okx&venues=kraken")).status, 400);
  });

  await t.test("is on the wall, too", async (t) => {
    const { text, title, html } = await getPage(port, "/wall?venues=okx,kraken");
    t.match(text, /OKX is degraded\./);
    t.match(title, /^Wall: Kraken and OKX: /);
    t.equal([...html.matchAll(/class="tile /g)].length, 2);
    t.equal((await getPage(port, "/wall?venues=none")).status, 400);
  });

  await t.test("stays out of the API", async (t) => {
    const { body } = await (await serve(t, { pool, registry })).ask<{ venues: object[] }>("/v1/status?venues=okx");
    t.equal(body.venues.length, 15);
  });
});

void t.test("an incident leads to its venue as it is now, and says when it was", async (t) => {
  const { pool, registry } = await emptied(database);
  const api: Api = await serve(t, { pool, registry, baseUrl });
  await measured(pool, { from: ago(400), to: ago(0) });
  const startedAt = new Date("2026-01-31T01:13:00Z");
  const slug = await pastIncident(pool, { venue: "okx", component: "rest:ticker", startedAt, minutes: 18 });
  await decide(pool);
  const { text, title, html, links, headers } = await getPage(api.port, `/incidents/${slug}`);
  const when = String.raw`on 31 Jan( 2026)?, 01:13 UTC`;
  t.match(text, new RegExp(`^OKX: Ticker was down for 18 min ${when}\\.`));
  t.match(title, new RegExp(`^OKX: Ticker was down for 18 min ${when} · venuewatch$`));
  const { state } = (await api.ask<{ state: string }>("/v1/targets/okx/state")).body;
  t.equal(state, "operational");
  t.match(text, /OKX now: Healthy, since (\d+ \w+, )?\d\d:\d\d UTC\./);
  t.ok(links.includes("/venues/okx"));
  t.match(html, new RegExp(`<button[^>]* data-copy="/incidents/${slug}" data-copy-path="true"`));
  t.equal(headers["cache-control"], "public, max-age=5, stale-while-revalidate=30", "the venue's state may change");
  t.match(text, /Raw samples are kept for eight days\. Those of this incident are gone/);
  const young = await pastIncident(pool, { venue: "okx", component: "rest:book", startedAt: ago(900), minutes: 5 });
  await decide(pool);
  const page = await getPage(api.port, `/incidents/${young}`);
  for (const link of page.links.filter((link) => link.includes("/samples")))
    t.equal((await api.ask(link)).status, 200, link);
  t.ok(page.links.includes(`/v1/incidents/${young}/samples.csv?limit=5000`));

  const stale = await serve(t, { pool, registry, staleAfterMs: 0 });
  t.match((await getPage(stale.port, `/incidents/${young}`)).text, /OKX now: we cannot tell at the moment\./);
});

void t.test("days of the history are those of UTC, and say so", async (t) => {
  const { pool, registry } = await emptied(database);
  const { port } = await serve(t, { pool, registry });
  const startedAt = new Date(Date.now() - 3 * 86_400_000);
  await pastIncident(pool, { venue: "okx", component: "rest:ticker", startedAt, minutes: 18 });
  await decide(pool);
  const { html } = await getPage(port, "/incidents");
  const [, day, heading] = /<section [^>]*data-day="([^"]+)"><h2[^>]*>(.*?)<\/h2>/.exec(html)!;
  t.equal(day, startedAt.toISOString().slice(0, 10));
  const weekday = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"][startedAt.getUTCDay()];
  t.match(heading, new RegExp(`^${weekday} ${startedAt.getUTCDate()} \\w{3,4}( \\d{4})? \\(UTC\\)$`));
});

void t.test("only the page of a venue may ask others, and only the origins of its endpoints", async (t) => {
  const { pool, registry } = await emptied(database);
  await decide(pool);
  const { port } = await serve(t, { pool, registry, baseUrl });
  const connects = async (path: string) =>
    /connect-src ([^;]*)/.exec((await getPage(port, path)).headers["content-security-policy"]!)![1];
  for (const { id, rest } of registry.venues) {
    const origins = [...new Set(rest.map(({ url }) => new URL(url).origin))];
    t.equal(await connects(`/venues/${id}`), ["'self'", ...origins].join(" "), id);
  }
  for (const path of ["/", "/incidents", "/wall", "/docs", "/none", "/venues/none"])
    t.equal(await connects(path), "'self'", path);
  const { text, html } = await getPage(port, "/venues/okx");
  t.match(text, `npx venuewatch check okx --url ${baseUrl}`);
  t.match(text, /at most two requests to each of 4 endpoints at openapi\.okx\.com\./);
  t.match(html, /<button[^>]* data-check="\[\{&quot;component&quot;:&quot;rest:time&quot;/);
});

void t.test("no operator's key gets into a browser", async (t) => {
  const { pool, registry } = await emptied(database);
  await decide(pool);
  const own = structuredClone(registry);
  const okx = own.venues.find(({ id }) => id === "okx")!;
  okx.rest[0]!.url = "https://nodes.example.org/v1/secret-key";
  okx.rest[1]!.headers = { "x-api-key": "secret-key" };
  okx.rest[2]!.method = "POST";
  okx.rest[2]!.body = { key: "secret-key" };
  const { port } = await serve(t, { pool, registry: own });
  const { html, text, headers } = await getPage(port, "/venues/okx");
  t.notMatch(/data-check="([^"]*)"/.exec(html)![1], "secret");
  t.match(text, /at most two requests to one endpoint at openapi\.okx\.com/);
  t.notMatch(headers["content-security-policy"], "nodes.example.org");
});
