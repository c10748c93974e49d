/**
 * A probe under load loses its database for a while in each possible way; in the end the database has every measured
 * sample. GONE_S sets the seconds of each outage, RATE the samples a second.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import t, { type Test } from "tap";
import { startShip } from "../../../probe/delivery/ship.js";
import { openPool, type Pool, sql } from "../../../shared/database/pool.js";
import { makeLog } from "../../../shared/log/log.js";
import { packagedFile } from "../../../shared/config/package.js";
import { recordSamples } from "../../../server/database/record-samples.js";
import { migratedDatabase, migratedDirectory } from "../../support/database.js";
import { makeGate } from "../../support/gate.js";
import { numberedSample, numberIn } from "../../support/numbered-sample.js";
import { someSpool } from "../../support/spool.js";
import { until } from "../../support/until.js";
import { usedBytes } from "../../support/used-bytes.js";

const goneMs = Number(process.env.GONE_S ?? 0.4) * 1000;
const perSecond = Number(process.env.RATE ?? 5_000);
const region = "us-east";
const quiet = makeLog("test", "error", () => {});

interface Absence {
  how: string;
  begin: () => unknown;
  end: () => unknown;
}

void t.test("no sample is lost or stored twice while the database is", async (t) => {
  const database = await someDatabase(t);
  const gate = await makeGate(t, database.url);
  const asAdmin = async (work: (pool: Pool) => Promise<void>) => {
    const admin = openPool(database.url(), { applicationName: "test", log: quiet, max: 1 });
    await work(admin).finally(admin.close);
  };
  const pool = openPool(gate.url, { applicationName: "test", log: quiet, max: 2, statementTimeoutMs: 30_000 });
  t.teardown(pool.close);
  const spool = await someSpool(t);
  const ship = startShip({
    spool,
    log: quiet,
    // the short form would spend most of its time in pauses
    ...(process.env.GONE_S === undefined && { firstRetryMs: 20 }),
    record: (samples) => recordSamples(pool, region, samples),
  });
  const slotsFrom = Date.now() - 6 * 86_400_000;
  let measured = 0;
  const measure = async (forMs: number) => {
    const startMs = performance.now();
    const first = measured;
    for (let passedMs = 0; passedMs <= forMs; passedMs = performance.now() - startMs) {
      const due = first + (passedMs * perSecond) / 1000;
      // catches up in parts after a standstill
      for (const last = Math.min(due, measured + 10_000); measured < last; measured += 1)
        ship.add(numberedSample(measured, slotsFrom));
      await sleep(10);
    }
  };

  const absences: Absence[] = [
    { how: "refusing connections", begin: gate.shut, end: gate.open },
    { how: "behind a network that drops packets", begin: gate.mute, end: gate.open },
    {
      how: "cut off in mid-statement",
      async begin() {
        gate.cutAtNextStatement();
        await sleep(goneMs / 10);
        await gate.shut();
      },
      end: gate.open,
    },
    { how: "slow", begin: () => gate.slow(150), end: gate.open },
    { how: "out of disk space", begin: () => asAdmin(refuseAsFull), end: () => asAdmin(acceptAgain) },
    ...database.ends,
  ];
  await measure(200);
  await until(() => spool.status().waiting === 0, 60_000);
  for (const { how, begin, end } of absences)
    await t.test(how, async (t) => {
      const before = usedBytes();
      const measuredBefore = measured;
      await begin();
      await measure(goneMs);
      const grown = usedBytes() - before;
      const { waiting, spoolBytes } = spool.status();
      t.ok(waiting > 0, "samples wait");
      t.ok(grown < 8 * 2 ** 20, `memory stays flat: it grew by ${grown} bytes`);
      const awayUntilMs = performance.now();
      await end();
      await measure(100);
      await until(() => spool.status().waiting === 0, 300_000, 20);
      const tookMs = Math.round(performance.now() - awayUntilMs);
      const samples = measured - measuredBefore;
      t.comment(`${samples} samples, ${waiting} waited in ${spoolBytes} bytes, delivered in ${tookMs} ms`);
      await asAdmin(async (db) => {
        const [row] = await db.query(sql`
          select count(*)::int as samples, count(distinct number)::int as numbers, min(number) as first, max(number) as last
          from (select ${numberIn(slotsFrom)} as number from sample) s
        `);
        const all = { samples: measured, numbers: measured, first: 0, last: measured - 1 };
        t.strictSame(row, all, "every measured sample is stored, once");
      });
      t.match(ship.status(), { dropped: 0, corrupt: 0, refused: 0 });
    });
  await ship.close();
});

/** A test must not kill a server that others use: there, outages of the network have to do. */
async function someDatabase(t: Test): Promise<{ url: () => string; ends: Absence[] }> {
  if (process.env.DATABASE_URL) {
    const { url } = await migratedDatabase(t);
    return { url: () => url, ends: [] };
  }
  const directory = await migratedDirectory(t);
  let host = await startHost(directory);
  const stop = async (signal: NodeJS.Signals) => {
    host.child.kill(signal);
    await host.ended;
  };
  t.teardown(() => stop("SIGKILL"));
  const end = async () => void (host = await startHost(directory));
  return {
    url: () => host.url,
    ends: [
      { how: "stopped", begin: () => stop("SIGTERM"), end },
      { how: "killed", begin: () => stop("SIGKILL"), end },
    ],
  };
}

async function startHost(directory: string) {
  const child = spawn(process.execPath, [packagedFile("dist/test/support/embedded-process.js"), directory], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const ended = once(child, "exit");
  const [url] = (await once(createInterface(child.stdout), "line")) as [string];
  return { child, ended, url };
}

/** PostgreSQL's error when it cannot extend a file. */
async function refuseAsFull(pool: Pool): Promise<void> {
  await pool.script(`
    create function no_space() returns trigger language plpgsql as $$
    begin
      raise exception using errcode = 'disk_full', message = 'could not extend file: No space left on device';
    end;
    $$;
    create trigger no_space before insert on sample for each row execute function no_space();
  `);
}

async function acceptAgain(pool: Pool): Promise<void> {
  await pool.script("drop trigger no_space on sample; drop function no_space");
}
