/** docs/analysts.md shows how psql writes files; its commands work on the embedded database and on a server. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { packagedFile } from "../../shared/config/package.js";
import { parseCsv } from "../support/csv.js";
import { migratedDatabase } from "../support/database.js";
import { measured, pastIncident } from "../support/fleet.js";
import { psqlMissing } from "../support/metadata.js";
import { mayBecome } from "../support/rights.js";

void t.test("psql writes CSV and JSON lines as the page shows", { skip: psqlMissing }, async (t) => {
  const { pool, url } = await migratedDatabase(t);
  const startedAt = new Date("2026-01-30T00:00:00Z");
  await measured(pool, { venue: "okx", from: new Date(+startedAt - 5_000), to: new Date(+startedAt + 20_001) });
  const slug = await pastIncident(pool, { venue: "okx", component: "rest:ticker", startedAt, minutes: 3 });
  const page = readFileSync(packagedFile("docs/analysts.md"), "utf8");
  const lines = [...page.matchAll(/^psql "\$analyst" .*$/gm)].map(([line]) => line);
  t.equal(lines.length, 2);
  const cwd = t.testdir();
  await pool.script(mayBecome("vw_analyst"));
  for (const line of lines) {
    // psql's own settings and the login's rights
    const script = `analyst='${url}'\n${line}`;
    const env = { PATH: process.env["PATH"], HOME: cwd, PGOPTIONS: "-c role=vw_analyst" };
    const { status, stderr } = spawnSync("sh", ["-c", script], { cwd, env, encoding: "utf8" });
    t.same({ status, stderr }, { status: 0, stderr: "" }, line);
  }
  // psql ends lines with a line feed alone
  const samples = parseCsv(readFileSync(join(cwd, "okx.csv"), "utf8").replaceAll("\n", "\r\n"));
  const [counted] = await pool.text<{ count: number }>(
    "select count(*) from analytics.samples where venue = 'okx' and ts >= $1",
    [startedAt],
  );
  t.ok(counted!.count > 0);
  t.equal(samples.length, counted!.count);
  t.match(samples[0], { ts: "2026-01-30 00:00:00+00", venue: "okx", component: "rest:book", fault: "" });
  const [incident] = readFileSync(join(cwd, "incidents.ndjson"), "utf8").trimEnd().split("\n");
  t.match(JSON.parse(incident!), { slug, venue: "okx" });
});
