/** sql/servers.json says which servers are promised; documents, deployments and CI say the same. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseYaml } from "@redocly/openapi-core";
import t from "tap";
import {
  adviceOnServer,
  isSupported,
  supportedRange,
  supportedServers,
} from "../../../server/database/supported-servers.js";
import { packagedFile } from "../../../shared/config/package.js";
import { sql } from "../../../shared/database/pool.js";
import { migratedDatabase } from "../../support/database.js";

const textOf = (path: string) => readFileSync(packagedFile(path), "utf8");

void t.test("untested versions are recognised", (t) => {
  for (const [major, { oldest, newest }] of Object.entries(supportedServers)) {
    const of = (timescaledb: string) => isSupported({ timescaledb, postgres: `${major}.3` });
    const after = (release: string) => release.replace(/\.(\d+)\..*/, (_, minor) => `.${Number(minor) + 1}.0`);
    t.ok(of(oldest) && of(`${oldest}-dev`) && of(newest) && of(newest.replace(/\d+$/, "99")), major);
    t.notOk(of("2.9.3"), "an older version, although it sorts later as text");
    t.notOk(of(after(newest)) || of(newest.replace(/\.\d+\./, ".130.")) || of("3.0.0"));
  }
  const [lowest = 0, ...others] = Object.keys(supportedServers).map(Number);
  const { newest } = supportedServers[lowest]!;
  t.notOk(isSupported({ timescaledb: newest, postgres: `${lowest - 1}.3` }));
  t.notOk(isSupported({ timescaledb: newest, postgres: `${others.at(-1)! + 1}.3` }));
  t.match(adviceOnServer({ timescaledb: "2.9.3", postgres: "17.3" }), "TimescaleDB");
  t.match(adviceOnServer({ timescaledb: newest, postgres: "14.3" }), "PostgreSQL");
  t.match(adviceOnServer({ timescaledb: "3.0.0", postgres: "17.3" }), "venuewatch");
  t.end();
});

void t.test("documents promise exactly these servers, in one place", (t) => {
  const pages = ["README.md", ...readdirSync(packagedFile("docs")).map((name) => `docs/${name}`)];
  const promises = pages
    .filter((path) => path.endsWith(".md"))
    .map((path) => ({ path, parts: textOf(path).replace(/\s+/g, " ").split(supportedRange) }));
  t.strictSame(
    promises.filter(({ parts }) => parts.length > 1).map(({ path }) => path),
    ["docs/production.md"],
  );
  const others = promises.flatMap(({ path, parts }) =>
    [...parts.join().matchAll(/TimescaleDB [\d.]+ (?:to|or newer)|PostgreSQL \d+(?:\+| to \d+)/g)].map(([one]) => [
      path,
      one,
    ]),
  );
  t.strictSame(others, []);
  t.end();
});

void t.test("deployments use promised servers", (t) => {
  const found = [
    ...textOf("compose.yaml").matchAll(/timescale\/timescaledb:(?<timescaledb>[\d.]+)-pg(?<postgres>\d+)/g),
    ...textOf("deploy/production/kubernetes/database/cluster.yaml").matchAll(
      /timescaledb:(?<postgres>[\d.]+)-(?<timescaledb>[\d.]+)/g,
    ),
  ].map(({ groups }) => groups as { postgres: string; timescaledb: string });
  t.equal(found.length, 2);
  for (const one of found) t.ok(isSupported(one), `${one.timescaledb} on ${one.postgres}`);
  t.end();
});

void t.test("CI runs all tests on the oldest and the newest of each", (t) => {
  interface Job {
    outputs?: Record<string, string>;
    strategy?: { matrix: Record<string, string> };
    env?: Record<string, string>;
    steps: { id?: string; run?: string }[];
  }
  const { jobs } = parseYaml(textOf(".github/workflows/servers.yaml")) as { jobs: Record<string, Job> };
  const { promised, test } = jobs as { promised: Job; test: Job };
  const read = promised.steps.find(({ id }) => id === "read")!.run!.replace(/>>"\$GITHUB_OUTPUT"/, "");
  const line = execFileSync("sh", ["-ec", read], { cwd: packagedFile(""), encoding: "utf8" });
  const servers = JSON.parse(/^servers=(.*)\n$/.exec(line)![1]!) as unknown;
  t.strictSame(
    servers,
    Object.entries(supportedServers).map(([postgres, releases]) => ({ postgres, ...releases })),
  );
  t.equal(promised.outputs!.servers, "${{ steps.read.outputs.servers }}");
  t.equal(test.strategy!.matrix.server, "${{ fromJSON(needs.promised.outputs.servers) }}");
  t.match(test.env, {
    OLDEST: "timescale/timescaledb:${{ matrix.server.oldest }}-pg${{ matrix.server.postgres }}",
    NEWEST: /^timescale\/timescaledb:.*matrix\.server\.newest \}\}-pg\$\{\{ matrix\.server\.postgres \}\}$/,
  });
  const steps = test.steps.map(({ run = "" }) => run).join("\n");
  t.match(steps, /start "\$OLDEST" 5501\nstart "\$NEWEST" 5502\n/);
  t.match(steps, /make test-servers TEST_SERVERS="[^"]*:5501\/[^"]*:5502\/[^"]*"/);
  t.end();
});

// TimescaleDB may change its internals in any release, and an upgrade drops and recreates its views.

void t.test("no object of ours prevents the extension from replacing its relations", async (t) => {
  const { pool } = await migratedDatabase(t);
  // Parsed objects depend on each relation and function that they name: a view by its rule, and a function whose body
  // is not a string. Chunks and the tables beneath roll-ups are not members of the extension.
  const used = await pool.query<{ ours: string; theirs: string }>(sql`
      with members as (
        select d.classid, d.objid
        from pg_depend d
        join pg_extension e on e.oid = d.refobjid
        where d.refclassid = 'pg_extension'::regclass and d.deptype = 'e' and e.extname = 'timescaledb'
      )
      select
        pg_describe_object(d.classid, d.objid, 0) as ours,
        (pg_identify_object(d.refclassid, d.refobjid, 0)).schema || ' ' || (pg_identify_object(d.refclassid, d.refobjid, 0)).type as theirs
      from pg_depend d
      left join pg_rewrite r on d.classid = 'pg_rewrite'::regclass and r.oid = d.objid
      join members on (members.classid, members.objid) = (d.refclassid, d.refobjid)
      where (d.classid = 'pg_proc'::regclass or r.oid is not null)
        and not exists (
          select
          from members m
          where (m.classid, m.objid) = (d.classid, d.objid)
            or m.classid = 'pg_class'::regclass and m.objid = r.ev_class
        )
      order by 1
    `);
  t.ok(
    used.some(({ theirs }) => theirs === "public function"),
    "time_bucket is found",
  );
  t.same(
    used.filter(({ theirs }) => theirs !== "public function"),
    [],
  );
});

void t.test("no source names TimescaleDB's internals", (t) => {
  const folders = ["sql", "server", "probe", "bench", "deploy", "docs"];
  const files = folders.flatMap((folder) =>
    readdirSync(packagedFile(folder), { recursive: true, encoding: "utf8" })
      .filter((path) => /\.(sql|ts|md|conf|yaml|yml)$/.test(path))
      .map((path) => join(folder, path)),
  );
  t.ok(files.length > 200, `${files.length} files`);
  const naming = files.filter((path) =>
    /_timescaledb_|timescaledb_experimental/.test(readFileSync(packagedFile(path), "utf8")),
  );
  t.same(naming, []);
  t.end();
});
