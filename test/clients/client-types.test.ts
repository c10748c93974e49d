/** The types and the metadata of the clients agree with the API, the version and the licence of the project. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
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
  t.match(text("clients/python/src/venuewatch/__init__.py"), `__version__ = "${version}"\n`);
  t.match(text("clients/python/pyproject.toml"), `license = "${license}"\n`);
  for (const client of ["typescript", "python"])
    t.ok(text(`clients/${client}/LICENSE`) === text("LICENSE"), `clients/${client}/LICENSE is the project's`);
  t.end();
});

void t.test("the package for npm contains the compiled modules with their types, and nothing else", (t) => {
  const { status, stdout, stderr } = spawnSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    ...{ cwd: packagedFile("clients/typescript"), encoding: "utf8" },
  });
  t.equal(status, 0, stderr);
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
  const paths = files.map(({ path }) => path).sort();
  const modules = [
    "changes",
    "clocks",
    "index",
    "memory",
    "nearest",
    "openapi",
    "read",
    "sse",
    "stream",
    "venuewatch",
    "watch",
  ];
  t.strictSame(paths, [
    ...["LICENSE", "README.md"],
    ...modules.flatMap((name) => [`dist/${name}.d.ts`, `dist/${name}.js`]),
    "package.json",
  ]);
  t.end();
});
