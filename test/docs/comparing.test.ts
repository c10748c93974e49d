/**
 * Compares our incidents with the venues' notices: for hand-made cases, and for random quarters against the statements
 * of docs/comparing.md.
 */
import { readFileSync } from "node:fs";
import t from "tap";
import { type Db, type Pool, sql } from "../../shared/database/pool.js";
import { packagedFile } from "../../shared/config/package.js";
import { accepted, tick } from "../../server/engine/tick.js";
import { serve } from "../support/api.js";
import { migratedDatabase } from "../support/database.js";
import { forget, pastIncident } from "../support/fleet.js";
import { analystOf, comesOutAsShown, stepsOf, withVariables } from "../support/page-of-statements.js";
import { randomFrom } from "../support/random-samples.js";
import { forgetSaid, notice, readThrough, said, sourceOf, whole } from "../support/said.js";

const page = readFileSync(packagedFile("docs/comparing.md"), "utf8");

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Every request uses a clock that is this late, so that time can advance. */
const askedLaterMs = 100_000;
/** The beginning of yesterday, UTC: everything before it is more than six hours old. */
const over = Math.floor((Date.now() - askedLaterMs) / dayMs) * dayMs - dayMs;
/** Returns the instant that many hours earlier. */
const at = (hoursAgo: number) => new Date(over - hoursAgo * hourMs);
/** Returns the window that reaches back that many days before it. */
const windowOf = (days: number) => days + 2;
const measuredDays = 6;

interface Detection {
  observed: boolean;
  measuredDays: number;
  venuesCompared: number;
  venuesUnseen: number;
  venuesOnlyMaintenance: number;
  venuesWithoutFeed: number;
  ours: number;
  oursCompared: number | null;
  theirs: number | null;
  theirsCompared: number | null;
  paired: number | null;
  oursNear: number | null;
  oursOnly: number | null;
  theirsNear: number | null;
  theirsOnly: number | null;
  maintenances: number | null;
  others: number | null;
  subjectMatched: boolean;
  leads: number | null;
  aheadUncorrelated: number | null;
}

interface Compared {
  fleet: Detection;
  venues: { id: string; detection: Detection }[];
}

interface Incident {
  slug: string;
  official: {
    id: string;
    subjectMatched: boolean;
    aheadUncorrelated: number | null;
  } | null;
}

/** Measures venues once in ten minutes for some days before today, except in the given spans. */
async function measuredButFor(db: Db, holes: { venue: string; from: Date; to: Date }[]): Promise<void> {
  await db.query(sql`
    insert into sample (ts, component_id, region_id, good)
    select ts, c.component_id, g.region_id, true
    from component c
    join venue v using (venue_id)
    -- two regions, because one alone does not count as measured
    join region g on g.position <= 2
    cross join generate_series(${at(measuredDays * 24)}, ${at(0)}::timestamptz - interval '1 s', '10 minutes') ts
    where c.component = 'rest:ticker'
      and v.venue in ('okx', 'kraken', 'kraken-futures', 'bybit', 'deribit', 'binance', 'gate')
      and not exists (
        select from jsonb_to_recordset(${JSON.stringify(holes)}::jsonb) as h (venue text, "from" timestamptz, "to" timestamptz)
        where h.venue = v.venue and ts >= h."from" and ts < h."to"
      )
  `);
  await db.query(sql`call upkeep.refresh_all(${at(measuredDays * 24)}, ${at(-24)})`);
}

/** Inserts incidents of a venue's ticker that began at these times and opened 20 s later. Returns their slugs. */
async function incidents(db: Db, venue: string, ...startedAt: Date[]): Promise<string[]> {
  const slugs = [];
  for (const began of startedAt)
    slugs.push(
      await pastIncident(db, {
        venue,
        component: "rest:ticker",
        startedAt: began,
        minutes: 5,
      }),
    );
  return slugs;
}

void t.test("how our incidents compare with the venues' notices", async (t) => {
  const { pool, registry, url } = await migratedDatabase(t);
  await forget(pool);
  const hole = { venue: "kraken", from: at(40), to: at(30) };
  await measuredButFor(pool, [hole]);
  // one server, queried at a different tick each time, none of them in the future
  const now = () => new Date(Date.now() - askedLaterMs);
  const api = await serve(t, { pool, registry });
  const ask = async <Body>(path: string): Promise<Body> => {
    const { body, status } = await api.ask<Body>(path);
    if (status !== 200) throw new Error(`${path}: ${status}`);
    return body;
  };

  async function compared(venue: string | null, days = windowOf(measuredDays)) {
    accepted(await tick(pool, now()));
    const { fleet, venues } = await ask<Compared>(`/v1/detection?days=${days}`);
    return venue === null ? fleet : venues.find(({ id }) => id === venue)!.detection;
  }

  async function begin() {
    await pool.script("truncate incident, alert_event, delivery, delivery_attempt restart identity");
    await forgetSaid(pool);
    for (const venue of ["okx", "kraken", "bybit", "deribit", "binance"])
      await readThrough(pool, venue, at(measuredDays * 24), at(0));
  }

  async function post(venue: string, ...notices: ReturnType<typeof notice>[]) {
    await said(pool, venue, now(), [whole(...notices)]);
  }

  await t.test("spec: pairs begin within 6 hours of each other, either way, on the same venue", async (t) => {
    const cases: [string, number, object][] = [
      ["6 hours later", -6, { paired: 1, oursOnly: 0, theirsOnly: 0 }],
      ["6 hours earlier", 6, { paired: 1, oursOnly: 0, theirsOnly: 0 }],
      ["more than 6 hours later", -6 - 1e-5, { paired: 0, oursOnly: 1, theirsOnly: 1 }],
      ["more than 6 hours earlier", 6 + 1e-5, { paired: 0, oursOnly: 1, theirsOnly: 1 }],
    ];
    for (const [what, hoursEarlier, expected] of cases) {
      await begin();
      const [slug] = await incidents(pool, "deribit", at(50));
      await post("deribit", notice("n", at(50 + hoursEarlier)));
      t.match(await compared("deribit"), { ours: 1, theirs: 1, ...expected }, what);
      const { incident } = await ask<{ incident: Incident }>(`/v1/incidents/${slug}`);
      t.equal(incident.official !== null, what.startsWith("6"), what);
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
    t.match(await compared("deribit"), {
      ...{ ours: 3, oursCompared: 3, theirs: 2, theirsCompared: 2 },
      ...{
        paired: 1,
        oursNear: 2,
        oursOnly: 0,
        theirsNear: 1,
        theirsOnly: 0,
      },
    });
    const beside = [];
    for (const slug of slugs) {
      const { incident } = await ask<{ incident: Incident }>(`/v1/incidents/${slug}`);
      beside.push(incident.official?.id);
    }
    t.strictSame(beside, ["near", "near", "near"], "each has its nearest notice");
  });

  await t.test(
    "one notice for an outage of many components is one pair, and not silence about the others",
    async (t) => {
      await begin();
      await incidents(pool, "deribit", ...[50, 50.01, 50.02, 50.03].map(at));
      await post("deribit", notice("n", at(49)));
      t.match(await compared("deribit"), {
        paired: 1,
        oursNear: 3,
        oursOnly: 0,
      });
      await begin();
      await incidents(pool, "deribit", at(50));
      await post("deribit", notice("a", at(49)), notice("b", at(51)), notice("c", at(20)));
      t.match(await compared("deribit"), {
        paired: 1,
        theirsNear: 1,
        theirsOnly: 1,
      });
    },
  );

  await t.test("an incident's page shows how that incident counts", async (t) => {
    await begin();
    const began = [at(50), at(49.9), at(30), at(20)];
    const slugs = await incidents(pool, "deribit", ...began);
    await post("deribit", notice("n", at(50)), notice("o", at(47)), notice("p", at(20), { postedAt: null }));
    const fleet = await compared("deribit");
    t.match(fleet, { ours: 4, paired: 2, oursNear: 1, oursOnly: 1, leads: 1 });
    const pages = [];
    for (const slug of slugs) pages.push((await ask<{ detection: Detection }>(`/v1/incidents/${slug}`)).detection);
    const counts = {
      ...{ days: 1, measuredDays: 1, venuesCompared: 1 },
      ...{ ours: 1, oursCompared: 1, theirsOnly: 0 },
    };
    t.match(pages, [
      {
        ...counts,
        ...{ paired: 1, oursNear: 0, oursOnly: 0, leads: 1 },
        ...{ theirs: 2, theirsCompared: 2, theirsNear: 1 },
      },
      {
        ...counts,
        ...{ paired: 0, oursNear: 1, oursOnly: 0, leads: 0 },
        ...{ theirs: 2, theirsCompared: 2, theirsNear: 2 },
      },
      {
        ...counts,
        ...{ paired: 0, oursNear: 0, oursOnly: 1, leads: 0 },
        ...{ theirs: 0, theirsCompared: 0, theirsNear: 0 },
      },
      {
        ...counts,
        ...{ paired: 1, oursNear: 0, oursOnly: 0, leads: 0 },
        ...{ theirs: 1, aheadUncorrelated: null },
      },
    ]);
  });

  await t.test("maintenance, subjects that we do not measure, and impossible times acknowledge nothing", async (t) => {
    await begin();
    await pool.query(sql`
      update venue set official_not_about = api.like_any(array['Deposit', '100%']) where venue = 'deribit'
    `);
    const [slug] = await incidents(pool, "deribit", at(50));
    const both = {
      title: "Trading and deposits",
      subjects: ["Fees", "Deposits"],
    };
    await post(
      "deribit",
      notice("m", at(50), { kind: "maintenance" }),
      notice("title", at(50), { title: "DEPOSITS of XYZ delayed" }),
      notice("components", at(50), {
        subjects: ["XYZ deposits", "Other deposits"],
      }),
      notice("percent", at(50), { title: "Fees raised by 100% today" }),
      notice("announced", at(50), { ...both, impact: "none" }),
      notice("doubtful", at(50), { postedAt: at(-100) }),
      notice("of 1900", at(50), { postedAt: new Date("1900-01-01") }),
    );
    t.match(await compared("deribit"), {
      ...{ oursOnly: 1, theirs: 2, theirsCompared: 0, paired: 0 },
      ...{ maintenances: 1, others: 4 },
    });
    interface Page {
      incident: Incident;
      official: {
        incidents: { id: string; kind: string; timesDoubtful: boolean }[];
      };
      detection: Detection;
    }
    const { incident, official, detection } = await ask<Page>(`/v1/incidents/${slug}`);
    t.equal(incident.official, null);
    t.match(detection, {
      ours: 1,
      paired: 0,
      oursOnly: 1,
      theirs: 2,
      maintenances: 1,
      others: 4,
    });
    t.strictSame(
      Object.fromEntries(official.incidents.map(({ id, kind }) => [id, kind])),
      {
        m: "maintenance",
        title: "other",
        components: "other",
        percent: "other",
        announced: "other",
        doubtful: "incident",
        "of 1900": "incident",
      },
      "they are shown with their kind",
    );
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
    t.match(await compared("kraken"), {
      theirs: 2,
      theirsCompared: 1,
      theirsOnly: 1,
    });
    t.match(await compared("kraken", windowOf(2)), {
      theirs: 2,
      theirsCompared: 1,
    });

    // measured until midnight, and not on the day that began then
    await post("kraken", notice("at midnight", at(-0.05)), notice("later", at(-0.5)));
    t.match(await compared("kraken"), { theirs: 4, theirsCompared: 2 });

    await forgetSaid(pool);
    await readThrough(pool, "okx", at(70), at(50));
    await readThrough(pool, "okx", at(40), at(20));
    await incidents(pool, "okx", at(71), at(60), at(55), at(45), at(30));
    t.match(await compared("okx"), {
      ...{ ours: 5, oursCompared: 2, oursOnly: 2, observed: true },
    });
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
    t.match(await compared("deribit"), {
      ours: 1,
      oursCompared: 0,
      oursOnly: 0,
    });
    await post("deribit", notice("young", young!));
    t.match(await compared("deribit"), {
      ...{ oursCompared: 0, theirs: 1, theirsCompared: 0, paired: 0 },
    });
    interface Page {
      incident: Incident;
      detection: Detection;
    }
    const { incident, detection } = await ask<Page>(`/v1/incidents/${slug}`);
    t.match(incident, {
      official: { id: "young", subjectMatched: false },
      officialObserved: true,
    });
    t.match(detection, {
      ...{ ours: 1, venuesCompared: 0, venuesUnseen: 1, paired: null },
    });
    // a notice that is younger than its incident waits with it
    await pool.script("truncate incident, alert_event, delivery, delivery_attempt restart identity");
    await incidents(pool, "deribit", old!);
    t.match(await compared("deribit"), {
      ...{ oursCompared: 1, paired: 1, theirsCompared: 1, oursOnly: 0 },
    });
  });

  await t.test("venues that are not compared are counted separately, by reason", async (t) => {
    await begin();
    await incidents(pool, "gate", at(50));
    await incidents(pool, "binance", at(50));
    await incidents(pool, "bitfinex", at(50));
    const none = {
      oursCompared: null,
      theirs: null,
      paired: null,
      oursOnly: null,
      aheadUncorrelated: null,
    };
    t.match(await compared("gate"), {
      ...none,
      ours: 1,
      observed: false,
      venuesWithoutFeed: 1,
      maintenances: null,
    });
    t.match(await compared("binance"), {
      ...none,
      ours: 1,
      observed: true,
      venuesOnlyMaintenance: 1,
      maintenances: 0,
    });
    t.match(await compared("bitfinex"), {
      ...none,
      ours: 1,
      observed: false,
      venuesUnseen: 1,
    });
    const fleet = await compared(null);
    t.match(fleet, {
      ours: 3,
      oursCompared: 0,
      venuesCompared: 5,
      venuesWithoutFeed: 2,
      venuesOnlyMaintenance: 2,
    });
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
    t.match(await compared("deribit", windowOf(1)), {
      ...{ ours: 1, oursCompared: 1, paired: 1, oursOnly: 0 },
      ...{ theirs: 1, theirsCompared: 1, theirsOnly: 0, theirsNear: 0 },
    });
  });

  await t.test("spec: the fleet row carries no median, and a venue's is of 5 leads or more", async (t) => {
    await begin();
    const days = [110, 90, 70, 50, 30];
    await incidents(pool, "deribit", ...days.map(at));
    const leadsS = [600, -60, 0, 7200, 60];
    const posted = days.map((hours, n) =>
      notice(`n${n}`, at(hours + 1), {
        postedAt: new Date(+at(hours) + leadsS[n]! * 1000),
      }),
    );
    await post("deribit", ...posted.slice(0, 4));
    t.match(await compared("deribit"), {
      paired: 4,
      leads: 4,
      aheadUncorrelated: null,
    });
    await post("deribit", ...posted);
    t.match(await compared("deribit"), {
      paired: 5,
      leads: 5,
      aheadUncorrelated: 60,
    });
    t.match(await compared(null), {
      paired: 5,
      leads: 5,
      aheadUncorrelated: null,
    });

    // opened late because the engine had been away
    await pool.query(sql`
        insert into alert_event (incident_id, kind, severity, at, recorded_at, late)
        select incident_id, 'opened', 'outage', opened_at, opened_at + interval '1 day', true from incident limit 1
      `);
    t.match(await compared("deribit"), {
      paired: 5,
      leads: 4,
      aheadUncorrelated: null,
    });
  });

  await t.test(
    "spec: each incident of a venue's page has its official counterpart, and each pairing subjectMatched false",
    async (t) => {
      await begin();
      const [early] = await incidents(pool, "deribit", at(50), at(20));
      const told = {
        title: "=1+1 <script>",
        url: "https://stspg.io/a",
        impact: "critical",
        status: "resolved",
        over: true,
      };
      await post("deribit", notice("a", at(51), { ...told, postedAt: at(51), resolvedAt: at(49) }));
      interface Page {
        incidents: Incident[];
        official: { observed: boolean; feed: object; incidents: object[] };
        detection: Detection;
      }
      await compared(null);
      const { incidents: listed, official, detection } = await ask<Page>("/v1/targets/deribit");
      t.strictSame(
        listed.map(({ official }) => official?.id ?? null),
        [null, "a"],
      );
      const pair = {
        ...{
          id: "a",
          title: "=1+1 <script>",
          impact: "critical",
          kind: "incident",
        },
        ...{ postedAt: at(51).toISOString(), resolvedAt: at(49).toISOString() },
        ...{ subjectMatched: false, vanished: false, timesDoubtful: false },
        aheadUncorrelated: -3600,
      };
      t.match(listed[1], { slug: early, official: pair });
      t.match(official, {
        observed: true,
        feed: { state: /^readable$/, problem: null },
        incidents: [{ ...pair, aheadUncorrelated: null }],
      });
      t.match(detection, { paired: 1, oursOnly: 1, subjectMatched: false });
      const incident = await ask<{
        detection: Detection;
        incident: Incident;
        official: object;
      }>(`/v1/incidents/${early}`);
      t.match(incident, {
        incident: { official: pair },
        official: { observed: true, incidents: [{ id: "a" }] },
        detection: {
          ours: 1,
          theirs: 1,
          paired: 1,
          leads: 1,
          aheadUncorrelated: -3600,
          subjectMatched: false,
        },
      });
      const { body } = await api.ask<{ incidents: Incident[] }>("/v1/incidents?venue=deribit");
      t.strictSame(body.incidents, listed, "the same object on every page");
    },
  );

  await t.test(
    "spec: in the table of incidents the venue's own notice stands beside each, and subjectMatched false on every pairing",
    async (t) => {
      type Line = Record<string, string>;
      const { body } = await api.ask<Line[]>("/v1/incidents?format=csv&venue=deribit");
      t.match(body[0], {
        officialId: "",
        officialTitle: "",
        subjectMatched: "",
        aheadUncorrelated: "",
      });
      t.match(body[1], {
        officialId: "a",
        officialTitle: "'=1+1 <script>",
        officialUrl: "https://stspg.io/a",
        officialStatus: "resolved",
        officialImpact: "critical",
        officialStartedAt: at(51).toISOString(),
        officialPostedAt: at(51).toISOString(),
        officialResolvedAt: at(49).toISOString(),
        officialVanished: "false",
        subjectMatched: "false",
        aheadUncorrelated: "-3600",
      });
    },
  );

  await t.test("the statements of docs/comparing.md compute every number, also for random quarters", async (t) => {
    const analyst = await analystOf(t, url);
    const everyNumber = stepsOf(page).at(-1)!.statement;
    for (let seed = 1; seed <= 4; seed++) {
      await begin();
      await randomQuarter(pool, randomFrom(seed), now());
      for (const days of [windowOf(measuredDays), windowOf(2)]) {
        await compared(null);
        const { fleet, venues } = await ask<Compared>(`/v1/detection?days=${days}`);
        const { rows } = await analyst.query<Record<string, string | null>>(
          withVariables(everyNumber, { days: String(days) }),
        );
        if (days > windowOf(2))
          t.ok(
            Number(fleet.paired) > 10 && Number(fleet.oursNear) > 5 && Number(fleet.theirsOnly) > 5,
            `world ${seed} has incidents and notices to compare`,
          );
        t.equal(rows.length, venues.length + 1);
        for (const row of rows) {
          const detection = row.venue === null ? fleet : venues.find(({ id }) => id === row.venue)!.detection;
          for (const [column, value] of Object.entries(row)) {
            const name = column.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
            if (name === "venue") continue;
            const shown = detection[name as keyof Detection];
            // no value where there is nothing to compare
            if (shown === null && name !== "aheadUncorrelated") continue;
            if (String(shown) !== String(value))
              t.fail(
                `seed ${seed}, ${days} days, ${row.venue ?? "fleet"} ${name}: shown ${String(shown)}, recomputed ${value}`,
              );
          }
        }
      }
    }
  });

  await t.test("docs/comparing.md shows the results of its statements", async (t) => {
    await begin();
    await quarterOfThePage(pool, now());
    await compared(null);
    const analyst = await analystOf(t, url);
    await comesOutAsShown(t, page, analyst, { days: "8" });
  });
});

/** Makes bursts of incidents and notices, with ties among them, and feeds with gaps. */
async function randomQuarter(pool: Pool, random: () => number, now: Date): Promise<void> {
  const some = (count: number) => Math.floor(random() * count);
  const wholeMinutes = () => at(some(measuredDays * 24 * 60) / 60);
  const venues = ["okx", "kraken", "bybit", "deribit"];
  for (const venue of venues) {
    const began = Array.from({ length: 6 + some(10) }, wholeMinutes).flatMap((start) =>
      Array.from({ length: 1 + some(3) }, (_, n) => new Date(+start + n * 60_000)),
    );
    await incidents(pool, venue, ...began);
    // one in the same minute as an incident, others anywhere
    const posted = [...began.slice(0, 3), ...Array.from({ length: 8 + some(8) }, wholeMinutes)];
    await said(pool, venue, now, [
      whole(
        ...posted.map((start, n) =>
          notice(`n${n}`, start, {
            kind: some(6) === 0 ? "maintenance" : "incident",
            title: some(5) === 0 ? "Futures are slow" : "Errors",
            postedAt: some(4) === 0 ? null : new Date(+start + some(7200) * 1000),
          }),
        ),
      ),
    ]);
    const gap = measuredDays * 24 - some(measuredDays * 24);
    await pool.query(sql`delete from official_reading where source_id = ${await sourceOf(pool, venue)}`);
    await readThrough(pool, venue, at(measuredDays * 24), at(gap));
    await readThrough(pool, venue, at(Math.max(0, gap - some(20))), now);
  }
}

async function quarterOfThePage(pool: Pool, now: Date): Promise<void> {
  await incidents(pool, "okx", at(100), at(60));
  await incidents(pool, "kraken", at(90), at(89.9), at(40));
  const one = notice("q8w7", at(90), {
    status: "investigating",
    impact: "minor",
    title: "Slow API",
  });
  const later = { ...one, status: "identified", impact: "critical" };
  const over = {
    ...later,
    status: "resolved",
    title: "Slow order entry",
    over: true,
  };
  const minutesAgo = (minutes: number) => new Date(+now - minutes * 60_000);
  for (const [n, said_] of [one, later, over].entries())
    await said(pool, "kraken", minutesAgo(4 - n), [whole(said_, notice("r2", at(70)))]);
  await said(pool, "kraken", minutesAgo(1), [whole(notice("r2", at(70)))]);
  await said(pool, "okx", minutesAgo(1), [{ scope: "notices", notices: [notice("o1", at(59))], listedFrom: null }]);
  await said(pool, "gemini", minutesAgo(1), [], {
    problem: "incidents.json: answered HTML instead of JSON",
  });
}
