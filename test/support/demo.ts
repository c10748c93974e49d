/** A demo in a directory of its own, as a user starts it, and what its tests ask of it. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import type { Test } from "tap";
import { packagedFile } from "../../shared/config/package.js";
import { get, NotOk, type Board } from "./board.js";
import { freePort } from "./free-port.js";
import { metadataIsAnswered, psqlDescribes, psqlMissing } from "./metadata.js";
import { childrenOf } from "./processes.js";
import { runCli, type Script } from "./run-script.js";
import { until } from "./until.js";

/** Length of the history: enough for a past incident, and made in seconds. */
export const demoDays = 3;

export type DemoEnv = Record<string, string>;
export type Demo = Awaited<ReturnType<typeof startDemo>>;

export async function demoEnv(t: Test): Promise<DemoEnv> {
  return {
    DATA_DIR: t.testdir({}),
    PORT: String(await freePort()),
    HEALTH_PORT: "0",
    EMBEDDED_PORT: String(await freePort()),
    // the test sends more requests than the limit for a client
    RATE_LIMIT: "0",
  };
}

export async function startDemo(t: Test, env: DemoEnv) {
  const startMs = performance.now();
  const script = runDemo(t, env);
  await script.saw("Ctrl-C stops it");
  const seconds = (performance.now() - startMs) / 1000;
  t.comment(`start: ${seconds.toFixed(1)} s to the welcome`);
  const [, passFile = "", analystAddress = ""] = /PGPASSFILE=(\S+) psql (\S+)/.exec(script.output()) ?? [];
  t.match(script.output(), `http://localhost:${env["PORT"]}/v1/status`);
  t.match(analystAddress, `:${env["EMBEDDED_PORT"]}/`);
  const [line] = (await readFile(passFile, "utf8")).split("\n");
  const analystUrl = new URL(analystAddress);
  analystUrl.password = line!.split(":").at(-1)!;
  const databaseUrl = await ownerUrl(env);
  for (const { password } of [analystUrl, new URL(databaseUrl)])
    t.notMatch(script.output(), password, "no password is printed");
  return { script, databaseUrl, analystUrl: analystUrl.href, url: `http://localhost:${env["PORT"]}` };
}

export async function ownerUrl(env: DemoEnv): Promise<string> {
  const file = join(env["DATA_DIR"]!, "demo", "database.password");
  const password = (await readFile(file, "utf8")).trim();
  return `postgres://postgres:${password}@127.0.0.1:${env["EMBEDDED_PORT"]}/template1`;
}

export function runDemo(t: Test, env: DemoEnv): Script {
  return runCli(t, ["demo", "--days", String(demoDays)], env);
}

export function isBoardMeasured({ venues }: Board): boolean {
  return venues.length === 15 && venues.every(({ state }) => state !== "unknown");
}

/**
 * All feeds but Gemini's are readable. Notices posted before the demo began are compared with the incidents, and do not
 * vanish after a restart.
 */
export async function feedsAreRead(t: Test, { url }: Demo) {
  interface Compared {
    fleet: { paired: number; theirsOnly: number };
    venues: { id: string; feed: { state: string; problem: string | null } }[];
  }
  const compared = () => get<Compared>(`${url}/v1/detection?days=90`);
  await soon(async () => {
    const { venues, fleet } = await compared();
    const areAllRead = venues.every(
      ({ id, feed }) => feed.state === (id === "gemini" ? "unreadable" : "readable") && feed.problem !== "not read yet",
    );
    return fleet.paired > 0 && areAllRead;
  });
  const gemini = (await compared()).venues.find(({ id }) => id === "gemini");
  t.match(gemini!.feed.problem, /HTML/);
  const { official } = await get<{ official: { incidents: { vanished: boolean }[] } }>(`${url}/v1/targets/deribit`);
  t.ok(official.incidents.length > 0);
  t.notOk(official.incidents.some(({ vanished }) => vanished));
}

export async function metadataIsRead(t: Test, analystUrl: string) {
  const client = new pg.Client(analystUrl);
  await client.connect();
  await metadataIsAnswered(t, client);
  await client.end();
  if (!psqlMissing)
    await psqlDescribes(t, analystUrl, ["\\d+ analytics.samples", "\\dv+ analytics.*", "\\df analytics.*"]);
}

export async function rowsOf<Row>(url: string, query: string): Promise<Row[]> {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query(query);
  await client.end();
  return rows as Row[];
}

/** Process ids of the demo's children; `""` selects all. */
export function programsOf({ pid }: Script, command: string): number[] {
  const cli = packagedFile("dist/server/cli.js");
  return childrenOf(pid)
    .filter(({ args }) => args.includes(`${cli} ${command}`))
    .map((child) => child.pid);
}

/**
 * A page may be refused meanwhile: after a start the database does all of its upkeep, one statement at a time. On a
 * loaded machine the rest of the history takes minutes, because it yields to the service.
 */
export function soon(condition: () => boolean | Promise<boolean>): Promise<void> {
  return until(
    async () => {
      try {
        return await condition();
      } catch (error) {
        if (error instanceof NotOk && error.status === 503) return false;
        throw error;
      }
    },
    180_000,
    200,
  );
}
