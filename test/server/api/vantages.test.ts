/** The number of vantages: what probes report about themselves, and what readers see. */
import t from "tap";
import { findingsOn } from "../../../server/commands/doctor/database.js";
import { type Pool, sql } from "../../../shared/database/pool.js";
import { accepted, tick } from "../../../server/engine/tick.js";
import type { Vantage } from "../../../shared/config/vantage.js";
import { type Api, serve } from "../../support/api.js";
import { migratedDatabase } from "../../support/database.js";
import { ago, decideThrough, measured } from "../../support/fleet.js";
import { forgetAt, member } from "../../support/member.js";

const [one, other, third] = ["1".repeat(16), "2".repeat(16), "3".repeat(16)];
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
  const first = member(pool, { region, machine: one });
  const second = member(pool, { region, machine: one });
  const away = member(pool, { region, machine: other });
  const silent = member(pool, { region, machine: null });

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
  await member(pool, { region, machine: third }).renew();
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

interface Fleet {
  regions: {
    id: string;
    vantage: Record<string, string | null>;
    sameMachineAs: string[];
    probes: { vantage: object }[];
  }[];
  vantages: number;
}

interface Summary {
  summary: { regions: number; vantages: number; vantageNote: string | null };
}

void t.test("vantages as readers see them", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  const api = await serve(t, { pool, registry });
  const now = new Date();
  const probes = ["eu-central", "ap-southeast", "us-east"].map((region) => ({
    region,
    on: (machine: string | null, vantage: Vantage | null = null) =>
      member(pool, { region, machine, vantage, startedAt: now }),
  }));
  const [eu, ap, us] = probes;
  await measured(pool, { from: ago(60), to: ago(0), venue: "kraken" });

  await t.test("are as many as regions while no machine is known", async (t) => {
    await see();
    const { fleet, board } = await shown(api);
    t.equal(fleet.vantages, 3);
    t.match(board, { regions: 3, vantages: 3, vantageNote: null });
    t.strictSame(fleet.regions[0]!.vantage, { ...{ name: null, place: null, network: null, machine: null } });
  });

  await t.test("are one for regions on one machine", async (t) => {
    for (const region of [eu!, ap!, us!]) await region.on(one, frankfurt).renew();
    await see();
    const { fleet, board } = await shown(api);
    t.equal(fleet.vantages, 1);
    t.strictSame(
      fleet.regions.map(({ sameMachineAs }) => sameMachineAs),
      [
        ["ap-southeast", "us-east"],
        ["eu-central", "us-east"],
        ["eu-central", "ap-southeast"],
      ],
    );
    const vantage = { ...frankfurt, machine: one };
    t.match(fleet.regions[1], { vantage, probes: [{ vantage }] });
    t.match(board, { regions: 3, vantages: 1 });
    t.equal(
      board.vantageNote,
      "eu-central, ap-southeast, us-east run on one machine and are one vantage: trouble of its network may look like trouble of venues.",
    );
    const found = await doctored(pool);
    t.match(found, {
      grade: "warning",
      found: /^eu-central, ap-southeast, us-east have probes on one machine/,
      advice: /docs\/production.md/,
    });
  });

  await t.test("are counted by their machines", async (t) => {
    await pool.query(sql`update probe set alive_until = now() - interval '1 s'`);
    await us!.on(other, { ...frankfurt, name: "nyc", place: "New York" }).renew();
    await eu!.on(one, frankfurt).renew();
    await eu!.on(one, { ...frankfurt, name: "fra2" }).renew();
    await see();
    const { fleet, board } = await shown(api);
    t.equal(fleet.vantages, 2);
    t.match(board, { vantages: 2, vantageNote: /^eu-central, ap-southeast run on one machine/ });
    const [inEurope, inAsia, inAmerica] = fleet.regions;
    t.strictSame(
      inEurope!.vantage,
      { ...frankfurt, name: null, machine: one },
      "fields on which its probes differ are null",
    );
    t.strictSame(inAsia!.sameMachineAs, ["eu-central"], "the last known machine");
    t.strictSame(inAmerica!.sameMachineAs, []);
    t.match(inAmerica!.vantage, { place: "New York", machine: other });
    t.match(await doctored(pool), { grade: "ok", found: "no two regions have probes on one machine" });
  });

  await t.test("count reporting regions only", async (t) => {
    await pool.query(sql`
      delete from sample where region_id = (select region_id from region where region = 'us-east')
    `);
    await see();
    const { fleet, board } = await shown(api);
    t.equal(fleet.vantages, 1);
    t.match(board, { regions: 2, vantages: 1 });
  });

  /** Decides the next two instants: the first records what probes reported, and the second uses it. */
  async function see(): Promise<void> {
    const at = Date.now();
    for (const ms of [0, 2]) accepted(await tick(pool, new Date(at + ms)));
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
  const ticker = { venue: "kraken", component: "rest:ticker" };
  const regions = ["eu-central", "us-east"];
  await measured(pool, { from: ago(900), to: ago(200), ...ticker, regions });
  await measured(pool, { ...{ from: ago(480), to: ago(420), ...ticker, regions, fault: "timeout" } });
  await decideThrough(pool, ago(500), ago(250));
  const silent = { name: null, place: null, network: null };
  const then = {
    votes: [
      { region: "eu-central", vantage: frankfurt, machine: one },
      { region: "us-east", vantage: silent, machine: other },
    ],
    notCounted: [{ region: "ap-southeast", vantage: silent, machine: null }],
  };
  const evidence = async () => {
    const { incidents } = (await api.ask<Listed>("/v1/incidents")).body;
    const page = await api.ask<Page>(`/v1/incidents/${incidents[0]!.slug}`);
    return page.body.evidence;
  };
  t.match(await evidence(), { opening: then, closing: then });

  await t.test("as they were then, even if the probes have moved since", async (t) => {
    await first.leave();
    const moved = eu({ name: "par1", place: "Paris", network: "AS16276" });
    for (let i = 0; i < 2; i++) await moved.renew();
    accepted(await tick(pool, new Date()));
    const said = sql`
      select array_agg(v.name order by v.holds_from) as names, max(v.machine) as machine
      from region_vantage v join region g using (region_id) where g.region = 'eu-central'
    `;
    t.strictSame(
      await pool.query(said),
      [{ names: ["fra1", "par1"], machine: one }],
      "each move is recorded once, even on the same machine",
    );
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

interface Listed {
  incidents: { slug: string }[];
}

interface Page {
  evidence: object;
}

async function shown(api: Api) {
  const fleet = await api.ask<Fleet>("/v1/regions");
  const board = await api.ask<Summary>("/v1/status");
  return { fleet: fleet.body, board: board.body.summary };
}

async function doctored(pool: Pool) {
  const findings = await findingsOn(pool, null, null);
  return findings.find(({ check }) => check === "vantages")!;
}
