/** A board of many venues: groups by category and chain, links to them, and its size. */
import { gzipSync } from "node:zlib";
import t from "tap";
import { syncRegistry } from "../../../../server/database/sync-registry.js";
import { sql } from "../../../../shared/database/pool.js";
import { loadRegistry } from "../../../../shared/registry/load-registry.js";
import { categories } from "../../../../shared/registry/registry.js";
import { serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { emptied } from "../../../support/emptied.js";
import { ago, decide, measured } from "../../../support/fleet.js";
import { getPage } from "../../../support/page.js";
import { troubledBoard } from "../../../support/page-world.js";

const usual = await migratedDatabase(t);
const { pool } = usual;
const registry = await loadRegistry("registry/all.json");
await syncRegistry(pool, registry);
await pool.script("update component_entry set good_at = '-infinity'");
const now = ago(0);
await measured(pool, { from: ago(120), to: now });
for (const venue of ["kraken", "drpc"]) await measured(pool, { from: ago(100), to: now, venue, fault: "timeout" });
await decide(pool);
const { port } = await serve(t, { pool, registry });

/** The links of the bar, each with the words beside it. */
const jumpsOf = (html: string) =>
  [...(/<nav aria-label="Jump to a group"[^>]*>(.*?)<\/nav>/s.exec(html)?.[1] ?? "").matchAll(/<li.*?<\/li>/gs)].map(
    ([item]) => [/href="([^"]*)"/.exec(item)![1]!, item.replace(/<[^>]*>/g, "").trim()] as const,
  );

void t.test("a bar leads to the groups, and says where there is trouble", async (t) => {
  const { html } = await getPage(port, "/");
  const jumps = jumpsOf(html);
  t.same(
    jumps.map(([href]) => href),
    categories.map((category) => `#category-${category}`),
  );
  for (const [href] of jumps) t.match(html, `<h3 id="${href.slice(1)}">`, "each has a heading");
  t.match(jumps[0]![1], /^Exchanges \d+, 1 in trouble$/);
  t.match(jumps[1]![1], /^RPC providers \d+, 1 in trouble$/);
  t.match(jumps[3]![1], /^Oracles \d+$/);
  const ids = [...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
  t.equal(new Set(ids).size, ids.length, "no id occurs twice");
});

void t.test("a single group needs no bar", async (t) => {
  for (const query of ["category=rpc", "sort=worst", "q=kraken", "q=nothing"])
    t.same(jumpsOf((await getPage(port, `/?${query}`)).html), [], query);
});

void t.test("RPC providers are grouped by chain, with the chain first", async (t) => {
  const { html, text, venues } = await getPage(port, "/?category=rpc");
  t.match(html, /<h4 id="ethereum-chain"><bdi>Ethereum<\/bdi><\/h4>/);
  t.match(html, /<h4 id="bsc-chain"><bdi>BNB Smart Chain<\/bdi><\/h4>/, "by the names that people use");
  t.match(
    text,
    /Ethereum Venue.*Typical Ethereum chain \w+ for .* PublicNode Ethereum RPC \w+ for .* dRPC Ethereum public endpoint Down for/,
  );
  const placeOf = (name: string) => venues.indexOf(name);
  t.equal(placeOf("PublicNode Ethereum RPC"), placeOf("Ethereum chain") + 1);
  t.same(
    (await getPage(port, "/?category=rpc&sort=worst")).venues[0],
    "dRPC Ethereum public endpoint",
    "the order of another question stays whole",
  );
  t.notMatch((await getPage(port, "/?q=publicnode&category=oracle")).html, /<h4 id=/);
});

void t.test(
  "a board of 150 venues has at most thirty kilobytes, and names few of those that are unknown",
  async (t) => {
    await pool.query(sql`
    insert into venue (venue, name, category, position)
    select 'more-' || n, 'One more venue ' || n, (${categories}::text[])[1 + n % 7], 1000 + n
    from generate_series(1, 150 - (select count(*) from venue where published)) as n
  `);
    await decide(pool);
    const { text, venues } = await getPage(port, "/");
    t.equal(venues.length, 150);
    t.match(text, / Unknown: ([^,]+, ){7}[^,]+ and \d+ more\. In trouble now/);
    const bytes = await compressedBytes(port);
    t.ok(bytes < 30_000, `${bytes} bytes`);
  },
);

void t.test("a board of fifteen venues has at most fourteen kilobytes", async (t) => {
  const { pool } = await emptied(usual);
  await troubledBoard(pool);
  const { port } = await serve(t, usual);
  t.equal((await getPage(port, "/")).venues.length, 15);
  const bytes = await compressedBytes(port);
  t.ok(bytes < 14_000, `${bytes} bytes`);
});

/** What a first visit of the board loads before it is painted: the page, which contains its style, compressed. */
async function compressedBytes(port: number): Promise<number> {
  const { html } = await getPage(port, "/");
  t.notMatch(html, 'rel="stylesheet"');
  return gzipSync(html).length;
}
