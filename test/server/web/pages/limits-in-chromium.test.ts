/** Pages in a real Chromium where names are hostile, venues many, or data missing. */
import t, { type Test } from "tap";
import { sql } from "../../../../shared/database/pool.js";
import { staleAfterMs } from "../../../../server/web/board/stale.js";
import { retractIncident } from "../../../../server/core/engine/retract.js";
import { serve } from "../../../support/api.js";
import { chromiumMissing, openChromium, openWindow } from "../../../support/chromium.js";
import { migratedDatabase } from "../../../support/database.js";
import { emptied } from "../../../support/emptied.js";
import { ago, decide, measured, outage } from "../../../support/fleet.js";
import { makeGate } from "../../../support/gate.js";
import { getPage } from "../../../support/page.js";
import { visitPages, zoomed } from "../../../support/page-checks.js";
import { poolOn } from "../../../support/pool-on.js";
import { notice, readThrough, said, whole } from "../../../support/stored-notices.js";
import { until } from "../../../support/until.js";

const markup = `<script>alert(1)</script><img src=x onerror="alert(1)">`;
const name = `${markup}\u202e${"W".repeat(200 - markup.length - 1)}`;

const database = await migratedDatabase(t);

void t.test("limits in Chromium", { skip: chromiumMissing }, async (t) => {
  const { pool } = database;
  const browser = await openChromium(t);

  /** The pages of OKX, of its newest incident if there is one, and of the whole fleet. */
  async function visit(t: Test, options: { staleAfterMs?: number } = {}): Promise<void> {
    const { port } = await serve(t, { ...database, ...options });
    const { links } = await getPage(port, "/");
    const incidents = links.filter((link) => /^\/incidents\/[a-z]/.test(link)).slice(0, 1);
    const paths = ["/", "/venues/okx", "/incidents", ...incidents, "/compare", "/detection", "/regions", "/wall"];
    const pages = paths.map((path) => [path, 200] as const);
    for (const window of [{}, zoomed]) await visitPages(t, browser, `http://127.0.0.1:${port}`, pages, window);
  }

  await t.test("hostile names and notices", async (t) => {
    await emptied(database);
    await outage.open(pool);
    for (const table of [sql`venue`, sql`region`]) await pool.query(sql`update ${table} set name = ${name}`);
    await pool.query(sql`update component set label = ${name}`);
    const hostile = { title: name, url: "javascript:alert(1)" };
    await readThrough(pool, "okx", ago(8_000), ago(60));
    await said(pool, "okx", ago(30), [whole(notice("a", ago(4_000), hostile))]);
    await decide(pool);
    await visit(t);
  });

  await t.test("a venue with sixty components, and 150 venues", async (t) => {
    await emptied(database);
    await pool.query(sql`
      insert into component (venue_id, component, label, target, cadence_ms, position)
      select venue_id, 'rest:part' || chr(97 + n / 26) || chr(97 + n % 26), 'Part ' || n, target, cadence_ms, 100 + n
      from component c join venue v using (venue_id) cross join generate_series(1, 52) as n
      where v.venue = 'okx' and c.component = 'rest:ticker'
    `);
    await pool.query(sql`
      with copy as (
        insert into venue (venue, name, category, position)
        select venue || '-' || n, name || ' ' || n, category, position from venue cross join generate_series(2, 10) as n
        returning venue_id, venue
      )
      insert into component (venue_id, component, label, cadence_ms, position)
      select copy.venue_id, c.component, c.label, c.cadence_ms, c.position
      from copy
      join venue v on v.venue = regexp_replace(copy.venue, '-\\d+$', '')
      join component c on c.venue_id = v.venue_id
    `);
    await measured(pool, { from: ago(120), to: ago(0) });
    await measured(pool, { from: ago(60), to: ago(0), venue: "okx", fault: "timeout" });
    await decide(pool);
    await visit(t);
  });

  await t.test("an empty database", async (t) => {
    await emptied(database);
    await visit(t);
  });

  await t.test("a silent engine", async (t) => {
    await emptied(database);
    await measured(pool, { from: ago(900), to: ago(700) });
    await decide(pool, ago(700));
    await visit(t, { staleAfterMs });
  });

  await t.test("a lost database", async (t) => {
    await emptied(database);
    await measured(pool, { from: ago(120), to: ago(0) });
    await decide(pool);
    const gate = await makeGate(t, database.url);
    const { port } = await serve(t, { ...database, pool: poolOn(t, gate.url) });
    const root = `http://127.0.0.1:${port}`;
    const { page } = await openWindow(t, browser);
    await page.goto(root);
    await gate.shut();
    const notice = page.locator("#lost");
    await until(() => notice.isVisible());
    t.match(await notice.innerText(), /We cannot read our own data/);
    t.match(await page.locator("h1").innerText(), /15 venues are healthy/, "the last answer stays");
    t.match(await page.title(), /^May be old: /, "but not as new");
    t.match(await page.locator("link[rel=icon]").getAttribute("href"), /unknown\.svg$/);
    await visitPages(t, browser, root, [["/", 503]], zoomed);
    await page.goto(`${root}/regions`);
    t.match(await page.locator("main").innerText(), /says nothing about any venue/);
    await gate.open();
    await until(async () => /regions report/.test(await page.locator("h1").innerText()));
  });

  await t.test("an incident that is retracted while its page is open", async (t) => {
    await emptied(database);
    await outage.open(pool);
    const { port } = await serve(t, database);
    const [slug] = await pool.query<{ slug: string }>(sql`select slug from incident`);
    const { page } = await openWindow(t, browser);
    await page.goto(`http://127.0.0.1:${port}/incidents/${slug!.slug}`);
    t.match(await page.locator("h1").innerText(), /^Kraken: Ticker/);
    await retractIncident(pool, slug!.slug, "a drill");
    await until(async () => /retracted/.test(await page.locator("h1").innerText()));
  });

  await t.test("more requests than allowed", async (t) => {
    await emptied(database);
    await measured(pool, { from: ago(120), to: ago(0) });
    await decide(pool);
    const { port } = await serve(t, { ...database, rateLimit: 4 });
    const { page } = await openWindow(t, browser);
    await page.goto(`http://127.0.0.1:${port}/`);
    for (let asked = 0; asked < 4; asked++) await getPage(port, "/");
    const notice = page.locator("#lost");
    await until(() => notice.isVisible());
    t.match(await notice.innerText(), /too many requests/);
    t.notMatch(await page.title(), /May be old/, "the last answer is seconds old");
  });
});
