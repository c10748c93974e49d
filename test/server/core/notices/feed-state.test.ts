/** The state of the venues' own status feeds. */
import t from "tap";
import { sql } from "../../../../shared/database/pool.js";
import type { NoticeList } from "../../../../server/core/notices/feed.js";
import { serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { ago, decide, measured } from "../../../support/fleet.js";
import { feedOf, forgetSaid, notice, noticesOf, said, sourceOf, whole } from "../../../support/stored-notices.js";

const now = Date.now();
/** The instant this many minutes before the test began. */
const at = (minutesAgo: number) => new Date(now - minutesAgo * 60_000);
/** The same as text: to `t.match` all dates are equal. */
const iso = (minutesAgo: number) => at(minutesAgo).toISOString();

const nothing: NoticeList[] = [whole()];

void t.test("the state of a feed", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  await measured(pool, { from: ago(150), to: ago(0) });
  await decide(pool);
  t.beforeEach(() => forgetSaid(pool));

  await t.test("is absent where a venue has no feed", async (t) => {
    await pool.script("update venue set feed_id = null, official_kind = null where venue = 'gate'");
    t.strictSame(await feedOf(pool, "gate"), { state: "none", problem: null, since: null, read_at: null });
  });

  await t.test("is unreadable before its first reading", async (t) => {
    const feed = await feedOf(pool, "kraken");
    t.match(feed, { state: "unreadable", problem: "not read yet" });
    t.ok(feed.since instanceof Date);
  });

  await t.test("has its start, over readings with the same result", async (t) => {
    await said(pool, "kraken", at(9), nothing);
    await said(pool, "kraken", at(8), nothing);
    await said(pool, "kraken", at(7), [], { problem: "answered 503" });
    const problem = "answered HTML instead of JSON";
    await said(pool, "kraken", at(6), [], { problem });
    t.strictSame(await feedOf(pool, "kraken"), { state: "unreadable", problem, since: at(7), read_at: at(8) });
    await said(pool, "kraken", at(5), nothing);
    t.strictSame(await feedOf(pool, "kraken"), { state: "readable", problem: null, since: at(5), read_at: at(5) });
    const runs = await pool.query(sql`select from feed_poll`);
    t.equal(runs.length, 3, "one row for each run, not for each reading");
  });

  await t.test("is unreadable after a quarter of an hour without a reading", async (t) => {
    await said(pool, "kraken", at(30), nothing);
    await said(pool, "kraken", at(16), nothing);
    const problem = `not read since ${at(16).toISOString()}`;
    t.match(await feedOf(pool, "kraken"), { state: "unreadable", problem, since: iso(16), read_at: iso(16) });
    await said(pool, "kraken", at(0), nothing);
    t.match(await feedOf(pool, "kraken"), { state: "readable", since: iso(0) });
  });

  await t.test("a reading with a problem stores what was understood, and lets no notice vanish", async (t) => {
    await said(pool, "kraken", at(9), [whole(notice("a", at(50)))]);
    const problem = "incidents[0].started_at: expected a time, got null";
    await said(pool, "kraken", at(8), [whole(notice("b", at(40)))], { problem });
    t.match(await noticesOf(pool, "kraken"), [
      { external_id: "a", vanished: false, left_at: null, last_seen_at: iso(9) },
      { external_id: "b" },
    ]);
    t.equal((await feedOf(pool, "kraken")).state, "unreadable");
  });

  await t.test("a reading of an unchanged feed keeps all its notices", async (t) => {
    await said(pool, "kraken", at(9), [whole(notice("a", at(50)))]);
    await said(pool, "kraken", at(3), nothing, { unchanged: true });
    t.match(await noticesOf(pool, "kraken"), [{ external_id: "a", left_at: null, last_seen_at: iso(3) }]);
    t.strictSame(await feedOf(pool, "kraken"), { state: "readable", problem: null, since: at(9), read_at: at(3) });
  });

  await t.test("a run records how far back its readings reach", async (t) => {
    const runOf = async (...readings: [at: Date, lists: NoticeList[]][]) => {
      await forgetSaid(pool);
      for (const [when, lists] of readings) await said(pool, "kraken", when, lists);
      const rows = await pool.query<{ covers_from: Date; until_at: Date }>(
        sql`select covers_from, until_at from feed_poll where problem is null order by from_at`,
      );
      return rows.at(-1)!;
    };
    const from = (minutesAgo: number | null, scope = "incidents") =>
      ({ scope, notices: [], listedFrom: minutesAgo === null ? null : at(minutesAgo) }) as NoticeList;
    t.match(await runOf([at(9), [from(50)]], [at(8), [from(40)]]), { covers_from: iso(50), until_at: iso(8) });
    t.match(await runOf([at(9), [from(40)]], [at(8), [from(50)]]), { covers_from: iso(50) });
    t.match(await runOf([at(9), [from(null)]], [at(8), [from(null)]]), { covers_from: iso(9), until_at: iso(8) });
    const both = await runOf([at(9), [from(50), from(20, "maintenances")]]);
    t.match(both, { covers_from: iso(50) }, "the reach of maintenances does not count for incidents");
    const late = await runOf([at(12), [from(50)]], [at(9), [from(50)]], [at(9.5), [from(50)]]);
    t.match(late, { until_at: iso(9) }, "a late reading does not move the run's end back");
  });

  await t.test("a wrong clock does no lasting harm", async (t) => {
    await said(pool, "kraken", at(-1440), nothing);
    t.match(await feedOf(pool, "kraken"), { state: "unreadable" });
    await said(pool, "kraken", at(2), nothing);
    t.match(await feedOf(pool, "kraken"), { state: /^readable$/, since: iso(2) });
  });

  await t.test("a feed that loses three or more notices at once is unreadable", async (t) => {
    const many = (count: number) => whole(...Array.from({ length: count }, (_, n) => notice(`n${n}`, at(50))));
    for (const [count, state] of [
      [2, "readable"],
      [3, "unreadable"],
    ] as const) {
      await forgetSaid(pool);
      await said(pool, "kraken", at(3), [many(count)]);
      await said(pool, "kraken", at(2), nothing);
      t.equal((await feedOf(pool, "kraken")).state, state, `${count}`);
    }
    // a feed that stays empty for a day is believed
    await forgetSaid(pool);
    await said(pool, "kraken", at(1460), [many(3)]);
    for (let minutesAgo = 1455; minutesAgo > 0; minutesAgo -= 10) await said(pool, "kraken", at(minutesAgo), nothing);
    t.equal((await feedOf(pool, "kraken")).state, "readable");
    t.ok((await noticesOf(pool, "kraken")).every((row) => row.vanished));
  });

  await t.test("a feed's own time only moves forward", async (t) => {
    const feedAt = async () => {
      const [row] = await pool.query<{ feed_at: Date | null }>(sql`
        select feed_at from feed where feed_id = ${await sourceOf(pool, "kraken")}
      `);
      return row!.feed_at;
    };
    await said(pool, "kraken", at(9), nothing, { feedAt: at(20) });
    await said(pool, "kraken", at(8), nothing, { feedAt: at(22) });
    t.strictSame(await feedAt(), at(20));
    await said(pool, "kraken", at(7), nothing, { feedAt: at(1), problem: "lost fields" });
    t.strictSame(await feedAt(), at(20), "a reading with a problem does not move the feed's time");
    await said(pool, "kraken", at(6), nothing, { feedAt: at(10) });
    t.strictSame(await feedAt(), at(10));
  });

  await t.test("one wrong time of a feed makes it unreadable for a day at most", async (t) => {
    const claim = async (minutesAgo: number) => {
      await pool.script("update feed set due_at = 'infinity'");
      await pool.query(sql`
        update feed set due_at = '-infinity' where feed_id = ${await sourceOf(pool, "kraken")}
      `);
      const [row] = await pool.file<{ feed_at: Date | null }>("claim_feed", [at(minutesAgo), 60_000, ["statuspage"]]);
      return row!.feed_at;
    };
    // the page was last changed three weeks ago, which one answer does not say
    const [truly, wrongly] = [at(30_000), at(1500)];
    const wentBack = { problem: "page.updated_at went back in time" };
    await said(pool, "kraken", at(1500), nothing, { feedAt: truly });
    await said(pool, "kraken", at(1499), nothing, { feedAt: wrongly });
    for (let minutesAgo = 1490; minutesAgo > 20; minutesAgo -= 10) {
      const isBelieved = minutesAgo <= 50;
      t.strictSame(await claim(minutesAgo), isBelieved ? null : wrongly, `${minutesAgo} minutes ago`);
      await said(pool, "kraken", at(minutesAgo), nothing, isBelieved ? { feedAt: truly } : wentBack);
      if (isBelieved) break;
    }
    t.strictSame(await claim(49), truly, "from then on its own time counts");
    await said(pool, "kraken", at(1), nothing, { feedAt: truly });
    t.equal((await feedOf(pool, "kraken")).state, "readable");
  });

  await t.test("a feed never changes the venue's state, and appears on its page", async (t) => {
    const api = await serve(t, { pool, registry });
    const page = async () => (await api.ask<{ state: string; official: object }>("/v1/targets/kraken")).body;
    const unread = { observed: false, feed: { state: "unreadable", readAt: null } };
    t.match(await page(), { state: "operational", official: unread });
    await said(pool, "kraken", at(2), [whole(notice("a", at(3), { impact: "critical" }))]);
    await said(pool, "kraken", at(1), [], { problem: "answered 503" });
    const later = ago(0);
    await measured(pool, { from: ago(150), to: later, venue: "kraken" });
    await decide(pool, later);
    const { state, official } = await page();
    t.equal(state, "operational", "neither a critical notice nor an unreadable feed changes the state");
    t.match(official, {
      source: "statuspage",
      observed: true,
      feed: { state: "unreadable", problem: "answered 503", since: iso(1), readAt: iso(2) },
      incidents: [{ id: "a", impact: "critical", subjectMatched: false }],
    });
  });
});
