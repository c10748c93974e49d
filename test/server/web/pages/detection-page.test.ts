/** Our incidents beside the venues' notices, as a reader sees them. */
import t from "tap";
import { sql } from "../../../../shared/database/pool.js";
import { detectionResponse } from "../../../../server/web/board/detection.js";
import { exampleOf } from "../../../../server/web/api/shapes.js";
import { type DetectionData, detectionPage } from "../../../../server/web/pages/detection.js";
import { serve } from "../../../support/api.js";
import { syncRegistry } from "../../../../server/database/sync-registry.js";
import { migratedDatabase } from "../../../support/database.js";
import { decide } from "../../../support/fleet.js";
import { pageText } from "../../../../server/web/pages/page.js";
import { getPage, readHtml } from "../../../support/page.js";

const example = exampleOf(detectionResponse) as DetectionData;
const usual = example.venues[0]!;

type Counts = DetectionData["fleet"];

function comparison(fleet: Partial<Counts>, venues: Partial<DetectionData["venues"][number]>[] = [{}]) {
  const rows = venues.map((venue, at) => ({ ...usual, id: `venue-${at}`, ...venue }));
  const data = { ...example, fleet: { ...example.fleet, ...fleet }, venues: rows };
  return readHtml(pageText(detectionPage({ data }))).text;
}

void t.test("the answer comes first, with no number that the data does not give", (t) => {
  const counts = {
    oursCompared: 12,
    paired: 6,
    oursNear: 5,
    oursOnly: 1,
    theirsCompared: 7,
    theirsNear: 0,
    theirsOnly: 1,
  };
  const text = comparison(counts);
  t.match(
    text,
    /^Venues posted a notice within six hours of 11 of our 12 comparable incidents over the last 90 days\./,
  );
  t.match(
    text,
    /7 notices of the venues can be compared: 6 with one of our incidents within six hours, and 1 without any\./,
  );
  t.match(text, /6 notices are paired with one incident each\./);
  t.match(text, /Nothing tests that a notice and an incident are about the same fault\./);
  const lone = { oursCompared: 1, paired: 0, oursNear: 0, oursOnly: 1 };
  t.match(comparison(lone), /^The venue posted no notice within six hours of our only comparable incident/);
  t.match(
    comparison({ ...lone, oursCompared: 3, oursOnly: 3 }),
    /^Venues posted no notice within six hours of any of our 3 comparable/,
  );
  t.match(comparison({ oursCompared: 0 }), /^None of our incidents over the last 90 days can be compared/);
  t.end();
});

void t.test("the page says in words who was first, as the median of enough pairs", (t) => {
  const first = (detection: Partial<Counts>) => comparison({}, [{ detection: { ...usual.detection, ...detection } }]);
  t.match(first({ aheadUncorrelated: 240 }), /we were, by 4 min \(median\)/);
  t.match(first({ aheadUncorrelated: -3600 }), /the venue was, by 1 h \(median\)/);
  t.match(first({ aheadUncorrelated: 0 }), /both at once/);
  t.match(first({ aheadUncorrelated: null, leads: 1, paired: 2 }), /1 pair with known times: a median needs five/);
  t.match(first({ aheadUncorrelated: null, leads: 0, paired: 0 }), /no pairs/);
  t.match(first({ measuredDays: 88, days: 90, ours: 9, oursCompared: 8 }), /88 of 90 8 of 9/);
  t.end();
});

void t.test("the page says the state of a feed in words", (t) => {
  const feed = (other: Partial<typeof usual.feed>) => comparison({}, [{ feed: { ...usual.feed, ...other } }]);
  t.match(feed({ readAt: "2026-01-31T11:59:31.000Z" }), /readable, last read 11:59 UTC/);
  const problem = "<b>\u202e is not JSON";
  const unreadable = feed({ state: "unreadable", since: "2026-01-30T02:10:44.000Z", problem });
  t.match(unreadable, /not readable since 30 Jan, 02:10 UTC: \u2068<b> is not JSON\u2069/, "its text is isolated");
  t.end();
});

void t.test("the comparison of a database without readings", async (t) => {
  const { pool, registry: packaged } = await migratedDatabase(t);
  const venues = packaged.venues.map((one) => (one.id === "gate" ? { ...one, official: null } : one));
  const registry = { ...packaged, venues };
  await syncRegistry(pool, registry);
  await decide(pool);
  const { port } = await serve(t, { pool, registry });
  const { text, links, icon } = await getPage(port, "/detection?days=7");
  t.match(text, /^Nothing could be compared over the last 7 days:/);
  t.match(text, /Binance .*? Not comparable, because its feed only announces maintenance/);
  t.match(text, /Gate none Not comparable, because the venue has no feed that a program can read\./);
  t.match(
    text,
    /Kraken .*? Not comparable, because there was no day on which we measured it and could read its feed\./,
  );
  t.equal(icon, "unknown");
  for (const link of ["/v1/detection?days=7", "/detection?days=30", "/comparing"]) t.ok(links.includes(link), link);
  for (const query of ["days=0", "days=91"]) t.equal((await getPage(port, `/detection?${query}`)).status, 400, query);
  await pool.query(sql`update venue set name = '<script>alert(1)</script>' where venue = 'okx'`);
  t.notMatch((await getPage(port, "/detection?days=8")).html, /<script>alert/);
  await pool.query(sql`update venue set published = false`);
  t.match((await getPage(port, "/detection?days=9")).text, /^No venue is measured yet\./);
});
