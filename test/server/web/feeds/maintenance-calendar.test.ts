/** The calendar of announced maintenance: honest about what venues do not say. */
import t, { type Test } from "tap";
import { sql } from "../../../../shared/database/pool.js";
import type { Notice } from "../../../../server/core/notices/feed.js";
import { type Api, serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { icalendarReads, readersMissing } from "../../../support/feed-readers.js";
import { decide } from "../../../support/fleet.js";
import { forgetSaid, notice, said, whole } from "../../../support/stored-notices.js";

const now = Math.floor(Date.now() / 1000) * 1000;
/** The instant this many hours from now. */
const inHours = (hours: number) => new Date(now + hours * 3_600_000);
const stamp = (date: Date) => date.toISOString().replace(/[-:]|\.\d+/g, "");

const database = await migratedDatabase(t);
const { pool } = database;
t.beforeEach(() => forgetSaid(pool));

const fresh = (t: Test) => serve(t, database);

function maintenance(id: string | null, startedAt: Date | null, other: Partial<Notice> = {}): Notice {
  const base = { kind: "maintenance", title: `Upgrade ${id}`, status: "scheduled", url: null, postedAt: null } as const;
  return notice(id, startedAt, { ...base, ...other });
}

/** The events of a calendar by their title, each as its unfolded lines by name. */
async function eventsOf(api: Api, path = "/feeds/maintenance.ics") {
  const { text, headers } = await api.ask(path);
  if (headers["content-type"] !== "text/calendar; charset=utf-8") throw new Error(headers["content-type"]);
  const [, ...parts] = text.replaceAll("\r\n ", "").split("BEGIN:VEVENT\r\n");
  const events = parts.map((part) => {
    const [lines = ""] = part.split("END:VEVENT");
    return Object.fromEntries(
      lines
        .trim()
        .split("\r\n")
        .map((line) => /^([A-Z-]+)[^:]*:(.*)$/s.exec(line)!.slice(1) as [string, string]),
    );
  });
  return new Map(events.map((event) => [event["SUMMARY"]!, event]));
}

void t.test("an event has an end only if the venue gave one", async (t) => {
  await said(pool, "kraken", inHours(-2), [
    whole(
      maintenance("planned", inHours(5), { plannedEndAt: inHours(7) }),
      maintenance("open-ended", inHours(6)),
      maintenance("backwards", inHours(8), { plannedEndAt: inHours(7) }),
      maintenance("endless", inHours(9), { plannedEndAt: inHours(24 * 400) }),
      maintenance("over", inHours(-9), { plannedEndAt: inHours(-5), resolvedAt: inHours(-6), over: true }),
    ),
  ]);
  await said(pool, "binance", inHours(-1), [
    { scope: "now", notices: [maintenance(null, null, { title: "Under maintenance" })], listedFrom: null },
  ]);
  // an announcement, whose only time is that of its publication
  const article = maintenance("article", inHours(-1), { status: "announced", over: true });
  await said(pool, "bitget", inHours(-1), [
    { scope: "announcements", notices: [{ ...article, subjects: ["system_updates"] }], listedFrom: null },
  ]);
  await decide(pool);
  const events = await eventsOf(await fresh(t));
  const ends = [...events].map(([summary, { DTEND = null, DESCRIPTION = "" }]) => [
    summary.replace(/^.*: (Upgrade )?/, ""),
    DTEND,
    /\\nThe (end is the venue's plan|venue gives no end)\.$/.exec(DESCRIPTION)?.[1] ?? null,
  ]);
  const [plan, none] = ["end is the venue's plan", "venue gives no end"];
  t.strictSame(ends, [
    ["over", stamp(inHours(-6)), null],
    // two venues share this feed
    ["Under maintenance", null, none],
    ["Under maintenance", null, none],
    ["planned", stamp(inHours(7)), plan],
    ...["open-ended", "backwards", "endless"].map((id) => [id, null, none]),
  ]);
  const unknownStart = events.get("Binance: Under maintenance")!;
  t.match(unknownStart, {
    DTSTART: stamp(inHours(-1)),
    DESCRIPTION: /The venue gives no start: this is when we first/,
  });
  t.match(events.get("Kraken: Upgrade planned"), { DTSTART: stamp(inHours(5)), STATUS: "CONFIRMED" });
});

void t.test("an event keeps its id while the venue changes it, and is cancelled with it", async (t) => {
  const first = maintenance("a", inHours(5), { url: "https://status.kraken.com/a?b=c,d;e" });
  await said(pool, "kraken", inHours(-5), [whole(first, maintenance("canceled", inHours(5), { status: "Canceled" }))]);
  await decide(pool);
  const api = await fresh(t);
  const [before] = [...(await eventsOf(api)).values()];
  t.match(before, { URL: "https://status.kraken.com/a?b=c,d;e", "LAST-MODIFIED": stamp(inHours(-5)) });
  t.equal(before!["DTSTAMP"], before!["LAST-MODIFIED"]);
  await said(pool, "kraken", inHours(-3), [whole({ ...first, startedAt: inHours(9), title: "Upgrade b" })]);
  const moved = (await eventsOf(await fresh(t))).get("Kraken: Upgrade b")!;
  t.match(moved, { UID: before!["UID"], DTSTART: stamp(inHours(9)), "LAST-MODIFIED": stamp(inHours(-3)) });
  await said(pool, "kraken", inHours(-2), [whole()]);
  const events = await eventsOf(await fresh(t));
  t.match(events.get("Kraken: Upgrade b"), {
    UID: before!["UID"],
    STATUS: "CANCELLED",
    DESCRIPTION: /The venue has cancelled it/,
  });
  t.match(events.get("Kraken: Upgrade canceled"), { STATUS: "CANCELLED" });
});

void t.test("a notice that is taken down after its beginning is not cancelled", async (t) => {
  await said(pool, "kraken", inHours(-5), [whole(maintenance("a", inHours(-4)))]);
  await said(pool, "kraken", inHours(-3), [whole()]);
  await decide(pool);
  t.match([...(await eventsOf(await fresh(t))).values()], [{ STATUS: "CONFIRMED", DESCRIPTION: /gives no end/ }]);
});

void t.test("neither incidents nor implausible times are events, and those of long ago are left out", async (t) => {
  await said(pool, "kraken", inHours(-1), [
    whole(
      notice("incident", inHours(-2)),
      maintenance("in ten years", inHours(24 * 3650)),
      maintenance("long ago", inHours(-24 * 91), { over: true }),
    ),
  ]);
  await decide(pool);
  t.equal((await eventsOf(await fresh(t))).size, 0);
});

void t.test("a venue has a calendar of its own, and says where its silence means nothing", async (t) => {
  await said(pool, "kraken", inHours(-1), [whole(maintenance("a", inHours(5)))]);
  await said(pool, "coinbase", inHours(-1), [whole(maintenance("b", inHours(6)))]);
  await decide(pool);
  const api = await fresh(t);
  const all = await eventsOf(api);
  t.strictSame([...all.keys()], ["Kraken: Upgrade a", "Coinbase Exchange: Upgrade b"]);
  const own = await eventsOf(api, "/feeds/kraken/maintenance.ics");
  t.strictSame([...own.entries()], [["Kraken: Upgrade a", all.get("Kraken: Upgrade a")]]);
  await pool.query(sql`update venue set feed_id = null where venue = 'kraken'`);
  const { text } = await (await fresh(t)).ask("/feeds/kraken/maintenance.ics");
  t.match(text.replaceAll("\r\n ", ""), /That this calendar is empty does not mean that no maintenance is planned\./);
  await pool.query(sql`
    update venue set feed_id = (select feed_id from feed where page like '%kraken%' limit 1)
    where venue = 'kraken'
  `);
});

const hostile = `a,b;c\\d "q" <b>\u0001\u000b\u0085\u2028\u202e\ufffe\nBEGIN:VEVENT ${"\ud83d\ude00".repeat(60)}`;

void t.test("hostile titles and names stay texts", async (t) => {
  t.teardown(() => pool.query(sql`update venue set name = 'Kraken' where venue = 'kraken'`));
  await pool.query(sql`update venue set name = ${hostile} where venue = 'kraken'`);
  const entry = maintenance("a", inHours(5), { title: hostile, status: hostile });
  await said(pool, "kraken", inHours(-1), [whole(entry)]);
  await decide(pool);
  const api = await fresh(t);
  for (const path of ["/feeds/maintenance.ics", "/feeds/kraken/maintenance.ics"]) {
    const { text } = await api.ask(path);
    t.notMatch(
      text.replaceAll("\r\n", ""),
      /\p{Cc}|[\u2028\u202e\ufffe\ufffd]/u,
      "no control character, no half emoji",
    );
    t.equal(text.split("\r\nBEGIN:VEVENT").length, 2, "no line of theirs begins a component");
    for (const line of text.split("\r\n")) t.ok(Buffer.byteLength(line) <= 75, `${line.length}: ${line}`);
    t.match(text.replaceAll("\r\n ", ""), /SUMMARY:[^\r]*a\\,b\\;c\\\\d "q" <b> BEGIN:VEVENT/);
  }
  await t.test("for icalendar, too", { skip: readersMissing }, async (t) => {
    const { text } = await api.ask("/feeds/kraken/maintenance.ics");
    const parsed = icalendarReads(text);
    const cleaned = `\u2068a,b;c\\d "q" <b> BEGIN:VEVENT ${"\ud83d\ude00".repeat(60)}\u2069`;
    t.match(parsed, { errors: [], components: ["VEVENT"], events: [{ summary: `${cleaned}: ${cleaned}` }] });
    t.match(parsed.name, cleaned);
  });
});

void t.test("icalendar reads it, with events and without", { skip: readersMissing }, async (t) => {
  await decide(pool);
  const empty = icalendarReads((await (await fresh(t)).ask("/feeds/maintenance.ics")).text);
  t.match(empty, { errors: [], components: ["VTIMEZONE"], name: "Announced maintenance of all venues" });
  t.strictSame(empty.events, []);
  const until = { plannedEndAt: inHours(7) };
  await said(pool, "kraken", inHours(-1), [
    whole(maintenance("a", inHours(5), until), maintenance("b", inHours(6), { url: "https://status.kraken.com/b" })),
  ]);
  await decide(pool);
  const { errors, events } = icalendarReads((await (await fresh(t)).ask("/feeds/maintenance.ics")).text);
  t.strictSame(errors, []);
  const iso = (date: Date) => date.toISOString().replace(".000Z", "+00:00");
  t.match(events, [
    { summary: "Kraken: Upgrade a", start: iso(inHours(5)), end: iso(inHours(7)), stamp: iso(inHours(-1)) },
    { summary: "Kraken: Upgrade b", start: iso(inHours(6)), end: null, url: "https://status.kraken.com/b" },
  ]);
  t.match(events[0]!.uid, /^[0-9a-f]{8}-[0-9a-f-]{27}$/);
});
