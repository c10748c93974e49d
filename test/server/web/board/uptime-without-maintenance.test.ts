/** Uptimes without announced maintenance, recomputed here minute by minute from random measurements and windows. */
import t from "tap";
import type { BoardBody, ReliabilityBody } from "../../../../server/web/agents/agent-source.js";
import { sql } from "../../../../shared/database/pool.js";
import { serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { decide } from "../../../support/fleet.js";
import { randomFrom } from "../../../support/random-samples.js";
import { dayMs, minuteMs, watchedSince } from "../../../support/rollup-upkeep.js";
import { notice, said, whole } from "../../../support/stored-notices.js";

const { pool, registry } = await migratedDatabase(t);
const random = randomFrom(7);
const now = Date.now();
const today = Math.floor(now / dayMs) * dayMs;
const venues = ["kraken", "okx"];

interface Window {
  venue: string;
  from: number;
  until: number;
}

/** Two minutes in three are measured, and trouble comes in runs of some hours. */
const measuredEveryMs = 1.5 * minuteMs;
const windows = await announceWindows();
await measureAtRandom();
await watchedSince(pool, new Date(today - 5 * dayMs));
await pool.query(sql`call upkeep.refresh_all(${new Date(today - 5 * dayMs)}, now())`);
await decide(pool);
const api = await serve(t, { pool, registry });

/** Windows of up to five hours, some of which overlap, cross midnight, or begin within a minute. Gemini has none. */
async function announceWindows(): Promise<Window[]> {
  const made = venues.flatMap((venue) =>
    Array.from({ length: 8 }, (): Window => {
      const from = today - 4 * dayMs + Math.floor(random() * 4.5 * dayMs);
      return { venue, from, until: from + Math.ceil(random() * 5 * 60) * minuteMs };
    }),
  );
  made.push({ venue: "kraken", from: today - 30 * minuteMs, until: today + 30 * minuteMs });
  for (const venue of venues) {
    const notices = made
      .filter((window) => window.venue === venue)
      .map(({ from, until }, place) =>
        notice(`m${place}`, new Date(from), {
          ...{ kind: "maintenance", title: "Upgrade", postedAt: new Date(today - 6 * dayMs) },
          plannedEndAt: new Date(until),
        }),
      );
    await said(pool, venue, new Date(today - 5.5 * dayMs), [{ ...whole(...notices), scope: "maintenances" }]);
  }
  return made;
}

async function measureAtRandom(): Promise<void> {
  await pool.query(sql`
    insert into sample (ts, component_id, region_id, good, fault)
    select s.ts, c.component_id, g.region_id, not s.is_bad, case when s.is_bad then 'http'::fault end
    from component c
    join venue v using (venue_id)
    cross join lateral (
      select
        ts,
        -- the same for all regions, and for whole hours of a venue or of one component
        abs(hashtext(v.venue || date_trunc('hour', ts)::text)) % 5 = 0
          or abs(hashtext(c.component || v.venue || date_trunc('hour', ts)::text)) % 4 = 0 as is_bad
      from generate_series(
        ${new Date(today - 5 * dayMs)}::timestamptz, ${new Date(now - 5 * minuteMs)}, ${measuredEveryMs} * interval '1 ms'
      ) ts
    ) s
    cross join region g
    where v.venue in ('kraken', 'okx', 'gemini') and c.component in ('rest:ticker', 'rest:book', 'rest:time', 'rest:trades', 'ws:conn', 'ws:trades')
      and c.published and g.position <= 2
  `);
}

interface Minute {
  venue: string;
  /** Null: of the venue. */
  component: string | null;
  at: Date;
  down: boolean;
}

/** What is scheduled, measured and down outside the windows, from the minutes themselves. */
function outside(minutes: readonly Minute[], venue: string, from: number, to: number) {
  const own = windows.filter((window) => window.venue === venue);
  const isWork = (at: number) => own.some((window) => at >= window.from && at < window.until);
  let maintenanceMinutes = 0;
  for (let at = from; at < to; at += minuteMs) if (isWork(at)) maintenanceMinutes += 1;
  const within = minutes.filter(({ at }) => +at >= from && +at < to);
  const left = within.filter(({ at }) => !isWork(+at));
  const scheduledMinutes = (to - from) / minuteMs - maintenanceMinutes;
  const down = left.filter((minute) => minute.down).length;
  return { maintenanceMinutes, scheduledMinutes, measuredMinutes: left.length, downMinutes: down };
}

type Outside = ReturnType<typeof outside>;

/** The object of the API, by its own definition. */
function expected({ downMinutes: down, ...sums }: Outside) {
  if (sums.maintenanceMinutes === 0) return null;
  const { measuredMinutes: measured, scheduledMinutes: scheduled } = sums;
  const floored = (part: number, of: number) => (of === 0 ? null : Math.floor((100_000 * part) / of) / 1_000);
  return {
    ...sums,
    uptimePct: measured >= scheduled / 2 ? floored(measured - down, measured) : null,
    coveragePct: floored(measured, scheduled),
    uptimePctLow: measured === 0 ? null : floored(measured - down, scheduled),
    uptimePctHigh: measured === 0 ? null : Math.ceil((100_000 * (scheduled - down)) / scheduled) / 1_000,
    downMinutes: measured === 0 ? null : down,
  };
}

void t.test("every uptime is given a second time without announced maintenance", async (t) => {
  const minutes = await pool.query<Minute>(sql`
    select v.venue, null as component, m.minute as at, m.down from venue_minute m join venue v using (venue_id)
    union all
    select v.venue, c.component, m.minute, m.down
    from component_minute m join component c using (component_id) join venue v using (venue_id)
    where m.measured
  `);
  const { body: board } = await api.ask<BoardBody>("/v1/status");
  const publishedTo = Math.floor(Date.parse(board.generatedAt) / minuteMs) * minuteMs - 4 * minuteMs;
  const { body: compared } = await api.ask<ReliabilityBody>("/v1/reliability?days=4");
  const of = (venue: string, component: string | null) =>
    minutes.filter((minute) => minute.venue === venue && minute.component === component);
  let withWork = 0;

  for (const venue of [...venues, "gemini"]) {
    const row = board.venues.find(({ id }) => id === venue)!;
    for (const day of row.days.filter(({ date }) => Date.parse(date) >= today - 4 * dayMs)) {
      const from = Date.parse(day.date);
      const sums = outside(of(venue, null), venue, from, Math.min(from + dayMs, publishedTo));
      if (sums.maintenanceMinutes > 0) withWork += 1;
      t.strictSame(day.withoutMaintenance, expected(sums), `${venue} on ${day.date}`);
    }
    const from = today - 3 * dayMs;
    const comparedRow = compared.venues.find(({ id }) => id === venue)!;
    t.strictSame(comparedRow.withoutMaintenance, expected(outside(of(venue, null), venue, from, publishedTo)), venue);
    for (const part of comparedRow.components) {
      const sums = outside(of(venue, part.component), venue, from, publishedTo);
      t.strictSame(part.withoutMaintenance, expected(sums), `${venue} ${part.component}`);
    }
  }
  t.ok(withWork >= 6, "windows on many days");
  const differ = compared.venues.flatMap(({ components }) =>
    components.filter(
      ({ uptimePct, withoutMaintenance }) =>
        withoutMaintenance !== null &&
        withoutMaintenance.uptimePct !== null &&
        withoutMaintenance.uptimePct !== uptimePct,
    ),
  );
  t.ok(differ.length >= 4, "they differ from the main ones");

  const sum = (name: "maintenanceMinutes" | "measuredMinutes" | "scheduledMinutes") =>
    compared.venues.reduce(
      (total, row) => total + (row.withoutMaintenance ?? { ...row, maintenanceMinutes: 0 })[name],
      0,
    );
  const { fleet } = compared;
  t.match(fleet.withoutMaintenance, {
    maintenanceMinutes: sum("maintenanceMinutes"),
    measuredMinutes: sum("measuredMinutes"),
    scheduledMinutes: sum("scheduledMinutes"),
  });
  t.ok(fleet.measuredMinutes > fleet.withoutMaintenance!.measuredMinutes, "the main uptime still counts all minutes");
});

void t.test("tables and analysts have the same minutes", async (t) => {
  const { body: compared } = await api.ask<ReliabilityBody>("/v1/reliability?days=4");
  const table = await api.ask<Record<string, string>[]>("/v1/reliability.csv?days=4");
  for (const { id, withoutMaintenance, measuredMinutes, uptimePct, downMinutes } of compared.venues) {
    const row = table.body.find(({ venue }) => venue === id)!;
    const shown = withoutMaintenance ?? { maintenanceMinutes: 0, measuredMinutes, uptimePct, downMinutes };
    const columns = [
      "maintenanceMinutes",
      "measuredMinutesWithoutMaintenance",
      "uptimePctWithoutMaintenance",
      "downMinutesWithoutMaintenance",
    ];
    t.strictSame(
      columns.map((column) => row[column]),
      [shown.maintenanceMinutes, shown.measuredMinutes, shown.uptimePct, shown.downMinutes].map((value) =>
        String(value ?? ""),
      ),
      id,
    );
  }
  const { body: board } = await api.ask<BoardBody>("/v1/status");
  const days = await pool.query<{ day: string; minutes: number; measured: number; down: number; left: number }>(sql`
    select
      d.day::text, d.maintenance_minutes as minutes, d.maintenance_measured_minutes as measured,
      d.maintenance_down_minutes as down, d.measured_minutes - d.maintenance_measured_minutes as left
    from analytics.days d
    where d.venue = 'kraken'
  `);
  const kraken = board.venues.find(({ id }) => id === "kraken")!;
  t.ok(days.some(({ minutes }) => minutes > 0));
  for (const { day, minutes, left } of days.filter(({ day }) => Date.parse(day) < today)) {
    const shown = kraken.days.find(({ date }) => date === day)!;
    t.equal(shown.withoutMaintenance?.maintenanceMinutes ?? 0, minutes, day);
    t.equal(shown.withoutMaintenance?.measuredMinutes ?? left, left, day);
  }
});

void t.test("a window that is called off in hindsight leaves the days that are over", async (t) => {
  await pool.query(sql`update notice set window_from = null, window_until = null, announced_at = null`);
  await pool.query(sql`call upkeep.refresh_late(now())`);
  await decide(pool, new Date(Date.now() + 100));
  const { body: board } = await api.ask<BoardBody>("/v1/status");
  for (const { id, withoutMaintenance } of board.venues) t.equal(withoutMaintenance, null, id);
});
