/** Pauses of deposits and withdrawals as feed readers get them. */
import { DOMParser } from "@xmldom/xmldom";
import t from "tap";
import { sql } from "../../../../shared/database/pool.js";
import { serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { feedparserReads, readersMissing } from "../../../support/feed-readers.js";
import { line, listed } from "../../../support/stored-transfers.js";

void t.test("feeds of transfers", async (t) => {
  const database = await migratedDatabase(t);
  const { pool } = database;
  const [clock] = await pool.query<{ now: Date }>(sql`
    insert into engine_clock (ticked_at, version, silent_after_ms)
    values (date_trunc('milliseconds', now()), 'test', 86400000)
    returning ticked_at as now
  `);
  const ago = (minutes: number) => new Date(+clock!.now - minutes * 60_000);

  /** Of a service that has nothing in memory. */
  async function read(path: string) {
    const { text } = await (await serve(t, database)).ask(path);
    const feed = new DOMParser().parseFromString(text, "text/xml").documentElement!;
    const entries = [...feed.getElementsByTagName(path.endsWith("rss") ? "item" : "entry")].map((entry) => {
      const textOf = (name: string) => entry.getElementsByTagName(name)[0]?.textContent;
      return { id: textOf("id") ?? textOf("guid"), title: textOf("title"), content: textOf("content") };
    });
    return { text, entries };
  }

  await t.test("a pause is one entry, which is updated when it ends", async (t) => {
    t.strictSame((await read("/feeds/transfers.atom")).entries, []);
    await listed(pool, "gate", ago(65), [line("USDT", "TRX"), line("BTC", "BTC")]);
    await listed(pool, "gate", ago(60), [line("USDT", "TRX", "paused", "open", "<b>wallet</b>"), line("BTC", "BTC")]);
    const paused = await read("/feeds/transfers.atom");
    t.match(paused.entries, [{ title: "Gate: withdrawals of USDT on Tron are paused" }]);
    t.match(paused.entries[0]!.content, /The venue's words: &lt;b>wallet&lt;\/b>/);
    await listed(pool, "gate", ago(30), null);
    t.equal((await read("/feeds/transfers.atom")).text, paused.text, "without news it is the same");
    await listed(pool, "gate", ago(10), [line("USDT", "TRX"), line("BTC", "BTC")]);
    const ended = await read("/feeds/transfers.atom");
    t.equal(ended.entries[0]!.id, paused.entries[0]!.id);
    t.match(ended.entries, [{ title: "Gate: withdrawals of USDT on Tron were paused for 50 min" }]);
    t.match((await read("/feeds/transfers.rss")).entries, [{ id: ended.entries[0]!.id }]);
    t.equal((await read("/feeds/gate/transfers.atom")).entries.length, 1);
    t.equal((await read("/feeds/kraken/transfers.atom")).entries.length, 0);
  });

  await t.test("a reader understands them", { skip: readersMissing }, async (t) => {
    const atom = feedparserReads((await read("/feeds/transfers.atom")).text, "application/atom+xml");
    const rss = feedparserReads((await read("/feeds/transfers.rss")).text, "application/rss+xml");
    t.match([atom, rss], [{ bozo: false }, { bozo: false }]);
    t.equal(atom.entries[0]!.title, rss.entries[0]!.title);
  });
});
