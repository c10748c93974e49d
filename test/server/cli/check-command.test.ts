/** `venuewatch check` and `status` as programs, beside a web program, a world of venues, and services that are away. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import t from "tap";
import { migrate } from "../../../server/database/migrate.js";
import { packagedFile } from "../../../shared/config/package.js";
import { makeLog } from "../../../shared/log/log.js";
import { loadRegistry } from "../../../shared/registry/load-registry.js";
import { startWorld } from "../../../world/world.js";
import { serve } from "../../support/api.js";
import { byTwos, type CliEnded, cliWith } from "../../support/cli-input.js";
import { migratedDatabase } from "../../support/database.js";
import { ago, decide, measured, unmeasured } from "../../support/fleet.js";
import { freePort } from "../../support/free-port.js";
import { serveTcp } from "../../support/tcp-server.js";

const two = ["us-east", "eu-central"];
const { pool, registry: packaged } = await migratedDatabase(t);
const names = ["kraken", "okx", "bitstamp", "gemini", "bybit"];
const world = await startWorld({
  registry: { ...packaged, venues: packaged.venues.filter(({ id }) => names.includes(id)) },
});
t.teardown(() => world.close());
await migrate(pool, world.registry, makeLog("test", "error"));
await measured(pool, { from: ago(150), to: ago(0) });
await measured(pool, { from: ago(150), to: ago(0), venue: "okx", regions: two, fault: "http" });
await measured(pool, {
  from: ago(150),
  to: ago(0),
  venue: "bitstamp",
  component: "rest:ticker",
  regions: two,
  fault: "http",
});
await unmeasured(pool, { from: ago(150), to: ago(0), venue: "gemini" });
// as if its entries had been good: the world's addresses are new to the database
await pool.script("update component_entry set good_at = '-infinity'");
await decide(pool);
const api = await serve(t, { pool, registry: world.registry });
const path = join(t.testdir({}), "registry.json");
await writeFile(path, JSON.stringify(world.registry));
const env = { REGISTRY: path, BASE_URL: `http://127.0.0.1:${api.port}` };

/** From the start of the program, so Node's own start is included, on a busy machine. */
const boundedMs = 15_000;

async function checked(args: string[], code: number, more: Record<string, string> = {}): Promise<CliEnded> {
  const startMs = performance.now();
  const ended = await cliWith(t, ["check", ...args], { ...env, ...more });
  t.equal(ended.code, code, `${args.join(" ")}: ${ended.out}${ended.err}`);
  t.ok(performance.now() - startMs < boundedMs);
  t.equal(world.openSockets(), 0);
  return ended;
}

void t.test("it names the culprit, advises, and shows the evidence", async (t) => {
  t.match(await checked(["kraken"], 0), {
    out: /^kraken: nothing is wrong: .*\n→ if your requests fail all the same, .*\n\n {2}the service +operational since /,
    err: "",
  });
  t.match((await checked(["okx"], 2)).out, /^okx: it is the venue: it is in state outage since /);
  world.fault({ venue: "kraken", kind: "status", status: 451 });
  t.match((await checked(["kraken"], 20)).out, /^kraken: the venue refuses this country or network \(status 451\)/);
  world.fault({ venue: "*", kind: "refused" });
  t.match((await checked(["kraken"], 22)).out, /it is this machine's network/);
  await world.clear();
});

void t.test("--json has all of it", async (t) => {
  const { out } = await checked(["kraken", "--json"], 0);
  const report = JSON.parse(out) as { here: object[]; controls: object[] };
  t.match(report, {
    ...{ url: env.BASE_URL, venue: "kraken", verdict: "nobody", exitCode: 0 },
    summary: /^nothing is wrong: /,
    service: { kind: "confirmed", state: "operational", problem: null },
    clock: { errorMs: Number, withinMs: Number },
  });
  t.equal(report.controls.length, 4);
  t.match(report.here[0], { component: /^rest:/, good: true, fault: null, ms: Number });
  const page = await readFile(packagedFile("docs/check.md"), "utf8");
  for (const field of Object.keys(report)) t.match(page, `\`${field}\``, "documented");
});

void t.test("without a service it says what it can, in time, and blames nobody", async (t) => {
  const away = `http://127.0.0.1:${await freePort()}`;
  const ended = await checked(["kraken"], 3, { BASE_URL: away });
  t.match(
    ended.out,
    /is unknown, because GET http:\S+: expected a connection, got a refused connection \(ECONNREFUSED\)/,
  );
  t.equal(ended.err, "venuewatch: the service cannot be reached; name another place with --url\n");
  const silent = `http://127.0.0.1:${await serveTcp(t, () => {})}`;
  t.match(
    (await checked(["kraken", "--url", silent], 3)).out,
    /no whole answer within 3500 ms; still waiting for an answer/,
  );
});

void t.test("a venue that nobody knows gets the one that was probably meant", async (t) => {
  const { err } = await checked(["krakne"], 3);
  t.equal(err, 'venuewatch: the registry has no venue "krakne"; did you mean kraken?\n');
});

void t.test("of a chain it says what the service sees, and which providers can be checked", async (t) => {
  const all = await loadRegistry(packagedFile("registry/all.json"));
  const venues = all.venues.filter(({ id, chain }) => chain === "ethereum" || id === "kraken");
  const chained = await startWorld({ registry: { ...all, venues } });
  t.teardown(() => chained.close());
  const file = join(t.testdir({}), "registry.json");
  await writeFile(file, JSON.stringify(chained.registry));
  const { port } = await serve(t, { pool, registry: all });
  for (const at of [port, await freePort()]) {
    const args = ["check", "ethereum-chain", "--url", `http://127.0.0.1:${at}`];
    const { out, err } = await cliWith(t, args, { ...env, REGISTRY: file });
    t.match(out, /^ethereum-chain: .*\n[^]*not measured: the registry has no endpoint of it/);
    t.match(err, /^venuewatch: ethereum-chain is read at its providers, so check one of them: [\w-]+(, [\w-]+)+\n$/);
  }
});

void t.test("the exit code of status is the state, and errors have other codes", async (t) => {
  const { BASE_URL: url } = env;
  const away = `http://127.0.0.1:${await freePort()}`;
  const cases: [string[], number, RegExp][] = [
    [["bybit"], 0, /^$/],
    [["bitstamp", "--json"], 1, /^$/],
    [["okx"], 2, /^$/],
    [["--category", "exchange"], 2, /^$/],
    [["gemini", "--url", url], 3, /^$/],
    [["krakn"], 3, /^venuewatch: GET http:\S+: 404, Unknown venue "krakn"\. Did you mean kraken\? .*\n$/],
    [
      ["okx", "--url", away],
      3,
      /^venuewatch: GET http:\S+: expected a connection, got .*; name another place with --url, .*\n$/,
    ],
    [["okx", "--ulr", away], 64, /^venuewatch: unknown option --ulr; did you mean --url\?; .*\n$/],
    [["okx", "kraken"], 64, /^venuewatch: too many arguments for 'status'. Expected 1 argument but got 2; .*\n$/],
    [["okx", "--category", "rpc"], 64, /^venuewatch: status: expected a venue or --category, got both\n$/],
    [["--category", "exchang"], 64, /^venuewatch: --category: expected one of .*; did you mean exchange\?\n$/],
    [["--url", "example.org"], 64, /^venuewatch: expected an http:\/\/ or https:\/\/ address .*\n$/],
  ];
  await byTwos(cases, async ([args, code, err]) => {
    const ended = await cliWith(t, ["status", ...args], env);
    t.equal(ended.code, code, args.join(" "));
    t.match(ended.err, err);
    if (args.includes("--json")) t.match(JSON.parse(ended.out), { url, state: "degraded", problem: null });
  });
  const unread = await cliWith(t, ["status", "okx"], env, "", ({ stdout }) => stdout!.destroy());
  t.match(unread, { code: 2, err: "" }, "also if nobody reads its output");
});
