/** Which feed is read next, and by which core. */
import t from "tap";
import { sql } from "../../../../shared/database/pool.js";
import { feedKinds } from "../../../../server/core/notices/formats/feed-kinds.js";
import { migratedDatabase } from "../../../support/database.js";
import { forgetSaid, said, sourceOf, whole } from "../../../support/stored-notices.js";

const now = Date.now();
/** The instant this many minutes before the test began. */
const at = (minutesAgo: number) => new Date(now - minutesAgo * 60_000);
/** The same as text: to `t.match` all dates are equal. */
const iso = (minutesAgo: number) => at(minutesAgo).toISOString();

void t.test("the next feed is a due one that no core is reading", async (t) => {
  const { pool } = await migratedDatabase(t);
  t.beforeEach(() => forgetSaid(pool));
  interface Claimed {
    feed_id: number | null;
    api: string | null;
    due_at: Date | null;
    unended_readings: number | null;
    read_at: Date | null;
    unreadable_since: Date | null;
  }
  const patienceMs = 600_000;
  const kinds = Object.keys(feedKinds);
  const claim = async (minutesAgo: number, known = kinds) =>
    (await pool.file<Claimed>("claim_feed", [at(minutesAgo), patienceMs, known]))[0]!;

  await t.test("each due feed is claimed once, and a shared feed once for both venues", async (t) => {
    const claimed: (number | null)[] = [];
    for (let one = await claim(40); one.feed_id; one = await claim(40)) claimed.push(one.feed_id);
    const [sources] = await pool.query<{ ids: number[] }>(sql`
      select array_agg(distinct feed_id order by feed_id)::int[] as ids from venue where feed_id is not null
    `);
    t.strictSame(new Set(claimed), new Set(sources!.ids));
    t.equal(claimed.length, sources!.ids.length);
    t.equal(await sourceOf(pool, "kraken"), await sourceOf(pool, "kraken-futures"));
    t.strictSame(await claim(40), { ...(await claim(40)), feed_id: null, due_at: new Date(+at(40) + patienceMs) });
  });

  await t.test("a feed is claimed again when it is due, or when its claim has expired", async (t) => {
    await pool.query(sql`update feed set due_at = ${at(-30)}`);
    const kraken = await sourceOf(pool, "kraken");
    await pool.query(sql`update feed set due_at = ${at(40)} where feed_id = ${kraken}`);
    t.equal((await claim(41)).feed_id, null);
    t.match(await claim(40), { feed_id: kraken, read_at: null });
    t.equal((await claim(35)).feed_id, null, "another core is reading it");
    t.equal((await claim(30)).feed_id, kraken, "the claim has expired");
    await said(pool, "kraken", at(30), [whole()]);
    t.equal((await claim(29)).feed_id, null);
    t.match(await claim(28), { feed_id: kraken, read_at: iso(30), unreadable_since: null });
    await said(pool, "kraken", at(28), [], { problem: "answered 503" });
    await said(pool, "kraken", at(27), [], { problem: "answered 502" });
    t.match(await claim(25), { feed_id: kraken, read_at: iso(30), unreadable_since: iso(28) });
  });

  await t.test("a feed whose readings crash core is tried less and less often, until one succeeds", async (t) => {
    const okx = ["okx-system-status"];
    const claims: [number, number | null][] = [];
    for (let minutesAgo = 200; minutesAgo > 0; minutesAgo -= 1) {
      const { feed_id, unended_readings } = await claim(minutesAgo, okx);
      if (feed_id !== null) claims.push([minutesAgo, unended_readings]);
    }
    t.same(claims, [
      ...[
        [200, 0],
        [190, 1],
        [150, 2],
        [90, 3],
        [30, 4],
      ],
    ]);
    await said(pool, "okx", at(20), [whole()]);
    await pool.query(sql`update feed set due_at = ${at(15)} where kind = 'okx-system-status'`);
    t.match(await claim(14, okx), { unended_readings: 0 }, "and then as usual");
  });

  await t.test("three concurrent claims get three feeds", async (t) => {
    const claimed = await Promise.all([claim(40), claim(40), claim(40)]);
    t.equal(new Set(claimed.map((one) => one.feed_id)).size, 3);
  });

  await t.test("the feed that has been due longest is next", async (t) => {
    const kucoin = await sourceOf(pool, "kucoin");
    await pool.query(sql`
      update feed
      set due_at = ${at(40)}::timestamptz + (feed_id - case feed_id when ${kucoin} then 3600 else 0 end) * interval '1 s'
    `);
    t.equal((await claim(30)).feed_id, kucoin);
  });

  await t.test("a feed postponed by a wrong clock is claimed", async (t) => {
    await pool.query(sql`update feed set due_at = ${at(-1440)}::timestamptz`);
    t.ok((await claim(40)).feed_id);
  });

  await t.test("a feed of a kind that this build cannot read is not claimed", async (t) => {
    t.equal((await claim(40, ["okx-system-status"])).feed_id, await sourceOf(pool, "okx"));
    t.match(await claim(40, ["okx-system-status"]), { feed_id: null });
  });

  await t.test("a feed that the registry no longer names is not claimed", async (t) => {
    await pool.query(sql`update feed set published = false`);
    t.match(await claim(40), { feed_id: null, due_at: null });
  });
});
