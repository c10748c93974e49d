/** Checks which folder may import from which, from the sources; CONTRIBUTING.md draws the tree. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { posix } from "node:path";
import t from "tap";
import { packagedFile } from "../../shared/config/package.js";

interface Source {
  path: string;
  text: string;
  /** Paths of our files, those of the library included, and names of packages. */
  imports: string[];
}

interface Manifest {
  name: string;
  exports: Record<string, string>;
  dependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
  devDependencies: Record<string, string>;
}

/** The embedded database, which is a package of its own. Others import it by its name. */
const library = "packages/embedded-timescaledb";
const libraryManifest = manifestIn(library);

/** The client for TypeScript, another package of its own. */
const client = "clients/typescript/src";

const folders = [
  ...[`${library}/src`, client, "shared", "probe", "server", "receiving", "simulator"],
  ...["simulation", "test", "bench"],
];

const sources = folders.flatMap(sourcesIn);
const isOurs = (name: string) => folders.some((folder) => name.startsWith(`${folder}/`));

/** Where the API hands over to the pages. */
const pageEntries = [
  ...["server/pages/assets.ts", "server/pages/data-age.ts"],
  ...["server/pages/embed/embed-routes.ts", "server/pages/errors/error-answer.ts", "server/pages/pages.ts"],
];

/** What answers agents: its routes load the rest of the folder. */
const agentEntries = ["server/mcp/board-source.ts", "server/mcp/llms-text.ts", "server/mcp/mcp-route.ts"];

const statuspageEntry = "server/statuspage/statuspage-routes.ts";

/** What the Statuspage format shares with the pages: how texts and times are written, and reading a snapshot. */
const pageTexts = [
  ...["server/pages/format.ts", "server/pages/words.ts", "server/pages/parts/isolated.ts"],
  ...["server/pages/data-age.ts", "server/pages/snapshot-data.ts"],
];

/** What each folder may import besides itself. `server/commands` has no entry: it combines everything. */
const mayImport: Record<string, string[]> = {
  [library]: [],
  [client]: [],
  shared: [],
  probe: ["shared"],
  receiving: [],
  simulator: [...["shared", "receiving"], ...["server/alerts", "server/engine"]],
  "server/alerts": ["shared", "server/database", "server/health", "server/http"],
  "server/api": [
    ...["shared", "server/database", "server/health"],
    ...["server/engine/rules.ts", "server/feeds/feed-routes.ts", statuspageEntry],
    ...[...pageEntries, ...agentEntries],
  ],
  "server/cli": ["shared", "server/process", "server/commands"],
  "server/database": ["shared", "server/health"],
  "server/embedded": ["shared", library],
  "server/engine": ["shared", "server/database", "server/health"],
  "server/export": ["shared"],
  "server/feeds": [
    ...["shared", "server/api", "server/notices/sanitize-text.ts"],
    ...["server/pages/format.ts", "server/pages/words.ts", "server/pages/parts/isolated.ts"],
  ],
  "server/health": ["shared", "server/database"],
  "server/http": ["shared"],
  "server/mcp": [
    ...["shared", "server/api", "server/remote", "server/notices/sanitize-text.ts"],
    ...["server/pages/format.ts", "server/pages/words.ts", "server/pages/snapshot-data.ts"],
    "server/pages/parts/state-rank.ts",
  ],
  "server/move": ["shared", "server/database"],
  "server/notices": ["shared", "server/http"],
  "server/pages": ["shared", "server/api"],
  "server/process": ["shared"],
  "server/remote": ["shared", "server/http", "server/api/schemas/shapes.ts", "server/notices/sanitize-text.ts"],
  "server/statuspage": ["shared", "server/api", ...pageTexts],
};

void t.test("sources and their imports are found", (t) => {
  t.ok(sources.length > 100);
  const { imports } = sources.find(({ path }) => path === "server/cli/command-line.ts")!;
  t.ok(imports.includes("shared/process/user-error.ts"), "those at the top of a file");
  t.ok(imports.includes("server/commands/up.ts"), "those in the middle of a file");
  t.end();
});

void t.test("each folder imports only what it may", (t) => {
  for (const [folder, allowed] of Object.entries(mayImport)) {
    const isAllowed = (to: string) => [folder, ...allowed].some((path) => to === path || to.startsWith(`${path}/`));
    const from = new RegExp(`^${folder}/`);
    t.same(forbidden(from, isAllowed), [], folder);
  }
  const server = readdirSync(packagedFile("server")).filter((name) => name !== "cli.ts");
  const free = server.filter((name) => !(`server/${name}` in mayImport));
  t.same(free, ["commands"], "and every folder of the server has a rule");
  t.end();
});

void t.test("only the app imports pages, and scripts for browsers import none of our modules", (t) => {
  t.same(
    forbidden(/^server\/api\/(?!app\.ts$)/, (to) => !to.startsWith("server/pages/")),
    [],
  );
  t.same(
    forbidden(/^server\/pages\/browser\//, (to) => to.startsWith("server/pages/browser/")),
    [],
  );
  const importers = forbidden(/./, (to) => !to.startsWith("server/pages/browser/"));
  t.same(importers, [], "nor does the server import them");
  t.end();
});

void t.test("only tests import what the embedded database's package does not offer", (t) => {
  const entries = Object.entries(libraryManifest.exports).filter(([entry]) => !entry.includes("*"));
  const offered = entries.map(([, file]) => sourceOf(file));
  const others = new RegExp(`^(?!test/|${library}/)`);
  const inner = forbidden(others, (to) => !to.startsWith(`${library}/`) || offered.includes(to));
  t.same(inner, []);
  t.end();
});

void t.test("the product imports no tests, and only the demo imports the simulator", (t) => {
  for (const [from, to] of [
    [/^(?!test\/|bench\/|simulation\/)/, /^(test|bench|simulation)\//],
    [/^(?!test\/|bench\/|simulation\/|simulator\/|server\/commands\/demo\.ts$)/, /^simulator\//],
  ] as const) {
    const importers = forbidden(from, (path) => !to.test(path));
    t.same(importers, []);
  }
  t.end();
});

void t.test("there are no import cycles, neither of values nor of types", (t) => {
  t.same(cycles(), []);
  t.end();
});

void t.test("each type of the product has a unique name", (t) => {
  const places = new Map<string, string[]>();
  for (const { path, text } of sources)
    // the client has the API's names
    if (!/^(test|bench|simulation|clients)\//.test(path))
      for (const [, name = ""] of text.matchAll(/^export (?:interface|type|class) (\w+)/gm))
        places.set(name, [...(places.get(name) ?? []), path]);
  t.ok(places.size > 100);
  const ambiguous = [...places].filter(([, paths]) => paths.length > 1);
  t.same(ambiguous, []);
  t.end();
});

void t.test("only entry points lie directly in the top folders", (t) => {
  const top = ["server", "shared", "probe", "test"];
  const loose = sources.map(({ path }) => path).filter((path) => top.includes(posix.dirname(path)));
  t.same(loose.sort(), [
    ...["probe/metrics.ts", "probe/probe.ts"],
    ...["server/cli.ts", "test/on-node-lines.ts", "test/registry-check.ts", "test/run.ts", "test/screenshots.ts"],
    "test/write-client-types.ts",
    "test/write-newer-names.ts",
  ]);
  t.end();
});

void t.test("tests are in folders named after what they test", (t) => {
  const tests = sources.map(({ path }) => path).filter((path) => path.endsWith(".test.ts"));
  const ofTests = new Set(tests.map((path) => posix.relative("test", posix.dirname(path))));
  for (const folder of ["docs", "layout", "whole"]) ofTests.delete(folder);
  const others = [...ofTests].filter((folder) => !existsSync(packagedFile(folder)));
  t.same(others, []);
  t.end();
});

void t.test("code for receivers imports none of our modules", (t) => {
  for (const { path, imports } of sources)
    if (path.startsWith("receiving/"))
      for (const name of imports) t.ok(name.startsWith("receiving/") || isOfNode(name), name);
  const importers = forbidden(/^(?!receiving\/|test\/|simulator\/)/, (to) => !to.startsWith("receiving/"));
  t.same(importers, [], "and none of our modules imports it");
  t.end();
});

void t.test("the environment is read in one place", (t) => {
  // code that receivers copy is not part of the programs
  const ofPrograms = sources.filter(({ path }) => !/^(test|bench|simulation|receiving)\//.test(path));
  const readers = ofPrograms.filter(({ text }) => /\bprocess(\.|\[")env\b/.test(text)).map(({ path }) => path);
  t.same(readers, ["shared/config/settings.ts"]);
  t.end();
});

void t.test("only packages that package.json names are imported", (t) => {
  // the optional package is the compiler, which programs run and do not import
  const { dependencies, optionalDependencies, devDependencies } = manifestIn(".");
  const always = Object.keys(dependencies);
  const embedded = Object.keys(libraryManifest.optionalDependencies);
  const inTests = [...always, ...Object.keys({ ...optionalDependencies, ...devDependencies })];
  for (const { path, imports } of sources) {
    const named = /^(test|bench)\//.test(path)
      ? inTests
      : path.startsWith(`${client}/`)
        ? []
        : !path.startsWith(`${library}/`)
          ? always
          : // the only file that imports optional packages; a thread loads it
            path.endsWith("/backend-worker.ts")
            ? embedded
            : [];
    const foreign = imports.filter((name) => !isOurs(name) && !isOfNode(name) && !named.includes(packageOf(name)));
    t.same(foreign, [], path);
  }
  const imported = sources.flatMap(({ imports }) => imports.map(packageOf));
  const sent = sources.flatMap(({ path, text }) => (path === "server/pages/assets.ts" ? sentPackagesIn(text) : []));
  const used = new Set([libraryManifest.name, ...imported, ...sent]);
  const unused = [...always, ...embedded].filter((name) => !used.has(name));
  t.same(unused, [], "and all of them are used");
  t.end();
});

void t.test("a registry holds addresses of venues, and no local addresses", (t) => {
  for (const file of readdirSync(packagedFile("registry/venues"))) {
    const text = readFileSync(packagedFile(`registry/venues/${file}`), "utf8");
    t.notMatch(text, /localhost|127\.0\.0\.1|file:|"\.{0,2}\/[a-z]/i, file);
  }
  const lockfile = readFileSync(packagedFile("package-lock.json"), "utf8");
  t.notMatch(
    lockfile,
    /"resolved": "(?!packages\/|clients\/)/,
    "the lockfile leaves the choice of the registry to npm",
  );
  t.end();
});

/** Packages whose files are sent to browsers. */
function sentPackagesIn(text: string): string[] {
  return [...text.matchAll(/\bresolve\("([^"]+)"\)/g)].map(([, name = ""]) => packageOf(name));
}

/** Returns each cycle as the files that lead back to the first. */
function cycles(): string[][] {
  const found: string[][] = [];
  const done = new Set<string>();
  const byPath = new Map(sources.map(({ path, imports }) => [path, imports]));
  for (const { path } of sources) follow(path, []);
  return found;

  function follow(path: string, way: string[]): void {
    if (way.includes(path)) found.push([...way.slice(way.indexOf(path)), path]);
    if (way.includes(path) || done.has(path)) return;
    for (const next of byPath.get(path) ?? []) if (byPath.has(next)) follow(next, [...way, path]);
    done.add(path);
  }
}

function sourcesIn(folder: string): Source[] {
  return readdirSync(packagedFile(folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => {
      const path = posix.join(folder, name.replaceAll("\\", "/"));
      const text = readFileSync(packagedFile(path), "utf8");
      return { path, text, imports: importsIn(path, text) };
    });
}

/** Returns static and dynamic imports, and re-exports. */
function importsIn(path: string, text: string): string[] {
  const found = text.matchAll(/(?:^(?:import|export)\s(?:[^;"']*?\sfrom\s)?|\bimport\()"([^"]+)"/gm);
  return [...found].map(([, name = ""]) =>
    name.startsWith(".") ? sourceFile(posix.join(posix.dirname(path), name)) : libraryFile(name),
  );
}

/** The source of one of our compiled files. */
function sourceFile(path: string): string {
  const source = path.replace(/\.js$/, ".ts");
  return existsSync(packagedFile(source)) ? source : `${source}x`;
}

/** The file of the library that an import by its name leads to; another package's name unchanged. */
function libraryFile(name: string): string {
  if (packageOf(name) !== libraryManifest.name) return name;
  const entry = `.${name.slice(libraryManifest.name.length)}`;
  const internals = "./internals/";
  const file = entry.startsWith(internals)
    ? libraryManifest.exports[`${internals}*`]!.replace("*", entry.slice(internals.length))
    : libraryManifest.exports[entry]!;
  return sourceOf(file);
}

/** Of a compiled file of the library, such as `./dist/scram.js`. */
function sourceOf(file: string): string {
  return posix.join(library, file.replace("/dist/", "/src/").replace(/\.js$/, ".ts"));
}

function manifestIn(folder: string): Manifest {
  return JSON.parse(readFileSync(packagedFile(`${folder}/package.json`), "utf8")) as Manifest;
}

/** Returns the imports of our files, by files whose path matches, that are not allowed. */
function forbidden(from: RegExp, isAllowed: (path: string) => boolean): string[] {
  const importing = sources.filter(({ path }) => from.test(path));
  return importing.flatMap(({ path, imports }) =>
    imports.filter((name) => isOurs(name) && !isAllowed(name)).map((name) => `${path} imports ${name}`),
  );
}

function isOfNode(name: string): boolean {
  return name.startsWith("node:") || builtinModules.includes(name);
}

/** `@scope/name/part` belongs to `@scope/name`. */
function packageOf(name: string): string {
  return name.split("/", name.startsWith("@") ? 2 : 1).join("/");
}
