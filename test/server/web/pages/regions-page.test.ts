/** The page of regions, as a reader sees it. */
import t from "tap";
import { sql } from "../../../../shared/database/pool.js";
import { syncRegistry } from "../../../../server/database/sync-registry.js";
import { accepted, tick } from "../../../../server/core/engine/tick.js";
import { serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { emptied } from "../../../support/emptied.js";
import { ago, decide, decideThrough, measured } from "../../../support/fleet.js";
import { member } from "../../../support/member.js";
import { getPage } from "../../../support/page.js";

const database = await migratedDatabase(t);

void t.test("regions that send nothing", async (t) => {
  const { pool, registry } = await emptied(database);
  await decide(pool);
  const { port } = await serve(t, { pool, registry });
  await t.test("are unknown, not well", async (t) => {
    const { text, icon, title } = await getPage(port, "/regions");
    t.match(text, /^None of 3 regions report\. No region has a vote now, and 2 must agree\./);
    t.match(text, /US East: sends nothing: its votes are not counted Newest sample none known Last hour no samples/);
    t.match(text, /No probe of this region is known\./);
    t.match(title, /^Regions: None of 3 regions report/);
    t.equal(icon, "unknown");
  });

  await t.test("are named beside those that report", async (t) => {
    await measured(pool, { from: ago(600), to: ago(200), regions: ["us-east"] });
    await measured(pool, { from: ago(600), to: ago(0), regions: ["eu-central"] });
    await decide(pool);
    const { text, icon } = await getPage(port, "/regions");
    t.match(text, /^1 of 3 regions reports\. Silent: Southeast Asia and US East\./);
    t.match(text, /Only 1 region has a vote now, and 2 must agree\. So the state of every venue is unknown\./);
    t.match(text, /US East: sends nothing.* Newest sample \d\d:\d\d UTC, nothing for \d+ min/);
    t.match(text, /Central Europe: reports .* samples, 100 % of them good/);
    t.equal(icon, "degraded");
  });
});

void t.test("an only region is no plural", async (t) => {
  const { pool } = await emptied(database);
  const registry = { ...database.registry, regions: database.registry.regions.filter(({ id }) => id === "eu-central") };
  await syncRegistry(pool, registry);
  const { port } = await serve(t, { pool, registry });
  const german = { "accept-language": "de" };
  await decide(pool, ago(390));
  t.match((await getPage(port, "/regions")).text, /^The only region does not report\. No region has a vote now/);
  t.match((await getPage(port, "/regions", german)).text, /^Die einzige Region berichtet nicht\./);
  t.match((await getPage(port, "/")).text, /No region can vote now \(1 is needed\), so we cannot tell\./);
  t.match((await getPage(port, "/", german)).text, /keine Region stimmberechtigt \(nötig ist 1\)/);
  await measured(pool, { from: ago(400), to: ago(0), regions: ["eu-central"] });
  const failing = { venue: "okx", component: "rest:ticker", fault: "timeout" as const, regions: ["eu-central"] };
  await measured(pool, { from: ago(150), to: ago(0), ...failing });
  await decideThrough(pool, ago(370), ago(0));
  t.match(
    (await getPage(port, "/regions")).text,
    /^The only region reports\. .*The only region that has a vote now decides whether we call a venue degraded or down\./,
  );
  const incident = (await getPage(port, "/")).links.find((link) => link.startsWith("/incidents/"))!;
  const { text } = await getPage(port, incident);
  t.match(text, /The only region with a vote had to see the trouble .* This one did: Central Europe\./);
  t.match(text, /1 of 1 region with a vote saw it degraded or down\. 1 was needed\. 1 had seen it for long enough/);
  const translated = (await getPage(port, incident, german)).text;
  t.match(translated, /Die einzige stimmberechtigte Region musste .* Diese sah sie: Central Europe\./);
  t.match(translated, /1 von 1 stimmberechtigten Region sah eine Störung oder einen Ausfall\. Nötig war 1\./);
});

void t.test("an impaired region", async (t) => {
  const { pool, registry } = await emptied(database);
  await measured(pool, { from: ago(600), to: ago(0) });
  await measured(pool, { from: ago(90), to: ago(0), fault: "timeout", regions: ["us-east"] });
  await decideThrough(pool, ago(110), ago(2));
  const { port } = await serve(t, { pool, registry });
  const { text, html } = await getPage(port, "/regions");
  t.match(text, /^3 of 3 regions report\. Impaired: US East\. 2 of the 2 regions that have a vote now must agree/);
  t.match(
    text,
    /US East: impaired: its votes are not counted Impaired since \d\d:\d\d UTC: \d+ of 15 venues measured there/,
  );
  t.match(text, /Impairments of US East, newest first .* it still lasts .* \d+ of 15 measured: Binance/);
  t.match(text, /Central Europe: reports .* No impairment in the last seven days\./);
  for (const { id } of registry.regions) t.match(html, new RegExp(`id="${id}"`), "others link to a region by its id");
});

void t.test("the probes of a region", async (t) => {
  const { pool, registry } = await emptied(database);
  const machine = "1".repeat(16);
  const since = new Date("2026-01-15T12:00:00Z");
  const east = member(pool, {
    ...{ version: "1.2.4", startedAt: since, unmeasured: { network: 37, late: 1 }, machine },
    troubles: [{ kind: "network", since, detail: "there is <b>no route" }],
    clock: { errorMs: -711.7, withinMs: 34.2 },
    vantage: { name: "fra1", place: "Frankfurt <i>", network: "AS\u202e24940" },
  });
  await east.renew();
  await member(pool, { region: "eu-central", machine, clock: null }).renew();
  await measured(pool, { from: ago(60), to: ago(0) });
  await pool.query(sql`update region set name = '<script>alert(1)</script>' where region = 'ap-southeast'`);
  // the first tick records the machines
  for (let nth = 0; nth < 2; nth++) accepted(await tick(pool, new Date()));
  const { port } = await serve(t, { pool, registry });
  const { text, html } = await getPage(port, "/regions");

  t.match(text, /US East: cannot reach the internet/);
  t.match(text, /No route since 15 Jan[^:]*, 12:00 UTC: there is <b>no route\./);
  t.match(
    text,
    /37: no way out of the machine, or no venue at all answered 1: started too late/,
    "the most frequent first",
  );
  t.match(text, /712 ms slow \(±35 ms\)/);
  t.match(text, /Central Europe.* not known: fewer than three venues agree/);
  t.match(text, /Measures from Frankfurt <i>, \u2068AS24940\u2069 \(fra1\)/);
  t.match(text, /shared with Central Europe: together they are one vantage/);
  t.match(text, /The 3 regions that report now are 2 vantages\./);
  t.match(text, /Central Europe.* Measures from place and network not given/);
  t.notMatch(html, /<script>alert|<b>no route|Frankfurt <i>/);
});
