/** The board as a reader sees it, as text. */
import t, { type Test } from "tap";
import { sql } from "../../../../shared/database/pool.js";
import { staleAfterMs } from "../../../../server/web/board/stale.js";
import { serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { emptied } from "../../../support/emptied.js";
import { ago, decide, decideThrough, measured, outage } from "../../../support/fleet.js";
import { member } from "../../../support/member.js";
import { getPage } from "../../../support/page.js";
import { troubledBoard } from "../../../support/page-world.js";
import { readThrough } from "../../../support/stored-notices.js";

const database = await migratedDatabase(t);

void t.test("the board of an empty database", async (t) => {
  const { pool, registry } = await emptied(database);
  await pool.query(sql`update venue set published = false`);
  const without = await serve(t, { pool, registry });
  t.match((await getPage(without.port, "/")).text, /No venue is measured yet\./);
  await pool.query(sql`update venue set published = true`);
  const { port } = await serve(t, { pool, registry });
  const { text, title, icon } = await getPage(port, "/");
  t.match(text, /We cannot tell: no venue has enough recent measurements\./);
  t.match(title, /^State unknown \(15 venues\)/);
  t.match(text, /We cannot tell whether an incident is open\./);
  t.equal(icon, "unknown", "nothing is painted green without evidence");
  t.notMatch(text, /100 %/);
});

void t.test("the board", async (t) => {
  await emptied(database);
  await troubledBoard(database.pool);
  const { port } = await serve(t, database);
  await t.test("answers in a sentence", async (t) => {
    const { text, title, icon } = await getPage(port, "/");
    t.match(text, /^OKX is degraded\. 13 of 15 healthy, 1 unknown\. Unknown: Gemini\./);
    t.match(title, /^OKX is degraded\. 13 of 15 healthy, 1 unknown/);
    t.equal(icon, "degraded");
  });
  await t.test("has a card with what fails, where and since when", async (t) => {
    const { text, links } = await getPage(port, "/");
    t.match(
      text,
      /In trouble now OKX Degraded Ticker down, in 2 of 3 regions; its streams work since \d\d:\d\d UTC \(2 min( \d+ s)?\): no answer in time Incident: Ticker/,
    );
    t.ok(links.some((link) => /^\/incidents\/okx-\d{4}-\d\d-\d\d-rest-(degraded|outage)$/.test(link)));
  });
  await t.test("gives the state of each venue as a word, and links to its page", async (t) => {
    const { text, links } = await getPage(port, "/");
    t.match(text, /OKX (Degraded|Down) for/);
    t.match(text, /Gemini Unknown for/);
    t.match(text, /Binance Healthy for/);
    t.ok(links.includes("/venues/okx"));
  });
  await t.test("says how much of the uptime is measured", async (t) => {
    t.match((await getPage(port, "/")).text, /Gemini Unknown for [^%]*Uptime unknown (0 % |not )measured/);
  });
  await t.test("is filtered by its address", (t) => filters(t, port));
  await t.test("has the cache rules of the API", (t) => caches(t, port));
  await t.test("has a quorum of regions, with silent ones marked", async (t) => {
    const { text } = await getPage(port, "/");
    t.match(text, /Central Europe reports/);
    t.match(text, /2 of the 3 voting regions must agree/);
  });
});

async function filters(t: Test, port: number) {
  const names = async (query: string) => (await getPage(port, `/?${query}`)).venues;
  t.same(await names("state=trouble"), ["OKX"]);
  t.same(await names("state=unknown"), ["Gemini"]);
  t.same(await names("q=coinb"), ["Coinbase Exchange"]);
  t.same((await names("sort=worst")).slice(0, 2), ["OKX", "Gemini"]);
  t.same(await names("category=rpc&q=&state=&sort="), [], "empty fields of the form are no filters");
  const { text: empty, title } = await getPage(port, "/?category=oracle");
  t.match(empty, /^Oracles: No venue is measured yet\./, "and says which venues it covers");
  t.match(empty, /No incident of this category is open\./);
  t.match(title, /^Oracles: No venue is measured yet/);
  const { text, status } = await getPage(port, "/?q=<b>nothing");
  t.equal(status, 200);
  t.match(text, /No venue matches this filter\. Show all venues/);
  t.equal((await getPage(port, "/?state=fine")).status, 400);
}

async function caches(t: Test, port: number) {
  const first = await getPage(port, "/");
  t.match(first.headers, { "cache-control": "public, max-age=5, stale-while-revalidate=30" });
  const again = await getPage(port, "/", { "if-none-match": first.headers["etag"]! });
  t.equal(again.status, 304);
  t.match(first.headers["content-security-policy"], /^default-src 'none';/);
  t.notMatch(first.headers["content-security-policy"], /unsafe/);
}

void t.test("hostile names do not change the page around them", async (t) => {
  const { pool, registry } = await emptied(database);
  const hostile = [`<script>alert(1)</script>`, "\u202egnp.exe", "x".repeat(200), `" onload="alert(1)`];
  for (const [at, name] of hostile.entries())
    await pool.query(sql`update venue set name = ${name} where position = ${at + 1}`);
  await pool.query(sql`update component set label = ${"</h1><img src=x>\u202e"} where component = 'rest:ticker'`);
  await measured(pool, { from: ago(120), to: ago(0) });
  await measured(pool, { from: ago(60), to: ago(0), component: "rest:ticker", fault: "timeout" });
  await decide(pool, ago(2));
  const { port } = await serve(t, { pool, registry });
  const { text, html } = await getPage(port, "/");
  for (const name of hostile) t.ok(text.includes(name.replace("\u202e", "")) || text.includes(name), name);
  t.notMatch(html, /<script>alert|<img src=x|" onload="/);
  const outside = html.replace(/<bdi>.*?<\/bdi>|\u2068.*?\u2069/gs, "");
  t.match(html, /\u202e/);
  t.notMatch(outside, /\u202e/, "and direction overrides are isolated");
});

void t.test("a venue that recovers is named as that, and is not in trouble now", async (t) => {
  const { pool } = await emptied(database);
  await measured(pool, { from: ago(400), to: ago(0) });
  await readThrough(pool, "kraken", ago(600), ago(0));
  const trouble = { venue: "kraken", component: "rest:ticker", fault: "timeout" } as const;
  // bad for the rest of its window of a minute, and then open for another one
  await measured(pool, { from: ago(230), to: ago(90), ...trouble });
  await decideThrough(pool, ago(250), ago(2));
  const { port } = await serve(t, database);
  const { text, title } = await getPage(port, "/");
  t.match(text, /^All 15 venues are healthy; Kraken is recovering\. Not over yet Kraken Recovering Ticker was/);
  t.match(text, /Incident: Ticker When it began, the venue's page said nothing about it/);
  t.match(title, /^All 15 venues are healthy; Kraken is recovering ·/);
  t.match((await getPage(port, "/wall")).text, /All 15 venues are healthy; Kraken is recovering\./);
});

for (const [elsewhere, what] of [
  ["network", "cannot reach the internet"],
  ["resolver", "cannot measure"],
] as const)
  void t.test(`that no region can measure is said since the last one cannot: ${what}`, async (t) => {
    const { pool, registry } = await emptied(database);
    const { port } = await serve(t, database);
    for (const [at, { id: region }] of registry.regions.entries()) {
      const since = new Date(Date.UTC(2026, 0, 15, 12, at));
      const kind = at === 0 ? "network" : elsewhere;
      await member(pool, { region, troubles: [{ kind, since, detail: "no route" }] }).renew();
    }
    await decide(pool);
    const said = new RegExp(`Each of our 3 regions ${what} since 15 Jan[^:]*, 12:02 UTC\\.`);
    t.match((await getPage(port, "/")).text, said);
  });

void t.test("old data is called old", async (t) => {
  const { pool } = await emptied(database);
  await measured(pool, { from: ago(700), to: ago(600) });
  await decide(pool, ago(600));
  const { port } = await serve(t, { ...database, staleAfterMs });
  const { text, title, icon, html } = await getPage(port, "/");
  t.match(text, /^Blind for 1?\d min, since [-\d]+ [:\d]+ UTC: we have nothing newer\. .* then\. We cannot tell:/);
  const [, blindSince] = /since ([-\d]+ [:\d]+ UTC)/.exec(text)!;
  t.ok(text.endsWith(`As of ${blindSince}`), "the same instant at the end");
  t.match(title, /^1?\d min old: State unknown \(15 venues\)/);
  t.equal(icon, "unknown");
  t.match(html, /<main[^>]* class="old"/, "and shown without the colour of health");
});

void t.test("an open incident of a venue that nobody measures any more is not called present", async (t) => {
  const { pool } = await emptied(database);
  await outage.open(pool);
  await pool.query(sql`delete from sample where ts > ${ago(200)}`);
  await decide(pool, ago(0));
  const { port } = await serve(t, database);
  const { text } = await getPage(port, "/");
  t.match(text, /Kraken Unknown Ticker was (failing|degraded) when we last measured it since/);
  t.notMatch(text, /Kraken is (down|degraded)/);
});
