/**
 * Measures how quickly samples are recorded, against the quickest plain batched insert of the same columns into the
 * same table.
 */
import { batchSize } from "../probe/delivery/recorder.js";
import { type Pool, sql } from "../shared/database/pool.js";
import { recordSamples } from "../server/database/record-samples.js";
import { componentsOf } from "../shared/registry/components.js";
import type { Sample } from "../shared/measurement/sample.js";
import { spreadOf, type Figure } from "./figure.js";
import { goodSample, openStage, type Stage } from "./stage.js";

/** A probe's usual batch of one second, half a full batch, and a full batch. */
const ourSizes = [15, 500, batchSize];
/** The quickest of these per row is the floor: a plain insert may choose its batch size. */
const plainSizes = [15, 500, 1000, 2000];
const rounds = 40;

type Insert = (samples: readonly Sample[]) => Promise<unknown>;

export async function benchIngest(): Promise<Figure[]> {
  const stage = await openStage();
  try {
    return await measure(stage);
  } finally {
    await stage.close();
  }
}

/** The contenders take turns, so that other load on the machine slows all alike. */
async function measure(stage: Stage): Promise<Figure[]> {
  const { pool } = stage;
  const record: Insert = (samples) => recordSamples(pool, "us-east", samples);
  const ours = ourSizes.map((size) => contender(size, record));
  const insert = await plainInserter(pool);
  const plain = plainSizes.map((size) => contender(size, insert));
  const nextBatch = batches(stage);
  for (let i = 0; i < rounds; i += 1)
    for (const { size, insert, tookMs } of [...ours, ...plain]) {
      const samples = nextBatch(size);
      const startMs = performance.now();
      await insert(samples);
      tookMs.push(performance.now() - startMs);
    }
  const best = plain.reduce((a, b) => (rateOf(b) > rateOf(a) ? b : a));
  const floorOf = (size: number) => {
    // a batch of one second cannot exceed what was measured in that second
    const floor = size < 500 ? plain.find((one) => one.size === size)! : best;
    return {
      value: rateOf(floor),
      what: `insert … select from unnest … on conflict do nothing, ids known, nothing checked, batches of ${floor.size}`,
    };
  };
  return [
    ...ours.map((one) => ({
      what: `record_samples, batches of ${one.size}`,
      value: rateOf(one),
      unit: "rows/s",
      floor: floorOf(one.size),
    })),
    ...plain.map((one) => ({
      what: `plain insert, batches of ${one.size}`,
      value: rateOf(one),
      unit: "rows/s",
    })),
  ];
}

interface Contender {
  size: number;
  insert: Insert;
  tookMs: number[];
}

function contender(size: number, insert: Insert): Contender {
  return { size, insert, tookMs: [] };
}

/** Returns rows per second. */
function rateOf({ size, tookMs }: Contender): number {
  return (size * 1000) / spreadOf(tookMs).p50;
}

/** Returns a maker of batches. No two of their samples share a key. */
function batches({ registry }: Stage): (size: number) => Sample[] {
  const keys = registry.venues.flatMap((venue) => componentsOf(venue).map(({ id }) => [venue.id, id] as const));
  let atMs = Date.now() - 30 * 60_000;
  return (size) => {
    atMs += 1000;
    return Array.from({ length: size }, (_, i) => {
      const [venue, component] = keys[i % keys.length]!;
      const slotAt = new Date(atMs + Math.floor(i / keys.length));
      return goodSample(venue, component, slotAt);
    });
  };
}

async function plainInserter(pool: Pool) {
  const ids = await pool.query<{ name: string; id: number }>(sql`
    select v.venue || ' ' || c.component as name, c.component_id as id
    from component c join venue v using (venue_id)
  `);
  const idOf = new Map(ids.map(({ name, id }) => [name, id]));
  const [region] = await pool.query<{ id: number }>(
    sql`select region_id as id from region where region = 'eu-central'`,
  );
  return async (samples: readonly Sample[]) => {
    const column = <Value>(of: (sample: Sample) => Value) => samples.map(of);
    await pool.text(insertText, [
      column(({ slotAt }) => slotAt),
      column(({ venue, component }) => idOf.get(`${venue} ${component}`)),
      column(() => region!.id),
      column(({ good }) => good),
      column(({ fault }) => fault),
      column(({ latencyUs }) => latencyUs),
      column(({ dnsUs }) => dnsUs),
      column(({ connectUs }) => connectUs),
      column(({ tlsUs }) => tlsUs),
      column(({ firstByteUs }) => firstByteUs),
      column(({ httpStatus }) => httpStatus),
      column(({ head }) => head),
      column(({ messages }) => messages),
      column(({ quietMs }) => quietMs),
      column(({ eventAgeMs }) => eventAgeMs),
      column(({ lateMs }) => lateMs),
      column(({ fresh }) => fresh),
      column(({ certificateExpiresAt }) => certificateExpiresAt),
      column(({ sequenceGaps }) => sequenceGaps),
      column(({ clockErrorMs }) => clockErrorMs),
      column(({ clockErrorWithinMs }) => clockErrorWithinMs),
      column(() => 1),
    ]);
  };
}

const insertText = `
  insert into sample (
    ts, component_id, region_id, good, fault, latency_us, dns_us, connect_us, tls_us, first_byte_us, http_status, head,
    messages, quiet_ms, event_age_ms, late_ms, fresh, certificate_expires_at, sequence_gaps, clock_error_ms,
    clock_error_within_ms, received_after_s
  )
  select * from unnest(
    $1::timestamptz[], $2::int[], $3::smallint[], $4::bool[], $5::fault[], $6::int[], $7::int[], $8::int[], $9::int[],
    $10::int[], $11::smallint[], $12::bigint[], $13::int[], $14::int[], $15::int[], $16::smallint[], $17::bool[],
    $18::timestamptz[], $19::int[], $20::int[], $21::int[], $22::int[]
  )
  on conflict do nothing`;
