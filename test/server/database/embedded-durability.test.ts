import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";
import { Client } from "pg";
import t from "tap";
import { packagedFile } from "../../../shared/config/package.js";

const program = packagedFile("dist/test/support/embedded-process.js");
const dataDir = t.testdir();
const rowsPerBatch = 200;
const kills = Number(process.env.KILLS ?? 3);

interface Host {
  process: ChildProcess;
  url: string;
  tookMs: number;
}

async function startHost(): Promise<Host> {
  const begun = performance.now();
  const child = spawn(process.execPath, [program, dataDir], { stdio: ["ignore", "pipe", "inherit"] });
  const [url] = (await once(child.stdout, "data")) as [Buffer];
  const tookMs = Math.round(performance.now() - begun);
  return { process: child, url: url.toString().trim(), tookMs };
}

async function killed(host: Host): Promise<void> {
  const exit = once(host.process, "exit");
  host.process.kill("SIGKILL");
  await exit;
}

async function connected(host: Host): Promise<Client> {
  const client = new Client(host.url);
  // the test kills its host
  client.on("error", () => {});
  await client.connect();
  return client;
}

/** Inserts batches in turn until the host dies, and records each acknowledged one. */
async function insertUntilKilled(client: Client, acknowledged: Set<number>, onAcknowledged: () => void): Promise<void> {
  for (let batch = acknowledged.size * 2; ; batch++) {
    try {
      await client.query(
        `insert into measured select '2025-01-01Z'::timestamptz + make_interval(mins => $1), $1, g
         from unnest($2::int[]) g`,
        [batch, Array.from({ length: rowsPerBatch }, (_, i) => i)],
      );
    } catch {
      return;
    }
    acknowledged.add(batch);
    onAcknowledged();
  }
}

void t.test("SIGKILL during inserts loses no acknowledged row", async (t) => {
  let host = await startHost();
  t.teardown(() => killed(host));
  t.comment(`a new directory is served after ${host.tookMs} ms`);
  let client = await connected(host);
  await client.query(`
    create table measured (at timestamptz not null, batch int, n int, unique (batch, n, at));
    select create_hypertable('measured', 'at')`);
  const acknowledged = new Set<number>();
  for (let round = 1; round <= kills; round++) {
    const goal = acknowledged.size + 20 * round;
    // Not awaited: the next insert is in flight when the signal arrives.
    let death: Promise<void> | undefined;
    await insertUntilKilled(client, acknowledged, () => {
      if (acknowledged.size === goal) death = killed(host);
    });
    await death;
    host = await startHost();
    t.comment(`round ${round}: served again after ${host.tookMs} ms`);
    client = await connected(host);
    const { rows } = await client.query<{ batch: number; n: number }>(
      "select batch, count(*)::int as n from measured group by batch",
    );
    const found = new Set(rows.map(({ batch }) => batch));
    const lost = [...acknowledged].filter((batch) => !found.has(batch));
    t.same(lost, [], `all ${acknowledged.size} batches are stored`);
    const partial = rows.filter(({ n }) => n !== rowsPerBatch);
    t.same(partial, [], "every batch is whole, acknowledged or not");
  }
  await client.end();
});

void t.test("a second process on the directory is refused", async (t) => {
  const host = await startHost();
  t.teardown(() => killed(host));
  const refusal: unknown = await promisify(execFile)(process.execPath, [program, dataDir]).catch(
    (error: unknown) => error,
  );
  t.match(refusal, {
    stderr: `The directory ${dataDir} is in use by process ${host.process.pid}: stop that process, or choose another directory with DATA_DIR.\n`,
  });
  const client = await connected(host);
  await client.query("select 1");
  await client.end();
});

void t.test("SIGTERM shuts the host down cleanly", async (t) => {
  const host = await startHost();
  const client = await connected(host);
  await client.query("begin; create table never_committed (a int)");
  const exit = once(host.process, "exit");
  host.process.kill("SIGTERM");
  t.same(await exit, [0, null]);
  const again = await startHost();
  t.teardown(() => killed(again));
  const next = await connected(again);
  await t.rejects(next.query("select * from never_committed"), { code: "42P01" });
  await next.end();
});
