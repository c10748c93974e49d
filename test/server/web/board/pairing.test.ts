/** Which incidents and notices are pairs, which are alone, and which are not compared. */
import t from "tap";
import { sql } from "../../../../shared/database/pool.js";
import { forgetSaid, notice, readThrough, said, sourceOf, whole } from "../../../support/stored-notices.js";
import {
  at,
  type ComparedIncident,
  type DetectionRow,
  hourMs,
  incidents,
  measuredDays,
  startComparing,
  windowOf,
} from "../../../support/comparing.js";

void t.test("which of our incidents and of the venues' notices are pairs", async (t) => {
  const { pool, registry, now, ask, compared, begin, post } = await startComparing(t);

  const incidentOf = async (slug?: string) =>
    (await ask<{ incident: ComparedIncident }>(`/v1/incidents/${slug}`)).incident;

  await t.test("spec: pairs begin within 6 hours of each other, either way, on the same venue", async (t) => {
    for (const hoursEarlier of [-6, 6, -6 - 1e-5, 6 + 1e-5]) {
      const what = `a notice ${hoursEarlier} hours earlier`;
      const isPair = Math.abs(hoursEarlier) === 6;
      const alone = isPair ? 0 : 1;
      await begin();
      const [slug] = await incidents(pool, "deribit", at(50));
      await post("deribit", notice("n", at(50 + hoursEarlier)));
      const counts = { ours: 1, theirs: 1, paired: 1 - alone, oursOnly: alone, theirsOnly: alone };
      t.match(await compared("deribit"), counts, what);
      t.equal((await incidentOf(slug)).official !== null, isPair, what);
    }
    await begin();
    await incidents(pool, "deribit", at(50));
    await post("kraken", notice("n", at(50)));
    t.match(await compared(null), { paired: 0, oursOnly: 1, theirsOnly: 1 }, "another venue's");
  });

  await t.test("mutual nearest neighbours are a pair, and nothing is in two pairs", async (t) => {
    await begin();
    const slugs = await incidents(pool, "deribit", at(50), at(49), at(48));
    await post("deribit", notice("far", at(45)), notice("near", at(49.1)));
    const all = { ours: 3, oursCompared: 3, theirs: 2, theirsCompared: 2 };
    const counts = { ...all, paired: 1, oursNear: 2, oursOnly: 0, theirsNear: 1, theirsOnly: 0 };
    t.match(await compared("deribit"), counts);
    for (const slug of slugs) t.equal((await incidentOf(slug)).official?.id, "near", "each has its nearest notice");
  });

  await t.test("one notice for an outage of many components is one pair, not silence about the others", async (t) => {
    await begin();
    await incidents(pool, "deribit", ...[50, 50.01, 50.02, 50.03].map(at));
    await post("deribit", notice("n", at(49)));
    t.match(await compared("deribit"), { paired: 1, oursNear: 3, oursOnly: 0 });
    await begin();
    await incidents(pool, "deribit", at(50));
    await post("deribit", notice("a", at(49)), notice("b", at(51)), notice("c", at(20)));
    t.match(await compared("deribit"), { paired: 1, theirsNear: 1, theirsOnly: 1 });
  });

  await t.test("maintenance, subjects that we do not measure, and impossible times acknowledge nothing", async (t) => {
    await begin();
    await pool.query(sql`
      update venue set official_not_about = api.like_any(array['Deposit', '100%']) where venue = 'deribit'
    `);
    const [slug] = await incidents(pool, "deribit", at(50));
    const both = { title: "Trading and deposits", subjects: ["Fees", "Deposits"] };
    await post(
      "deribit",
      notice("m", at(50), { kind: "maintenance" }),
      notice("title", at(50), { title: "DEPOSITS of XYZ delayed" }),
      notice("components", at(50), { subjects: ["XYZ deposits", "Other deposits"] }),
      notice("percent", at(50), { title: "Fees raised by 100% today" }),
      notice("announced", at(50), { ...both, impact: "none" }),
      notice("doubtful", at(50), { postedAt: at(-100) }),
      notice("of 1900", at(50), { postedAt: new Date("1900-01-01") }),
    );
    const counts = { paired: 0, oursOnly: 1, theirs: 2, maintenances: 1, others: 4 };
    t.match(await compared("deribit"), { ...counts, theirsCompared: 0 });
    interface Page {
      incident: ComparedIncident;
      official: { incidents: { id: string; kind: string }[] };
      detection: DetectionRow;
    }
    const { incident, official, detection } = await ask<Page>(`/v1/incidents/${slug}`);
    t.equal(incident.official, null);
    t.match(detection, { ours: 1, ...counts });
    const others = { title: "other", components: "other", percent: "other", announced: "other" };
    const kinds = { m: "maintenance", ...others, doubtful: "incident", "of 1900": "incident" };
    const shown = Object.fromEntries(official.incidents.map(({ id, kind }) => [id, kind]));
    t.strictSame(shown, kinds, "they are shown with their kind");
    await post("deribit", notice("mixed", at(50), both), notice("10", at(49), { title: "100 ms" }));
    t.match(await compared("deribit"), { paired: 1, theirsNear: 1 });
    await pool.query(sql`update venue set official_not_about = null where venue = 'deribit'`);
  });

  await t.test("of a shared feed, each venue has the notices about it", async (t) => {
    await begin();
    t.equal(await sourceOf(pool, "kraken"), await sourceOf(pool, "kraken-futures"));
    await post(
      "kraken",
      notice("a", at(50), { title: "Connectivity Issues - derivatives" }),
      notice("b", at(51), { subjects: ["Futures API"] }),
      notice("c", at(52)),
    );
    t.match(await compared("kraken-futures"), { theirs: 2 });
  });

  await t.test("an incident or notice is compared only if it began while the other side was observed", async (t) => {
    await begin();
    // Kraken was not measured from 40 to 30 hours ago
    await post("kraken", notice("unmeasured", at(35)), notice("measured", at(45)));
    t.match(await compared("kraken"), { theirs: 2, theirsCompared: 1, theirsOnly: 1 });
    t.match(await compared("kraken", windowOf(2)), { theirs: 2, theirsCompared: 1 });

    // measured until midnight, and not on the day that began then
    await post("kraken", notice("at midnight", at(-0.05)), notice("later", at(-0.5)));
    t.match(await compared("kraken"), { theirs: 4, theirsCompared: 2 });

    await forgetSaid(pool);
    await readThrough(pool, "okx", at(70), at(50));
    await readThrough(pool, "okx", at(40), at(20));
    await incidents(pool, "okx", at(71), at(60), at(55), at(45), at(30));
    t.match(await compared("okx"), { ours: 5, oursCompared: 2, oursOnly: 2, observed: true });
    // a feed's list that reaches back covers the time before the first reading
    await said(pool, "okx", at(15), [{ ...whole(), listedFrom: at(52) }]);
    t.match(await compared("okx"), { ours: 5, oursCompared: 4 });
    // so do two readings that are close enough
    await forgetSaid(pool);
    await readThrough(pool, "okx", at(70), at(60));
    await readThrough(pool, "okx", at(59.8), at(50));
    t.match(await compared("okx"), { ours: 5, oursCompared: 1 });
  });

  await t.test("nothing counts as missing before six hours are over", async (t) => {
    await begin();
    await readThrough(pool, "deribit", at(-1), now());
    const [young, old] = [5, 7].map((hours) => new Date(+now() - hours * hourMs));
    const [slug] = await incidents(pool, "deribit", young!);
    t.match(await compared("deribit"), { ours: 1, oursCompared: 0, oursOnly: 0 });
    await post("deribit", notice("young", young!));
    t.match(await compared("deribit"), { oursCompared: 0, theirs: 1, theirsCompared: 0, paired: 0 });
    t.match(await ask(`/v1/incidents/${slug}`), {
      incident: { official: { id: "young", subjectMatched: false }, officialObserved: true },
      detection: { ours: 1, venuesCompared: 0, venuesUnseen: 1, paired: null },
    });
    // a notice that is younger than its incident waits with it
    await pool.script("truncate incident, alert_event, delivery, delivery_attempt restart identity");
    await incidents(pool, "deribit", old!);
    t.match(await compared("deribit"), { oursCompared: 1, paired: 1, theirsCompared: 1, oursOnly: 0 });
  });

  await t.test("venues that are not compared are counted separately, by reason", async (t) => {
    await begin();
    await pool.script("update venue set feed_id = null, official_kind = null where venue = 'gate'");
    for (const venue of ["gate", "binance", "bitfinex"]) await incidents(pool, venue, at(50));
    const none = { oursCompared: null, theirs: null, paired: null, oursOnly: null, aheadUncorrelated: null };
    t.match(await compared("gate"), { ...none, ours: 1, observed: false, venuesWithoutFeed: 1, maintenances: null });
    t.match(await compared("binance"), { ...none, ours: 1, observed: true, venuesOnlyMaintenance: 1, maintenances: 0 });
    t.match(await compared("bitfinex"), { ...none, ours: 1, observed: false, venuesUnseen: 1 });
    const fleet = await compared(null);
    t.match(fleet, { ours: 3, oursCompared: 0, venuesCompared: 5, venuesWithoutFeed: 1, venuesOnlyMaintenance: 3 });
    const { venuesCompared, venuesUnseen, venuesOnlyMaintenance, venuesWithoutFeed } = fleet;
    t.equal(venuesCompared + venuesUnseen + venuesOnlyMaintenance + venuesWithoutFeed, registry.venues.length);
    t.equal(fleet.measuredDays, measuredDays);
    t.match(await compared("okx", windowOf(2)), { measuredDays: 2 }, "yesterday and today are not measured");
  });

  await t.test("a pair belongs to the days of its incident", async (t) => {
    await begin();
    // the window begins 24 hours before
    await incidents(pool, "deribit", at(23), at(25));
    await post("deribit", notice("before", at(24.5)), notice("after", at(23.9)));
    const ours = { ours: 1, oursCompared: 1, paired: 1, oursOnly: 0 };
    const theirs = { theirs: 1, theirsCompared: 1, theirsOnly: 0, theirsNear: 0 };
    t.match(await compared("deribit", windowOf(1)), { ...ours, ...theirs });
  });

  await t.test("spec: the fleet row carries no median, and a venue's is of 5 leads or more", async (t) => {
    await begin();
    const days = [110, 90, 70, 50, 30];
    await incidents(pool, "deribit", ...days.map(at));
    const leadsS = [600, -60, 0, 7200, 60];
    const posted = days.map((hours, n) =>
      notice(`n${n}`, at(hours + 1), { postedAt: new Date(+at(hours) + leadsS[n]! * 1000) }),
    );
    await post("deribit", ...posted.slice(0, 4));
    t.match(await compared("deribit"), { paired: 4, leads: 4, aheadUncorrelated: null });
    await post("deribit", ...posted);
    t.match(await compared("deribit"), { paired: 5, leads: 5, aheadUncorrelated: 60 });
    t.match(await compared(null), { paired: 5, leads: 5, aheadUncorrelated: null });

    // opened late because the engine had been away
    await pool.query(sql`
        insert into alert_event (incident_id, kind, severity, at, recorded_at, late)
        select incident_id, 'opened', 'outage', opened_at, opened_at + interval '1 day', true from incident limit 1
      `);
    t.match(await compared("deribit"), { paired: 5, leads: 4, aheadUncorrelated: null });
  });
});
