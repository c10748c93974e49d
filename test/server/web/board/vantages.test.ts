/** The number of vantages: from the probes' reports about their machines to the readers. */
import t from "tap";
import { findingsOn } from "../../../../server/cli/doctor/database.js";
import { type Pool, sql } from "../../../../shared/database/pool.js";
import { accepted, tick } from "../../../../server/core/engine/tick.js";
import type { Vantage } from "../../../../shared/config/setting-values.js";
import { serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { ago, decideThrough, measured, unmeasured } from "../../../support/fleet.js";
import { forgetAt, member } from "../../../support/member.js";

const [one, other, third] = ["1".repeat(16), "2".repeat(16), "3".repeat(16)];
const unknown = { name: null, place: null, network: null };
const frankfurt = { name: "fra1", place: "Frankfurt", network: "AS24940" };

/** The recorded machines of a region, in order. */
async function machinesOf(pool: Pool, region: string) {
  const rows = await pool.query<{ machine: string | null }>(sql`
    select v.machine from region_vantage v join region g using (region_id)
    where g.region = ${region} order by v.holds_from
  `);
  return rows.map(({ machine }) => machine);
}

void t.test("a region's machine is recorded while all its probes share it", async (t) => {
  const { pool } = await migratedDatabase(t);
  const region = "us-east";
  const history = async () => {
    accepted(await tick(pool, new Date()));
    return machinesOf(pool, region);
  };
  const on = (machine: string | null) => member(pool, { region, machine });
  const [first, second, away, silent] = [on(one), on(one), on(other), on(null)];

  await silent.renew();
  await silent.leave();
  t.strictSame(await history(), [], "no row while no probe has reported a machine");
  await first.renew();
  await first.renew();
  await second.renew();
  t.strictSame(await history(), [one], "the machine is recorded once");
  await away.renew();
  await first.renew();
  t.strictSame(await history(), [one, null], "null while the probes run on two machines");
  await forgetAt(pool, away.process);
  await second.renew();
  t.strictSame(await history(), [one, null, one], "the first machine again when the other probe is gone");
  await silent.renew();
  t.strictSame((await history()).slice(3), [null], "null while a probe does not report its machine");
  for (const each of [silent, first, second]) await each.leave();
  t.equal((await history()).length, 4, "a goodbye changes nothing");
  await on(third).renew();
  t.strictSame((await history()).slice(4), [third], "a move is recorded");
  t.strictSame(await machinesOf(pool, "eu-central"), [], "another region has its own record");

  const [at] = await pool.query<{ before: string | null; now: string }>(sql`
    select api.vantage_of(g.region_id, now() - interval '1 day') as before, api.vantage_of(g.region_id, now()) as now
    from region g where g.region = ${region}
  `);
  t.strictSame(at, { before: null, now: third });
});

void t.test("a decision sees the same machines when it is repeated", async (t) => {
  const { pool } = await migratedDatabase(t);
  const machineAt = async (at: Date) => {
    const [row] = await pool.query<{ machine: string | null }>(sql`
      select v.machine from engine.vantages(${at}) v join region g using (region_id) where g.region = 'us-east'
    `);
    return row!.machine;
  };
  const probe = member(pool, { machine: one });
  await probe.renew();
  // a probe's report may be committed after the tick of a later instant has read
  const first = new Date();
  t.equal(await machineAt(first), null);
  accepted(await tick(pool, first));
  t.equal(await machineAt(first), null, "as then");
  t.equal(await machineAt(new Date(+first + 2)), one, "the next tick sees it");

  await member(pool, { machine: other }).renew();
  await pool.query(sql`select pg_sleep(0.02)`);
  const second = new Date();
  accepted(await tick(pool, second));
  t.equal(await machineAt(second), one);
  t.equal(await machineAt(new Date(+second + 2)), null);
  t.equal(await machineAt(first), null, "the past is unchanged");
});

type Fleet = { regions: { vantage: object; sameMachineAs: string[] }[] };

type Board = { summary: { vantageNote: string | null } };

void t.test("vantages as readers see them", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  const api = await serve(t, { pool, registry });
  const now = new Date();
  const regions = ["eu-central", "ap-southeast", "us-east"] as const;
  const renew = (region: (typeof regions)[number], machine: string, vantage: Vantage) =>
    member(pool, { region, machine, vantage, startedAt: now }).renew();
  await measured(pool, { from: ago(60), to: ago(0), venue: "kraken" });

  await t.test("are as many as regions while no machine is known", async (t) => {
    const { fleet, board } = await decideAndRead();
    t.match([fleet, board], [{ vantages: 3 }, { regions: 3, vantages: 3, vantageNote: null }]);
    t.strictSame(fleet.regions[0]!.vantage, { ...unknown, machine: null });
  });

  await t.test("are one for regions on one machine", async (t) => {
    for (const region of regions) await renew(region, one, frankfurt);
    const { fleet, board } = await decideAndRead();
    t.match([fleet, board], [{ vantages: 1 }, { regions: 3, vantages: 1 }]);
    t.strictSame(
      fleet.regions.map(({ sameMachineAs }) => sameMachineAs),
      regions.map((region) => regions.filter((another) => another !== region)),
    );
    const vantage = { ...frankfurt, machine: one };
    t.match(fleet.regions[1], { vantage, probes: [{ vantage }] });
    t.equal(
      board.vantageNote,
      "eu-central, ap-southeast, us-east run on one machine and are one vantage: trouble of its network may look like trouble of venues.",
    );
    const found = /^eu-central, ap-southeast, us-east have probes on one machine/;
    t.match(await findingOn(pool), { grade: "warning", found, advice: /docs\/production.md/ });
  });

  await t.test("are counted by their machines", async (t) => {
    await pool.query(sql`update probe set alive_until = now() - interval '1 s'`);
    await renew("us-east", other, { ...frankfurt, name: "nyc", place: "New York" });
    await renew("eu-central", one, frankfurt);
    await renew("eu-central", one, { ...frankfurt, name: "fra2" });
    const { fleet, board } = await decideAndRead();
    const vantageNote = /^eu-central, ap-southeast run on one machine/;
    t.match([fleet, board], [{ vantages: 2 }, { vantages: 2, vantageNote }]);
    const [inEurope, inAsia, inAmerica] = fleet.regions;
    const common = { ...frankfurt, name: null, machine: one };
    t.strictSame(inEurope!.vantage, common, "fields on which its probes differ are null");
    t.strictSame(inAsia!.sameMachineAs, ["eu-central"], "the last known machine");
    t.strictSame(inAmerica!.sameMachineAs, []);
    t.match(inAmerica!.vantage, { place: "New York", machine: other });
    t.match(await findingOn(pool), { grade: "ok", found: "no two regions have probes on one machine" });
  });

  await t.test("count reporting regions only", async (t) => {
    await unmeasured(pool, { from: ago(600), to: ago(-600), regions: ["us-east"] });
    const { fleet, board } = await decideAndRead();
    t.match([fleet, board], [{ vantages: 1 }, { regions: 2, vantages: 1 }]);
  });

  /** Decides the next two instants: the first records what probes reported, and the second uses it. */
  async function decideAndRead() {
    const at = Date.now();
    for (const ms of [0, 2]) accepted(await tick(pool, new Date(at + ms)));
    const { body: fleet } = await api.ask<Fleet>("/v1/regions");
    const { body: board } = await api.ask<Board>("/v1/status");
    return { fleet, board: board.summary };
  }
});

void t.test("an incident's page shows its vantages", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  const api = await serve(t, { pool, registry });
  const eu = (vantage: Vantage) => member(pool, { region: "eu-central", machine: one, vantage });
  const first = eu(frankfurt);
  await first.renew();
  await member(pool, { region: "us-east", machine: other }).renew();
  // so they had reported before anything was measured
  await pool.query(sql`update region_vantage set holds_from = ${ago(1000)}`);
  const ticker = { venue: "kraken", component: "rest:ticker", regions: ["eu-central", "us-east"] };
  await measured(pool, { from: ago(900), to: ago(200), ...ticker });
  await measured(pool, { from: ago(480), to: ago(420), ...ticker, fault: "timeout" });
  await decideThrough(pool, ago(500), ago(250));
  const then = {
    votes: [
      { region: "eu-central", vantage: frankfurt, machine: one },
      { region: "us-east", vantage: unknown, machine: other },
    ],
    notCounted: [{ region: "ap-southeast", vantage: unknown, machine: null }],
  };
  const evidence = async () => {
    const { incidents } = (await api.ask<{ incidents: { slug: string }[] }>("/v1/incidents")).body;
    return (await api.ask<{ evidence: object }>(`/v1/incidents/${incidents[0]!.slug}`)).body.evidence;
  };
  t.match(await evidence(), { opening: then, closing: then });

  await t.test("as they were then, even if the probes have moved since", async (t) => {
    await first.leave();
    const moved = eu({ name: "par1", place: "Paris", network: "AS16276" });
    for (let i = 0; i < 2; i++) await moved.renew();
    accepted(await tick(pool, new Date()));
    const recorded = await pool.query(sql`
      select array_agg(v.name order by v.holds_from) as names, max(v.machine) as machine
      from region_vantage v join region g using (region_id) where g.region = 'eu-central'
    `);
    const moves = [{ names: ["fra1", "par1"], machine: one }];
    t.strictSame(recorded, moves, "each move is recorded once, even on the same machine");
    t.match(await evidence(), { opening: then, closing: then });
  });

  await t.test("without a change of the engine's stored evidence", async (t) => {
    const [kept] = await pool.query<{ text: string }>(sql`select evidence::text as text from incident`);
    t.notMatch(kept!.text, /"vantage":|"answers"/);
  });

  await t.test("with null where its probes differ", async (t) => {
    await eu({ ...frankfurt, place: "Paris" }).renew();
    const [row] = await pool.query(sql`
      select v.name, v.place, v.network from region_vantage v join region g using (region_id)
      where g.region = 'eu-central' order by v.holds_from desc limit 1
    `);
    t.strictSame(row, { name: null, place: "Paris", network: null });
  });
});

/** What `venuewatch doctor` finds about vantages. */
async function findingOn(pool: Pool) {
  return (await findingsOn(pool, null, null)).find(({ check }) => check === "vantages")!;
}
