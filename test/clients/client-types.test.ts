/** The types and the metadata of the clients agree with the API, the version and the licence of the project. */
import { spawnSync } from "node:child_process";
import { cpSync, readdirSync, readFileSync } from "node:fs";
import t from "tap";
import { license, packagedFile, version } from "../../shared/config/package.js";
import { clientTypes } from "../support/client-types.js";

const text = (path: string) => readFileSync(packagedFile(path), "utf8");

void t.test("types are those of the API's description", async (t) => {
  for (const [path, expected] of Object.entries(await clientTypes()))
    // not t.equal, which would print all of both
    t.ok(text(path) === expected, `${path} differs from the API's description: run \`make clients\``);
});

void t.test("both are of this version and under this licence", (t) => {
  const manifest = JSON.parse(text("clients/typescript/package.json")) as Record<string, unknown>;
  t.match(manifest, { version, license });
  for (const dependencies of ["dependencies", "peerDependencies", "optionalDependencies"])
    t.notOk(dependencies in manifest, `no ${dependencies}`);
  t.notOk("private" in manifest, "it may be published");
  // without it, npm takes a package with a scope for a private one
  t.match(manifest, { publishConfig: { access: "public" } });
  t.match(text("clients/python/src/venuewatch/__init__.py"), `__version__ = "${version}"\n`);
  t.match(text("clients/python/pyproject.toml"), `license = "${license}"\n`);
  for (const client of ["typescript", "python"])
    t.ok(text(`clients/${client}/LICENSE`) === text("LICENSE"), `clients/${client}/LICENSE is the project's`);
  t.end();
});

void t.test("the package for npm is built, and contains the modules with their types, and nothing else", (t) => {
  // a copy that was never compiled, within this checkout, where npm finds the compiler
  const checkout = t.testdir();
  const client = `${checkout}/clients/typescript`;
  for (const path of [
    "tsconfig.base.json",
    ...["src", "LICENSE", "README.md", "package.json", "tsconfig.json"].map(ofClient),
  ])
    cpSync(packagedFile(path), `${checkout}/${path}`, { recursive: true });
  const { status, stdout, stderr } = spawnSync("npm", ["pack", "--dry-run", "--json", "--foreground-scripts=false"], {
    ...{ cwd: client, encoding: "utf8", env: { ...process.env, npm_config_offline: "true" } },
  });
  t.equal(status, 0, stderr);
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
  const paths = files.map(({ path }) => path).sort();
  const modules = readdirSync(`${client}/src`).map((name) => name.replace(/\.ts$/, ""));
  t.ok(modules.includes("index"));
  t.strictSame(
    paths,
    [
      ...["LICENSE", "README.md", "package.json"],
      ...modules.flatMap((name) => [`dist/${name}.d.ts`, `dist/${name}.js`]),
    ].sort(),
  );
  t.end();
});

function ofClient(path: string): string {
  return `clients/typescript/${path}`;
}
