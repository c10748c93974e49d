/** What venues declare about deposits and withdrawals, as a reader sees it. */
import t from "tap";
import { sql } from "../../../../shared/database/pool.js";
import { serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { getPage } from "../../../support/page.js";
import { line, listed } from "../../../support/stored-transfers.js";

void t.test("pages of transfers", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  const { port } = await serve(t, { pool, registry });
  const [clock] = await pool.query<{ now: Date }>(sql`
    insert into engine_clock (ticked_at, version, silent_after_ms)
    values (date_trunc('milliseconds', now()), 'test', 86400000)
    returning ticked_at as now
  `);
  const ago = (minutes: number) => new Date(+clock!.now - minutes * 60_000);

  await t.test("nobody knows anything before a list was read", async (t) => {
    const { text, icon, links } = await getPage(port, "/transfers");
    t.match(text, /We do not measure it/);
    t.match(text, /OKX says it only with an account/);
    t.equal(icon, "unknown");
    for (const link of ["/v1/transfers", "/v1/transfers.csv"]) t.ok(links.includes(link), link);
  });

  await t.test("what is paused, since when, and in whose words", async (t) => {
    const because = "<script>alert(1)</script>\u202e";
    await listed(pool, "kraken", ago(70), [line("SOL", null, "paused", "open", because), line("BTC", null)]);
    await listed(pool, "kraken", ago(3), [line("SOL", null, "paused", "open", because), line("BTC", null)]);
    const { text, html, links } = await getPage(port, "/transfers?again");
    t.match(text, /SOL/);
    t.match(text, /<script>alert\(1\)<\/script>/, "as a text");
    t.notMatch(html, /<script>alert|\u202e/);
    t.ok(links.includes("/venues/kraken#transfers"));
    const venue = await getPage(port, "/venues/kraken");
    t.match(venue.text, /Deposits and withdrawals/);
    t.match(venue.text, /SOL/);
  });

  await t.test("a long list of what is paused is folded after six lines", async (t) => {
    const paused = ["ADA", "BTC", "DOGE", "ETH", "SOL", "USDC", "USDT", "XRP"].map((asset) =>
      line(asset, null, "paused"),
    );
    for (const [venue, count, more] of [
      ["bitfinex", 6, null],
      ["kucoin", 8, "2"],
    ] as const) {
      await listed(pool, venue, ago(2), paused.slice(0, count));
      const { html } = await getPage(port, `/venues/${venue}`);
      t.match(html, "Not open, by asset and network");
      const [, folded = null] =
        /<details data-key="transfers-not-open"><summary>(\d+) more lines are not open/.exec(html) ?? [];
      t.equal(folded, more);
    }
  });
});
