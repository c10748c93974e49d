/** Computes the roll-ups from the samples in plain TypeScript, slow and obvious, without SQL. */
import { type Fault, faults } from "../../shared/measurement/sample.js";

type Measure = "latency_us" | "head" | "messages" | "quiet_ms" | "event_age_ms" | "sequence_gaps";

export interface RawSample extends Record<Measure, number | null> {
  ts: Date;
  component_id: number;
  region_id: number;
  fault: Fault | null;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

export interface Component {
  component_id: number;
  venue_id: number;
  kind: string;
}

/** The input of roll-ups besides samples. */
export interface Circumstances {
  /** The number of regions that the registry publishes. */
  regions: number;
  /** Minutes of impaired regions. */
  excluded?: Excluded;
  /** Times of components that are not judged. */
  unjudged?: Unjudged;
  /** Hours and days that end by then are added up; all of them where it is absent. */
  addedUpTo?: Date;
}

type Excluded = readonly { region_id: number; minute: Date }[];

type Unjudged = readonly { component_id: number; started_at: Date; ended_at: Date | null }[];

/** Returns rows by the name of the roll-up. */
export function rollUp(
  samples: readonly RawSample[],
  components: readonly Component[],
  { regions, excluded = [], unjudged = [], addedUpTo }: Circumstances = { regions: 3 },
) {
  const isOver = (widthMs: number) => (row: { start: Date }) =>
    !addedUpTo || +row.start + widthMs <= floor(addedUpTo, widthMs);
  const sampleMinute = sampleMinutes(samples);
  const componentMinute = componentMinutes(sampleMinute, regions, excluded, unjudged);
  const measuredMinute = componentMinute.filter(({ measured }) => measured);
  const venueMinute = venueMinutes(measuredMinute, components);
  const componentSums = (widthMs: number) => sumsOfComponents(measuredMinute, widthMs).filter(isOver(widthMs));
  const venueSums = (widthMs: number) => sumsOfVenues(venueMinute, widthMs).filter(isOver(widthMs));
  const latencyDay = latencyDays(sampleMinute);
  return {
    sample_minute: sampleMinute,
    sample_hour: bySeries(samples, hourMs).map((bucket) => ({ hour: bucket.start, ...ofSeries(bucket.rows) })),
    component_minute: componentMinute,
    venue_minute: venueMinute,
    component_hour: componentSums(hourMs).map(ofAnHour),
    venue_hour: venueSums(hourMs).map(ofAnHour),
    component_day: componentSums(dayMs).map(ofADay),
    venue_day: venueSums(dayMs).map(ofADay),
    latency_day: latencyDay,
    venue_latency_day: venueLatencyDays(latencyDay, components),
  };
}

function sampleMinutes(samples: readonly RawSample[]) {
  return bySeries(samples, minuteMs).map(({ start, rows }) => ({
    minute: start,
    ...ofSeries(rows),
    head: largest(rows, "head"),
    messages: total(rows, "messages"),
    quiet_ms: largest(rows, "quiet_ms"),
    event_age_ms: largest(rows, "event_age_ms"),
    faults: listed(rows),
  }));
}

/** The faults as PostgreSQL writes an array; null: none. */
function listed(rows: readonly RawSample[]): string | null {
  const had = rows.flatMap(({ fault }) => fault ?? []).sort((a, b) => faults.indexOf(a) - faults.indexOf(b));
  return had.length > 0 ? `{${had.join()}}` : null;
}

function limited(faults: string | null): number {
  return faults?.match(/limited/g)?.length ?? 0;
}

function componentMinutes(
  sampleMinute: ReturnType<typeof sampleMinutes>,
  regions: number,
  excluded: Excluded,
  unjudged: Unjudged,
) {
  const left = new Set(excluded.map(({ region_id, minute }) => `${+minute} ${region_id}`));
  const isJudged = ({ minute, component_id }: { minute: Date; component_id: number }) =>
    unjudged.every(
      (one) =>
        one.component_id !== component_id ||
        +one.started_at >= +minute + minuteMs ||
        (one.ended_at !== null && +one.ended_at <= +minute),
    );
  return groups(
    sampleMinute.filter((row) => !left.has(`${+row.minute} ${row.region_id}`) && isJudged(row)),
    ({ minute, component_id }) => `${+minute} ${component_id}`,
  ).map((rows) => {
    const { minute, component_id } = rows[0]!;
    const down = rows.filter((row) => row.samples - row.good - limited(row.faults) >= row.samples / 2).length;
    const bad = rows.filter((row) => (row.samples - row.good) / row.samples >= 0.2).length;
    const measured = rows.length >= Math.min(2, regions);
    return {
      ...{ minute, component_id, regions: rows.length, regions_down: down, regions_bad: bad, measured },
      ...{ down: measured && down > rows.length / 2, bad: measured && bad > rows.length / 2 },
    };
  });
}

/** @param components those that the registry publishes, all the time */
function venueMinutes(measuredMinute: ReturnType<typeof componentMinutes>, components: readonly Component[]) {
  const venueOf = new Map(components.map(({ component_id, venue_id }) => [component_id, venue_id]));
  const kindOf = new Map(components.map(({ component_id, kind }) => [component_id, kind]));
  return groups(measuredMinute, ({ minute, component_id }) => `${+minute} ${venueOf.get(component_id)}`).flatMap(
    (rows) => {
      const { minute, component_id } = rows[0]!;
      const ofVenue = components.filter(({ venue_id }) => venue_id === venueOf.get(component_id));
      const restPublished = ofVenue.filter(({ kind }) => kind === "rest").length;
      const streamsPublished = ofVenue.length - restPublished;
      if (rows.length < ofVenue.length / 2) return [];
      const rest = rows.filter((row) => kindOf.get(row.component_id) === "rest");
      const restDown = rest.filter((row) => row.down).length;
      const down = rows.filter((row) => row.down).length;
      const bad = rows.filter((row) => row.bad).length;
      return {
        minute,
        venue_id: venueOf.get(component_id)!,
        ...{
          components: rows.length,
          components_down: down,
          components_bad: bad,
          components_published: ofVenue.length,
        },
        ...{ rest_components: rest.length, rest_down: restDown, rest_published: restPublished },
        down:
          (restDown > 0 && restDown >= restPublished / 2) ||
          (down > restDown && down - restDown >= streamsPublished / 2),
        bad: bad > 0,
      };
    },
  );
}

function sumsOfComponents(measuredMinute: ReturnType<typeof componentMinutes>, widthMs: number) {
  const buckets = groups(measuredMinute, ({ minute, component_id }) => `${floor(minute, widthMs)} ${component_id}`);
  return buckets.map((rows) => {
    const { minute, component_id } = rows[0]!;
    return { start: new Date(floor(minute, widthMs)), component_id, ...counted(rows) };
  });
}

function sumsOfVenues(venueMinute: ReturnType<typeof venueMinutes>, widthMs: number) {
  return groups(venueMinute, ({ minute, venue_id }) => `${floor(minute, widthMs)} ${venue_id}`).map((rows) => {
    const { minute, venue_id } = rows[0]!;
    /** Judges each minute by these components alone, where at least half of them were measured. */
    const partly = (name: string, countOf: (row: (typeof rows)[0]) => Record<"all" | "measured" | "down", number>) => {
      const judged = rows.flatMap((row) => {
        const { all, measured, down } = countOf(row);
        return measured > 0 && measured >= all / 2 ? [{ ...row, down: down > 0 && down >= all / 2 }] : [];
      });
      const of = counted(judged);
      return {
        [`${name}_minutes`]: of.measured_minutes,
        [`${name}_down_minutes`]: of.down_minutes,
      };
    };
    return {
      ...{ start: new Date(floor(minute, widthMs)), venue_id, ...counted(rows) },
      ...partly("rest", (row) => ({ all: row.rest_published, measured: row.rest_components, down: row.rest_down })),
      ...partly("stream", (row) => ({
        all: row.components_published - row.rest_published,
        measured: row.components - row.rest_components,
        down: row.components_down - row.rest_down,
      })),
    };
  });
}

function latencyDays(sampleMinute: ReturnType<typeof sampleMinutes>) {
  const medians = sampleMinute.flatMap(({ minute, component_id, region_id, p50_us }) => {
    if (p50_us === null) return [];
    return [{ day: new Date(floor(minute, dayMs)), component_id, region_id, p50_ms: roundHalfEven(p50_us / 1000) }];
  });
  return groups(medians, (row) => JSON.stringify(row)).map((rows) => ({ ...rows[0]!, minutes: rows.length }));
}

function venueLatencyDays(latencyDay: ReturnType<typeof latencyDays>, components: readonly Component[]) {
  const restOf = venueOfRest(components);
  return groups(
    latencyDay.flatMap(({ day, component_id, p50_ms, minutes }) => {
      const venue_id = restOf.get(component_id);
      return venue_id === undefined ? [] : [{ day, venue_id, p50_ms, minutes }];
    }),
    ({ day, venue_id, p50_ms }) => `${+day} ${venue_id} ${p50_ms}`,
  ).map((rows) => ({ ...rows[0]!, minutes: rows.reduce((sum, { minutes }) => sum + minutes, 0) }));
}

/** Counts how often an hour's percentile had each number of whole milliseconds, in each period of five days. */
export function usualHours(
  hours: readonly { hour: Date; component_id: number; p50_us: number | null; p95_us: number | null; good: number }[],
  components: readonly Component[],
  now: Date,
) {
  const restOf = venueOfRest(components);
  // a Monday: TimescaleDB counts days from it
  const firstDay = Date.UTC(2000, 0, 3);
  const percentiles = hours.flatMap((row) => {
    const bucket = floor(new Date(+row.hour - firstDay), 5 * dayMs) + firstDay;
    const venue_id = restOf.get(row.component_id);
    const over = bucket + 5 * dayMs <= +now;
    const enough = row.p50_us !== null && row.good >= 10;
    if (!enough || venue_id === undefined || !over) return [];
    return [true, false].map((is_p50) => ({
      bucket: new Date(bucket),
      venue_id,
      is_p50,
      ms: roundHalfEven((is_p50 ? row.p50_us! : row.p95_us!) / 1000),
    }));
  });
  return groups(percentiles, (row) => JSON.stringify(row)).map((rows) => ({ ...rows[0]!, hours: rows.length }));
}

/** Computes the percentiles of each hour, over all REST endpoints of a venue together, unrounded. */
export function restHours(samples: readonly RawSample[], components: readonly Component[], now: Date) {
  const restOf = venueOfRest(components);
  const good = ofEndedHours(samples, now).flatMap(({ ts, component_id, region_id, fault, latency_us }) => {
    const venue_id = restOf.get(component_id);
    if (venue_id === undefined || fault !== null) return [];
    return [{ hour: new Date(floor(ts, hourMs)), venue_id, region_id, latency_us }];
  });
  return groups(good, ({ hour, venue_id, region_id }) => `${+hour} ${venue_id} ${region_id}`).map((rows) => {
    const { hour, venue_id, region_id } = rows[0]!;
    const us = rows.flatMap(({ latency_us }) => latency_us ?? []).sort((a, b) => a - b);
    return { hour, venue_id, region_id, samples: rows.length, p50_us: between(us, 0.5), p95_us: between(us, 0.95) };
  });
}

/** Counts what arrived on each stream in each hour. */
export function streamHours(samples: readonly RawSample[], components: readonly Component[], now: Date) {
  const streams = new Set(components.filter(({ kind }) => kind === "ws").map(({ component_id }) => component_id));
  const ofStreams = ofEndedHours(samples, now).filter(({ component_id }) => streams.has(component_id));
  return bySeries(ofStreams, hourMs).map(({ start, rows }) => ({
    ...{ hour: start, component_id: rows[0]!.component_id, region_id: rows[0]!.region_id, samples: rows.length },
    good: rows.filter(({ fault }) => fault === null).length,
    messages: total(rows, "messages"),
    quiet_ms: largest(rows, "quiet_ms"),
    sequence_gaps: total(rows, "sequence_gaps"),
  }));
}

/** Counts good answers by whole milliseconds, in each hour. */
export function latencyHours(samples: readonly RawSample[], components: readonly Component[], now: Date) {
  const restOf = venueOfRest(components);
  const ofRest = ofEndedHours(samples, now).filter(({ component_id }) => restOf.has(component_id));
  return bySeries(ofRest, hourMs).flatMap(({ start, rows }) => {
    const good = rows.flatMap(({ fault, latency_us }) => (fault === null && latency_us !== null ? [latency_us] : []));
    const { component_id, region_id } = rows[0]!;
    const sorted = good.sort((a, b) => a - b);
    return groups(sorted, (us) => String(roundHalfEven(us / 1000))).map((us) => ({
      ...{ hour: start, component_id, region_id, ms: roundHalfEven(us[0]! / 1000) },
      ...{ samples: us.length, least_us: us[0]!, most_us: us.at(-1)! },
    }));
  });
}

/** Returns the samples of hours that have ended. */
function ofEndedHours(samples: readonly RawSample[], now: Date) {
  return samples.filter(({ ts }) => floor(ts, hourMs) + hourMs <= +now);
}

function venueOfRest(components: readonly Component[]) {
  const rest = components.filter(({ kind }) => kind === "rest");
  return new Map(rest.map(({ component_id, venue_id }) => [component_id, venue_id]));
}

function bySeries(samples: readonly RawSample[], widthMs: number) {
  const keyOf = ({ ts, component_id, region_id }: RawSample) => `${floor(ts, widthMs)} ${component_id} ${region_id}`;
  return groups(samples, keyOf).map((rows) => ({ start: new Date(floor(rows[0]!.ts, widthMs)), rows }));
}

function ofSeries(rows: RawSample[]) {
  const { component_id, region_id } = rows[0]!;
  const good = rows.filter(({ fault }) => fault === null);
  const latencies = good.flatMap(({ latency_us }) => latency_us ?? []).sort((a, b) => a - b);
  return {
    ...{ component_id, region_id, samples: rows.length, good: good.length },
    ...{ p50_us: percentile(latencies, 0.5), p95_us: percentile(latencies, 0.95) },
  };
}

/** Interpolates linearly between the two nearest values; a half rounds to the even number. */
function percentile(sorted: number[], share: number): number | null {
  const value = between(sorted, share);
  return value === null ? null : roundHalfEven(value);
}

function between(sorted: number[], share: number): number | null {
  if (sorted.length === 0) return null;
  const place = share * (sorted.length - 1);
  const below = sorted[Math.floor(place)]!;
  const above = sorted[Math.ceil(place)]!;
  return below + (place - Math.floor(place)) * (above - below);
}

export function roundHalfEven(value: number): number {
  const whole = Math.floor(value);
  return value - whole === 0.5 ? whole + Math.abs(whole % 2) : Math.round(value);
}

interface JudgedMinute {
  down: boolean;
  bad: boolean;
}

function counted(rows: readonly JudgedMinute[]) {
  return {
    measured_minutes: rows.length,
    down_minutes: rows.filter((row) => row.down).length,
    degraded_minutes: rows.filter((row) => row.bad && !row.down).length,
  };
}

function ofADay<Row extends { start: Date }>({ start, ...row }: Row) {
  return { day: start, ...row };
}

function ofAnHour<Row extends { start: Date }>({ start, ...row }: Row) {
  return { hour: start, ...row };
}

function floor(at: Date, widthMs: number): number {
  return Math.floor(+at / widthMs) * widthMs;
}

function groups<Row>(rows: readonly Row[], keyOf: (row: Row) => string): Row[][] {
  const byKey = new Map<string, Row[]>();
  for (const row of rows) {
    const key = keyOf(row);
    byKey.set(key, [...(byKey.get(key) ?? []), row]);
  }
  return [...byKey.values()];
}

function largest(rows: RawSample[], measure: Measure): number | null {
  const known = rows.flatMap((row) => row[measure] ?? []);
  return known.length === 0 ? null : Math.max(...known);
}

function total(rows: RawSample[], measure: Measure): number | null {
  const known = rows.flatMap((row) => row[measure] ?? []);
  return known.length === 0 ? null : known.reduce((sum, n) => sum + n, 0);
}
