/** The leaderboard as a reader sees it: ties, bounds, and unknown figures. */
import t from "tap";
import { sql } from "../../../../shared/database/pool.js";
import { exampleOf } from "../../../../server/web/api/shapes.js";
import { reliabilityResponse } from "../../../../server/web/board/reliability.js";
import { comparePage, type ReliabilityData, type ReliabilityRow } from "../../../../server/web/pages/compare.js";
import { exactText, percentText } from "../../../../server/web/pages/format.js";
import { serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { ago, decide, measured } from "../../../support/fleet.js";
import { pageText } from "../../../../server/web/pages/page.js";
import { getPage, readHtml } from "../../../support/page.js";

const example = exampleOf(reliabilityResponse) as ReliabilityData;

/** @param uptime with its bounds; null: not measured enough */
function row(id: string, uptime: [pct: number | null, low: number, high: number] | null): ReliabilityRow {
  const [uptimePct, uptimePctLow, uptimePctHigh] = uptime ?? [null, null, null];
  const unknown = { downMinutes: null, degradedMinutes: null, coveragePct: 0, typicalP50Ms: null, typicalP95Ms: null };
  const name = id.toUpperCase();
  return { ...example.venues[0]!, id, name, uptimePct, uptimePctLow, uptimePctHigh, ...(uptime === null && unknown) };
}

function comparison(other: Partial<ReliabilityData>) {
  const reliability = { ...example, excluded: [], ...other };
  return readHtml(pageText(comparePage({ reliability, regionNames: new Map(), category: null })));
}

void t.test("ties are shown as ties, and venues without an uptime come last", (t) => {
  const { text } = comparison({
    venues: [
      row("aa", [100, 99.9, 100]),
      row("bb", [99.95, 99.9, 99.97]),
      row("cc", [98, 97.5, 98.5]),
      row("dd", [null, 90, 99]),
      row("ee", null),
    ],
    ranks: [
      { rank: 1, venues: ["bb", "aa", "dd"] },
      { rank: 4, venues: ["cc"] },
    ],
  });
  t.match(text, /^2 of 5 venues share rank 1 over the last 90 days: the measurements do not separate them\./);
  t.match(
    text,
    /Rank 1, shared by 2 venues: [^.]+ AA 100 % 99\.986 % 99\.9 to 100 % .* BB 99\.95 % 99\.986 % 99\.9 to 99\.97 %/,
  );
  t.match(text, /Rank 4 CC 98 % 99\.986 % 97\.5 to 98\.5 %/);
  t.match(
    text,
    /Not measured enough: [^.]+ DD not enough measured unknown 90 to 99 % .* EE not enough measured unknown not measured/,
  );
  t.match(text, /EE .* not measured not measured .* too few answers too few answers/, "null is never 0");
  t.end();
});

void t.test("what shares a rank is in the order of all its trouble, and that with the least is named", (t) => {
  const all = [100, 99.9, 100] as [number, number, number];
  const venues = [
    { ...row("aa", all), downMinutes: 0, degradedMinutes: 39, incidents: 5 },
    { ...row("bb", all), downMinutes: 0, degradedMinutes: 0, incidents: 1 },
    { ...row("cc", all), downMinutes: 0, degradedMinutes: 0, incidents: 0 },
    { ...row("dd", all), downMinutes: 0, degradedMinutes: 0, incidents: 0 },
  ];
  const { text } = comparison({ venues, ranks: [{ rank: 1, venues: ["aa", "bb", "cc", "dd"] }] });
  t.match(
    text,
    /^All 4 venues share rank 1 .*\. The least trouble among these: CC and DD, without failures in 100 % of the measured minutes\./,
  );
  t.match(text, / CC 100 % 100 % .* DD 100 % 100 % .* BB 100 % 100 % .* AA 100 % 99\.969 % /, "never rounded up");
  t.notMatch(
    comparison({ venues: venues.slice(2), ranks: [{ rank: 1, venues: ["cc", "dd"] }] }).text,
    /least trouble among/,
  );
  t.end();
});

void t.test("a venue alone at its rank is named", (t) => {
  const { text } = comparison({ venues: [row("aa", [100, 100, 100])], ranks: [{ rank: 1, venues: ["aa"] }], days: 1 });
  t.match(text, /^AA alone has rank 1 today\./);
  t.end();
});

void t.test("the page says which periods its figures leave out", (t) => {
  t.match(comparison({}).text, /Every measured minute of every region counts: no region was impaired\./);
  const period = example.excluded[0]!;
  const [first, last] = [period, { ...period, from: "2026-01-31T11:58:00.000Z", to: null, minutes: 2 }];
  const { text, links } = comparison({ excluded: [last, first] });
  t.match(text, /2 periods are left out of all figures above, 8 minutes in all\./);
  t.match(
    text,
    /was left out for 6 minutes, from 30 Jan, 03:10 UTC until 30 Jan, 03:16 UTC\. Most venues were cut off/,
  );
  t.match(text, /from 11:58 UTC until now, and it still lasts\./);
  t.ok(links.includes(`/regions#${period.region}`));
  const many = comparison({ excluded: Array.from({ length: 25 }, () => period) });
  t.match(many.text, /5 older periods are listed in the JSON of this page\./);
  t.end();
});

void t.test("the leaderboard of a database", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  const api = await serve(t, { pool, registry });
  const { port } = api;

  await t.test("that is empty", async (t) => {
    await pool.query(sql`update venue set published = false`);
    t.match((await getPage(port, "/compare?days=30")).text, /No venue of this selection is measured yet\./);
    await pool.query(sql`update venue set published = true`);
  });

  await t.test("without measurements", async (t) => {
    await decide(pool);
    const { text, icon } = await getPage(port, "/compare");
    t.match(text, /No venue was measured enough over the last 90 days to be ranked\./);
    t.notMatch(text, /\b100 %/);
    t.equal(icon, "unknown");
  });

  await measured(pool, { from: ago(900), to: ago(0) });
  await measured(pool, { from: ago(900), to: ago(0), venue: "kraken", fault: "http" });
  const hostile = [`<script>alert(1)</script>`, "\u202egnp.exe", "x".repeat(200)];
  for (const [at, name] of hostile.entries())
    await pool.query(sql`update venue set name = ${name} where position = ${at}`);
  await decide(pool);

  await t.test("shows the figures of the API at the same instant", async (t) => {
    const { body } = await api.ask<ReliabilityData>("/v1/reliability?days=2");
    const { text } = await getPage(port, "/compare?days=2");
    t.ok(text.includes(exactText(body.generatedAt)));
    for (const { name, uptimePct } of body.venues) {
      const uptime = uptimePct === null ? "not enough measured" : percentText(uptimePct).replace("\u00a0", " ");
      t.ok(text.includes(`${name} ${uptime}`), name);
    }
    t.match(text, new RegExp(`Rank ${body.ranks.at(-1)!.rank}\\b`));
  });

  await t.test("links other windows, the JSON, the table and the method", async (t) => {
    const { links, text } = await getPage(port, "/compare?days=7&category=exchange");
    for (const days of [1, 7, 30, 90]) t.ok(links.includes(`/compare?days=${days}&category=exchange`));
    const json = "/v1/reliability?days=7&category=exchange";
    const tables = [".csv?", ".xlsx?"].map((ending) => json.replace("?", ending));
    for (const link of [json, ...tables, "/methodology#five-definitions"]) t.ok(links.includes(link), link);
    t.match(text, /over the last 7 days/);
  });

  await t.test("is selected by its address", async (t) => {
    t.match((await getPage(port, "/compare?category=rpc&days=")).text, /^No venue of this selection/);
    for (const query of ["days=0", "days=91", "days=a", "category=bank", "days=1&days=2"])
      t.equal((await getPage(port, `/compare?${query}`)).status, 400, query);
  });

  await t.test("is not changed by hostile names", async (t) => {
    const { html } = await getPage(port, "/compare?days=2");
    t.notMatch(html, /<script>alert/);
    t.match(html, /<bdi>\u202egnp\.exe<\/bdi>/, "an override of direction ends with the name");
  });

  await t.test("has the cache rules of the API", async (t) => {
    const first = await getPage(port, "/compare");
    t.match(first.headers, { "cache-control": "public, max-age=5, stale-while-revalidate=30" });
    t.equal((await getPage(port, "/compare", { "if-none-match": first.headers["etag"]! })).status, 304);
  });
});
