/**
 * How pages and tables show the comparison with the venues' notices, and that the statements of docs/comparing.md
 * compute its numbers: for hand-made cases, and for random quarters.
 */
import { readFileSync } from "node:fs";
import t from "tap";
import { type Pool, sql } from "../../shared/database/pool.js";
import { packagedFile } from "../../shared/config/package.js";
import { analystOf, comesOutAsShown, stepsOf, withVariables } from "../support/page-of-statements.js";
import { randomFrom } from "../support/random-samples.js";
import { notice, readThrough, said, sourceOf, whole } from "../support/stored-notices.js";
import {
  at,
  type ComparedIncident,
  type ComparedVenues,
  type DetectionRow,
  incidents,
  measuredDays,
  startComparing,
  windowOf,
} from "../support/comparing.js";

const page = readFileSync(packagedFile("docs/comparing.md"), "utf8");

void t.test("how our incidents compare with the venues' notices", async (t) => {
  const { pool, url, api, now, ask, compared, begin, post } = await startComparing(t);

  await t.test("an incident's page shows how that incident counts", async (t) => {
    await begin();
    const began = [at(50), at(49.9), at(30), at(20)];
    const slugs = await incidents(pool, "deribit", ...began);
    await post("deribit", notice("n", at(50)), notice("o", at(47)), notice("p", at(20), { postedAt: null }));
    const fleet = await compared("deribit");
    t.match(fleet, { ours: 4, paired: 2, oursNear: 1, oursOnly: 1, leads: 1 });
    const pages = [];
    for (const slug of slugs) pages.push((await ask<{ detection: DetectionRow }>(`/v1/incidents/${slug}`)).detection);
    const counts = { days: 1, measuredDays: 1, venuesCompared: 1, ours: 1, oursCompared: 1, theirsOnly: 0 };
    const alone = { paired: 0, oursNear: 0, oursOnly: 0, leads: 0 };
    t.match(pages, [
      { ...counts, ...alone, paired: 1, leads: 1, theirs: 2, theirsCompared: 2, theirsNear: 1 },
      { ...counts, ...alone, oursNear: 1, theirs: 2, theirsCompared: 2, theirsNear: 2 },
      { ...counts, ...alone, oursOnly: 1, theirs: 0, theirsCompared: 0, theirsNear: 0 },
      { ...counts, ...alone, paired: 1, theirs: 1, aheadUncorrelated: null },
    ]);
  });

  await t.test(
    "spec: each incident of a venue's page has its official counterpart, and each pairing subjectMatched false",
    async (t) => {
      await begin();
      const [early] = await incidents(pool, "deribit", at(50), at(20));
      const over = { impact: "critical", status: "resolved", over: true, postedAt: at(51), resolvedAt: at(49) };
      await post("deribit", notice("a", at(51), { title: "=1+1 <script>", url: "https://stspg.io/a", ...over }));
      interface Page {
        incidents: ComparedIncident[];
        official: { observed: boolean; feed: object; incidents: object[] };
        detection: DetectionRow;
      }
      await compared(null);
      const { incidents: listed, official, detection } = await ask<Page>("/v1/targets/deribit");
      t.match(listed, [{ official: null }, { official: { id: "a" } }]);
      const pair = {
        ...{ id: "a", title: "=1+1 <script>", impact: "critical", kind: "incident" },
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
      const incident = await ask<{ detection: DetectionRow; incident: ComparedIncident; official: object }>(
        `/v1/incidents/${early}`,
      );
      t.match(incident, {
        incident: { official: pair },
        official: { observed: true, incidents: [{ id: "a" }] },
        detection: { ours: 1, theirs: 1, paired: 1, leads: 1, aheadUncorrelated: -3600, subjectMatched: false },
      });
      const { body } = await api.ask<{ incidents: ComparedIncident[] }>("/v1/incidents?venue=deribit");
      t.strictSame(body.incidents, listed, "the same object on every page");
    },
  );

  await t.test(
    "spec: in the table of incidents the venue's own notice stands beside each, and subjectMatched false on every pairing",
    async (t) => {
      type Line = Record<string, string>;
      const { body } = await api.ask<Line[]>("/v1/incidents?format=csv&venue=deribit");
      t.match(body[0], { officialId: "", officialTitle: "", subjectMatched: "", aheadUncorrelated: "" });
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
        const { fleet, venues } = await ask<ComparedVenues>(`/v1/detection?days=${days}`);
        const { rows } = await analyst.query<Record<string, string | null>>(
          withVariables(everyNumber, { days: String(days) }),
        );
        const enough = Number(fleet.paired) > 10 && Number(fleet.oursNear) > 5 && Number(fleet.theirsOnly) > 5;
        if (days > windowOf(2)) t.ok(enough, `world ${seed} has incidents and notices to compare`);
        t.equal(rows.length, venues.length + 1);
        for (const row of rows) {
          const detection = row.venue === null ? fleet : venues.find(({ id }) => id === row.venue)!.detection;
          for (const [column, value] of Object.entries(row)) {
            const name = column.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
            if (name === "venue") continue;
            const shown = detection[name as keyof DetectionRow];
            // no value where there is nothing to compare
            if (shown === null && name !== "aheadUncorrelated") continue;
            const what = `seed ${seed}, ${days} days, ${row.venue ?? "fleet"} ${name}`;
            if (String(shown) !== String(value)) t.fail(`${what}: shown ${String(shown)}, recomputed ${value}`);
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
    const notices = posted.map((start, n) =>
      notice(`n${n}`, start, {
        kind: some(6) === 0 ? "maintenance" : "incident",
        title: some(5) === 0 ? "Futures are slow" : "Errors",
        postedAt: some(4) === 0 ? null : new Date(+start + some(7200) * 1000),
      }),
    );
    await said(pool, venue, now, [whole(...notices)]);
    const gap = measuredDays * 24 - some(measuredDays * 24);
    await pool.query(sql`delete from feed_poll where feed_id = ${await sourceOf(pool, venue)}`);
    await readThrough(pool, venue, at(measuredDays * 24), at(gap));
    await readThrough(pool, venue, at(Math.max(0, gap - some(20))), now);
  }
}

async function quarterOfThePage(pool: Pool, now: Date): Promise<void> {
  await incidents(pool, "okx", at(100), at(60));
  await incidents(pool, "kraken", at(90), at(89.9), at(40));
  const one = notice("q8w7", at(90), { status: "investigating", impact: "minor", title: "Slow API" });
  const later = { ...one, status: "identified", impact: "critical" };
  const over = { ...later, status: "resolved", title: "Slow order entry", over: true };
  const minutesAgo = (minutes: number) => new Date(+now - minutes * 60_000);
  for (const [n, version] of [one, later, over].entries())
    await said(pool, "kraken", minutesAgo(4 - n), [whole(version, notice("r2", at(70)))]);
  await said(pool, "kraken", minutesAgo(1), [whole(notice("r2", at(70)))]);
  await said(pool, "okx", minutesAgo(1), [{ scope: "notices", notices: [notice("o1", at(59))], listedFrom: null }]);
  await said(pool, "gemini", minutesAgo(1), [], { problem: "incidents.json: answered HTML instead of JSON" });
}
