/** What one region sees, as both clients read it from the real service: "is it down, or just me?" */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { Venuewatch } from "@venuewatch/client";
import t from "tap";
import { serve } from "../support/api.js";
import { migratedDatabase } from "../support/database.js";
import { emptied } from "../support/emptied.js";
import { ago, decide, decideThrough, measured } from "../support/fleet.js";
import { pythonMissing, pythonPath } from "../support/python.js";
import { until } from "../support/until.js";
import { type StartWatching, watchInPython, watchInTypeScript } from "../support/watching-client.js";

const database = await migratedDatabase(t);
const { pool, registry } = database;
const blocked = { venue: "kraken", regions: ["us-east"], fault: "blocked" as const };
const asked = { venues: ["kraken", "okx"], regions: ["us-east", "eu-central"] };

async function healthy() {
  await emptied(database);
  await measured(pool, { from: ago(300), to: ago(0) });
  await decide(pool, ago(200));
}

const clients: [name: string, start: StartWatching, skip: string | false][] = [
  ["TypeScript", watchInTypeScript, false],
  ["Python", watchInPython, pythonMissing],
];

for (const [name, start, skip] of clients)
  void t.test(`${name}: a venue begins to block one region, and is up`, { skip }, async (t) => {
    await healthy();
    const first = await serve(t, { pool, registry });
    const client = start(t, `http://127.0.0.1:${first.port}`, asked);
    const states = () => ["kraken", "us-east: kraken", "eu-central: kraken"].map((one) => client.stateOf(one));
    await until(() => client.outcome() === "" && states().every((state) => state === "operational"));

    await measured(pool, { from: ago(195), to: ago(0), ...blocked });
    await decideThrough(pool, ago(190), ago(140));
    await until(() => client.stateOf("us-east: kraken") === "outage");
    t.strictSame(states(), ["operational", "outage", "operational"]);
    t.equal(client.stateOf("us-east: kraken rest:ticker"), "outage");
    t.equal(client.stateOf("us-east: okx"), "operational");
    const change = client.changes.find(({ region, state }) => region === "us-east" && state === "outage");
    t.match(change, { type: /venue|component/, venue: "kraken" });

    await first.close();
    await until(() => states().every((state) => state === "unknown"));
    await measured(pool, { from: ago(135), to: ago(0), venue: "kraken" });
    await decideThrough(pool, ago(130), ago(10));
    await serve(t, { pool, registry, port: first.port });
    await until(() => states().every((state) => state === "operational"));
  });

void t.test("a watch and a single reading give the same answers", async (t) => {
  await healthy();
  await measured(pool, { from: ago(195), to: ago(0), ...blocked });
  await decide(pool, ago(100));
  const { port } = await serve(t, { pool, registry });
  const service = new Venuewatch({ url: `http://127.0.0.1:${port}` });
  const problems: string[] = [];
  const watch = service.watch({ ...asked, onProblem: (problem) => problems.push(problem) });
  t.teardown(() => watch.close());
  t.equal(watch.isDown("kraken", { region: "us-east" }), "unknown", "before anything is known");
  await watch.ready;
  t.strictSame(
    [undefined, "us-east", "eu-central", "ap-southeast"].map((region) => watch.isDown("kraken", { region })),
    [false, true, false, "unknown"],
  );
  t.equal(watch.isDown("kraken", { region: "us-east", component: "rest:ticker" }), true);
  t.equal(watch.isDown("kraken", "rest:ticker"), false);
  watch.isDown("okx", { region: "ap-southeast" });
  t.strictSame(problems, ['region "ap-southeast" is not watched: name it in regions'], "once");
  const there = await service.state("kraken", { region: "us-east" });
  t.match(there, { state: "outage", byQuorum: { state: "operational" }, region: { region: "us-east" } });
  watch.close();
  t.equal(watch.isDown("kraken", { region: "us-east" }), "unknown");
  for (const venues of [undefined, [], Array.from({ length: 51 }, (_, n) => `venue-${n}`)])
    t.throws(() => service.watch({ ...(venues && { venues }), regions: ["us-east"] }), {
      message: /expected venues beside regions, at most 50/,
    });

  await t.test("the Python client gives the same answers", { skip: pythonMissing }, async (t) => {
    // not runPython, which would hold up the server in this process
    const { stdout } = await promisify(execFile)("python3", ["-c", inPython(port)], {
      env: { ...process.env, PYTHONPATH: pythonPath(), PYTHONDONTWRITEBYTECODE: "1" },
    });
    t.equal(stdout, "False True unknown\noutage\noutage\nexpected venues beside regions, at most 50, got 0\n");
  });
});

const inPython = (port: number) => `
from venuewatch import Venuewatch
service = Venuewatch("http://127.0.0.1:${port}")
with service.watch(venues=["kraken"], regions=["us-east"]) as watch:
    watch.wait_until_ready()
    print(watch.is_down("kraken"), watch.is_down("kraken", region="us-east"), watch.is_down("kraken", region="mars"))
    print(watch.state_of("kraken", "rest:ticker", region="us-east"))
print(service.state("kraken", region="us-east")["state"])
try:
    service.watch(regions=["us-east"])
except ValueError as error:
    print(error)
`;

void t.test("a misspelt venue or region is reported at once", async (t) => {
  await healthy();
  const { port } = await serve(t, { pool, registry });
  const service = new Venuewatch({ url: `http://127.0.0.1:${port}` });
  const problems: string[] = [];
  const options = { onProblem: (problem: string) => problems.push(problem), timing: { readyMs: 500 } };
  const first = service.watch({ venues: ["okxx"], regions: ["us-east"], ...options });
  const second = service.watch({ venues: ["okx"], regions: ["mars"], ...options });
  t.teardown(() => [first, second].forEach((watch) => watch.close()));
  await t.rejects(first.ready, { message: /no venue "okxx"/ });
  await t.rejects(second.ready, { message: /no states within 500 ms: .*400.*region/ });
  t.equal(second.isDown("okx", { region: "mars" }), "unknown");
  t.ok(
    problems.some((problem) => problem.startsWith("as mars sees it: GET ")),
    problems.join(),
  );
});
