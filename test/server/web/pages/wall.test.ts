/** The board on a wall, as a reader across the room sees it. */
import t from "tap";
import { sql } from "../../../../shared/database/pool.js";
import { staleAfterMs } from "../../../../server/web/board/stale.js";
import { serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { emptied } from "../../../support/emptied.js";
import { ago, decide, measured } from "../../../support/fleet.js";
import { getPage } from "../../../support/page.js";
import { troubledBoard } from "../../../support/page-world.js";

const database = await migratedDatabase(t);

void t.test("the wall", async (t) => {
  await emptied(database);
  await troubledBoard(database.pool);
  const { port } = await serve(t, database);
  const tiles = async (query = "") => tilesOf((await getPage(port, `/wall${query}`)).html);

  await t.test("answers in a sentence, with open incidents and regions", async (t) => {
    const { text, title, icon } = await getPage(port, "/wall");
    t.match(text, /^As of \S+ \S+ UTC Central Europe reports Southeast Asia reports US East reports OKX is degraded/);
    t.match(
      text,
      /OKX is degraded\. OKX degraded: Ticker down, in 2 of 3 regions, for 2 min/,
      "by the venue's own state",
    );
    t.match(text, /OKX (Degraded|Down) for [^,]+, 1 open incident/);
    t.match(text, /Gemini Unknown for/);
    t.match(title, /^Wall: OKX is degraded\. 13 of 15 healthy, 1 unknown/);
    t.equal(icon, "degraded");
  });

  await t.test("has trouble first, and every venue", async (t) => {
    const all = await tiles();
    t.same(all.slice(0, 2), ["OKX", "Gemini"]);
    t.equal(all.length, 15);
  });

  await t.test("has neither navigation nor footer, and follows the newest tick", async (t) => {
    const { html } = await getPage(port, "/wall");
    t.notMatch(html, /<nav|<footer|<header/);
    t.match(html, /<main[^>]* data-follow/);
    t.match(html, /<noscript><meta http-equiv="refresh"/);
  });

  await t.test("takes the parameters of the board", async (t) => {
    t.same(await tiles("?state=trouble"), ["OKX"]);
    t.same(await tiles("?q=coinb"), ["Coinbase Exchange"]);
    t.equal((await tiles("?sort=category"))[0], "Binance");
    t.same(await tiles("?category=rpc"), []);
    t.match((await getPage(port, "/wall?q=nothing")).text, /No venue matches this filter\./);
    t.equal((await getPage(port, "/wall?state=fine")).status, 400);
  });
});

void t.test("the wall shows nothing unknown in green", async (t) => {
  const { pool, registry } = await emptied(database);
  await measured(pool, { from: ago(700), to: ago(600) });
  const hostile = `<script>alert(1)</script>\u202e${"x".repeat(150)}`;
  await pool.query(sql`update venue set name = ${hostile} where venue = 'binance'`);
  await decide(pool, ago(600));
  const { port } = await serve(t, { pool, registry, staleAfterMs });
  const { text, html, icon } = await getPage(port, "/wall");
  t.match(text, /^Blind for 1?\d min( \d+ s)?, since [-\d]+ [:\d]+ UTC: we have nothing newer\./);
  t.equal(icon, "unknown");
  t.ok(text.includes(hostile));
  t.notMatch(html, /<script>alert/);
});

void t.test("the wall of an empty database", async (t) => {
  const { pool, registry } = await emptied(database);
  await pool.query(sql`update venue set published = false`);
  const { port } = await serve(t, { pool, registry });
  t.match((await getPage(port, "/wall")).text, /No venue is measured yet\. No incident is open\./);
});

/** Names on the tiles, in order. */
function tilesOf(html: string): string[] {
  return [...html.matchAll(/<h2><a[^>]*><bdi>(.*?)<\/bdi>/g)].map(([, name = ""]) => name);
}
