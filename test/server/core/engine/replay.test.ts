/** With the same rules and samples, a replay from any start reproduces what was recorded. */
import t, { type Test } from "tap";
import { type Pool, sql } from "../../../../shared/database/pool.js";
import { replay, type Replay } from "../../../../server/core/engine/replay.js";
import { makeLog } from "../../../../shared/log/log.js";
import { migratedDatabase } from "../../../support/database.js";
import { after, fill, live, type Trouble, type World } from "../../../support/troubled-world.js";

const log = makeLog("test", "warn");
const two = ["eu-central", "us-east"];

const troubles: Trouble[] = [
  { venue: "binance", component: "rest:ticker", regions: two, fromS: 120, toS: 240, as: "timeout" },
  { venue: "binance", component: "rest:ticker", fromS: 180, toS: 240, as: "timeout" },
  // a second incident of its name on this day, and two more after midnight
  { venue: "binance", component: "rest:book", fromS: 200, toS: 260, as: "http" },
  { venue: "binance", component: "rest:ticker", fromS: 640, toS: 700, as: "http" },
  { venue: "binance", component: "rest:book", fromS: 660, toS: 720, as: "http" },
  // the third within the hour flaps, and the fourth extends it
  ...[60, 250, 440, 680].map((fromS): Trouble => ({
    venue: "okx",
    component: "rest:ticker",
    fromS,
    toS: fromS + 60,
    as: "limited",
  })),
  { venue: "gate", component: "rest:ticker", regions: two, fromS: 300, toS: 420, as: "slow" },
  { venue: "bybit", component: "rest:book", regions: two, fromS: 480, toS: 600, as: "late" },
  { venue: "bybit", component: "rest:book", regions: ["ap-southeast"], fromS: 400, toS: 660, as: "silent" },
  // a single region, venue after venue; what one other region saw with it is retracted
  { venue: "gate", component: "rest:book", regions: ["eu-central"], fromS: 720, toS: 820, as: "body" },
  { venue: "kraken", component: "rest:book", regions: ["us-east"], fromS: 725, toS: 760, as: "timeout" },
  { venue: "gate", component: "rest:book", regions: ["us-east"], fromS: 735, toS: 760, as: "connect" },
  { regions: ["us-east"], fromS: 760, toS: 900, as: "connect" },
  // both witnesses fall silent, and return much later
  { venue: "kraken", component: "ws:conn", regions: two, fromS: 150, toS: 240, as: "closed" },
  { venue: "kraken", component: "ws:conn", regions: two, fromS: 240, toS: 1300, as: "silent" },
  { venue: "bybit", component: "ws:conn", fromS: 1050, toS: 1350, as: "closed" },
  { venue: "gate", component: "rest:ticker", fromS: 1400, toS: 1500, as: "body" },
];

/**
 * When an operator retracts the open incident of Bybit's socket. The trouble continues, and no other incident opens.
 */
const byHandS = 1150;
const endS = 1500;
/** Two fifths of the rules' instants, to save time. */
const stepS = 10;

const world: World = {
  startsAt: new Date("2026-01-15T23:50:00Z"),
  lastsS: endS,
  venues: ["binance", "okx", "kraken", "gate", "bybit"],
  components: ["rest:ticker", "rest:book", "ws:conn", "ws:trades"],
  troubles,
  noise: 0.02,
  stepS,
};

void t.test("a replay with the same rules", async (t) => {
  const { pool } = await migratedDatabase(t);
  await fill(pool, world);
  // an entry changes, and is not judged until it was seen good
  await pool.query(sql`
    insert into component_entry (component_id, holds_from, fingerprint)
    select component_id, ${after(world, 1000)}, 'another'
    from component c join venue v using (venue_id)
    where v.venue = 'kraken' and c.component = 'rest:ticker'
  `);
  await live(pool, world, 0, byHandS);
  await retractByHand(pool, "bybit", "ws:conn");
  // an engine that was away decides what it missed, with the same result
  await live(pool, world, byHandS + 200, endS);
  const before = await everything(pool);
  const whole = await runReplay(pool, 0, endS);

  await t.test("of everything reproduces what was recorded", (t) => {
    assertSame(t, whole);
    t.equal(whole.instants, endS / stepS + 1);
    const incidents = whole.lines.map(({ recorded }) => recorded!);
    const some = (what: string, test: (one: (typeof incidents)[0]) => unknown) =>
      t.ok(incidents.some(test), `the world has ${what}`);
    some("an escalation", (one) => one.escalatedAt);
    some("flapping", (one) => one.flapping);
    some("a retraction by late samples", (one) => one.venue === "bybit" && one.retractedAt && !one.byHand);
    some("a retraction by an impairment", (one) => one.retractionReason?.includes("impaired: us-east"));
    some("a retraction by hand", (one) => one.byHand === "a test of ours");
    some("a third name of a day", (one) => one.slug.endsWith("-2"));
    some("an open end", (one) => !one.closedAt && !one.retractedAt);
    t.end();
  });

  for (const [fromS, toS, what] of [
    [300, 420, "in the middle of a recovery hold"],
    [560, 800, "where openings will be retracted"],
    [820, 960, "within an impairment"],
    [1001, 1101, "when witnesses have long been silent, between two instants"],
    [1030, 1150, "while an entry was not yet seen good"],
    [1100, 1250, "before a retraction by hand"],
    [1170, 1450, "after it"],
  ] as const)
    await t.test(`that begins ${what}`, async (t) => {
      const part = await runReplay(pool, fromS, toS);
      assertSame(t, part);
      t.ok(part.lines.length > 0);
    });

  await t.test("of one venue gives that part of the whole", async (t) => {
    const { lines } = await runReplay(pool, 0, endS, "gate");
    const ofGate = whole.lines.filter(({ recorded }) => recorded!.venue === "gate");
    t.ok(ofGate.length > 0);
    // ids of new rows have no meaning
    t.strictSame(lines.map(withoutIds), ofGate.map(withoutIds));
    assertSame(t, await runReplay(pool, 820, 960, "gate"));
  });

  await t.test("changes nothing, and leaves nothing behind", async (t) => {
    t.strictSame(await everything(pool), before);
  });
});

void t.test("a replay long after retractions by hand respects them", async (t) => {
  const { pool } = await migratedDatabase(t);
  const component = "rest:ticker";
  const lasting = { venue: "okx", component };
  const ended = { venue: "gate", component };
  const long: World = {
    ...world,
    venues: ["okx", "gate"],
    components: [component],
    troubles: [
      { ...lasting, fromS: 60, toS: 1_300, as: "closed" },
      // well in between, and then degraded for long without a run that would open an incident
      { ...ended, fromS: 60, toS: 120, as: "closed" },
      { ...ended, fromS: 430, toS: 1_315, as: "scattered" },
      { ...ended, fromS: 1_315, toS: 1_400, as: "closed" },
    ],
    noise: 0,
  };
  await fill(pool, long);
  await live(pool, long, 0, 90);
  await retractByHand(pool, lasting.venue, component);
  await retractByHand(pool, ended.venue, component);
  await live(pool, long, 92, endS);

  const late = await runReplay(pool, 1_200, endS);
  assertSame(t, late);
  t.match(
    late.lines.map(({ recorded }) => recorded!.venue),
    [ended.venue],
    "a retraction suppresses openings in the replay too, until it ends",
  );
  const early = await runReplay(pool, 0, 200);
  assertSame(t, early);
  t.match(
    early.lines.map(({ recorded }) => recorded!.byHand),
    ["a test of ours", "a test of ours"],
  );
});

function runReplay(pool: Pool, fromS: number, toS: number, venue: string | null = null): Promise<Replay> {
  const period = { from: after(world, fromS), to: after(world, toS) };
  const rules = { step_ms: stepS * 1000 };
  return replay(pool, { ...period, venue, rules, log }) as Promise<Replay>;
}

function assertSame(t: Test, { lines }: Replay): void {
  const different = lines.filter((one) => one.verdict !== "same" || one.replayed?.slug !== one.recorded?.slug);
  t.strictSame(different, [], "verdicts and slugs agree");
}

function withoutIds({ recorded, replayed }: Replay["lines"][0]) {
  return [
    { ...recorded, id: 0 },
    { ...replayed, id: 0 },
  ];
}

async function retractByHand(pool: Pool, venue: string, component: string): Promise<void> {
  await pool.query(sql`
    update incident i set retracted_at = e.ticked_at, retraction_reason = 'a test of ours'
    from engine_clock e, component c, venue v
    where c.component_id = i.component_id and v.venue_id = c.venue_id and v.venue = ${venue} and c.component = ${component}
  `);
}

/** A digest of each of our tables and sequences, and the list of schemas. */
async function everything(pool: Pool): Promise<unknown> {
  const tables = await pool.query<{ name: string }>(sql`
    select c.relname as name
    from pg_class c
    where c.relnamespace = 'venuewatch'::regnamespace and c.relkind in ('r', 'v', 'S')
    order by c.relname
  `);
  const digests = [];
  for (const { name } of tables) {
    const rows = await pool.query(sql`
      select count(*) as n, md5(string_agg(to_jsonb(r)::text, ' ' order by to_jsonb(r)::text)) as digest
      from (select * from ${sql.ident(name)}) r
    `);
    digests.push([name, ...rows]);
  }
  const schemas = await pool.query(sql`select nspname from pg_namespace where nspname !~ '^pg_' order by nspname`);
  return { digests, schemas };
}
