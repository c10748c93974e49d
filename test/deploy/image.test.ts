/** Tests the production image, assembled from the Dockerfile: its programs, and what it leaves out. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { postgresPackage } from "@venuewatch/embedded-timescaledb";
import t from "tap";
import { nodeLines } from "../../server/cli/doctor/doctor.js";
import { packagedFile, version } from "../../shared/config/package.js";
import { assembleImage, imagePackages } from "../support/image.js";

void t.test("the image", async (t) => {
  // outside this checkout, whose packages Node would otherwise find
  const dir = mkdtempSync(join(tmpdir(), "venuewatch-image-"));
  t.teardown(() => rmSync(dir, { recursive: true }));
  const venuewatch = join(assembleImage(dir), "venuewatch");
  const app = join(dir, "app");
  const dataDir = join(dir, "data");

  await t.test("does not contain the embedded database, and says so where a program would start it", (t) => {
    t.notOk(imagePackages().includes(`node_modules/${postgresPackage}`));
    t.ok(existsSync(packagedFile(`node_modules/${postgresPackage}`)));
    t.notOk(existsSync(join(app, "node_modules", postgresPackage)));
    t.notOk(existsSync(join(app, "dist/world")), "nor the simulated venues");
    for (const [command, message] of [
      ["database", "expected DATABASE_URL"],
      ["up", "expected DATABASE_URL"],
      ["demo", "the demo runs on the embedded database"],
    ] as const) {
      const { status, output } = run([command]);
      t.equal(status, 2, `${command}: ${output}`);
      t.match(output, message, command);
      t.notMatch(output, /^ +at /m, "no stack");
    }
    t.end();
  });

  await t.test("has the modules that each command imports", (t) => {
    // the commands in one process, because each alone would take a third of a second
    const files = ["dist/server", "packages/embedded-timescaledb/dist"].flatMap((folder) =>
      readdirSync(join(app, folder), { recursive: true, encoding: "utf8" }).map((name) => join(app, folder, name)),
    );
    // the program itself, the thread that hosts the embedded database, and scripts for browsers
    const others = /(server\/cli|backend-worker|server\/web\/pages\/browser\/[\w-]+)\.js$/;
    const modules = files.filter((path) => path.endsWith(".js") && !others.test(path));
    t.ok(modules.length > 100);
    const urls = modules.map((path) => pathToFileURL(path).href);
    const script = `for (const url of ${JSON.stringify(urls)}) await import(url);`;
    const args = ["--input-type=module", "--eval", script];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
    t.equal(status, 0, stderr);
    t.equal(run(["--version"]).output, `${version}\n`);
    t.end();
  });

  await t.test("runs on Node 24 or newer, a line that is tested", (t) => {
    const dockerfile = readFileSync(packagedFile("deploy/Dockerfile"), "utf8");
    const [, major] = /^ARG NODE=node:(\d+)\./m.exec(dockerfile)!;
    const line = nodeLines.find((line) => line.major === Number(major));
    t.ok(line && line.major >= 24, `Node ${major}`);
    t.end();
  });

  function run(args: string[]): { status: number | null; output: string } {
    const { status, stdout, stderr } = spawnSync(process.execPath, [venuewatch, ...args], {
      ...{ encoding: "utf8", timeout: 60_000 },
      cwd: dir,
      env: { PATH: process.env["PATH"], DATA_DIR: dataDir, ...{ PORT: "0", HEALTH_PORT: "0", EMBEDDED_PORT: "0" } },
    });
    return { status, output: stdout + stderr };
  }
});
