/** Pages of incidents that the engine itself has opened, one of each kind of trouble. */
import t from "tap";
import { sql, type Db } from "../../../../shared/database/pool.js";
import { rulesRow } from "../../../../shared/rules/engine-rules.js";
import { serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { ago, decideThrough, type Measured, measured, pastIncident, unmeasured } from "../../../support/fleet.js";

interface Votes {
  at: string;
  notCounted: object[];
  votes: { region: string; vote: string; slow: number; answers: number; p50Ms: number | null }[];
}

interface Page {
  incident: Record<"slug" | "startedAt" | "openedAt" | "escalatedAt" | "lastBadAt" | "closedAt", string>;
  events: { kind: string; at: string; severity: string | null }[];
  evidence: Record<"opening" | "escalation" | "closing", Votes>;
  errors: {
    samples: number | null;
    bad: number | null;
    faults: { fault: string; count: number }[];
    regions: { region: string; bad: number }[];
  };
  latency: {
    during: { answers: number; slowestMs: number | null };
    regions: { region: string; beforeP50Ms: number | null; slowestMs: number | null }[];
  } | null;
  related: { slug: string }[];
}

/** Before the first sample of causeIncidents, even where the tests until then took minutes. */
const longAgo = () => ago(3_000);

/** Each for a minute, all at the same time, at six venues; closed when their pages are read. */
async function causeIncidents(db: Db): Promise<void> {
  // instants of one clock, even if the test is slow
  const now = Date.now();
  const ago = (seconds: number) => new Date(now - seconds * 1000);
  const [from, to] = [ago(480), ago(420)];
  const all = { from: ago(900), to: ago(200) };
  await measured(db, all);
  const trouble = (venue: string, component: string, what: Partial<Measured>) =>
    measured(db, { from, to, venue, component, ...what });
  await trouble("kraken", "rest:ticker", { regions: ["eu-central", "us-east"], fault: "timeout" });
  await db.query(sql`
    insert into typical_latency (holds_from, component_id, region_id, p50_us, hours)
    select distinct engine.typical_in_force(at), c.component_id, g.region_id, 80000, 168
    from (values (now()), (now() - interval '15 minutes')) as w (at), component c, venue v, region g
    where v.venue_id = c.venue_id and v.venue = 'okx' and c.component = 'rest:book'
  `);
  await trouble("okx", "rest:book", { latencyMs: 3_000 });
  await trouble("bybit", "ws:trades", { fault: "stall" });
  // without a socket its streams are not measured
  await unmeasured(db, { from, to, venue: "deribit", kind: "ws" });
  await trouble("deribit", "ws:conn", { fault: "closed" });
  await unmeasured(db, { ...all, venue: "gemini", component: "rest:ticker", regions: ["us-east"] });
  await trouble("gemini", "rest:ticker", { regions: ["eu-central", "ap-southeast"], fault: "http" });
  // on a fresh database when it fails
  await unmeasured(db, { from: all.from, to: ago(490), venue: "bitget", component: "rest:ticker" });
  await trouble("bitget", "rest:ticker", { fault: "http" });
  await decideThrough(db, ago(500), ago(250), rulesRow);
}

void t.test("the page of an incident that the engine opened", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  const api = await serve(t, { pool, registry });
  await causeIncidents(pool);
  const read = async (slug: string) => (await api.ask<Page>(`/v1/incidents/${slug}`)).body;

  async function pageOf(venue: string): Promise<Page> {
    const { incidents } = (await api.ask<{ incidents: { slug: string }[] }>(`/v1/incidents?venue=${venue}`)).body;
    t.equal(incidents.length, 1, `one incident of ${venue}`);
    return read(incidents[0]!.slug);
  }

  await t.test("has a timeline from the incident's times", async (t) => {
    const { incident, events, evidence } = await pageOf("kraken");
    const regions = ["eu-central", "us-east"];
    t.match(incident, { severity: "outage", peakSeverity: "outage", status: "closed", flapping: false, regions });
    t.strictSame(events, [
      { kind: "started", at: incident.startedAt, severity: null },
      { kind: "opened", at: incident.openedAt, severity: "degraded" },
      { kind: "escalated", at: incident.escalatedAt, severity: "outage" },
      { kind: "last-bad", at: incident.lastBadAt, severity: null },
      { kind: "closed", at: incident.closedAt, severity: null },
    ]);
    const times = events.map(({ at }) => at);
    t.strictSame(times, [...times].sort());
    const { opening, escalation, closing } = evidence;
    const { openedAt, escalatedAt, closedAt } = incident;
    t.strictSame([opening.at, escalation.at, closing.at], [openedAt, escalatedAt, closedAt]);
  });

  await t.test("has the votes at each decision, including the dissenting one", async (t) => {
    const { evidence } = await pageOf("kraken");
    const votes = (of: Votes) => of.votes.map(({ region, vote }) => `${region} ${vote}`);
    const { opening, escalation, closing } = evidence;
    t.strictSame(votes(opening), ["eu-central degraded", "ap-southeast operational", "us-east degraded"]);
    t.strictSame(votes(escalation), ["eu-central outage", "ap-southeast operational", "us-east outage"]);
    t.strictSame(new Set(closing.votes.map(({ vote }) => vote)), new Set(["operational"]));
    t.match(opening, { quorum: 2, confirming: 2 });
    t.strictSame(opening.notCounted, []);
    t.match(opening.votes[0], { badRun: 3, faults: { timeout: 3 }, slow: 0, typicalP50Ms: null });
  });

  await t.test("has a vote's median only from three answers or more", async (t) => {
    const page = await pageOf("bitget");
    const [vote] = page.evidence.opening.votes;
    t.ok(vote!.answers > 0 && vote!.answers < 3, `${vote!.answers} answers`);
    t.equal(vote!.p50Ms, null);
    const [kept] = await pool.query<{ ms: number }>(sql`
      select p50_ms as ms from analytics.votes
      where slug = ${page.incident.slug} and decision = 'opening' and region = ${vote!.region}
    `);
    t.equal(kept!.ms, 80, "the engine's evidence is unchanged");
    const { evidence } = await pageOf("kraken");
    t.match(evidence.opening.votes[0], { answers: 9, p50Ms: 80 });
  });

  await t.test("counts errors without the following recovery", async (t) => {
    const { incident, errors } = await pageOf("kraken");
    t.match(errors, { from: incident.startedAt, to: incident.lastBadAt });
    t.strictSame(errors.faults, [{ fault: "timeout", count: errors.bad }]);
    const bad = Object.fromEntries(errors.regions.map(({ region, bad }) => [region, bad]));
    t.equal(bad["ap-southeast"], 0);
    t.ok(bad["eu-central"]! >= 12);
    t.equal(bad["eu-central"]! + bad["us-east"]!, errors.bad);
  });

  await t.test("has a latency and no errors for slowness", async (t) => {
    const { incident, events, evidence, errors, latency } = await pageOf("okx");
    t.match(incident, { peakSeverity: "degraded", escalatedAt: null });
    const kinds = events.map(({ kind }) => kind);
    t.strictSame(kinds, ["started", "opened", "last-bad", "closed"]);
    const { votes } = evidence.opening;
    t.equal(votes.length, 3);
    for (const vote of votes) t.match(vote, { vote: "degraded", bad: 0, typicalP50Ms: 80 });
    t.ok(votes.every(({ slow }) => slow >= 3));
    t.ok(errors.samples! > 0);
    t.strictSame([errors.bad, errors.faults], [0, []]);
    // six answers a minute are too few for a 95th percentile
    t.match(latency, { source: "component", bucketMs: 60_000, before: { p50Ms: 80 }, during: { p95Ms: null } });
    // it lasted a minute, which may span two
    t.ok(latency!.during.slowestMs! > 1_000, "slow during the incident");
    t.ok(latency!.during.answers >= 18, "this many answers were good");
    const names = latency!.regions.map(({ region }) => region);
    t.strictSame(names, ["eu-central", "ap-southeast", "us-east"]);
    for (const { beforeP50Ms, slowestMs } of latency!.regions) {
      t.equal(beforeP50Ms, 80);
      t.ok(slowestMs! > 1_000);
    }
  });

  await t.test("has the REST latency for a stalled stream", async (t) => {
    const { incident, errors, latency } = await pageOf("bybit");
    t.match(incident, { component: "ws:trades", kind: "ws" });
    t.match(errors.faults, [{ fault: "stall" }]);
    t.match(latency, { source: "venue-rest", label: /REST/, before: { p50Ms: 80 }, during: { p50Ms: 80 } });
  });

  await t.test("is one for a dead socket and its streams", async (t) => {
    const { incident, errors, evidence } = await pageOf("deribit");
    t.match(incident, { component: "ws:conn" });
    t.match(errors.faults, [{ fault: "closed" }]);
    t.match(evidence.opening.votes[0], { answers: 0, p50Ms: null, typicalP50Ms: null });
  });

  await t.test("names a region that measured nothing", async (t) => {
    const { incident, evidence, errors, latency } = await pageOf("gemini");
    t.match(incident, { reporting: 2, quorum: 2, regions: ["eu-central", "ap-southeast"] });
    t.match(evidence.opening.votes, [{ region: "eu-central" }, { region: "ap-southeast" }]);
    t.equal(evidence.opening.votes.length, 2);
    t.match(evidence.opening.notCounted, [{ region: "us-east", newestAt: null }]);
    t.match(errors.regions[2], { region: "us-east", samples: 0 });
    t.match(latency!.regions[2], { region: "us-east", beforeP50Ms: null, p50Ms: null });
  });

  await t.test("does not look faster because a slow region fails", async (t) => {
    const component = "rest:book";
    const startedAt = new Date(Math.floor(+ago(600) / 60_000) * 60_000);
    const before = { from: longAgo(), to: startedAt };
    const during = { from: new Date(+startedAt - 1), to: ago(200) };
    const slow = { venue: "bitstamp", component, regions: ["eu-central"] };
    await measured(pool, { ...slow, ...before, latencyMs: 900 });
    await measured(pool, { ...slow, ...during, fault: "timeout" });
    const slug = await pastIncident(pool, { venue: "bitstamp", component, startedAt, minutes: 2 });
    await decideThrough(pool, ago(242), ago(240));
    const { latency } = await read(slug);
    t.match(latency, {
      // one answer a minute gives no median of a minute
      before: { p50Ms: 80, slowestMs: null },
      during: { p50Ms: 80 },
      regions: [{ beforeP50Ms: 900, p50Ms: null }],
    });
  });

  await t.test("has no latency without answers", async (t) => {
    const always = { from: longAgo(), to: ago(200), venue: "gate" };
    await measured(pool, { ...always, fault: "connect" });
    const slug = await pastIncident(pool, { venue: "gate", component: "rest:ticker", startedAt: ago(400), minutes: 2 });
    await decideThrough(pool, ago(240), ago(230));
    const { errors, latency } = await read(slug);
    t.equal(latency, null);
    t.equal(errors.bad, errors.samples);
  });

  await t.test("has null, not zero, where data are no longer kept", async (t) => {
    const where = { venue: "bitstamp", component: "rest:ticker" };
    const slug = await pastIncident(pool, { ...where, startedAt: ago(300 * 86_400), minutes: 2 });
    const { errors, latency } = await read(slug);
    t.equal(latency, null);
    t.match(errors, { samples: null, bad: null });
    t.strictSame([errors.faults, errors.regions], [[], []]);
  });

  await t.test("has its latency by hours if it lasted for days", async (t) => {
    const where = { venue: "bitfinex", component: "rest:ticker" };
    const slug = await pastIncident(pool, { ...where, startedAt: ago(2 * 86_400), minutes: 2 * 1440 });
    await measured(pool, { ...where, from: ago(3 * 3_600), to: ago(2 * 3_600) });
    await pool.query(sql`call upkeep.refresh_hours(now())`);
    const { latency } = await read(slug);
    t.match(latency, { bucketMs: 3_600_000, before: { buckets: 0, p50Ms: null }, during: { p50Ms: 80 } });
  });
});

void t.test("an incident's page lists related incidents", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  const api = await serve(t, { pool, registry });
  const hour = 3_600;
  const day = 24 * hour;
  const past = (venue: string, component: string, seconds: number, minutes = 5, retracted = false) =>
    pastIncident(pool, { venue, component, minutes, retracted, startedAt: ago(seconds) });
  const at = 30 * day;
  const slug = await past("kraken", "rest:ticker", at);
  const near = [
    await past("kraken", "rest:book", at - 5 * hour),
    await past("kraken", "ws:trades", at + 5 * hour),
    await past("kraken", "ws:book", at + 2 * day, 3 * 1440),
    await past("kraken", "rest:ticker", at + 50 * day),
    await past("kraken", "rest:ticker", at - 20 * day),
    await past("okx", "rest:ticker", at + 500),
    await past("gate", "ws:conn", at - 500),
  ];
  // too far away in time, or not public
  await past("kraken", "rest:book", at + 7 * hour);
  await past("kraken", "ws:trades", at - 2 * day);
  await past("kraken", "rest:ticker", at + 100 * day);
  await past("bybit", "rest:ticker", at + 700);
  await past("kraken", "ws:trades", at + 60, 5, true);
  await past("bitget", "rest:ticker", at, 5, true);
  await decideThrough(pool, ago(4), ago(2));

  const related = async () => (await api.ask<Page>(`/v1/incidents/${slug}`)).body.related.map((one) => one.slug);
  // same venue and time, same component, and other venues at the same time
  t.strictSame((await related()).sort(), near.sort());

  for (let nth = 1; nth <= 15; nth++) await past("kraken", "ws:trades", at - nth);
  await decideThrough(pool, ago(1), ago(0));
  t.equal((await related()).length, 14, "at most ten of the venue, two of other venues and two of its component");
});
