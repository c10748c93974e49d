import t from "tap";
import { nothingMeasured } from "../../../probe/measure/measurement.js";
import { makeSchedule } from "../../../probe/schedule/schedule.js";
import { startShip } from "../../../probe/delivery/ship.js";
import type { Spool } from "../../../probe/delivery/spool.js";
import { systemClock } from "../../../shared/process/clock.js";
import { sql } from "../../../shared/database/pool.js";
import { makeLog } from "../../../shared/log/log.js";
import { migrate } from "../../../server/database/migrate.js";
import { recordSamples } from "../../../server/database/record-samples.js";
import type { Sample } from "../../../shared/measurement/sample.js";
import { migratedDatabase } from "../../support/database.js";
import { listeningLog } from "../../support/listening-log.js";
import { madeSample } from "../../support/made-sample.js";
import { someSpool, spoolDirectory } from "../../support/spool.js";
import { until } from "../../support/until.js";

const { pool, registry } = await migratedDatabase(t);
const { log, lines } = listeningLog("warn");
const quiet = makeLog("test", "error");
const record = (samples: readonly Sample[]) => recordSamples(pool, "us-east", samples);

t.beforeEach(() => void (lines.length = 0));

void t.test("samples that the database rejects do not delay the others", async (t) => {
  const newestMs = Date.now();
  const guilty = new Map<number, Partial<Sample>>([
    [0, { eventAgeMs: 1_790_000_000_000 }],
    [707, { eventAgeMs: -(2 ** 40) }],
    [708, { latencyUs: -1 }],
    [1199, { quietMs: 2 ** 31 }],
  ]);
  const ship = startShip({ spool: await someSpool(t), record, log });
  for (let i = 0; i < 1200; i += 1)
    ship.add(madeSample({ component: "ws:trades", slotAt: new Date(newestMs - 1200 + i), ...guilty.get(i) }));
  await until(() => ship.status().waiting === 0);
  await ship.close();
  t.match(ship.status(), { shipped: 1196, duplicates: 0, refused: 4, dropped: 0 });
  t.equal(await countStored("ws:trades"), 1196);
  t.equal(lines.length, 4, "one line for each lost sample");
  t.match(lines[0], /error test: .*cannot hold a sample.*1790000000000/);
});

void t.test("a measurement beyond its columns is stored as the largest that fits", async (t) => {
  const ship = startShip({ spool: await someSpool(t), record, log, flushEveryMs: 10 });
  const schedule = makeSchedule({
    ...{ phaseOf: () => 0, clock: systemClock, log },
    onSample: (sample) => ship.add(sample),
    onUnmeasured() {},
  });
  const tooLong = { latencyUs: 1e12, firstByteUs: 1e12, messages: 1e12, quietMs: 1e12, eventAgeMs: -1e12 };
  const measure = () => ({ ...nothingMeasured, good: true, ...tooLong });
  schedule.begin([{ venue: "kraken", component: "ws:ticker", cadenceMs: 50, measure }]);
  t.teardown(() => schedule.close());
  await until(() => ship.status().shipped > 0);
  await schedule.close();
  await ship.close();
  t.ok((await countStored("ws:ticker")) > 0);
  t.same(lines, []);
});

void t.test("samples of unknown components wait in quarantine and do not delay the others", async (t) => {
  const directory = await spoolDirectory(t);
  const newer = structuredClone(registry);
  /** The number of waiting samples while some are in two places: in their file and in quarantine. */
  const atBothPlaces: number[] = [];
  const start = async () => {
    const spool = await someSpool(t, { directory, writeEveryMs: 5 });
    return startShip({
      spool: watched(spool, () => atBothPlaces.push(ship.status().waiting)),
      record: (samples) => recordSamples(pool, "mars", samples),
      ...{ log, flushEveryMs: 10, firstRetryMs: 20, tryUnknownEveryMs: 50 },
    });
  };
  const now = Date.now();
  const add = (n: number, component: string) => ship.add(madeSample({ slotAt: new Date(now - n), component }));
  let ship = await start();
  t.teardown(() => ship.close());
  add(1, "rest:ticker");
  add(2, "rest:ticker");
  await until(() => lines.length > 0);
  t.match(lines[0], /will retry.*does not: run `venuewatch migrate`/);
  t.match(ship.status(), { shipped: 0, waiting: 2, refused: 0 });

  newer.regions.push({ id: "mars", name: "Mars" });
  await migrate(pool, newer, quiet);
  await until(() => ship.status().shipped === 2);
  lines.length = 0;
  add(3, "rest:new");
  add(4, "rest:ticker");
  add(5, "rest:newer");
  await until(() => ship.status().shipped === 3);
  t.match(lines, [
    /error test: the database does not know some components that .*components="kraken rest:new, kraken rest:newer"/,
  ]);
  // retried a few times
  await until(() => lines.length > 1);
  t.match(ship.status(), { shipped: 3, waiting: 2, refused: 0 });
  atBothPlaces.length = 0;
  await until(() => atBothPlaces.length > 1);
  t.same([...new Set(atBothPlaces)], [2], "two samples wait, even at the moment when they leave quarantine");
  await ship.close();

  const { rest } = newer.venues.find(({ id }) => id === "kraken")!;
  rest.push({ ...rest[0]!, name: "newer" });
  await migrate(pool, newer, quiet);
  ship = await start();
  await until(async () => (await countStored("rest:newer")) === 1);
  t.ok(ship.status().waiting > 0, "they still wait after a restart");
  rest.push({ ...rest[0]!, name: "new" });
  await migrate(pool, newer, quiet);
  await until(() => ship.status().waiting === 0);
  t.match(ship.status(), { refused: 0, dropped: 0 });
  t.equal(await countStored("rest:new"), 1);
});

/** Signals that quarantined samples are about to be written. */
function watched(spool: Spool, onFlush: () => void): Spool {
  return {
    ...spool,
    async below(name, make) {
      const quarantined = await spool.below(name, make);
      if (!quarantined) return null;
      const flush = () => {
        onFlush();
        return quarantined.flush();
      };
      return { ...quarantined, flush };
    },
  };
}

async function countStored(component: string): Promise<number> {
  const [row] = await pool.query<{ samples: number }>(sql`
    select count(*)::int as samples from sample join component using (component_id) where component = ${component}
  `);
  return row!.samples;
}
