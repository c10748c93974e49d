/** The history of incidents and the page of one, as a reader sees them. */
import t from "tap";
import { staleAfterMs } from "../../../../server/web/board/stale.js";
import { analystOf } from "../../../support/page-of-statements.js";
import { evidenceStatement, samplesStatement } from "../../../../server/web/pages/incident-evidence.js";
import { type Db, sql } from "../../../../shared/database/pool.js";
import { type Api, serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { emptied } from "../../../support/emptied.js";
import { ago, decide, decideThrough, measured, outage, pastIncident } from "../../../support/fleet.js";
import { getPage } from "../../../support/page.js";
import { troubledBoard } from "../../../support/page-world.js";
import { notice, readThrough, said, whole } from "../../../support/stored-notices.js";

const minute = 60;
const hour = 3_600;
const day = 86_400;
const instant = String.raw`(\d+ \w{3,4}, )?\d\d:\d\d UTC`;
const dated = String.raw`\d+ \w{3,4}( \d{4})?, \d\d:\d\d UTC`;
const duration = String.raw`(\d+ s|\d+ min( \d+ s)?)`;

async function slugOf(api: Api, query = ""): Promise<string> {
  const { body } = await api.ask<{ incidents: { slug: string }[] }>(`/v1/incidents${query}`);
  return body.incidents[0]!.slug;
}

const database = await migratedDatabase(t);

void t.test("the page of an incident that the engine opened", async (t) => {
  const { pool, registry, url } = await emptied(database);
  const api = await serve(t, { pool, registry });
  const { port } = api;
  await troubledBoard(pool);
  const slug = await slugOf(api, "?venue=okx");
  const path = `/incidents/${slug}`;

  await t.test("says in one sentence what is failing, since when and where", async (t) => {
    const { status, text, title, icon, headers } = await getPage(port, path);
    t.equal(status, 200);
    const sentence = `OKX: Ticker has been failing since ${dated} \\(${duration}\\), in 2 of 3 regions\\.`;
    t.match(text, new RegExp(`^${sentence}`));
    t.match(title, new RegExp(`^OKX: Ticker failing for ${duration}, since ${dated} · venuewatch$`));
    t.equal(icon, "outage");
    t.equal(headers["cache-control"], "public, max-age=5, stale-while-revalidate=30");
    const again = await getPage(port, path, { "if-none-match": headers["etag"]! });
    t.equal(again.status, 304);
  });

  await t.test("says what it is in plain words", async (t) => {
    const { text } = await getPage(port, path);
    t.match(text, /Severity Down: enough regions saw at least half of their requests or messages fail\./);
    t.match(text, /Most frequent fault No answer in time \(timeout\): (\d+) of \1 failed samples\./);
    t.match(text, /An endpoint \(rest:ticker\) https:\/\/openapi\.okx\.com\//);
    t.match(text, /2 of the 3 regions with a vote had to see the trouble/);
    t.match(text, /These did: Central Europe, US East\./);
    t.match(text, /Status Open\. A quorum last saw the trouble at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\./);
  });

  await t.test("has a timeline", async (t) => {
    const { text } = await getPage(port, path);
    t.match(text, /UTC Trouble began .* UTC We opened the incident: Degraded (\d+ min )?\d+ s after the beginning/);
    t.match(text, /UTC It became an outage: Down (\d+ min )?(\d+ s )?after the beginning/);
  });

  await t.test("shows the votes of all regions, including the dissenting one", async (t) => {
    const { text } = await getPage(port, path);
    t.match(text, /2 of 3 regions with a vote saw it degraded or down\. 2 were needed\. \d had seen/);
    t.match(text, /Central Europe Degraded 12 [345] 0 [345] [345] × no answer in time/);
    t.match(text, /Southeast Asia Healthy 12 0 0 0 none 80 ms \(unknown\)/);
    t.match(text, /Votes at the escalation .* Central Europe Down 12 [67] 0 [67] [67] × no answer in time/);
    t.match(text, /place not known/);
    t.notMatch(text, /Votes at the closing/);
  });

  await t.test("has errors and latencies by region", async (t) => {
    const { text } = await getPage(port, path);
    t.match(text, /Region Samples Failed no answer in time \(timeout\) Central Europe (\d+) (\d+) \2 /);
    t.match(text, /Southeast Asia \d+ 0 0 /);
    t.match(text, /This is the latency of the endpoint itself\./);
  });

  await t.test("says that silence of a feed that was not read means nothing", async (t) => {
    const { text } = await getPage(port, path);
    t.match(text, /We could not read its feed then, so we do not know whether it said anything\./);
    t.notMatch(text, /It has said nothing/);
  });

  await t.test("has statements that recompute the votes", async (t) => {
    const { text } = await getPage(port, path);
    const flat = (statement: string) => statement.replace(/\s+/g, " ");
    const decisions = ["opening", "escalation"];
    const statements = [evidenceStatement(slug, decisions), samplesStatement(slug)] as const;
    for (const statement of statements) t.ok(text.includes(flat(statement)), "on the page");
    const analyst = await analystOf(t, url);
    const { rows } = await analyst.query(statements[0]);
    t.strictSame(
      rows,
      decisions.map((decision) => ({ decision, same: true })),
    );
    t.ok((await analyst.query(statements[1])).rows.length > 10);
  });

  await t.test("leads to its data and the rules", async (t) => {
    const { links } = await getPage(port, path);
    for (const link of [`/v1/incidents/${slug}`, "/checking", "/rulebook", "/v1/thresholds"])
      t.ok(links.includes(link), link);
  });

  await t.test("says when it was closed and why", async (t) => {
    const { text, title, html, headers } = await getPage(port, `/incidents/${await slugOf(api, "?venue=kraken")}`);
    t.match(text, new RegExp(`^Kraken: Ticker was (failing|down) for ${duration} on ${dated}\\.`));
    t.match(title, new RegExp(`was (failing|down) for ${duration} on ${dated} ·`));
    t.match(text, /An HTTP error \(http\)/);
    t.match(
      text,
      new RegExp(`We closed the incident at ${instant}, once enough regions, including one that had seen the trouble`),
    );
    t.match(text, /0 of 3 regions with a vote still saw it degraded or down/);
    t.match(text, /Related incidents .* OKX: Ticker first seen in 2 of 3 regions/);
    t.equal(headers["cache-control"], "public, max-age=5, stale-while-revalidate=30", "the venue's state may change");
    t.match(html, /http-equiv="refresh" content="60"/);
  });
});

void t.test("an open incident of old data is said of before", async (t) => {
  const { pool } = await emptied(database);
  await outage.open(pool);
  const api = await serve(t, { ...database, staleAfterMs });
  const { text } = await getPage(api.port, `/incidents/${await slugOf(api)}`);
  t.match(text, /^Blind for 3 min( \d+ s)?, .* Before that: Kraken: Ticker has been (failing|degraded) since /);
});

void t.test("an open incident that nobody sees any more says so", async (t) => {
  const { pool, registry } = await emptied(database);
  const api = await serve(t, { pool, registry });
  await outage.open(pool);
  await pool.query(sql`delete from sample where ts > ${ago(200)}`);
  await decide(pool, ago(0));
  const { text, title } = await getPage(api.port, `/incidents/${await slugOf(api)}`);
  t.match(
    text,
    /began to fail at .* Too few regions have seen trouble for the last [34] min( \d+ s)?; the incident is still/,
  );
  t.match(title, /Kraken: Ticker no trouble seen for [34] min( \d+ s)?, still open; began on \d+ \w+, /);
});

void t.test("what the venue says", async (t) => {
  const { pool, registry } = await emptied(database);
  const { port } = await serve(t, { pool, registry });
  const startedAt = ago(7 * hour);
  const past = (venue: string) => pastIncident(pool, { venue, component: "rest:ticker", startedAt, minutes: 5 });
  const pageOf = async (slug: string) => (await getPage(port, `/incidents/${slug}`)).text;
  const [okx, kraken, silent] = [await past("okx"), await past("kraken"), await past("coinbase")];
  const hostile = "<script>alert(1)</script>\u202e";
  await readThrough(pool, "coinbase", ago(8 * hour), ago(0));
  await said(pool, "okx", ago(8 * hour), [whole()]);
  const later = { title: hostile, url: "javascript:alert(1)", postedAt: ago(7 * hour - 5 * minute) };
  await said(pool, "okx", ago(7 * hour - 6 * minute), [whole(notice("n1", ago(7 * hour - minute), later))]);
  await decideThrough(pool, ago(4), ago(2));

  await t.test("is shown with its lead, and is never trusted", async (t) => {
    const { text, html, links } = await getPage(port, `/incidents/${okx}`);
    t.match(text, /The venue posted a notice 5 min after we opened this incident: “\u2068?<script>alert\(1\)/);
    t.match(text, /Nothing tests that it is about the same fault\./);
    t.notMatch(html, "<script>alert");
    t.notOk(links.some((link) => link.startsWith("javascript:")));
  });

  await t.test("is reported as nothing only where we could read its feed", async (t) => {
    t.match(await pageOf(silent), /It has said nothing about an incident\. We could read its feed/);
    const young = { venue: "coinbase", component: "rest:book", startedAt: ago(hour), minutes: 5 };
    t.match(await pageOf(await pastIncident(pool, young)), /It has said nothing about an incident so far\./);
    t.match(await pageOf(kraken), /We could not read its feed then/);
    await pool.script("update venue set feed_id = null, official_kind = null where venue = 'gate'");
    t.match(await pageOf(await past("gate")), /It has no feed that we can read/);
  });
});

void t.test("an incident of long ago says what is no longer known", async (t) => {
  const { pool, registry } = await emptied(database);
  const { port } = await serve(t, { pool, registry });
  const startedAt = ago(300 * day);
  const slug = await pastIncident(pool, { venue: "okx", component: "rest:ticker", startedAt, minutes: 18 });
  await decideThrough(pool, ago(4), ago(2));
  const { text } = await getPage(port, `/incidents/${slug}`);
  t.match(text, /^OKX: .* was down for 18 min on \d+ \w+( \d{4})?, \d\d:\d\d UTC\./);
  t.match(text, /Unknown: measurements of that time are no longer kept\./);
  t.match(text, /No votes are on record\./);
  t.match(text, /Not known: there was no good answer/);
  t.match(text, /Related incidents None:/);
});

void t.test("hostile names change nothing but themselves", async (t) => {
  const { pool, registry } = await emptied(database);
  const hostile = structuredClone(registry);
  const name = `<script>alert(1)</script>\u202e"'${"x".repeat(200)}`;
  for (const venue of hostile.venues) venue.name = name;
  await pool.query(sql`update venue set name = ${name}`);
  await pool.query(sql`update component set label = ${name}`);
  const { port } = await serve(t, { pool, registry: hostile });
  const past = { venue: "okx", component: "rest:ticker", startedAt: ago(minute), minutes: null };
  const slug = await pastIncident(pool, past);
  await decideThrough(pool, ago(4), ago(2));
  for (const path of ["/incidents", `/incidents/${slug}`]) {
    const { status, html, text } = await getPage(port, path);
    t.equal(status, 200);
    t.notMatch(html, "<script>alert", path);
    t.ok(text.includes(`\u2068${name.replace("\u202e", "")}\u2069`), "it cannot reverse the text after it");
  }
});

void t.test("there is no page of a retracted or unknown incident", async (t) => {
  const { pool, registry } = await emptied(database);
  const { port } = await serve(t, { pool, registry });
  const past = { venue: "okx", component: "rest:ticker", startedAt: ago(day), minutes: 5 };
  const retracted = await pastIncident(pool, { ...past, retracted: true });
  const gone = await getPage(port, `/incidents/${retracted}`);
  t.equal(gone.status, 404);
  t.match(gone.html, /retracted/);
  t.match(gone.html, /late samples/);
  t.equal(gone.headers["cache-control"], "public, max-age=300");
  for (const unknown of ["no-slug", "okx-2020-01-01-rest-outage", `${"a".repeat(3000)}`, "%00", "..%2f..%2fetc"])
    t.equal((await getPage(port, `/incidents/${unknown}`)).status, 404, unknown.slice(0, 40));
});

void t.test("the history", async (t) => {
  const { pool, registry } = await emptied(database);
  const { port } = await serve(t, { pool, registry });

  await t.test("of an empty database has nothing, and says how far it looks back", async (t) => {
    const { status, text, links, icon } = await getPage(port, "/incidents");
    t.equal(status, 200);
    t.match(text, /No incident of this selection began since \d+ \w{3,4}( \d{4})? \(90 UTC days, today included\)\./);
    t.match(text, /We can only find an incident where we measured\. Show all incidents/);
    for (const link of ["/v1/incidents.csv", "/v1/incidents.xlsx"]) t.ok(links.includes(link), link);
    t.equal(icon, "unknown", "nothing is painted green without evidence");
    t.ok(links.includes("/feeds/incidents.atom"));
    t.ok(
      (await getPage(port, "/incidents?venue=okx")).links.includes("/feeds/okx/incidents.atom"),
      "and that of a venue",
    );
  });

  const all = await someIncidents(pool);
  await decideThrough(pool, ago(4), ago(2));

  await t.test("is grouped by UTC day, newest first", async (t) => {
    const { html, text } = await getPage(port, "/incidents");
    t.strictSame(slugsOf(html), all);
    t.match(text, /7 incidents began since/);
    t.match(text, /One of them is open\./);
    const days = [...html.matchAll(/<h2[^>]*>(.*?)<\/h2>/g)].map(([, day]) => day);
    t.equal(days.length, new Set(all.map((slug) => /\d{4}-\d\d-\d\d/.exec(slug)![0])).size);
  });

  await t.test("is read by pages that skip nothing, though several began at one instant", async (t) => {
    const seen: string[] = [];
    let path: string | undefined = "/incidents?limit=2&category=exchange";
    while (path !== undefined && seen.length < 20) {
      const { html, text, links } = await getPage(port, path);
      seen.push(...slugsOf(html));
      if (seen.length > 2) t.match(text, /and before .* Newest incidents/);
      path = links.find((link) => /^\/incidents\?.*beforeId=/.test(link) && !link.includes("lang="));
      if (path !== undefined) t.match(path, /category=exchange/, "the selection stays");
    }
    t.strictSame(seen, all);
  });

  await t.test("is filtered by its address, as a form without JavaScript sends it", async (t) => {
    const slugs = async (query: string) => slugsOf((await getPage(port, `/incidents?${query}`)).html);
    t.strictSame(await slugs("venue=&category=&status=&days=90"), all, "empty fields select nothing");
    t.strictSame(
      await slugs("venue=kraken"),
      all.filter((slug) => slug.startsWith("kraken-")),
    );
    t.strictSame((await slugs("status=open")).length, 1);
    t.match((await getPage(port, "/incidents?status=open")).html, /<details class="folded" open/);
    for (const query of ["", "?limit=2", `?before=${ago(0).toISOString()}`])
      t.notMatch((await getPage(port, `/incidents${query}`)).html, /<details class="folded" open/, "nothing is chosen");
    t.strictSame(await slugs("category=bridge"), []);
    const { html, links } = await getPage(port, "/incidents?venue=kraken&status=closed&days=30");
    t.match(html, /<option [^>]*value="kraken"[^>]*selected|<option [^>]*selected[^>]*value="kraken"/);
    t.ok(links.includes("/v1/incidents?venue=kraken&status=closed&days=30"));
    for (const format of ["csv", "xlsx"])
      t.ok(links.includes(`/v1/incidents.${format}?venue=kraken&status=closed&days=30`), format);
  });

  await t.test("refuses parameters that it does not understand", async (t) => {
    for (const query of ["days=0", "venue=mtgox", "beforeId=3", "before=now", "limit=201", "status=x"])
      t.equal((await getPage(port, `/incidents?${query}`)).status, 400, query);
  });

  await t.test("follows the newest, and leaves older pages alone", async (t) => {
    t.match((await getPage(port, "/incidents")).html, /http-equiv="refresh"/);
    const older = await getPage(port, `/incidents?before=${ago(0).toISOString()}`);
    t.notMatch(older.html, /http-equiv="refresh"/);
  });
});

/** Seven incidents of two venues, two of which began at one instant. Returns their slugs, newest first. */
async function someIncidents(pool: Db): Promise<string[]> {
  const at = ago(2 * day);
  const past = (venue: string, component: string, startedAt: Date, minutes: number | null = 5) =>
    pastIncident(pool, { venue, component, startedAt, minutes });
  const slugs = [
    await past("okx", "rest:ticker", ago(20 * day)),
    await past("okx", "rest:ticker", ago(9 * day)),
    await past("kraken", "rest:book", ago(9 * day - 60)),
    await past("okx", "rest:book", at),
    await past("kraken", "rest:ticker", at),
    await past("kraken", "ws:trades", ago(day)),
    await past("okx", "rest:ticker", ago(minute), null),
  ];
  return slugs.reverse();
}

function slugsOf(html: string): string[] {
  return [...html.matchAll(/<li[^>]*><span class="state">.*?<a href="\/incidents\/([^"?]+)">/gs)].map(
    ([, slug = ""]) => slug,
  );
}

void t.test("pages warn when their data is old, except pages that no longer change", async (t) => {
  const { pool, registry } = await emptied(database);
  const { port } = await serve(t, { pool, registry, staleAfterMs });
  await measured(pool, { from: ago(400), to: ago(300) });
  const at = { venue: "okx", component: "rest:ticker" };
  const closed = await pastIncident(pool, { ...at, startedAt: ago(day), minutes: 5 });
  const open = await pastIncident(pool, { ...at, startedAt: ago(600), minutes: null });
  await decide(pool, ago(300));
  const warning = /Blind for \d+ min, since [-\d]+ [:\d]+ UTC: we have nothing newer\./;
  t.match((await getPage(port, `/incidents/${open}`)).text, warning);
  t.match((await getPage(port, "/incidents")).text, warning);
  t.notMatch((await getPage(port, `/incidents/${closed}`)).text, warning);
});
