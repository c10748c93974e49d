/** Installs what `npm pack` makes of the root into an empty folder, and runs the demo from there. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { packagedFile, version } from "../../shared/config/package.js";
import { readBoard } from "../support/board.js";
import { freePort } from "../support/free-port.js";
import { lockedPackages, makeLink } from "../support/image.js";
import { runNode } from "../support/run-script.js";

void t.test("the package for npm", async (t) => {
  // outside this checkout, whose packages Node would otherwise find
  const dir = mkdtempSync(join(tmpdir(), "venuewatch-package-"));
  t.teardown(() => rmSync(dir, { recursive: true }));
  const installed = install(dir);
  const run = (args: string[], env = {}) => runNode(t, [join(installed, "dist/server/cli.js"), ...args], env);

  await t.test("contains the programs that were compiled, and no tests, types or maps", (t) => {
    t.strictSame(readdirSync(join(installed, "dist")).sort(), ["clients", "probe", "server", "shared", "world"]);
    for (const folder of ["dist", "sql", "registry"]) {
      const isWanted = (name: string) =>
        folder !== "dist" || /^(clients|probe|server|shared|world)\/.*\.js$/.test(name);
      t.strictSame(filesIn(join(installed, folder)), filesIn(packagedFile(folder)).filter(isWanted), folder);
    }
    t.end();
  });

  await t.test("states its version", async (t) => {
    const script = run(["--version"]);
    t.equal(await script.ended, 0);
    t.equal(script.output(), `${version}\n`);
  });

  await t.test("runs the demo", async (t) => {
    const port = await freePort();
    const ports = { PORT: String(port), HEALTH_PORT: "0", EMBEDDED_PORT: String(await freePort()) };
    const script = run(["demo", "--days", "1"], { DATA_DIR: join(dir, "data"), RATE_LIMIT: "0", ...ports });
    await script.saw("Ctrl-C stops it");
    const url = `http://localhost:${port}`;
    t.equal((await readBoard(url)).venues.length, 15);
    for (const path of ["/", "/methodology", "/changelog", "/metrics"]) t.ok((await fetch(url + path)).ok, path);
    script.kill("SIGTERM");
    t.equal(await script.ended, 0);
  });
});

/** Returns the package's folder. What it depends on is linked, and nothing else is there. */
function install(dir: string): string {
  const modules = join(dir, "node_modules");
  const packed = [
    "pack",
    "--ignore-scripts",
    "--silent",
    "--offline",
    "--include-workspace-root",
    "--pack-destination",
    dir,
  ];
  const workspace = ["--workspace", "packages/embedded-timescaledb"];
  execFileSync("npm", [...packed, ...workspace], { cwd: packagedFile(""), encoding: "utf8" });
  for (const name of ["venuewatch", "@venuewatch/embedded-timescaledb"]) {
    const file = `${name.replace("@", "").replace("/", "-")}-${version}.tgz`;
    mkdirSync(join(modules, name), { recursive: true });
    execFileSync("tar", ["xzf", join(dir, file), "--strip-components", "1", "--directory", join(modules, name)]);
  }
  // those nested in another package come with it
  for (const [path, { link, dev }] of Object.entries(lockedPackages()))
    if (path.lastIndexOf("node_modules/") === 0 && !link && !dev) makeLink(join(dir, path), packagedFile(path));
  return join(modules, "venuewatch");
}

function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}
