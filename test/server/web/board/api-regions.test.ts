/** A region with its own network trouble, and its probes, as readers see them. */
import t from "tap";
import { sql } from "../../../../shared/database/pool.js";
import { type Api, serve } from "../../../support/api.js";
import { accepted, tick } from "../../../../server/core/engine/tick.js";
import { migratedDatabase } from "../../../support/database.js";
import { emptied } from "../../../support/emptied.js";
import { ago as secondsAgo, decideThrough, measured } from "../../../support/fleet.js";
import { forgetAt, member } from "../../../support/member.js";

const database = await migratedDatabase(t);

interface Fleet {
  regions: {
    id: string;
    reporting: boolean;
    impaired: { since: string; recognisedAt: string; venues: string[]; measured: number; reason: string } | null;
    impairments: { startedAt: string; recognisedAt: string; endedAt: string | null; venues: string[] }[];
  }[];
  quorum: number;
}

async function fleet(api: Api): Promise<Fleet> {
  return (await api.ask<Fleet>("/v1/regions")).body;
}

void t.test("an impaired region", async (t) => {
  const { pool, registry } = database;
  const api = await serve(t, { pool, registry });
  // instants of one clock, even if the test is slow; none so old that the engine counts as silent
  const now = Date.now();
  const ago = (seconds: number) => new Date(now - seconds * 1000);
  const venues = registry.venues.map(({ id }) => id);
  const [begins, ends] = [ago(190), ago(110)];
  await measured(pool, { from: ago(600), to: ago(0) });
  await measured(pool, { from: begins, to: ends, fault: "timeout", regions: ["us-east"] });
  const ticker = { venue: "kraken", component: "rest:ticker", regions: ["eu-central", "ap-southeast"] };
  await measured(pool, { ...ticker, from: ago(160), to: ends, fault: "timeout" });

  await t.test("is not impaired before", async (t) => {
    await decideThrough(pool, ago(210), ago(200));
    const { regions, quorum } = await fleet(api);
    const well = { reporting: true, impaired: null, impairments: [] };
    t.strictSame(
      regions.map(({ id, reporting, impaired, impairments }) => ({ id, reporting, impaired, impairments })),
      ["eu-central", "ap-southeast", "us-east"].map((id) => ({ id, ...well })),
    );
    t.equal(quorum, 2, "two of three must agree");
  });

  await t.test("is shown with the reason for its impairment", async (t) => {
    await decideThrough(pool, ago(198), ago(120));
    const { regions, quorum } = await fleet(api);
    const [eu, , us] = regions;
    t.strictSame([eu!.impaired, eu!.impairments], [null, []]);
    t.equal(us!.reporting, true, "it continues to measure");
    const { since, recognisedAt, venues: affected, measured, reason } = us!.impaired!;
    t.ok(affected.length > venues.length / 2);
    t.ok(affected.every((venue) => venues.includes(venue)));
    t.equal(measured, venues.length);
    t.match(reason, `${affected.length} of ${venues.length} venues`);
    t.ok(since >= begins.toISOString());
    t.ok(since <= recognisedAt);
    t.match(us!.impairments, [{ startedAt: since, recognisedAt, endedAt: null, venues: affected }]);
    t.equal(us!.impairments.length, 1);
    t.equal(quorum, 2, "both that have a vote must agree");
  });

  await t.test("is marked on every venue's page", async (t) => {
    const compare = [
      { region: "eu-central", impaired: false, state: "operational" },
      { region: "ap-southeast", impaired: false, state: "operational" },
      { region: "us-east", impaired: true, state: "outage" },
    ];
    // the region's trouble is not the venue's
    t.match((await api.ask("/v1/targets/okx")).body, { state: "operational", regions: { compare } });
  });

  await t.test("is named in the evidence as not counted", async (t) => {
    const { body } = await api.ask<{ incidents: { slug: string }[] }>("/v1/incidents");
    t.match(body.incidents, [{ venue: "kraken", quorum: 2, counted: 2, reporting: 3 }]);
    t.equal(body.incidents.length, 1);
    const opening = {
      confirming: 2,
      votes: [{ region: "eu-central" }, { region: "ap-southeast" }],
      notCounted: [{ region: "us-east", reason: /^impaired/ }],
    };
    const page = await api.ask(`/v1/incidents/${body.incidents[0]!.slug}`);
    t.match(page.body, { incident: { regions: ["eu-central", "ap-southeast"] }, evidence: { opening } });
  });

  await t.test("is not shown while the engine is silent", async (t) => {
    const silence = sql`interval '6 minutes'`;
    await pool.query(sql`update engine_clock set ticked_at = ticked_at - ${silence}`);
    const { regions } = await fleet(api);
    t.equal(regions[2]!.impaired, null);
    t.match(regions[2]!.impairments, [{ endedAt: null }], "the impairment as recorded");
    await pool.query(sql`update engine_clock set ticked_at = ticked_at + ${silence}`);
  });

  await t.test("recovers, and its impairment stays on record", async (t) => {
    await decideThrough(pool, ago(118), ago(20));
    const { regions, quorum } = await fleet(api);
    t.equal(regions[2]!.impaired, null);
    t.equal(quorum, 2);
    const [over] = regions[2]!.impairments;
    t.ok(over!.endedAt! > over!.recognisedAt);
    const eightDays = sql`interval '8 days'`;
    await pool.query(sql`
      update impairment
      set started_at = started_at - ${eightDays}, recognised_at = recognised_at - ${eightDays}, ended_at = ended_at - ${eightDays}
    `);
    await decideThrough(pool, ago(18), ago(16));
    t.strictSame((await fleet(api)).regions[2]!.impairments, [], "listed for a week only");
  });
});

void t.test("a region lists its probes and their troubles", async (t) => {
  const { pool, registry } = await emptied(database);
  const api = await serve(t, { pool, registry });
  const since = new Date("2026-01-15T12:00:00Z");
  const well = member(pool, { version: "1.2.3", startedAt: since, unmeasured: { late: 2 } });
  const troubled = member(pool, {
    version: "1.2.4",
    unmeasured: { network: 37, late: 1 },
    troubles: [{ kind: "network", since, detail: "there is no route" }],
    clock: { errorMs: -11.7, withinMs: 34.2 },
  });
  const ofEurope = member(pool, { region: "eu-central", clock: null });
  for (const one of [ofEurope, well, troubled, well, troubled]) await one.renew();
  await forgetAt(pool, ofEurope.process);
  accepted(await tick(pool, new Date()));

  const { body } = await api.ask<{ regions: Record<string, unknown>[] }>("/v1/regions");
  const [eu, ap, us] = body.regions;
  t.match(us, {
    probeVersion: "1.2.4",
    probeStartedAt: since.toISOString(),
    unmeasuredSlots: 40,
    troubles: [{ probe: troubled.process, kind: "network", since: since.toISOString(), detail: "there is no route" }],
  });
  const ofWell = { unmeasuredSlots: 2, unmeasuredByReason: { late: 2 }, clockErrorMs: null };
  const ofTroubled = { unmeasuredSlots: 38, unmeasuredByReason: { network: 37, late: 1 }, clockErrorMs: -12 };
  t.match(us!.probes, [
    { id: well.process, version: "1.2.3", ...ofWell },
    { id: troubled.process, version: "1.2.4", ...ofTroubled, clockErrorWithinMs: 35 },
  ]);
  const shares = (us!.probes as { venues: number }[]).map((one) => one.venues);
  t.same(shares.sort(), [7, 8], "they share its venues");
  t.match(eu!.probes, [{ id: ofEurope.process, venues: 15 }], "the probe that was alive last, where none is alive");
  t.strictSame([ap!.probes, ap!.troubles, ap!.probeVersion], [[], [], null]);
});

void t.test("a probe's heartbeat after the instant is not shown", async (t) => {
  const { pool, registry } = await emptied(database);
  const api = await serve(t, { pool, registry });
  const read = async () => {
    type Body = { generatedAt: string; regions: { probes: { id: string; seenAt: string }[] }[] };
    const { generatedAt, regions } = (await api.ask<Body>("/v1/regions")).body;
    const probes = regions.flatMap((region) => region.probes);
    t.ok(probes.every(({ seenAt }) => seenAt <= generatedAt));
    return { generatedAt, probes };
  };
  const probe = member(pool);
  /** Decides that instant after the probe's next heartbeat. */
  const decidedLater = async (at: Date, heartbeat = () => probe.renew()) => {
    await pool.query(sql`select pg_sleep(0.02)`);
    await heartbeat();
    accepted(await tick(pool, at, { now: null }));
  };
  await decidedLater(new Date());
  t.strictSame((await read()).probes, [], "the probe did not exist at the instant");

  // at every tick, and always between the instant and its decision
  let before = new Date();
  await decidedLater(before);
  for (let round = 0; round < 3; round += 1) {
    const at = new Date();
    await decidedLater(at);
    const { generatedAt, probes } = await read();
    t.equal(generatedAt, at.toISOString());
    t.equal(probes.length, 1);
    t.ok(probes[0]!.seenAt >= before.toISOString(), "the last heartbeat before the instant is shown");
    before = at;
  }
  const [kept] = await pool.query<{ n: number }>(sql`select count(*)::int as n from shown_probe`);
  t.equal(kept!.n, 2, "the shown heartbeat and the next one are stored");
  await decidedLater(new Date(), () => probe.leave());
  t.equal((await read()).probes.length, 1, "the probe says goodbye only after the instant");
});

void t.test("what a probe whose clock is ahead reports of itself is not newer than the answer", async (t) => {
  const { pool, registry } = await emptied(database);
  const ahead = secondsAgo(-40);
  const troubles = [{ kind: "clock", since: ahead, detail: "40 s ahead" }] as const;
  await member(pool, { startedAt: ahead, troubles }).renew();
  accepted(await tick(pool, new Date(), { now: null }));
  interface Body {
    generatedAt: string;
    regions: {
      id: string;
      probeStartedAt: string;
      probes: { startedAt: string; seenAt: string }[];
      troubles: { since: string }[];
    }[];
  }
  const { generatedAt, regions } = (await (await serve(t, { pool, registry })).ask<Body>("/v1/regions")).body;
  const { probeStartedAt, probes, troubles: shown } = regions.find(({ id }) => id === "us-east")!;
  const { startedAt, seenAt } = probes[0]!;
  t.ok(seenAt <= generatedAt);
  t.same([probeStartedAt, startedAt, shown[0]!.since], [seenAt, seenAt, seenAt]);
});
