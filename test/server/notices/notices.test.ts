/** How the venues' own notices are stored. */
import t from "tap";
import { sql } from "../../../shared/database/pool.js";
import type { NoticeList } from "../../../server/notices/feed.js";
import { migratedDatabase } from "../../support/database.js";
import { changesOf, feedOf, forgetSaid, notice, noticesOf, said, whole } from "../../support/said.js";

const now = Date.now();
/** The instant this many minutes before the test began. */
const at = (minutesAgo: number) => new Date(now - minutesAgo * 60_000);

const nothing: NoticeList[] = [whole()];

void t.test("notices and their changes are stored", async (t) => {
  const { pool } = await migratedDatabase(t);

  await t.test("changes are stored, and an unchanged notice is not written again", async (t) => {
    await forgetSaid(pool);
    const first = notice("a", at(50), { title: "Errors", impact: "minor" });
    const worse = { ...first, status: "identified", impact: "critical" };
    const over = { ...worse, ...{ title: "Errors of the API", status: "resolved", over: true }, resolvedAt: at(36) };
    const kept = [];
    for (const [nth, one] of [first, first, worse, worse, over, over].entries())
      kept.push(await said(pool, "kraken", at(40 - nth), [whole(one)]));
    t.strictSame(
      kept.map(({ added, changed }) => `${added} ${changed}`),
      ["1 0", "0 0", "0 1", "0 0", "0 1", "0 0"],
    );
    const [row, ...others] = await noticesOf(pool, "kraken");
    t.strictSame(others, []);
    t.match(row, {
      ...{ title: "Errors of the API", status: "resolved", over: true },
      ...{ impact: "critical", vanished: false, left_at: null },
      ...{ resolved_at: at(36), first_seen_at: at(40), last_seen_at: at(35) },
      raw: first.raw,
    });
    t.strictSame(
      (await changesOf(pool, "a")).map((row) => Object.values(row)),
      [
        [at(40), "investigating", "minor", "Errors", false],
        [at(38), "identified", "critical", "Errors", false],
        [at(36), "resolved", "critical", "Errors of the API", false],
      ],
    );
  });

  await t.test("a notice that is taken down is marked as vanished, and may return", async (t) => {
    await forgetSaid(pool);
    const one = notice("a", at(50));
    await said(pool, "kraken", at(40), [whole(one)]);
    await said(pool, "kraken", at(39), nothing);
    t.match(await noticesOf(pool, "kraken"), [{ vanished: true, left_at: at(39), last_seen_at: at(40), over: false }]);
    await said(pool, "kraken", at(38), nothing);
    t.match(await noticesOf(pool, "kraken"), [{ left_at: at(39) }]);
    await said(pool, "kraken", at(37), [whole(one)]);
    t.match(await noticesOf(pool, "kraken"), [{ vanished: false, left_at: null, last_seen_at: at(37) }]);
    t.strictSame(
      (await changesOf(pool, "a")).map(({ at, vanished }) => [at, vanished]),
      [
        [at(40), false],
        [at(39), true],
        [at(37), false],
      ],
    );
  });

  await t.test("a notice that falls off the end of a list has not vanished", async (t) => {
    await forgetSaid(pool);
    const [old, young] = [notice("old", at(5000)), notice("young", at(50))];
    const cut = (minutesAgo: number, ...notices: (typeof old)[]) => [
      { ...whole(...notices), listedFrom: at(minutesAgo) },
    ];
    await said(pool, "kraken", at(40), [whole(old, young)]);
    await said(pool, "kraken", at(39), cut(60, young));
    await said(pool, "kraken", at(38), cut(60));
    t.match(await noticesOf(pool, "kraken"), [
      { external_id: "old", vanished: false, left_at: at(39) },
      { external_id: "young", vanished: true, left_at: at(38) },
    ]);
    t.equal((await changesOf(pool, "old")).length, 1, "no change is recorded");
  });

  await t.test("where a list's reach is unknown, only notices that were not over vanish", async (t) => {
    await forgetSaid(pool);
    const list = (...notices: ReturnType<typeof notice>[]): NoticeList[] => [
      { scope: "notices", notices, listedFrom: null },
    ];
    const done = notice("done", at(90), { over: true, status: "completed" });
    await said(pool, "okx", at(40), list(done, notice("open", at(50))));
    await said(pool, "okx", at(39), list());
    t.match(await noticesOf(pool, "okx"), [
      { external_id: "done", vanished: false, left_at: at(39) },
      { external_id: "open", vanished: true, left_at: at(39) },
    ]);
  });

  await t.test("a feed that shows only the current status gives notices with a start and an end", async (t) => {
    await forgetSaid(pool);
    const list = (...notices: ReturnType<typeof notice>[]): NoticeList[] => [
      { scope: "now", notices, listedFrom: null },
    ];
    const status = (word: string, title = "upgrade") => notice(null, null, { status: word, title, impact: null });
    await said(pool, "kucoin", at(40), list(status("close")));
    await said(pool, "kucoin", at(39), list(status("close", "longer")));
    await said(pool, "kucoin", at(38), list(status("cancelonly")));
    await said(pool, "kucoin", at(37), list());
    await said(pool, "kucoin", at(36), list(status("close")));
    const rows = await noticesOf(pool, "kucoin");
    t.match(rows, [
      {
        ...{ status: "close", title: "longer", over: true, vanished: false },
        ...{ started_at: at(40), resolved_at: at(38), last_seen_at: at(39) },
        // the feed may have shown it for long
        posted_at: null,
      },
      {
        ...{ status: "cancelonly", over: true, started_at: at(38) },
        // after the previous reading, which did not have it
        ...{ posted_at: at(39), resolved_at: at(37) },
      },
      {
        ...{ status: "close", title: "upgrade", over: false, left_at: null },
        ...{ started_at: at(36), posted_at: at(37), resolved_at: null },
      },
    ]);
    t.equal(new Set(rows.map((row) => row.external_id)).size, 3);
    t.strictSame(
      (await changesOf(pool, rows[0]!.external_id)).map(({ title }) => title),
      ["upgrade", "longer", "longer"],
      "its end is recorded, too",
    );
  });

  await t.test("the time of publication does not change in hindsight, the start may", async (t) => {
    await forgetSaid(pool);
    const one = notice("a", at(50), { postedAt: at(45) });
    await said(pool, "kraken", at(40), [whole(one)]);
    const moved = { ...one, startedAt: at(90), postedAt: at(90) };
    await said(pool, "kraken", at(39), [whole(moved)]);
    t.match(await noticesOf(pool, "kraken"), [{ started_at: at(90), posted_at: at(45) }]);
    t.equal((await changesOf(pool, "a")).length, 2, "the change of the start is recorded");
  });

  await t.test("an impossible time of publication is corrected", async (t) => {
    await forgetSaid(pool);
    const one = notice("a", at(50), { postedAt: new Date(0) });
    await said(pool, "kraken", at(40), [whole(one)]);
    await said(pool, "kraken", at(39), [whole({ ...one, postedAt: at(48), status: "resolved" })]);
    t.match(await noticesOf(pool, "kraken"), [{ posted_at: at(48), doubtful: false }]);
  });

  await t.test("a notice that is gone after an hour of trouble was last seen before it", async (t) => {
    await forgetSaid(pool);
    await said(pool, "kraken", at(100), [whole(notice("a", at(200)))]);
    for (const minutesAgo of [95, 85, 75, 65, 55, 45])
      await said(pool, "kraken", at(minutesAgo), [], { problem: "answered 503" });
    await said(pool, "kraken", at(40), nothing);
    t.match(await noticesOf(pool, "kraken"), [{ left_at: at(40), last_seen_at: at(100) }]);
  });

  await t.test("impossible times are stored, and flagged", async (t) => {
    await forgetSaid(pool);
    const maintenance = (id: string, startedAt: Date) =>
      notice(id, startedAt, { kind: "maintenance", postedAt: at(50) });
    const year = 366 * 1440;
    await said(pool, "kraken", at(40), [
      whole(
        notice("usual", at(60)),
        notice("a clock that is ahead", at(31)),
        notice("begins tomorrow", at(-1400)),
        notice("posted tomorrow", at(60), { postedAt: at(-1400) }),
        notice("posted in 1970", at(60), { postedAt: new Date(0) }),
        notice("of old", at(40 + year - 1)),
        notice("from before", at(40 + year + 1)),
        notice("the first year", new Date("0001-01-01T00:00:00Z")),
        notice("the last year", new Date("9999-12-31T23:59:59Z")),
        maintenance("next week", at(-10_000)),
        maintenance("in ages", at(-600_000)),
      ),
    ]);
    const rows = await noticesOf(pool, "kraken");
    t.strictSame(Object.fromEntries(rows.map(({ external_id, doubtful }) => [external_id, doubtful])), {
      "the first year": true,
      "from before": true,
      "of old": false,
      usual: false,
      "posted tomorrow": true,
      "posted in 1970": true,
      "a clock that is ahead": false,
      "begins tomorrow": true,
      "next week": false,
      "in ages": true,
      "the last year": true,
    });
  });

  await t.test("half a character and the character NUL lose no notice", async (t) => {
    await forgetSaid(pool);
    const title = "half \ud83d of \0 it";
    await said(pool, "kraken", at(40), [whole(notice("a", at(50), { title }))]);
    const [row] = await noticesOf(pool, "kraken");
    t.equal(row!.title, "half \ufffd of  it");
  });

  await t.test("a duplicate id in a list is one notice", async (t) => {
    await forgetSaid(pool);
    const kept = await said(pool, "kraken", at(40), [whole(notice("a", at(50)), notice("a", at(60)))]);
    t.equal(kept.added, 1);
  });

  await t.test("a feed that invents notices cannot fill the disk", async (t) => {
    await forgetSaid(pool);
    const many = (from: number, count: number) =>
      whole(...Array.from({ length: count }, (_, n) => notice(`n${from + n}`, at(50 + n), { raw: "{}" })));
    const first = await said(pool, "kraken", at(40), [many(0, 900)]);
    t.equal(first.added, 900, "a first reading brings a whole history");
    await said(pool, "kraken", at(39), [many(0, 1150)]);
    const kept = await said(pool, "kraken", at(38), [many(1100, 100)]);
    t.match(kept, { ...{ added: 50, refused: 0, left_feed: 1100 } });
    const more = await said(pool, "kraken", at(37), [many(1200, 100)]);
    t.match(more, { added: 0, refused: 100, left_feed: 0 });
    t.match(await feedOf(pool, "kraken"), { state: "unreadable", problem: "more than 300 new notices within a day" });
    const dayLater = await said(pool, "kraken", at(37 - 1440), [many(1200, 100)]);
    t.equal(dayLater.added, 100);
  });

  await t.test("of too many new notices the newest are stored", async (t) => {
    await forgetSaid(pool);
    await said(pool, "kraken", at(40), nothing);
    await said(pool, "kraken", at(39), [whole(notice("first", at(39)))]);
    const many = Array.from({ length: 301 }, (_, n) => notice(`n${n}`, at(50 + n), { raw: "{}" }));
    t.match(await said(pool, "kraken", at(38), [whole(...many)]), { ...{ added: 299, refused: 2 } });
    const newest = await pool.query<{ id: string }>(sql`
      select external_id as id from official_incident where external_id like 'n%' order by started_at
    `);
    t.equal(newest[0]!.id, "n298", "the oldest notices are not stored");
  });

  await t.test("a notice that changes with every reading soon gets no more change records", async (t) => {
    await forgetSaid(pool);
    await said(pool, "kraken", at(2000), [whole(notice("a", at(2000)))]);
    await pool.query(sql`
      insert into official_change (notice_id, at, kind, status, title, started_at, subjects, vanished)
      select notice_id, first_seen_at + n * interval '1 s', kind, 'status', 'title', started_at, '{}', false
      from official_incident cross join generate_series(1, 999) n
    `);
    await said(pool, "kraken", at(40), [whole(notice("a", at(2000), { status: "new" }))]);
    t.equal((await changesOf(pool, "a")).length, 1000);
    t.match(await noticesOf(pool, "kraken"), [{ status: "new" }]);
  });

  await t.test("a change of the raw text alone is written once an hour", async (t) => {
    await forgetSaid(pool);
    const one = notice("a", at(200));
    const raw = (text: string) => [whole({ ...one, raw: text })];
    await said(pool, "kraken", at(100), raw("1"));
    await said(pool, "kraken", at(98), raw("2"));
    t.match(await noticesOf(pool, "kraken"), [{ raw: "1" }]);
    await said(pool, "kraken", at(38), raw("3"));
    t.match(await noticesOf(pool, "kraken"), [{ raw: "3" }]);
    t.equal((await changesOf(pool, "a")).length, 1);
  });

  await t.test("a change from incident to maintenance is recorded", async (t) => {
    await forgetSaid(pool);
    const one = notice("a", at(50));
    await said(pool, "kraken", at(40), [whole(one)]);
    await said(pool, "kraken", at(39), [whole({ ...one, kind: "maintenance", subjects: ["API"] })]);
    const changes = await pool.query<{ kind: string; subjects: string[] }>(
      sql`select kind, subjects from official_change order by at`,
    );
    t.strictSame(changes, [
      { kind: "incident", subjects: [] },
      { kind: "maintenance", subjects: ["API"] },
    ]);
  });

  await t.test("the time of publication is known only where the previous reading lacked the notice", async (t) => {
    const list = (...notices: ReturnType<typeof notice>[]): NoticeList[] => [
      { scope: "notices", notices, listedFrom: null },
    ];
    const one = notice("a", at(50), { postedAt: null });
    const firstSeen = async (...readings: [minutesAgo: number, problem: string | null][]) => {
      await forgetSaid(pool);
      for (const [minutesAgo, problem] of readings) await said(pool, "okx", at(minutesAgo), list(), { problem });
      await said(pool, "okx", at(10), list(one));
      return (await noticesOf(pool, "okx"))[0]!.posted_at;
    };
    t.strictSame(await firstSeen([11, null]), at(11), "after that");
    t.strictSame(await firstSeen(), null, "never read before");
    t.strictSame(await firstSeen([12, null], [11, "answered 503"]), null);
    t.strictSame(await firstSeen([30, null]), null, "read long before");
  });
});
