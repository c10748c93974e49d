/**
 * Tests backups without compose, made and restored with the exact commands of docs/backup.md, and the archive's script.
 * Tests that need a server are in backup-drill.test.ts.
 */
import { execFile, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzipSync, gzipSync } from "node:zlib";
import t from "tap";
import { packagedFile } from "../../shared/config/package.js";
import { codeUnder } from "../support/code-under.js";
import { compose } from "../support/compose.js";
import { migratedDirectory } from "../support/database.js";
import { hostEmbedded } from "../support/database-host.js";
import { facts, fill, goesOn, isTheSame, poolOn, skipsNumbers } from "../support/restored-database.js";

void t.test("the embedded database, copied after a clean stop", async (t) => {
  const DATA_DIR = await migratedDirectory(t);
  const BACKUP = `${DATA_DIR}.backup`;
  for (const left of [BACKUP, `${DATA_DIR}.damaged`]) t.teardown(() => rm(left, { recursive: true, force: true }));
  const sh = (script: string) =>
    promisify(execFile)("sh", ["-ec", script], { env: { ...process.env, DATA_DIR, BACKUP } });
  const commands = (heading: string) => codeUnder("docs/backup.md", heading);

  const before = await hostEmbedded(DATA_DIR);
  const pool = poolOn(before.url);
  await fill(pool);
  const content = await facts(pool);
  await pool.close();
  await before.stop();
  mkdirSync(join(DATA_DIR, "spool"));
  await writeFile(join(DATA_DIR, "spool", "of-then"), "");
  await sh(commands("The embedded database: backup"));

  await rm(join(DATA_DIR, "spool", "of-then"));
  await writeFile(join(DATA_DIR, "spool", "of-now"), "");
  await rm(join(DATA_DIR, "pgdata"), { recursive: true });
  await sh(commands("The embedded database: restore"));
  await readFile(join(DATA_DIR, "spool", "of-now"));

  const after = await hostEmbedded(DATA_DIR);
  t.teardown(after.stop);
  const restored = poolOn(after.url);
  t.teardown(() => restored.close());
  await isTheSame(t, restored, content);
  await skipsNumbers(t, restored);
  await goesOn(t, restored);
});

void t.test("the archive stores each segment once, and complete", (t) => {
  const dir = t.testdir({ of: "one", again: "one", another: "two" });
  const target = join(dir, "wal/0000000100000000000000AB");
  const script = packagedFile("deploy/production/archive-wal.sh");
  const archive = (segment: string) => spawnSync(script, [join(dir, segment), target], { encoding: "utf8" });
  const file = `${target}.gz`;
  const kept = () => gunzipSync(readFileSync(file)).toString();
  t.match(archive("missing"), { status: 1 }, "a missing file is not archived");
  t.throws(kept);
  // an earlier attempt was interrupted
  writeFileSync(file.replace(/gz$/, "part"), "o");
  t.match(archive("of"), { status: 0, stderr: "" });
  t.equal(kept(), "one");
  t.match(archive("again"), { status: 0 }, "PostgreSQL may ask again");
  t.match(archive("another"), { status: 1, stderr: /found different content/ });
  t.equal(kept(), "one");
  t.same(readdirSync(join(dir, "wal")), ["0000000100000000000000AB.gz"]);

  writeFileSync(file, gzipSync("one").subarray(0, 10));
  t.match(archive("of"), { status: 1 }, "damaged: an operator has to look");
  t.end();
});

void t.test("compose.yaml matches what the scripts and the server expect", (t) => {
  const conf = readFileSync(packagedFile("deploy/production/postgresql.conf"), "utf8");
  t.match(conf, /^archive_mode = on$/m);
  const [, script = "", archive = ""] = /^archive_command = '(\S+) "%p" "(\S+)\/%f"'$/m.exec(conf)!;
  const [, volume] = archive.split("/");
  t.equal(archive, `/${volume}/wal`);
  const { database, backup, drill } = compose.services;
  const mounted = (name: string) => compose.services[name]!.volumes!.map((one) => one.split(":")[1]);
  t.ok(mounted("backups-writable").includes(`/${volume}`));
  for (const name of ["database", "backup", "restore", "drill"]) {
    const { volumes, image, user, entrypoint } = compose.services[name]!;
    t.ok(mounted(name).includes(`/${volume}`), `${name} has the volume`);
    t.ok(volumes!.includes("./deploy/production:/etc/venuewatch:ro"), name);
    t.same({ image, user }, { image: database!.image, user: database!.user }, `${name} has the same version and user`);
    for (const path of [entrypoint?.[0], name === "database" && script])
      if (path) {
        const here = packagedFile(path.replace("/etc/venuewatch", "deploy/production"));
        t.equal(spawnSync("sh", ["-n", here]).status, 0, `${name} ${path}`);
      }
  }
  t.match(drill, { network_mode: "none", networks: undefined });
  t.notMatch(drill!.volumes!.join(), /\bdatabase:/, "a drill has its own data");
  t.match(drill!.command!.join(" "), "archive_mode=off", "and archives nothing");
  t.match(database!.depends_on, { "backups-writable": { condition: "service_completed_successfully" } });
  t.match(backup!.secrets, ["backup_password"], "and no other secret");
  const hba = readFileSync(packagedFile("deploy/production/pg_hba.conf"), "utf8");
  t.match(hba, /^host +replication +replica,backup +samenet +scram-sha-256$/m);
  t.end();
});
